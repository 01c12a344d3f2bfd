# beside.py - what works beside what: nodes of one superstep meet (each waits for the others, so they would wait
# for ever one after the other), asynchronous ones on the loop of who awaits the run; a stream shows what a
# node says while the node waits for that; a node that its step has ended without is left alone; and a run that is
# left, or canceled, ends where it is.
import asyncio
import operator
import queue
import tempfile
import threading
from typing import Annotated, TypedDict

from pons.checkpoint.memory import InMemorySaver
from pons.checkpoint.sqlite import SqliteSaver
from pons.config import get_stream_writer
from pons.func import entrypoint, task
from pons.graph import START, StateGraph
from pons.graph._board import pool
from pons.types import Command, RetryPolicy, Send, interrupt

LONG = 120  # seconds until a test that hangs is a test that fails


class State(TypedDict):
    n: int
    log: Annotated[list, operator.add]


def wide(*nodes, **more):
    g = StateGraph(State)
    for name, fn in nodes:
        g.add_node(name, fn, **more).add_edge(START, name)
    return g


def config(name="t"):
    return {"configurable": {"thread_id": name}}


def nodes_meet():
    door = threading.Barrier(3)

    def meets(name):
        def node(state):
            door.wait(LONG)
            return {"log": [name]}

        return name, node

    app = wide(meets("c"), meets("a"), meets("b")).compile()
    assert app.invoke({"n": 0})["log"] == ["a", "b", "c"]  # what they write is in the order of their names

    def each(arg):
        door.wait(LONG)
        return {"log": [arg]}

    g = StateGraph(State).add_node("each", each)
    g.add_conditional_edges(START, lambda s: [Send("each", i) for i in range(3)], ["each"])
    assert g.compile().invoke({"n": 0})["log"] == [0, 1, 2]


async def loops_meet():
    came, app = {n: asyncio.Event() for n in "ab"}, None
    here = asyncio.get_running_loop()

    def meets(name, other):
        async def node(state):
            assert asyncio.get_running_loop() is here
            came[name].set()
            await asyncio.wait_for(came[other].wait(), LONG)
            get_stream_writer()(name)
            return {"log": [name]}

        return name, node

    app = wide(meets("a", "b"), meets("b", "a")).compile()
    assert (await app.ainvoke({"n": 0}))["log"] == ["a", "b"]
    for event in came.values():
        event.clear()
    assert sorted([e async for e in app.astream({"n": 0}, stream_mode="custom")]) == ["a", "b"]
    inner = wide(("one", lambda s: {"log": ["one"]})).compile()  # more at once than any pool of threads has

    async def calls(state):
        return {"log": (await inner.ainvoke({"n": 0}))["log"]}

    outer = wide(("calls", calls)).compile()
    assert all(r["log"] == ["one"] for r in await asyncio.gather(*(outer.ainvoke({"n": 0}) for _ in range(50))))


def what_they_ask():
    """Questions, tasks and retries of nodes that are side by side."""
    tries = []

    @task
    def doubled(n):
        return 2 * n

    def asks(state):
        return {"log": [interrupt("a?")]}

    def asks_too(state):
        got = doubled(state["n"]).result()
        return {"log": [got, interrupt("b?")]}

    def fails_first(state):
        tries.append(1)
        if len(tries) == 1:
            raise ConnectionError
        return Command(update={"log": ["tried"]})

    app = wide(("a", asks), ("b", asks_too), ("c", fails_first), retry_policy=RetryPolicy(initial_interval=0.001)).compile(checkpointer=InMemorySaver())
    asked = {i.value: i.id for i in app.invoke({"n": 4}, config())["__interrupt__"]}
    assert sorted(asked) == ["a?", "b?"] and len(tries) == 2, (asked, tries)
    assert app.invoke(Command(resume={asked["a?"]: "A", asked["b?"]: "B"}), config())["log"] == ["A", 8, "B", "tried"]
    assert len(tries) == 2


