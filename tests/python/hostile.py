# hostile.py - what must not bring the process down, or a database out of order: exceptions of every kind,
# Ctrl-C while nodes are at work, graphs that are collected while they run, threads, forks, a process that ends
# in a node, and values that nobody expects.
import copy
import gc
import os
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from typing import Any, TypedDict

import pons.graph
from pons.checkpoint.memory import InMemorySaver
from pons.checkpoint.sqlite import SqliteSaver
from pons.func import task
from pons.graph import START, StateGraph
from pons.graph._call import _Live
from pons.store.memory import InMemoryStore


class State(TypedDict):
    v: Any


def graph(*fns):
    g = StateGraph(State)
    for i, fn in enumerate(fns):
        g.add_node(f"n{i}", fn).add_edge(START, f"n{i}")
    return g


def config(name="t"):
    return {"configurable": {"thread_id": name}}


def refused(what, *kinds):
    try:
        what()
    except kinds as e:
        return str(e)
    raise AssertionError("taken")


def values():
    app = graph(lambda s: None).compile(checkpointer=InMemorySaver())
    deep, ring = [], []
    for _ in range(100_000):
        deep = [deep]
    ring.append(ring)
    for v in (deep, ring, {"a": ring}):
        refused(lambda v=v: app.invoke({"v": v}, config()), RecursionError, ValueError)
    refused(lambda: app.invoke({"v": "\ud800"}, config()), UnicodeEncodeError, ValueError)
    for v in (float("nan"), float("-inf"), "x" * 30_000_000, list(range(300_000)), {"\0": "\0"}, "\U0001f916" * 1000, 10**4000, -0.0):
        assert repr(app.invoke({"v": v}, config())["v"]) == repr(v)
    store = InMemoryStore()
    refused(lambda: store.put(("a",), "k", {"v": "\ud800"}), UnicodeEncodeError, ValueError)
    refused(lambda: store.put(("a",), "k", {"v": object()}), TypeError)
    refused(lambda: store.put(("a",), "k", 3), TypeError)
    store.close()
    refused(lambda: store.get(("a",), "k"), ValueError)


class Odd(Exception):
    def __str__(self):
        raise RuntimeError("not even this")


def exceptions():
    for raised in (Odd, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError, RecursionError):

        def ends(state, raised=raised):
            raise raised

        for nodes in ((ends,), (ends, lambda s: None), (lambda s: None, ends, ends)):
            app = graph(*nodes).compile(checkpointer=InMemorySaver())
            try:
                app.invoke({"v": 1}, config())
                raise AssertionError(raised)
            except raised:
                assert app.get_state(config()).values == {"v": 1}


# Ctrl-C: while a node works on this thread, while two work on others, and while a stream is waited for.
PRESSED = """
import os, signal, sys, threading, time
from typing import TypedDict
from pons.checkpoint.sqlite import SqliteSaver
from pons.graph import START, StateGraph
class State(TypedDict):
    n: int
go = threading.Event()
def waits(state):
    os.write(1, b"begun" + os.linesep.encode())
    while not go.is_set():
        time.sleep(0.01)
    return None if sys.argv[2] == "two" else {"n": 2}
g = StateGraph(State).add_node("a", waits).add_edge(START, "a")
if sys.argv[2] == "two":
    g.add_node("b", waits).add_edge(START, "b")
app = g.compile(checkpointer=SqliteSaver(sys.argv[1]))
c = {"configurable": {"thread_id": "t"}}
try:
    if sys.argv[2] == "stream":
        threading.Timer(0.5, go.set).start()
        list(app.stream({"n": 1}, c, stream_mode="custom"))
    else:
        app.invoke({"n": 1}, c)
    print("no end")
except KeyboardInterrupt:
    go.set()
    print("ended", app.get_state(c).values, flush=True)
    print("again", app.invoke(None, c), flush=True)
"""


