# Graphs that a node's code runs: what they show below that node, what they command, and what they ask.
import asyncio
import operator
import re
from typing import Annotated

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.graph import START, StateGraph
from langgraph.types import Command, RetryPolicy, interrupt
from typing_extensions import TypedDict


class Inner(TypedDict):
    b: str


class Outer(TypedDict):
    a: str


def one(state):
    get_stream_writer()({"from": "one"})
    return {"b": state["b"] + "1"}


def two(state):
    return {"b": state["b"] + "2"}


inner = StateGraph(Inner).add_sequence([one, two]).add_edge(START, "one").compile()


def middle(state):
    return inner.invoke(state)


mid = StateGraph(Inner).add_sequence([middle]).add_edge(START, "middle").compile()


def outer(state):
    get_stream_writer()({"from": "outer"})
    return {"a": mid.invoke({"b": state["a"]})["b"]}


for saver in (None, InMemorySaver()):
    app = StateGraph(Outer).add_sequence([outer]).add_edge(START, "outer").compile(checkpointer=saver)
    for below in (True, False):
        for mode in ("updates", "values", "custom", ["updates", "custom"]):
            events = app.stream({"a": "x"}, {"configurable": {"thread_id": "1"}}, stream_mode=mode, subgraphs=below)
            print(saver is None, below, mode, [re.sub(r":[0-9a-f-]{16,}", ":ID", repr(e)) for e in events])


async def awaits(state):
    return {"a": (await mid.ainvoke({"b": state["a"]}))["b"]}


async def awaited():
    app = StateGraph(Outer).add_sequence([awaits]).add_edge(START, "awaits").compile()
    async for e in app.astream({"a": "x"}, stream_mode="updates", subgraphs=True):
        print(re.sub(r":[0-9a-f-]{16,}", ":ID", repr(e)))


asyncio.run(awaited())


# A command for the parent is one for the node whose code runs the graph.
class Way(TypedDict):
    n: int
    log: Annotated[list, operator.add]


def leaves(state):
    if state["n"]:
        return Command(graph=Command.PARENT, goto="second", update={"log": ["told"]})
    return {"log": ["stays"]}


child = StateGraph(Way).add_node("leaves", leaves, retry_policy=RetryPolicy()).add_edge(START, "leaves").compile()


def first(state):
    for i in (1, 2):
        child.invoke({"n": int(state["n"] == i), "log": []})
    return {"log": ["first"]}


async def afirst(state):
    for i in (1, 2):
        await child.ainvoke({"n": int(state["n"] == i), "log": []})
    return {"log": ["first"]}


def says(word):
    return lambda state: {"log": [word]}


for fn in (first, afirst):
    for beside in (False, True):
        g = StateGraph(Way).add_node("first", fn).add_node("second", says("second")).add_edge(START, "first")
        if beside:
            g.add_node("beside", says("beside")).add_edge(START, "beside")
        app = g.compile(checkpointer=InMemorySaver())
        for n in (0, 1, 2):
            config = {"configurable": {"thread_id": str(n)}}
            given = {"n": n, "log": []}
            print(app.invoke(given, config) if fn is first else asyncio.run(app.ainvoke(given, config)))


# A graph with a checkpointer of its own, run without a config: what it asks its caller asks.
def asks(state):
    return {"b": state["b"] + interrupt("who?")}


for saver in (InMemorySaver(), True, None):
    asker = StateGraph(Inner).add_sequence([one, asks]).add_edge(START, "one").compile(checkpointer=saver)

    def calls(state, asker=asker):
        return {"a": asker.invoke({"b": state["a"]})["b"]}

    app = StateGraph(Outer).add_node("calls", calls).add_edge(START, "calls").compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "2"}}
    print([i.value for i in app.invoke({"a": "x"}, config)["__interrupt__"]])
    print(app.invoke(Command(resume="me"), config))