def one_fails():
    ran = []

    def good(state):
        ran.append("good")
        return {"log": ["good"]}

    def bad(state):
        ran.append("bad")
        if ran.count("bad") == 1:
            raise OSError("first")
        return {"log": ["bad"]}

    def worse(state):
        ran.append("worse")
        if ran.count("worse") == 1:
            raise KeyError("second")

    with tempfile.TemporaryDirectory() as folder, SqliteSaver(f"{folder}/f.db") as keep:
        app = wide(("good", good), ("bad", bad), ("worse", worse)).compile(checkpointer=keep)
        try:
            app.invoke({"n": 0}, config())
            raise AssertionError
        except OSError as e:  # the first in the order of tasks
            assert str(e) == "first"
        assert app.invoke(None, config())["log"] == ["bad", "good"]
        assert ran.count("good") == 1, ran


def shown_while_at_work():
    for mode in ("custom", ["updates", "custom"]):
        seen = threading.Event()

        def says(state, writer):
            writer("begun")
            assert seen.wait(LONG)
            writer("ended")
            return {"log": ["said"]}

        got = []
        for e in wide(("says", says)).compile().stream({"n": 0}, stream_mode=mode):
            got.append(e if mode == "custom" else e[1])
            if got == ["begun"]:
                seen.set()
        assert got[:2] == ["begun", "ended"], got

    @task
    def work(seen):
        get_stream_writer()("begun")
        assert seen_by_task.wait(LONG)
        return 1

    seen_by_task = threading.Event()

    @entrypoint()
    def flow(n):
        return work(n).result()

    for e in flow.stream(1, stream_mode="custom"):
        seen_by_task.set()


def handed_off():
    """A node goes to the graph around while another one of its step is at work, five times: who is lone then is run."""
    ran, doors = [], []

    def tried(what, tells):
        try:
            tells.put(what("late"))
        except RuntimeError as e:
            tells.put(e)

    def hub(state):
        ran.append(f"hub{state['n']}")
        for door, _ in doors[-1:]:  # who was left behind asks now, with the engine at work elsewhere
            door.set()
        return Command(update={"n": state["n"] + 1}, goto="sub" if state["n"] < 5 else "__end__")

    def entry(state):
        ran.append("entry")
        doors.append((threading.Event(), queue.SimpleQueue()))

    begun = threading.Semaphore(0)

    def a(state):
        ran.append("a")
        assert all(begun.acquire(timeout=LONG) for _ in "bcd")
        return Command(graph=Command.PARENT, goto="hub", update={"log": ["a"]})

    def b(state, writer):
        door, tells = doors[-1]
        begun.release()
        assert door.wait(LONG)
        tried(writer, tells)
        tried(interrupt, tells)
        return {"log": ["b"]}

    def c(state):
        door, tells = doors[-1]
        begun.release()
        assert door.wait(LONG)
        tried(lambda v: get_stream_writer()(v), tells)
        return {"log": ["c"]}

    async def d(state):
        door, tells = doors[-1]
        writer = get_stream_writer()
        begun.release()
        try:
            assert await asyncio.to_thread(door.wait, LONG)
        finally:  # also of the last one, which its loop cancels
            tried(writer, tells)
        return {"log": ["d"]}

    sub = StateGraph(State)
    for name, fn in (("a", a), ("b", b), ("c", c), ("d", d)):
        sub.add_node(name, fn).add_edge("entry", name)
    sub.add_node("entry", entry).add_edge(START, "entry")
    g = StateGraph(State).add_node("hub", hub).add_node("sub", sub.compile()).add_edge(START, "hub")
    want = [x for n in range(5) for x in (f"hub{n}", "entry", "a")] + ["hub5"]

    def looked_at(log):
        assert ran == want and log == ["a"] * 5, (ran, log)
        for _, tells in doors:  # b's two, c's, d's
            said = [tells.get(timeout=LONG) for _ in range(4)]
            assert all(isinstance(x, RuntimeError) for x in said), said
        ran.clear()
        doors.clear()

    for saver in (None, InMemorySaver()):
        app = g.compile(checkpointer=saver)
        looked_at(app.invoke({"n": 0, "log": []}, config())["log"])
        got = list(app.stream({"n": 0, "log": []}, config("s"), stream_mode=["custom", "values"]))
        assert not [e for e in got if e[0] == "custom"], got
        looked_at(got[-1][1]["log"])
        looked_at(asyncio.run(app.ainvoke({"n": 0, "log": []}, config("a")))["log"])


