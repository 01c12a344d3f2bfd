# Graphs that a node's, a task's or an entrypoint's code runs by invoke: what they ask, the outer run asks.
import asyncio
import operator
from typing import Annotated, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt


class State(TypedDict, total=False):
    n: int
    log: Annotated[list, operator.add]


class Inner(TypedDict):
    q: str
    a: str


def one(schema, fn, **more):
    return StateGraph(schema).add_node("node", fn).add_edge(START, "node").compile(**more)


inner = one(Inner, lambda s: {"a": interrupt(s["q"]) + "/" + interrupt(s["q"] + "?")})
deep = one(Inner, lambda s: {"a": "deep " + inner.invoke({"q": s["q"]})["a"]})


def twice(state):
    first = inner.invoke({"q": "one"})["a"]
    own = interrupt("own")
    return {"log": [first, own, inner.invoke({"q": "two"})["a"]]}


async def awaited(state):
    first = (await inner.ainvoke({"q": "one"}))["a"]
    own = interrupt("own")
    return {"log": [first, own, (await inner.ainvoke({"q": "two"}))["a"]]}


@entrypoint(checkpointer=InMemorySaver())
def flow(x):
    return inner.invoke({"q": x})["a"]


@task
def asks(x):
    return inner.invoke({"q": x})["a"]


@entrypoint(checkpointer=InMemorySaver())
def by_task(x):
    return asks(x).result()


async def answered(name, run, given):
    config, n = {"configurable": {"thread_id": name}}, 0
    out = await run(given, config)
    while "__interrupt__" in out:
        n += 1
        print(name, [i.value for i in out["__interrupt__"]], end=" ")
        out = await run(Command(resume=f"r{n}"), config)
    print(out)


def now(app):
    async def run(given, config):
        return app.invoke(given, config)

    return run


async def main():
    await answered("twice", now(one(State, twice, checkpointer=InMemorySaver())), {"n": 1})
    await answered("awaited", one(State, awaited, checkpointer=InMemorySaver()).ainvoke, {"n": 1})
    await answered("deep", now(one(State, lambda s: {"log": [deep.invoke({"q": "d"})["a"]]}, checkpointer=InMemorySaver())), {"n": 1})
    await answered("flow", now(flow), "f")
    await answered("task", now(by_task), "t")


asyncio.run(main())
