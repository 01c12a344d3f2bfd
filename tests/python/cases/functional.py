# The functional form: tasks side by side, what waits, what is kept, what is shown.
import asyncio
import operator
import threading
from typing import Annotated, TypedDict

from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph
from langgraph.types import CachePolicy, Command, RetryPolicy, interrupt

ran = []


def config(name):
    return {"configurable": {"thread_id": name}}


@task
def slow(n: int) -> int:
    ran.append(n)
    return n * 2


@entrypoint(checkpointer=InMemorySaver())
def doubles(numbers: list[int]) -> list[int]:
    futures = [slow(n) for n in numbers]
    return [f.result() for f in futures]


print(doubles.invoke([1, 2, 3], config("a")), sorted(ran))
print(doubles.get_state(config("a")).values, doubles.get_state(config("a")).next)
print([list(e) for e in doubles.stream([5], config("b"))])
print(list(doubles.stream([5], config("c"), stream_mode="values")))
print(list(doubles.stream([5], config("d"), stream_mode=["updates", "values"])))

# Side by side: neither ends before the other one has begun.
both = threading.Barrier(2, timeout=20)


@task
def meets(n):
    both.wait()
    return n


@entrypoint()
def met(n):
    a, b = meets(n), meets(n + 1)
    return a.result(), b.result()


print(met.invoke(1))

# The page's example: an essay that a person reviews.
calls = []


@task
def write_essay(topic: str) -> str:
    calls.append(topic)
    return f"An essay about topic: {topic}"


@entrypoint(checkpointer=InMemorySaver())
def workflow(topic: str) -> dict:
    essay = write_essay(topic).result()
    approved = interrupt({"essay": essay, "action": "Please approve/reject the essay"})
    return {"essay": essay, "is_approved": approved}


for e in workflow.stream("cat", config("w")):
    print({k: v if k != "__interrupt__" else [i.value for i in v] for k, v in e.items()})
print(workflow.get_state(config("w")).next, [i.value["action"] for i in workflow.get_state(config("w")).tasks[0].interrupts])
print(list(workflow.stream(Command(resume=True), config("w"))), calls)
asked = workflow.invoke("dog", config("x"))
print(list(asked), asked["__interrupt__"][0].value["essay"])
print(workflow.invoke(Command(resume=False), config("x")), calls)


# A question inside a task.
@task
def human_feedback(query):
    said = interrupt(f"Please provide feedback: {query}")
    return f"{query} {said}"


@task
def step(text):
    calls.append(text)
    return f"{text} bar"


@entrypoint(checkpointer=InMemorySaver())
def graph(query):
    one = step(query).result()
    two = human_feedback(one).result()
    return step(two).result()


for e in graph.stream("foo", config("h")):
    print(e if "__interrupt__" not in e else [i.value for i in e["__interrupt__"]])
print(list(graph.stream(Command(resume="baz"), config("h"))))
print(calls)


# What was saved for the next time.
@entrypoint(checkpointer=InMemorySaver())
def count(n: int, *, previous=None):
    return entrypoint.final(value=(n, previous), save=n + (previous or 0))


print(count.invoke(1, config("p")), count.invoke(2, config("p")), count.invoke(3, config("p")))


@entrypoint(checkpointer=InMemorySaver())
def last(n, *, previous):
    return n if previous is None else n + previous


print(last.invoke(1, config("p")), last.invoke(2, config("p")), last.invoke(3, config("p")))

# Failures, retries, caches.
tries = []


@task(retry_policy=RetryPolicy(max_attempts=3, initial_interval=0.001, jitter=False, retry_on=ValueError))
def flaky():
    tries.append(1)
    if len(tries) < 3:
        raise ValueError("not yet")
    return "at last"


@task
def breaks(n):
    tries.append(n)
    raise KeyError(n)


@entrypoint(checkpointer=InMemorySaver())
def retried(_):
    return flaky().result()


print(retried.invoke("", config("r")), len(tries))


