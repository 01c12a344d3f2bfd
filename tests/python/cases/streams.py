# Stream modes, one and several, of subgraphs too; asynchronous nodes and callers.
import asyncio
import operator
from typing import Annotated, TypedDict

from langgraph.config import get_stream_writer
from langgraph.graph import START, StateGraph


class State(TypedDict):
    n: int
    log: Annotated[list, operator.add]


def one(state, writer):
    writer({"half": state["n"] / 2})
    return {"n": state["n"] + 1, "log": ["one"]}


async def two(state):
    await asyncio.sleep(0)
    get_stream_writer()("two")
    return {"log": ["two"]}


def make():
    g = StateGraph(State)
    g.add_node(one)
    g.add_node(two)
    g.add_edge(START, "one")
    g.add_edge("one", "two")
    return g


async def main():
    app = make().compile()
    print(await app.ainvoke({"n": 1}))
    for mode in ("values", "updates", "custom", ["updates", "custom"], ["values", "updates", "custom"]):
        print(mode, [e async for e in app.astream({"n": 1}, stream_mode=mode)])
    outer = StateGraph(State)
    outer.add_node("sub", app)
    outer.add_edge(START, "sub")
    shown = [(tuple(n.split(":")[0] for n in ns), e) async for ns, e in outer.compile().astream({"n": 1}, stream_mode="updates", subgraphs=True)]
    print(shown)


asyncio.run(main())
