# What is raised, and what is kept when it is: validation, recursion, conflicts, retries, caches.
import asyncio
import operator
from typing import Annotated, TypedDict

from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError, InvalidUpdateError
from langgraph.graph import END, START, StateGraph
from langgraph.types import CachePolicy, RetryPolicy


class State(TypedDict):
    n: int
    log: Annotated[list, operator.add]


def tried(what, *kinds):
    try:
        print("no error", what())
    except kinds as e:
        print(type(e).__name__)


def graph(**nodes):
    g = StateGraph(State)
    for name, fn in nodes.items():
        g.add_node(name, fn)
    return g


g = graph(a=lambda s: {"n": 1}).add_edge(START, "a").add_edge("a", "b")
tried(g.compile, ValueError)
tried(graph(a=lambda s: {"n": 1}).compile, ValueError)
tried(lambda: graph(a=print).add_node("a", print), ValueError)
tried(lambda: graph(a=print).add_edge(END, "a"), ValueError)
loop = graph(a=lambda s: {"n": s["n"] + 1}).add_edge(START, "a").add_edge("a", "a").compile()
tried(lambda: loop.invoke({"n": 0}, {"recursion_limit": 5}), GraphRecursionError)
tried(lambda: loop.invoke({"n": 0}, {"recursion_limit": 0}), ValueError)


def cancels(state):
    raise asyncio.CancelledError


alone = graph(a=cancels).add_edge(START, "a").compile(checkpointer=InMemorySaver())
tried(lambda: alone.invoke({"n": 0}, {"configurable": {"thread_id": "0"}}), Exception)
tried(lambda: asyncio.run(alone.ainvoke({"n": 0}, {"configurable": {"thread_id": "1"}})), Exception)
print(alone.get_state({"configurable": {"thread_id": "1"}}).next)
two = graph(a=lambda s: {"n": 1}, b=lambda s: {"n": 2}).add_edge(START, "a").add_edge(START, "b").compile()
tried(lambda: two.invoke({"n": 0}), InvalidUpdateError)
tried(lambda: graph(a=lambda s: 5).add_edge(START, "a").compile().invoke({"n": 0}), InvalidUpdateError)


class Broken(Exception):
    pass


left = [2]


def fails(state):
    if left[0]:
        left[0] -= 1
        raise Broken(f"{left[0]} to go")
    return {"n": 7}


c = {"configurable": {"thread_id": "1"}}
app = graph(a=lambda s: {"log": ["a"]}, b=fails).add_edge(START, "a").add_edge("a", "b").compile(checkpointer=InMemorySaver())
tried(lambda: app.invoke({"n": 0}, c), Broken)
print(app.get_state(c).next, app.get_state(c).values)
tried(lambda: app.invoke(None, c), Broken)
print(app.invoke(None, c))

left[0] = 2
once = StateGraph(State).add_node("b", fails, retry_policy=RetryPolicy(max_attempts=3, initial_interval=0.01, retry_on=Broken))
print(once.add_edge(START, "b").compile().invoke({"n": 0}))

runs = []
slow = StateGraph(State).add_node("a", lambda s: runs.append(1) or {"log": [s["n"]]}, cache_policy=CachePolicy())
cached = slow.add_edge(START, "a").compile(cache=InMemoryCache())
print([cached.invoke({"n": n}) for n in (1, 1, 2)], len(runs))
