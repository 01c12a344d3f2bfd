# What programs leave loose: states of typing_extensions, private ones, classes that functions make, keys of no
# channel, contexts of runs that are awaited, where a node is, tasks that are canceled, and names at their other places.
import asyncio
import enum
from dataclasses import dataclass
from typing import Annotated, Literal, Optional

from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.channels.any_value import AnyValue
from langgraph.channels.binop import BinaryOperatorAggregate
from langgraph.channels.last_value import LastValue
from langgraph.channels.topic import Topic
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.managed.is_last_step import RemainingSteps
from langgraph.prebuilt import InjectedState, ToolNode
from langgraph.prebuilt.interrupt import HumanInterrupt, HumanInterruptConfig
from langgraph.runtime import Runtime
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel, Field
from typing_extensions import NotRequired, TypedDict

print(LastValue.__name__, Topic.__name__, AnyValue.__name__, sorted(HumanInterrupt.__annotations__), len(HumanInterruptConfig.__annotations__))


class State(TypedDict):
    a: str
    left: NotRequired[RemainingSteps]


class Private(TypedDict):
    secret: str


def config(thread="t"):
    return {"configurable": {"thread_id": thread}}


# A node's own state, of typing_extensions.
def writes(state: State) -> Private:
    return {"secret": "set by writes"}


def reads(state: Private) -> State:
    return {"a": f"{sorted(state)} {state['secret']}"}


print(StateGraph(State).add_sequence([writes, reads]).add_edge(START, "writes").compile().invoke({"a": ""}))


# Keys that are no channel's, and those that the engine has itself.
def extra(state):
    return {**state, "a": "y", "typo": 1}


g = StateGraph(State).add_node(extra).add_edge(START, "extra").compile(checkpointer=InMemorySaver())
print(list(g.stream({"a": "x", "other": 1}, config(), stream_mode="updates")), g.invoke({"a": "x", "left": 3}, config()))
print(list(StateGraph(State).add_node("n", lambda s: {"typo": 1}).add_edge(START, "n").compile().stream({"a": "x"})))


class Full(TypedDict):
    a: str
    left: RemainingSteps


child = StateGraph(Full).add_node("n", lambda s: {"a": s["a"] + "!"}).add_edge(START, "n").compile()
g = StateGraph(Full).add_node("go", lambda s: Command(goto=Send("child", {**s, "a": "sent"}))).add_node("child", child)
print(g.add_edge(START, "go").compile().invoke({"a": "x"}))


# Classes that a function has made come back as themselves.
def local():
    class Kind(enum.Enum):
        A = 1

    class Part(BaseModel):
        v: str

    @dataclass
    class Whole:
        part: Part

    class Model(BaseModel):
        part: Part
        made: list[Whole] = []
        kind: Optional[Kind] = None

    g = StateGraph(Model).add_node("n", lambda s: {"made": [Whole(s.part)], "kind": Kind.A}).add_edge(START, "n")
    return g.compile(checkpointer=InMemorySaver()), Model(part=Part(v="z"))


app, given = local()
print(app.invoke(given, config()), app.invoke({"part": {"v": "q"}}, config("u")))


# What a model that a node returns has by default is written too; what is None by default, only where it is set.
class Inner(BaseModel):
    n: int = 0


class Model(BaseModel):
    inner: Inner = Field(default_factory=Inner)
    outer: int = 0
    docs: Annotated[list, lambda old, new: old + new] = []
    answer: Optional[str] = None


class Docs(BaseModel):
    docs: list[str] = Field(default_factory=lambda: ["three"])
    answer: Optional[str] = None
    other: int = 1


def mutates(state: Model):
    state.inner = Inner(n=5)
    state.outer = 10
    return state


g = StateGraph(Model).add_node(mutates).add_node("docs", lambda s: Docs()).add_edge(START, "mutates").add_edge("mutates", "docs")
app = g.add_node("none", lambda s: Docs(docs=[], answer=None)).add_edge("docs", "none").compile()
for given in ({"outer": 1}, Model(docs=["one"]), Model(answer="a")):
    print([e for e in app.stream(given, stream_mode=["updates", "values"])])


