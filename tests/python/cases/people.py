# Interrupts: asked, answered, by id, several at once, edited state, in a subgraph; breakpoints.
import operator
from typing import Annotated, Literal, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt


class State(TypedDict):
    text: str
    log: Annotated[list, operator.add]


def ask(state: State) -> Command[Literal["post", "__end__"]]:
    answer = interrupt({"choices": ["yes", "no"], "text": state["text"]})
    again = interrupt("sure?") if answer == "yes" else "no"
    return Command(update={"log": [answer, again]}, goto="post" if again == "yes" else END)


def post(state):
    return {"log": [f"posted {state['text']}"]}


g = StateGraph(State)
g.add_node(ask)
g.add_node(post)
g.add_edge(START, "ask")
app = g.compile(checkpointer=InMemorySaver())
for i, answers in enumerate((["yes", "yes"], ["no"], ["yes", "no"])):
    c = {"configurable": {"thread_id": str(i)}}
    out = app.invoke({"text": "letter"}, c)
    for a in answers:
        print([x.value for x in out["__interrupt__"]], app.get_state(c).next, [x.value for x in app.get_state(c).interrupts])
        out = app.invoke(Command(resume=a), c)
    print(out, app.get_state(c).next)

c = {"configurable": {"thread_id": "edit"}}
app.invoke({"text": "letter"}, c)
app.update_state(c, {"text": "card"})
out = app.invoke(Command(resume="yes"), c)
print(app.invoke(Command(resume="yes"), c))

both = StateGraph(State)
both.add_node("a", lambda s: {"log": [interrupt("a?")]})
both.add_node("b", lambda s: {"log": [interrupt("b?")]})
both.add_edge(START, "a")
both.add_edge(START, "b")
many = both.compile(checkpointer=InMemorySaver())
out = many.invoke({"text": ""}, c)
ids = {i.value: i.id for i in out["__interrupt__"]}
print(sorted(ids))
try:
    many.invoke(Command(resume="?"), c)
except RuntimeError as e:
    print("RuntimeError", "multiple" in str(e))
out = many.invoke(Command(resume={ids["b?"]: 2}), c)
print([i.value for i in out["__interrupt__"]])
print(many.invoke(Command(resume={ids["a?"]: 1}), c))

outer = StateGraph(State)
outer.add_node("inner", both.compile())
outer.add_node("after", lambda s: {"log": ["after"]})
outer.add_edge(START, "inner")
outer.add_edge("inner", "after")
deep = outer.compile(checkpointer=InMemorySaver())
out = deep.invoke({"text": ""}, c)
print(sorted(i.value for i in out["__interrupt__"]))
print(deep.invoke(Command(resume={i.id: i.value.upper() for i in out["__interrupt__"]}), c))

stops = g.compile(checkpointer=InMemorySaver(), interrupt_before=["post"])
c = {"configurable": {"thread_id": "stop"}}
stops.invoke({"text": "x"}, c)
stops.invoke(Command(resume="yes"), c)
stops.invoke(Command(resume="yes"), c)
print(stops.get_state(c).next)
print(stops.invoke(None, c))
print([e for e in stops.stream({"text": "y"}, c, interrupt_after="*")][-1].keys())
