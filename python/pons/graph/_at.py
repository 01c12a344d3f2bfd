"""A node, a task or an entrypoint at work.

C has one function for each kind of call, and a number for each Python thing (../_things.py). An exception
stays in the call (`call.failed`) and is raised again where the run was started; C gets its line. Nothing
is raised through C.
"""

import asyncio
import concurrent.futures
import functools
import inspect
import threading
import time
import uuid
import warnings

from .._library import NULL, PARKED, ffi, lib, new_error, python, raised, value
from .._now import at as current
from .._now import now, stack
from ..constants import INTERRUPT, OVERWRITE
from ..errors import GraphInterrupt, InvalidUpdateError, NodeCancelledError, NodeTimeoutError
from ..runtime import Runtime
from .message import from_wire, to_wire, written


def line_of(exc):
    """An exception as the engine keeps it."""
    try:
        text = f"{type(exc).__name__}: {exc}"
    except Exception:
        text = type(exc).__name__
    return text.split("\n")[0].replace("\0", "")[:200].encode(errors="replace").decode()


def fail(err, exc):
    """Keeps the exception and tells C of it."""
    text = line_of(exc)
    if stack.calls:
        call = stack.calls[-1]
        call.failed = call.failures[text] = exc
    lib.pons_error_set(err, lib.PONS_EINVAL, b"python", b"%s", ffi.new("char[]", text.encode()))
    return lib.PONS_EINVAL


def lost(kind, exc, trace):
    """What a callback of C raised outside of its own `try`: Ctrl-C, as it began. The run ends with it."""
    if stack.calls:
        call = stack.calls[-1]
        call.failed = call.pressed = exc


callback = functools.partial(ffi.callback, onerror=lost)


def overwrites(v):
    """A write that takes a reducer's place: `Overwrite(value)`, or the dict of it."""
    return type(v).__name__ == "Overwrite" or (isinstance(v, dict) and list(v) == [OVERWRITE])


class At:
    """A node at work on the engine's own thread. Threads that it started itself may stream as well."""

    inner = None  # the namespace of graphs that it runs
    tasks = {}  # what its graph has, by name; only who has a thread of its own calls them

    def __init__(self, cx, node, call):
        self.cx, self.node, self.call, self.lock, self.over = cx, node, call, threading.Lock(), False

    def on_loop(self, what):
        """What asks something of the engine: here nobody else does, but the node's own threads."""
        with self.lock:
            if self.over:
                raise self.too_late()
            return what()

    def too_late(self):
        return RuntimeError(f"'{self.node.name}' has ended: it can't stream or ask any more")

    def beat(self):
        """A sign of life, for who must not be idle (TimeoutPolicy)."""
        self.moved = time.monotonic()

    def end(self):
        with self.lock:
            self.over = True

    def write(self, v):
        made = value(v)
        self.beat()
        self.on_loop(lambda: lib.pons_cx_custom(self.cx, made))

    def show(self, ns, mode, text, graph):
        """What a graph shows that this node runs: below it, as a subgraph's."""
        if self.inner is None:
            mine = self.on_loop(lambda: ffi.string(lib.pons_cx_ns(self.cx)).decode())
            self.inner = f"{mine}|{self.node.name}:{uuid.uuid4().hex[:16]}".lstrip("|")
        self.call.events.append((f"{self.inner}|{ns}" if ns else self.inner, mode, text, graph))

    def say(self, chunk, metadata):
        made, more = value(to_wire(chunk)), value(metadata)
        self.on_loop(lambda: lib.pons_cx_message(self.cx, made, more))

    def interrupt(self, v):
        return self.on_loop(lambda: self._interrupt(v))

    def _interrupt(self, v):
        ret, err = ffi.new("pons_value **"), new_error()
        rc = lib.pons_interrupt(self.cx, value(v), ret, err)
        if rc == PARKED:
            raise GraphInterrupt
        if rc < 0:
            raise raised(err)
        return python(ret[0])

    def config_of(self, config):
        """A config with where its node is."""
        step, node = self.on_loop(lambda: (lib.pons_cx_superstep(self.cx), ffi.string(lib.pons_cx_node(self.cx)).decode()))
        thread = {k: v for k, v in (config.get("configurable") or {}).items() if k == "thread_id"}
        more = {**thread, **(getattr(self.node, "metadata", None) or {}), "langgraph_step": step, "langgraph_node": node}
        return {**config, "metadata": {**(config.get("metadata") or {}), **more}}

    def runtime(self):
        return Runtime(context=self.call.context, stream_writer=self.write, store=self.call.graph.items, heartbeat=self.beat)

    def read(self, names, channels, seen):
        """{channel: value} of those that have one."""
        state = {}
        for name, key in names:
            v = lib.pons_cx_get(self.cx, key)
            if v == NULL:
                if channels[name].initial is not None:
                    state[name] = channels[name].empty()
                continue
            known = seen.get(name)
            if known is not None and known[0] == v:
                state[name] = known[1]
                continue
            made = python(v)
            if channels[name].messages:
                made = from_wire(made)
            self.call.remember(name, lib.pons_value_ref(v), made)
            state[name] = made
        return state

    def put(self, name, v, channels):
        channel = channels.get(name)
        if channel is None and name == INTERRUPT:  # of a graph that it called, whose result it returns
            return
        if channel is None:
            warnings.warn(f"the node '{self.node.name}' writes '{name}', and the graph has no such channel: it is ignored", stacklevel=2)
            return
        if channel.managed:  # the engine's own; a node may return its whole state
            return
        if channel.messages:
            c = value(written(v))
        else:
            if channel.listed and not isinstance(v, list) and not overwrites(v):
                raise TypeError(f"'{name}' takes lists, not {type(v).__name__}")
            c = value(v)
            if channel.kind == lib.PONS_CHANNEL_LAST:  # the next node reads this very object
                self.call.remember(name, lib.pons_value_ref(c), v)
        rc = lib.pons_cx_put(self.cx, name.encode(), c)
        if rc < 0:
            raise InvalidUpdateError(f"'{name}' can't be written: {ffi.string(lib.pons_status_word(rc)).decode()}")