def so_many():
    """max_concurrency: of nodes and of tasks no more are at work at once; what those call has room beside them."""
    lock, at_work, most, door = threading.Lock(), [0], [0], threading.Barrier(2)

    def busy():
        with lock:
            at_work[0] += 1
            most[0] = max(most[0], at_work[0])
        door.wait(LONG)  # so two are
        with lock:
            at_work[0] -= 1

    @task
    def leaf(n):
        return n

    @task
    def middle(n):
        return leaf(n).result()

    @task
    def works(n):
        busy()
        return middle(n).result()

    def each(n):
        busy()
        return {"log": [leaf(n).result()]}

    @entrypoint()
    def flow(n):
        return [f.result() for f in [works(i) for i in range(n)]]

    g = StateGraph(State).add_node("each", each)
    g.add_conditional_edges(START, lambda s: [Send("each", i) for i in range(8)], ["each"])
    assert g.compile().invoke({"n": 0}, {"max_concurrency": 2})["log"] == list(range(8))
    assert flow.invoke(8, {"max_concurrency": 2}) == list(range(8))
    assert most == [2] and at_work == [0], (most, at_work)

    def bad(n):
        door.wait(LONG)
        raise ValueError("one")

    def slow(n):
        door.wait(LONG)
        return {"log": [n]}

    # What waits for a place when its step ends without it gives none back.
    retried = StateGraph(State).add_node("bad", bad).add_node("slow", slow).add_node("each", each)
    retried.add_conditional_edges(START, lambda s: [Send("slow", 0), Send("bad", 0), *[Send("each", i) for i in range(6)]], ["bad", "slow", "each"])
    app = retried.compile(checkpointer=InMemorySaver())
    try:
        app.invoke({"n": 0}, {**config("p"), "max_concurrency": 2})
    except ValueError:
        assert not at_work[0], at_work
    else:
        raise AssertionError("it did not fail")


def no_thread():
    """Where the system has no thread for a node, that node fails."""
    start = threading.Thread.start

    def none(thread):
        raise RuntimeError("can't start new thread")

    @task
    def doubled(n):
        return 2 * n

    def calls(state):
        return {"log": [doubled(1).result()]}

    for app in (wide(*((n, lambda s: {"log": ["ran"]}) for n in "ab")), wide(("calls", calls))):
        app, idle = app.compile(checkpointer=InMemorySaver()), pool.idle
        pool.idle, threading.Thread.start = [], none
        try:
            app.invoke({"n": 0}, config())
            raise AssertionError
        except RuntimeError as e:
            assert str(e) == "can't start new thread"
        finally:
            pool.idle, threading.Thread.start = idle, start
        assert app.invoke(None, config())["log"] in (["ran"] * 2, [2])


def left():
    """A stream that nobody reads on: the superstep at work is the last."""
    ran = []
    g = StateGraph(State).add_sequence([("one", lambda s, writer: writer(1)), ("two", lambda s: ran.append(2))]).add_edge(START, "one")
    app = g.compile(checkpointer=InMemorySaver())
    for mode in ("custom", "updates"):
        for _ in app.stream({"n": 0}, config(mode), stream_mode=mode):
            break
        assert not ran
        app.invoke(None, config(mode))
        assert ran == [2]
        ran.clear()


async def canceled():
    begun, ended = asyncio.Event(), []

    async def long(state):
        begun.set()
        try:
            await asyncio.sleep(LONG)
        finally:
            ended.append(1)

    app = wide(("long", long)).compile(checkpointer=InMemorySaver())
    work = asyncio.create_task(app.ainvoke({"n": 0}, config()))
    await begun.wait()
    work.cancel()
    try:
        await work
        raise AssertionError
    except asyncio.CancelledError:
        assert ended == [1]
    assert (await app.aget_state(config())).next == ("long",)


nodes_meet()
asyncio.run(loops_meet())
what_they_ask()
one_fails()
shown_while_at_work()
handed_off()
so_many()
no_thread()
left()
asyncio.run(canceled())
print("nodes of a superstep meet, streams show what is being said, and what is left ends")
