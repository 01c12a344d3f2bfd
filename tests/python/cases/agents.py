# What LangGraph's guides build, with a model that says what it was told to: a chain with a gate, branches side by side,
# a router, an orchestrator with workers, a writer with a critic, an agent with tools (as a graph and as an
# entrypoint), a tool call that a person reviews, memory of a thread and beyond it, a team that hands over.
import operator
from typing import Annotated, Literal, TypedDict

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, Send, interrupt


def model(*said):
    return GenericFakeChatModel(messages=iter([s if isinstance(s, AIMessage) else AIMessage(s) for s in said]))


def call(name, args, id):
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": id}])


def show(messages):
    for m in messages:
        print(" ", m.type, repr(m.content), [(c["name"], sorted(c["args"].items())) for c in getattr(m, "tool_calls", [])])


class Joke(TypedDict, total=False):
    topic: str
    joke: str
    better: str


def chain(first):
    def tell(state: Joke):
        return {"joke": model(first).invoke(state["topic"]).content}

    def gate(state: Joke) -> Literal["improve", "__end__"]:
        return "improve" if "!" not in state["joke"] else END

    def improve(state: Joke):
        return {"better": model(state["joke"] + "!").invoke("better").content}

    g = StateGraph(Joke).add_node(tell).add_node(improve).add_edge(START, "tell")
    return g.add_conditional_edges("tell", gate).add_edge("improve", END).compile()


print("a chain", chain("a cat").invoke({"topic": "cats"}), chain("a dog!").invoke({"topic": "dogs"}))


class Parts(TypedDict, total=False):
    topic: str
    poem: str
    story: str
    both: str


g = StateGraph(Parts)
for part in ("poem", "story"):
    g.add_node(f"write_{part}", lambda s, part=part: {part: model(f"a {part} of {s['topic']}").invoke("x").content})
    g.add_edge(START, f"write_{part}").add_edge(f"write_{part}", "join")
g.add_node("join", lambda s: {"both": f"{s['story']}, {s['poem']}"})
print("branches", sorted(g.compile().invoke({"topic": "rain"}).items()))


class Report(TypedDict):
    topic: str
    sections: list[str]
    done: Annotated[list, operator.add]
    report: str


g = StateGraph(Report)
g.add_node("plan", lambda s: {"sections": model("why,how,when").invoke("plan").content.split(",")})
g.add_node("work", lambda s: {"done": [f"{s['section']} of {s['topic']}"]})
g.add_node("join", lambda s: {"report": " | ".join(s["done"])})
g.add_edge(START, "plan").add_edge("work", "join")
g.add_conditional_edges("plan", lambda s: [Send("work", {"section": x, "topic": s["topic"]}) for x in s["sections"]], ["work"])
print("workers", g.compile().invoke({"topic": "tea"})["report"])


class Draft(TypedDict, total=False):
    text: str
    verdict: str
    tries: Annotated[int, operator.add]


writes, judges = model("flat", "funny"), model("no", "yes")
g = StateGraph(Draft)
g.add_node("write", lambda s: {"text": writes.invoke(s.get("verdict", "")).content, "tries": 1})
g.add_node("judge", lambda s: {"verdict": judges.invoke(s["text"]).content})
g.add_edge(START, "write").add_edge("write", "judge")
g.add_conditional_edges("judge", lambda s: s["verdict"], {"yes": END, "no": "write"})
print("a critic", sorted(g.compile().invoke({}).items()))


@tool
def multiply(a: int, b: int) -> int:
    """Multiplies."""
    return a * b


@tool
def send(to: str) -> str:
    """Sends a letter."""
    answer = interrupt({"tool": "send", "to": to})
    return f"sent to {answer['to']}" if answer["ok"] else "refused"


TOOLS = {t.name: t for t in (multiply, send)}


def tools_of(state):
    return {"messages": [ToolMessage(str(TOOLS[c["name"]].invoke(c["args"])), tool_call_id=c["id"]) for c in state["messages"][-1].tool_calls]}


def agent(*said, **more):
    llm = model(*said)
    g = StateGraph(MessagesState)
    g.add_node("llm", lambda s: {"messages": [llm.invoke([SystemMessage("count well"), *s["messages"]])]})
    g.add_node("tools", tools_of)
    g.add_edge(START, "llm").add_edge("tools", "llm")
    g.add_conditional_edges("llm", lambda s: "tools" if s["messages"][-1].tool_calls else END, ["tools", END])
    return g.compile(**more)


print("an agent")
ask = {"messages": [HumanMessage("3 times 4, then times 5?")]}
show(agent(call("multiply", {"a": 3, "b": 4}, "1"), call("multiply", {"a": 12, "b": 5}, "2"), "60").invoke(ask)["messages"])

print("a person reviews")
for answer in ({"ok": True, "to": "jo"}, {"ok": False}):
    app, c = agent(call("send", {"to": "mara"}, "1"), "done", checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}
    print(app.invoke(ask, c)["__interrupt__"][0].value, app.get_state(c).next)
    show(app.invoke(Command(resume=answer), c)["messages"])


@task
def use_tool(c):
    return ToolMessage(str(TOOLS[c["name"]].invoke(c["args"])), tool_call_id=c["id"])


said = model(call("multiply", {"a": 6, "b": 7}, "1"), "42")


@task
def think(messages):
    return said.invoke(messages)


@entrypoint()
def functional(messages):
    answer = think(messages).result()
    while answer.tool_calls:
        results = [f.result() for f in [use_tool(c) for c in answer.tool_calls]]
        messages = add_messages(messages, [answer, *results])
        answer = think(messages).result()
    return add_messages(messages, answer)


print("the same as an entrypoint")
show(functional.invoke([HumanMessage("6 times 7?")]))

print("memory")
store = InMemoryStore()


def remembers(state: MessagesState, config, *, store):
    who = config["configurable"]["user"]
    if "remember" in state["messages"][-1].content:
        store.put(("memories", who), str(len(state["messages"])), {"said": state["messages"][-1].content})
    known = sorted(i.value["said"] for i in store.search(("memories", who)))
    return {"messages": [AIMessage(f"{len(state['messages'])} said, known: {known}")]}


def short(state: MessagesState):
    if len(state["messages"]) > 4:
        return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *state["messages"][-2:]]}


g = StateGraph(MessagesState).add_sequence([remembers, short]).add_edge(START, "remembers")
app = g.compile(checkpointer=InMemorySaver(), store=store)
for thread, user, text in (("1", "mara", "remember tea"), ("1", "mara", "hello"), ("1", "mara", "again"), ("2", "mara", "new"), ("3", "jo", "hi")):
    show(app.invoke({"messages": [HumanMessage(text)]}, {"configurable": {"thread_id": thread, "user": user}})["messages"][-1:])


def expert(name, other):
    def node(state: MessagesState) -> Command[Literal["north", "south", "__end__"]]:
        far = len(state["messages"]) > 3
        return Command(goto=END if far else other, update={"messages": [AIMessage(f"{name} says {len(state['messages'])}", name=name)]})

    return name, node


g = StateGraph(MessagesState).add_edge(START, "north")
for pair in (("north", "south"), ("south", "north")):
    g.add_node(*expert(*pair))
print("a team")
for e in g.compile().stream({"messages": [HumanMessage("go")]}):
    print(" ", [(k, [m.content for m in v["messages"]]) for k, v in e.items()])