def pressed():
    with tempfile.TemporaryDirectory() as folder:
        for how in ("one", "two", "stream"):
            p = subprocess.Popen([sys.executable, "-c", PRESSED, f"{folder}/{how}.db", how], stdout=subprocess.PIPE, text=True)
            for _ in range(2 if how == "two" else 1):
                assert p.stdout.readline() == "begun\n"
            p.send_signal(signal.SIGINT)
            rest = [line for line in p.stdout.read().splitlines() if line != "begun"]
            there = 2 if how == "stream" else 1  # the superstep at work is the last one
            assert p.wait() == 0 and rest[0] == f"ended {{'n': {there}}}" and rest[1].startswith("again {'n': "), (how, rest)


def pressed_between():
    """Ctrl-C where no node is at work: as C calls back, at each of its calls in turn."""
    ours = os.path.dirname(pons.graph.__file__)

    @task
    def twice(n):
        return 2 * n

    def calls(state):
        return {"v": twice(1).result()}

    g = graph(lambda s, writer: writer(1), lambda s: None)
    g.add_node("calls", calls).add_edge("n0", "calls").add_conditional_edges("calls", lambda s: "__end__")
    app, at, names = g.compile(checkpointer=InMemorySaver()), 0, set()
    while True:
        at, left = at + 1, at

        def traced(frame, event, arg):
            nonlocal left
            code = frame.f_code
            if code.co_filename.startswith(ours) and code.co_name.split("_")[0] in ("run", "begin", "drop", "take"):
                left -= 1
                if left == -1:
                    names.add(code.co_name)
                    raise KeyboardInterrupt

        sys.settrace(traced)
        try:
            app.invoke({"v": 0}, config(str(at)), stream_mode="updates")
            break
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        app.invoke({"v": 0}, config(str(at)))
    assert left >= 0 and names >= {"run_node", "begin_node", "run_router", "take_event"}, (left, names)


def pressed_at_the_end():
    """Ctrl-C as the last event of a superstep has been taken and not looked at."""

    class Late(_Live):
        def get(self):
            got = super().get()
            if not isinstance(got, tuple):
                raise KeyboardInterrupt
            return got

    before, pons.graph._call._Live = pons.graph._call._Live, Late
    try:
        refused(lambda: list(graph(lambda s: None).compile().stream({"v": 0}, stream_mode="custom")), KeyboardInterrupt)
    finally:
        pons.graph._call._Live = before


def closed():
    """A store that is closed while a run uses it ends with the run; after that it refuses."""

    def ends(state):
        keep.close()
        return {"v": 2}

    def half():
        events = graph(lambda s: {"v": 2}).compile(checkpointer=keep).stream({"v": 1}, config())
        next(events)
        keep.close()
        return events

    with tempfile.TemporaryDirectory() as folder:
        for make in (InMemorySaver, lambda: SqliteSaver(f"{folder}/c.db")):
            keep = make()
            app = graph(ends, lambda s: None).compile(checkpointer=keep)
            assert app.invoke({"v": 1}, config(), durability="sync") == {"v": 2}
            keep.close()
            for asks in (lambda: app.invoke({"v": 1}, config()), lambda: app.get_state(config()), lambda: [*app.get_state_history(config())],
                         lambda: app.update_state(config(), {"v": 3}), lambda: keep.get_tuple(config()), lambda: [*keep.list(config())],
                         lambda: keep.delete_thread("t")):  # fmt: skip
                assert refused(asks, ValueError) == "the checkpointer is closed"
            keep = make()
            events = half()
            del events
            gc.collect()
            keep = make()
            assert not list(half())  # the rest of it


def copied():
    app = graph(lambda s: {"v": s["v"] + 1}).compile()
    for how in (copy.copy, copy.deepcopy):
        made, known = how(app), weakref.ref(app)
        assert made.invoke({"v": 1}) == {"v": 2}
    del app
    gc.collect()
    assert known() is not None and made.invoke({"v": 1}) == {"v": 2}  # it is of that one


