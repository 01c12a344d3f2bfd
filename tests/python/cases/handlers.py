# A node's error handler, its time-out, and what both see.
import asyncio
import operator
from typing import Annotated, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import NodeError, NodeTimeoutError
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, RetryPolicy, Send, TimeoutPolicy


class State(TypedDict):
    n: int
    log: Annotated[list, operator.add]


def breaks(state):
    raise ValueError(f"no {state['n']}")


def told(state: State, error: NodeError):
    return {"log": [f"{error.node}: {type(error.error).__name__} {error.error} at {state['n']}"]}


def sent(state: State, error: NodeError) -> Command:
    return Command(update={"log": ["sent on"]}, goto="after")


def plain(state: State):
    return {"log": ["handled"]}


def after(state):
    return {"log": ["after"]}


tries = []


def twice(state):
    tries.append(1)
    raise ConnectionError("down")


def graph(node, **more):
    g = StateGraph(State).add_node("a", node, **more).add_node("after", after)
    return g.add_edge(START, "a").add_edge("after", END)


print(graph(breaks, error_handler=told).compile().invoke({"n": 4, "log": ["begun"]}))
print(graph(breaks, error_handler=sent).compile().invoke({"n": 4, "log": []}))
print(graph(breaks, error_handler=plain).compile().invoke({"n": 4, "log": []}))
print(graph(twice, error_handler=told, retry_policy=RetryPolicy(initial_interval=0.01, max_attempts=3)).compile().invoke({"n": 1, "log": []}), len(tries))
try:
    graph(breaks).compile().invoke({"n": 4, "log": []})
except ValueError as e:
    print("raised", e)
app = graph(breaks, error_handler=told).compile(checkpointer=InMemorySaver())
config = {"configurable": {"thread_id": "t"}}
app.invoke({"n": 1, "log": []}, config)
print(app.get_state(config).values, app.get_state(config).next)


def handler_breaks(state: State, error: NodeError):
    raise KeyError("in the handler")


try:
    graph(breaks, error_handler=handler_breaks).compile().invoke({"n": 4, "log": []})
except KeyError as e:
    print("raised", e)


async def slow(state):
    await asyncio.sleep(60)


async def lively(state):
    for _ in range(3):
        await asyncio.sleep(0)
    return {"log": ["lively"]}


async def timed():
    try:
        await graph(slow, timeout=0.05).compile().ainvoke({"n": 1, "log": []})
    except NodeTimeoutError as e:
        print(e.node, e.kind, e.timeout)
    print(await graph(slow, timeout=TimeoutPolicy(idle_timeout=0.05), error_handler=plain).compile().ainvoke({"n": 1, "log": []}))
    print(await graph(lively, timeout=30).compile().ainvoke({"n": 1, "log": []}))


asyncio.run(timed())
for wrong in (0, -1):
    try:
        graph(lively, timeout=wrong)
    except ValueError as e:
        print("refused", "run_timeout" in str(e), "0" in str(e))
try:
    graph(plain, timeout=1).compile()
except ValueError as e:
    print("refused", "async" in str(e), "plain" in str(e))