@entrypoint(checkpointer=InMemorySaver())
def caught(n):
    try:
        breaks(n).result()
    except KeyError as e:
        return f"caught {e}", slow(n).result()


print(caught.invoke(7, config("k")))


@entrypoint(checkpointer=InMemorySaver())
def fails(n):
    a = slow(n).result()
    return breaks(a).result()


ran.clear()
tries.clear()
for given in (9, None):
    try:
        fails.invoke(given, config("f"))
    except KeyError as e:
        print("raised", e, ran, tries)


@task(cache_policy=CachePolicy())
def costly(n):
    ran.append(n)
    return n + 1


@entrypoint(cache=InMemoryCache())
def cached(n):
    return costly(n).result()


ran.clear()
print(cached.invoke(1), cached.invoke(1), cached.invoke(2), ran)


# Parameters, writers, tasks of tasks, names, keywords.
@task(name="named")
def inner(a, *, b=1):
    get_stream_writer()({"a": a})
    return a + b


@task
def outer(a):
    return inner(a, b=2).result() + inner(a).result()


@entrypoint(checkpointer=InMemorySaver())
def many(a, *, writer, config):
    writer({"began": config["configurable"]["thread_id"]})
    return outer(a).result()


print(list(many.stream(1, config("m"), stream_mode=["custom", "updates"])))


# Asynchronous.
@task
async def soon(n):
    await asyncio.sleep(0)
    return n * 10


@entrypoint(checkpointer=InMemorySaver())
async def later(numbers):
    return await asyncio.gather(*(soon(n) for n in numbers))


print(asyncio.run(later.ainvoke([1, 2], config("z"))))


async def shown():
    return [e async for e in later.astream([3], config("y"))]


print(asyncio.run(shown()))


# A task that is made while the entrypoint runs, one in a table, and tasks that a node of a graph calls.
table = {"slow": slow}


@entrypoint()
def local(n):
    @task
    def here(x):
        return x + n

    return here(1).result() + table["slow"](n).result() + here(2).result()


print(local.invoke(10))


class State(TypedDict):
    n: int
    all: Annotated[list, operator.add]


def calls_tasks(state: State):
    return {"all": [f.result() for f in [slow(state["n"]), slow(state["n"] + 1)]]}


built = StateGraph(State).add_node("calls", calls_tasks).add_edge(START, "calls").compile(checkpointer=InMemorySaver())
print(built.invoke({"n": 1}, config("s")))
print(sorted(str(e) for e in built.stream({"n": 4}, config("s"))))  # whichever task ends first


# A subgraph's nodes call tasks, of whose names the graph around has others; one asks after what its task gave.
@task(name="slow")
def other(n):
    return n * 100


@task
def nested(n):
    return slow(n).result() + 1


def within(state: State):
    got = [nested(state["n"]).result(), slow(state["n"]).result()]
    return {"all": [*got, interrupt("go on?")]}


def beside_it(state: State):
    return {"all": [other(state["n"]).result()]}


sub = StateGraph(State).add_node("within", within).add_edge(START, "within").compile()
around = StateGraph(State).add_node("sub", sub).add_node("beside_it", beside_it).add_node("last", beside_it)
around.add_edge(START, "sub").add_edge(START, "beside_it").add_edge("sub", "last")
app = around.compile(checkpointer=InMemorySaver())
ran.clear()
print("__interrupt__" in app.invoke({"n": 3}, config("sub")), ran)
print(app.invoke(Command(resume="yes"), config("sub"))["all"], ran)

# With a config of its own.
mine = doubles.with_config({"configurable": {"thread_id": "mine"}, "tags": ["t"]})
print(mine.invoke([4]), mine.get_state({"configurable": {}}).values, list(mine.stream([1])))
same = built.with_config(config("own"))
print(same.invoke({"n": 2}), same.get_state({"configurable": {}}).next, len(same.get_graph().draw_mermaid()) > 10)
for wrong in (lambda: slow(1), lambda: entrypoint()(lambda: 1)):
    try:
        wrong()
        print("nothing was said")
    except Exception as e:
        print(type(e).__name__)