# A path map that is none.
def route(state) -> Literal["n", "__end__"]:
    return "n" if len(state["a"]) < 3 else "__end__"


g = StateGraph(State).add_node("n", lambda s: {"a": s["a"] + "."}).add_edge(START, "n").add_conditional_edges("n", route, "n")
print(g.compile().invoke({"a": ""}))


# A context, awaited.
class Context(TypedDict):
    who: str


async def speaks(state, runtime: Runtime[Context]):
    return {"messages": [("ai", runtime.context["who"])]}


chat = StateGraph(MessagesState, context_schema=Context).add_node("speaks", speaks).add_edge(START, "speaks").compile()
print([m.content for m in asyncio.run(chat.ainvoke({"messages": "x"}, context={"who": "me"}))["messages"]])


# Where a node is.
def place(c):
    return {n: c["metadata"].get(n) for n in ("langgraph_step", "langgraph_node", "mine")}


def n1(state, config: RunnableConfig):
    print("n1", place(config), config["configurable"].get("x"), config.get("tags"))


def n2(state):
    print("n2", place(get_config()))


def after(state, config: RunnableConfig):
    print("after", place(config))
    return ["n2"]


g = StateGraph(State).add_node(n1).add_node(n2).add_edge(START, "n1").add_conditional_edges("n1", after, ["n2"]).compile()
g.invoke({"a": "1"}, {"metadata": {"mine": 1}, "configurable": {"x": 2}, "tags": ["t"]})


# A tool that is given the whole state.
@tool
def counts(word: str, state: Annotated[MessagesState, InjectedState]) -> str:
    """Counts the messages."""
    return f"{word} {len(state['messages'])}"


calls = AIMessage("", tool_calls=[{"name": "counts", "args": {"word": "w"}, "id": "1"}])
g = StateGraph(MessagesState).add_node("tools", ToolNode([counts])).add_edge(START, "tools").compile()
print([m.content for m in g.invoke({"messages": [HumanMessage("a"), calls]})["messages"]])


# A task that its caller cancels.
begun = []


@task
async def waits(n):
    begun.append(n)
    try:
        await asyncio.sleep(60 if n else 0)
    except asyncio.CancelledError:
        begun.append(f"{n} canceled")
        raise
    return str(n) * 2


@entrypoint(checkpointer=InMemorySaver())
async def flow(ns):
    made = [waits(n) for n in ns]
    first = await made[0]
    while 1 not in begun:
        await asyncio.sleep(0.01)
    print(made[1].cancel())
    return first + interrupt("?")


async def canceled():
    c = config()
    print([[i.value for i in e["__interrupt__"]] for e in [e async for e in flow.astream([0, 1], c)] if "__interrupt__" in e])
    print(begun)


asyncio.run(canceled())


@task(timeout=0.05)
async def long():
    await asyncio.sleep(60)


@entrypoint()
async def short(_):
    try:
        await long()
    except Exception as exc:
        return type(exc).__name__


print(asyncio.run(short.ainvoke(1)))


# Messages that are removed twice, or written again.
old = [HumanMessage("a", id="1"), HumanMessage("b", id="2")]
for new in ([RemoveMessage("1"), RemoveMessage("1")], [RemoveMessage("1"), HumanMessage("c", id="1")], [HumanMessage("c", id="1"), RemoveMessage("1")]):
    print([m.content for m in add_messages(old, new)])
    g = StateGraph(MessagesState).add_node("n", lambda s, new=new: {"messages": new}).add_edge(START, "n").compile()
    print([m.content for m in g.invoke({"messages": old})["messages"]])

for bad in ("a saver", 3):
    try:
        StateGraph(State).add_node("n", lambda s: {}).add_edge(START, "n").compile(checkpointer=bad)
    except TypeError as exc:
        print(type(exc).__name__)
print(BinaryOperatorAggregate(list, lambda a, b: a + b).operator([1], [2]))
