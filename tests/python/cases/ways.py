# Send, Command, joins, deferred nodes, subgraphs, commands to the parent.
import operator
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Overwrite, Send


class State(TypedDict):
    subjects: list
    jokes: Annotated[list, operator.add]
    best: str


class One(TypedDict):
    subject: str


def joke(state: One):
    return {"jokes": [f"about {state['subject']}"]}


g = StateGraph(State)
g.add_node("subjects", lambda s: {"subjects": ["lions", "penguins", "tea"]})
g.add_node("joke", joke)
g.add_node("best", lambda s: {"best": sorted(s["jokes"])[-1]})
g.add_edge(START, "subjects")
g.add_conditional_edges("subjects", lambda s: [Send("joke", {"subject": x}) for x in s["subjects"]], ["joke"])
g.add_edge("joke", "best")
g.add_edge("best", END)
print(g.compile().invoke({"subjects": []}))
print(list(g.compile().stream({"subjects": []}, stream_mode="updates")))

j = StateGraph(State)
for name in "abcd":
    j.add_node(name, lambda s, name=name: {"jokes": [name]}, defer=name == "d")
j.add_edge(START, "a")
j.add_edge(START, "b")
j.add_edge("a", "c")
j.add_edge(["b", "c"], "d")
print(j.compile().invoke({"subjects": []})["jokes"])

inner = StateGraph(State)
inner.add_node("x", lambda s: Command(graph=Command.PARENT, update={"jokes": ["up"]}, goto="y"))
inner.add_edge(START, "x")
outer = StateGraph(State)
outer.add_node("sub", inner.compile(), destinations=("y",))
outer.add_node("y", lambda s: {"jokes": Overwrite(["only", *s["jokes"]])})
outer.add_edge(START, "sub")
print(outer.compile().invoke({"subjects": [], "jokes": ["first"]}))

m = StateGraph(State)
m.add_node("one", lambda s: [Command(update={"jokes": ["1"]}), Command(update={"jokes": ["2"]}, goto="two")])
m.add_node("two", lambda s: {"best": "two"})
m.add_edge(START, "one")
print(m.compile().invoke({"subjects": []}))
r = StateGraph(State)
r.add_node("l", lambda s: {"best": "l"})
r.add_node("r", lambda s: {"best": "r"})
r.add_conditional_edges(START, lambda s: bool(s["subjects"]), {True: "l", False: "r"})
print(r.compile().invoke({"subjects": []}), r.compile().invoke({"subjects": [1]}))


# Where a node says no more than that it gives a Command, it may go anywhere.
def anywhere(state) -> Command:
    return Command(update={"jokes": ["here"]}, goto="there" if len(state["jokes"]) < 2 else END)


w = StateGraph(State)
w.add_node("anywhere", anywhere)
w.add_node("there", lambda s: {"jokes": ["there"]})
w.add_edge(START, "anywhere")
w.add_edge("there", "anywhere")
print(w.compile().invoke({"subjects": []})["jokes"])