def names():
    """A NUL ends a name in C: nobody reads another one's thread or item by it."""
    keep, store = InMemorySaver(), InMemoryStore()
    app = graph(lambda s: None).compile(checkpointer=keep)
    app.invoke({"v": 1}, config("alice"))
    store.put(("a",), "k", {"v": 1})
    for asks in (lambda: app.invoke({"v": 2}, config("alice\0x")), lambda: app.get_state(config("alice\0x")), lambda: keep.delete_thread("alice\0x"),
                 lambda: keep.get_tuple(config("alice\0x")), lambda: store.put(("a",), "k\0x", {"v": 2}), lambda: store.get(("a",), "k\0x"),
                 lambda: store.delete(("a",), "k\0x"), lambda: graph().add_node("a\0b", print), lambda: StateGraph(TypedDict("T", {"a\0": int})).compile(),
                 lambda: app.update_state(config("alice"), {"v": 2}, "n0\0"), lambda: SqliteSaver("a\0b")):  # fmt: skip
        assert "NUL" in refused(asks, ValueError)
    assert app.get_state(config("alice")).values == {"v": 1} and store.get(("a",), "k").value == {"v": 1}
    refused(lambda: app.invoke({"v": 1}, config(), durability="never"), ValueError)


def collected():
    app = graph(lambda s, writer: writer(1), lambda s, writer: writer(2)).compile()
    events = app.stream({"v": 1}, stream_mode="custom")
    next(events)
    known = weakref.ref(app)
    del app
    gc.collect()
    assert known() is not None  # the run has it
    list(events)
    del events
    gc.collect()
    assert known() is None
    for _ in range(200):  # half read, and forgotten
        next(graph(lambda s: {"v": 2}).compile().stream({"v": 1}))
    gc.collect()


def threads():
    with tempfile.TemporaryDirectory() as folder, SqliteSaver(f"{folder}/t.db") as keep:
        app, failed = graph(lambda s: {"v": s["v"] + 1}, lambda s: None).compile(checkpointer=keep), []

        def run(name):
            try:
                for _ in range(20):
                    assert app.invoke({"v": 1}, config(name))["v"] == 2
            except BaseException as e:
                failed.append(e)

        some = [threading.Thread(target=run, args=(str(i),)) for i in range(8)]
        for t in some:
            t.start()
        for t in some:
            t.join()
        assert not failed, failed


def forks():
    def pair():
        return graph(lambda s: {"v": s["v"] + 1}, lambda s: None)

    with tempfile.TemporaryDirectory() as folder:
        pair().compile(checkpointer=InMemorySaver()).invoke({"v": 1}, config())  # its threads are not the child's
        child = os.fork()
        if child == 0:
            signal.alarm(120)
            with SqliteSaver(f"{folder}/c.db") as keep:
                os._exit(0 if pair().compile(checkpointer=keep).invoke({"v": 1}, config())["v"] == 2 else 1)
        assert os.waitpid(child, 0)[1] == 0


# A process that ends inside a node that has a sibling: what the sibling wrote and what came before is there, or
# is done again; nothing is there twice.
GONE = """
import operator, os, sys
from typing import Annotated, TypedDict
from pons.checkpoint.sqlite import SqliteSaver
from pons.graph import START, StateGraph
class State(TypedDict):
    log: Annotated[list, operator.add]
def dies(state):
    if sys.argv[2] == "die":
        os._exit(9)
    return {"log": ["lives"]}
g = StateGraph(State).add_node("first", lambda s: {"log": ["first"]}).add_node("dies", dies).add_node("sibling", lambda s: {"log": ["sibling"]})
g.add_edge(START, "first").add_edge("first", "dies").add_edge("first", "sibling")
app = g.compile(checkpointer=SqliteSaver(sys.argv[1]))
c = {"configurable": {"thread_id": "t"}}
print(app.invoke(None if sys.argv[2] == "live" else {"log": ["in"]}, c, durability="sync")["log"])
"""


def gone():
    with tempfile.TemporaryDirectory() as folder:
        ends = [subprocess.run([sys.executable, "-c", GONE, f"{folder}/g.db", how], capture_output=True, text=True) for how in ("die", "live")]
        assert [e.returncode for e in ends] == [9, 0], ends
        assert ends[1].stdout == "['in', 'first', 'lives', 'sibling']\n", ends[1].stdout


for part in (values, exceptions, pressed, pressed_between, pressed_at_the_end, closed, copied, names, collected, threads, forks, gone):
    part()
    print(f"{part.__name__}: as it should be", flush=True)