def timed(name, fn, policy):
    """An asynchronous node that may take so long in all, or so long without a sign of life."""
    if not inspect.iscoroutinefunction(fn):
        raise ValueError(f"a timeout is for a node that is asynchronous, which '{name}' is not")

    @functools.wraps(fn)
    async def within(*args, **kwargs):
        at, work, begun = now(), asyncio.ensure_future(fn(*args, **kwargs)), time.monotonic()
        at.moved = begun
        try:
            while True:
                here = time.monotonic()
                ends = [(kind, since + limit) for kind, since, limit in (("run", begun, policy.run_timeout), ("idle", at.moved, policy.idle_timeout)) if limit]
                kind, end = min(ends, key=lambda e: e[1])
                if here >= end:
                    raise NodeTimeoutError(name, here - begun, kind=kind, run_timeout=policy.run_timeout, idle_timeout=policy.idle_timeout)
                await asyncio.wait([work], timeout=end - here)
                if work.done():
                    return work.result()
        finally:
            if not work.done():
                work.cancel()
                await asyncio.wait([work])

    return within


def canceled(node, exc, call):
    """exc, or what it is where nobody has canceled the run."""
    if call.stop is not None and call.stop.asked:
        return exc
    made = NodeCancelledError(node.name)
    made.__cause__ = exc
    return made


async def _wait(made, limit):
    return await (made if limit is None else asyncio.wait_for(made, limit))


_THERE = frozenset((dict, list, tuple, str, bool, int, type(None)))  # not to be waited for, as is seen at once


def waited(made, call, future=None):
    """What a function gave, or what it awaits gives: on the loop of who called ainvoke or astream, else on one of its own."""
    if type(made) in _THERE:
        return made
    if not inspect.isawaitable(made):
        return made
    made = _wait(made, getattr(call.graph, "step_timeout", None))
    if call.loop is None:
        return asyncio.run(made)
    task = asyncio.run_coroutine_threadsafe(made, call.loop)
    call.stop.add(task)
    for one in (future, current.get()):
        if hasattr(one, "works"):
            one.works(task)
    try:
        return task.result()
    except concurrent.futures.CancelledError as exc:  # what the loop's own is called on this side
        raise asyncio.CancelledError(*exc.args) from exc
