"""Runs of a compiled graph: invoke, stream, state, history, updates."""

import asyncio
import collections
import contextvars
import datetime
import queue
import threading
import uuid

from .. import _codec
from .._library import NULL, Names, check, ffi, lib, new_error, python, raised, taken, unref, value
from .._now import stack
from ..constants import INTERRUPT
from ..errors import EmptyInputError, InvalidUpdateError
from .._things import handle, pointer, release
from ..types import Command, Interrupt, PregelTask, Send, StateSnapshot
from . import _calls, _tokens
from ._beside import Stop, beside, on_thread, running
from ._board import Board
from .message import from_wire, to_wire

_MODES = ("values", "updates", "messages", "custom", "tasks", "checkpoints", "debug")
_DURABILITY = {"async": "PONS_DURABILITY_ASYNC", "sync": "PONS_DURABILITY_SYNC", "exit": "PONS_DURABILITY_EXIT"}


SKIP = object()  # an event that is not shown


def _iso(ms):
    return datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc).isoformat()


def _interrupts(found):
    return tuple(Interrupt(value=i["value"], id=i["id"]) for i in found)


class Call:
    """One run under way: what its nodes find, and what it has streamed."""

    def __init__(self, graph, config, context, stream):
        self.graph, self.config, self.context, self.failed, self.unknown = graph, config, context, None, None
        self.live = "messages" in stream or "custom" in stream  # what nodes say is shown while they work
        self.events, self.seen = _Live() if self.live else collections.deque(), {}
        self.keep, self.failures, self.begun = [], {}, {}
        self.loop, self.stop = running()
        self.stop = self.stop or (Stop() if self.live else None)
        self.tokens = _tokens.of(self, "messages" in stream)
        self.board = Board(self)
        self.left, self.working, self.last = threading.Lock(), False, None

    def remember(self, name, ref, made):
        """ref is a reference of our own, so the pointer means this value as long as it is known."""
        old = self.seen.get(name)
        self.seen[name] = (ref, made)
        if old is not None:
            unref(old[0])

    def __enter__(self):  # while the engine is at it: what it calls back finds it
        stack.calls.append(self)

    def __exit__(self, *_):
        stack.calls.pop()

    def over(self, what):
        """what ends the run: now, or by the thread that is still at work for it."""
        with self.left:
            if self.working:
                self.last = what
                return
        what()

    def forget(self):
        for ref, _ in self.seen.values():
            unref(ref)
        self.seen = {}


class _Live(queue.SimpleQueue):
    """Events for another thread."""

    append = queue.SimpleQueue.put

    def popleft(self):
        return self.get_nowait()

    def __bool__(self):
        return not self.empty()


class Runs:
    """What a CompiledStateGraph does once the engine has it."""

    learns = False  # tasks that it has not been compiled with
    items = None  # the store of what outlives threads

    # ---- configuration

    def with_config(self, config=None, **more):
        made = object.__new__(type(self))
        made.__dict__ = {**self.__dict__, "bound": {**(config or {}), **more}, "kept": self, "c": self.c, "numbers": []}
        made.__class__ = _Bound
        return made

    def _config(self, config):
        bound = getattr(self, "bound", {})
        made = {**bound, **(config or {})}
        made["configurable"] = {**bound.get("configurable", {}), **((config or {}).get("configurable") or {})}
        return made

    def _store(self):
        return self.checkpointer.c[0] if hasattr(self.checkpointer, "c") else ffi.new("pons_store *")[0]

    def _where(self, config, need=True):
        """(thread, checkpoint or None, namespace) of a config."""
        if not hasattr(self.checkpointer, "c"):
            if need:
                raise ValueError("No checkpointer set")
            return f"run-{uuid.uuid4()}", None, ""
        at = config["configurable"]
        if "thread_id" not in at:
            raise ValueError("Checkpointer requires one or more of the following 'configurable' keys: thread_id, checkpoint_ns, checkpoint_id")
        return str(at["thread_id"]), at.get("checkpoint_id"), at.get("checkpoint_ns", "")

    def _open(self, thread, call):
        o = ffi.new("pons_thread_options *", {"clock": lib.pons_clock_real()})
        number = handle(call)
        o.on_event, o.user = _calls.take_event, pointer(number)
        ret, err = ffi.new("pons_thread **"), new_error()
        try:
            check(lib.pons_thread_open(self._store(), thread.encode(), o, ret, err), err)
        except BaseException:
            release([number])
            raise
        return ret[0], number

    # ---- running

    def invoke(self, input, config=None, *, context=None, stream_mode="values", output_keys=None, interrupt_before=None,
               interrupt_after=None, durability=None, **_):  # fmt: skip
        if stream_mode != "values":
            return list(self.stream(input, config, context=context, stream_mode=stream_mode, interrupt_before=interrupt_before,
                                    interrupt_after=interrupt_after, durability=durability))  # fmt: skip
        run = self._run(input, config, context, (), False, interrupt_before, interrupt_after, durability)
        for _ in run:
            pass
        return self._result(*self._ended, output_keys)

    def _result(self, state, asked, keys):
        state = self._output(state, keys)
        if asked and isinstance(state, dict):
            state[INTERRUPT] = list(asked)
        return state

    def stream(self, input, config=None, *, context=None, stream_mode="updates", output_keys=None, interrupt_before=None,
               interrupt_after=None, durability=None, subgraphs=False, **_):  # fmt: skip
        modes = (stream_mode,) if isinstance(stream_mode, str) else tuple(stream_mode)
        for mode in modes:
            if mode not in _MODES:
                raise ValueError(f"there is no stream mode '{mode}' (there are: {', '.join(_MODES)})")
        events = self._run(input, config, context, modes, subgraphs, interrupt_before, interrupt_after, durability)
        for ns, mode, text in events:
            shown = self._shown(mode, _codec.loads(text))
            if shown is SKIP:
                continue
            path = (tuple(ns.split("|")) if ns else (),) if subgraphs else ()
            yield (*path, mode, shown) if isinstance(stream_mode, (list, tuple)) else (*path, shown) if path else shown

    async def ainvoke(self, input, config=None, **more):
        stop = Stop()
        return await on_thread(stop, contextvars.copy_context(), self.invoke, input, config, **more)

    async def astream(self, input, config=None, **more):
        stop, context = Stop(), contextvars.copy_context()
        events, end = self.stream(input, config, **more), object()
        try:
            while (e := await on_thread(stop, context, next, events, end)) is not end:
                yield e
        finally:
            await on_thread(stop, context, events.close)

    def _run(self, input, config, context, modes, subgraphs, before, after, durability):
        config = self._config(config)
        thread, checkpoint, ns = self._where(config, need=False)
        call = Call(self, config, context, modes)
        t, number = self._open(thread, call)
        run = NULL
        try:
            o = self._run_options(call, modes, subgraphs, before, after, durability)
            with call:
                run = self._begin(t, ns, input, checkpoint, o, call)
            err = new_error()
            while True:
                yield from self._drain(call)
                state = lib.pons_run_state_get(run)
                if state == lib.PONS_RUN_READY and call.live:
                    yield from beside(call, lambda: check(lib.pons_run_step(run, err), err))
                elif state == lib.PONS_RUN_READY:
                    with call:
                        check((lib.pons_run_step if modes else lib.pons_run_advance)(run, err), err)
                elif state == lib.PONS_RUN_PARKED:
                    with call:
                        check(lib.pons_run_sleep(run, err), err)
                    if lib.pons_run_state_get(run) == lib.PONS_RUN_PARKED:
                        raise RuntimeError("the run waits for something that nothing answers")
                elif call.unknown is not None and self.learned(call):
                    lib.pons_run_destroy(run)
                    run = NULL
                    with call:
                        run = self._begin(t, ns, None, None, o, call)
                else:
                    break
            yield from self._drain(call)
            if state == lib.PONS_RUN_FAILED:
                self._raise(run, call)
            pending = taken(lib.pons_run_pending(run))
            asked = tuple(Interrupt(value=p["request"], id=p["id"]) for p in pending if p["kind"] == "human")
            self._ended = self._state_of(run, call), asked
        finally:

            def over():
                call.board.close()
                lib.pons_run_destroy(run)
                call.forget()
                lib.pons_thread_close(t)
                release([number])

            call.over(over)

    @property
    def _ended(self):
        return _local.ended

    @_ended.setter
    def _ended(self, what):
        _local.ended = what

    def _drain(self, call):
        while call.events:
            yield call.events.popleft()

    def _raise(self, run, call):
        err = lib.pons_run_error(run)
        if call.failed is not None and err.status not in (lib.PONS_ERECURSION, lib.PONS_ECONCURRENT):
            raise call.failures.get(ffi.string(err.message).decode(errors="replace"), call.failed)
        raise raised(err)

    def _run_options(self, call, modes, subgraphs, before, after, durability):
        o = ffi.new("pons_run_options *")
        o.durability = getattr(lib, _DURABILITY[durability or "async"])
        o.recursion_limit = int(call.config.get("recursion_limit") or 0)
        if o.recursion_limit < 0:
            raise ValueError("recursion_limit must be at least 1")
        for mode in modes:
            o.stream |= lib.pons_stream_mode(mode.encode())
        o.stream_subgraphs = subgraphs
        if call.stop is not None:
            o.cancel = call.stop.c
        for names, member in ((before, "interrupt_before"), (after, "interrupt_after")):
            if names:
                setattr(o, member, Names.of(["*"] if names == "*" else names, call.keep))
        metadata = {**(call.config.get("metadata") or {}), **({"tags": call.config["tags"]} if call.config.get("tags") else {})}
        if metadata:
            o.metadata = value(metadata)
            call.keep.append(ffi.gc(o.metadata, unref))
        return o

    def _writes(self, given, known):
        """{channel: value} of an input or an update."""
        if given is None:
            return {}
        if not isinstance(given, dict):
            fields = getattr(type(given), "model_fields", None) or getattr(type(given), "__dataclass_fields__", None)
            if not fields:
                raise InvalidUpdateError(f"Expected dict, got {given!r}")
            given = {k: getattr(given, k) for k in fields}
        return {k: to_wire(v) if self.channels[k].messages else v for k, v in given.items() if k in known}

    def _begin(self, t, ns, given, checkpoint, o, call):
        ret, err, name = ffi.new("pons_run **"), new_error(), ns.encode()
        if isinstance(given, Command):
            rc = self._command(t, name, given, o, call, ret, err)
        elif given is None:
            rc = (lib.pons_run_fork(t, self.c, name, checkpoint.encode(), NULL, o, ret, err) if checkpoint
                  else lib.pons_run_resume(t, self.c, name, o, ret, err))  # fmt: skip
            if rc == lib.PONS_ENOTFOUND and not checkpoint:
                raise EmptyInputError("Received no input for __start__")
        else:
            v = ffi.gc(value(self._writes(given, self.inputs)), unref)
            rc = (lib.pons_run_fork(t, self.c, name, checkpoint.encode(), v, o, ret, err) if checkpoint
                  else lib.pons_run_start(t, self.c, name, v, o, ret, err))  # fmt: skip
        check(rc, err)
        return ret[0]

    def _command(self, t, name, given, o, call, ret, err):
        c, keep = ffi.new("pons_command *"), call.keep
        if given.update is not None:
            c.update = value(self._writes(dict(given.update), self.channels))
        where = _calls.ways(given.goto)
        sends = [w for w in where if isinstance(w, Send)]
        plain = [w for w in where if not isinstance(w, Send)]
        if plain:
            c.go = Names.of(plain, keep)
        made = ffi.new("pons_send[]", max(len(sends), 1))
        for i, s in enumerate(sends):
            keep.append(ffi.new("char[]", s.node.encode()))
            made[i].node, made[i].arg = keep[-1], value(s.arg)
        c.sends, c.n_sends = made, len(sends)
        if given.resume is not None:
            open_ids = self._open_ids(lib.pons_thread_id(t), name)
            v = ffi.gc(value(given.resume), unref)
            if isinstance(given.resume, dict) and given.resume and all(k in open_ids for k in given.resume):
                c.resume_map = v
            else:
                c.resume = v
            keep.append(v)
        rc = lib.pons_run_command(t, self.c, name, c, o, ret, err)
        if rc == lib.PONS_EAMBIGUOUS:
            raise RuntimeError("When there are multiple pending interrupts, you must specify the interrupt id when resuming.")
        return rc

    def _open_ids(self, thread, name):
        ret, err = ffi.new("pons_value **"), new_error()
        if lib.pons_state_snapshot(self._store(), thread, name, NULL, ret, err) < 0:
            return ()
        return {i["id"] for i in taken(ret[0])["interrupts"]}

    # ---- what is shown

    def _output(self, state, keys):
        if keys is not None:
            return state.get(keys) if isinstance(keys, str) else {k: v for k, v in state.items() if k in keys}
        return {k: v for k, v in state.items() if k in self.outputs}

    def _state_of(self, run, call):
        state = {}
        for name, channel in self.channels.items():
            if channel.managed:
                continue
            v = lib.pons_run_get(run, name.encode())
            if v != NULL:
                known = call.seen.get(name)
                state[name] = known[1] if known is not None and known[0] == v else self._value(name, python(v))
            elif channel.initial is not None:
                state[name] = channel.empty()
        return state

    def _value(self, name, v):
        channel = self.channels.get(name)
        return from_wire(v) if channel is not None and channel.messages else v

    def _values(self, state, whole=False):
        if not whole:
            return {k: self._value(k, v) for k, v in state.items()}
        made = {}
        for k, channel in self.channels.items():  # in their order
            if k in state:
                made[k] = self._value(k, state[k])
            elif channel.initial is not None:
                made[k] = channel.empty()
        return made

    def _shown(self, mode, v):
        if mode == "values":
            asked = v.pop(INTERRUPT, None)
            v = self._output(self._values(v, True), None)
            return v if asked is None else {**v, INTERRUPT: _interrupts(asked)}
        if mode == "updates":
            if INTERRUPT in v:
                return {INTERRUPT: _interrupts(v[INTERRUPT])}
            return {_calls.shown_name(k): self._update(u) for k, u in v.items()}
        if mode == "messages":
            if not hasattr(self.checkpointer, "c"):
                v[1].pop("thread_id", None)  # of no store: the program has not named it
            return from_wire(v[0]), v[1]
        if mode == "tasks":
            return {**v, "name": _calls.shown_name(v["name"])}
        if mode == "checkpoints":
            return {**v, "values": self._values(v["values"], True)}
        return v

    def _update(self, u):
        if isinstance(u, list):
            return [self._update(x) for x in u]
        return self._values(u) if isinstance(u, dict) else u

    # ---- state

    def _snapshot(self, s):
        def config(checkpoint, ns=None):
            return {"configurable": {"thread_id": s["thread"], "checkpoint_ns": s["ns"] if ns is None else ns, "checkpoint_id": checkpoint}}

        tasks = tuple(
            PregelTask(id=t["id"], name=t["name"], path=("__pregel_push" if "arg" in t else "__pregel_pull", t["name"]),
                       error=t.get("error"), interrupts=_interrupts(t["interrupts"]), result=t.get("result"),
                       state=self._snapshot(t["state"]) if isinstance(t.get("state"), dict)
                       else {"configurable": {"thread_id": s["thread"], "checkpoint_ns": t["ns"]}} if t.get("ns") else None)
            for t in s["tasks"]
        )  # fmt: skip
        return StateSnapshot(
            values=self._values(s.get("values") or {}, True), next=tuple(s["next"]), config=config(s["checkpoint_id"]),
            metadata=s["metadata"], created_at=_iso(s["ts_ms"]), parent_config=config(s["parent_id"]) if s.get("parent_id") else None,
            tasks=tasks, interrupts=_interrupts(s["interrupts"]),
        )  # fmt: skip

    def get_state(self, config, *, subgraphs=False):
        config = self._config(config)
        thread, checkpoint, ns = self._where(config)
        o, ret, err = ffi.new("pons_snapshot_options *"), ffi.new("pons_value **"), new_error()
        at = ffi.new("char[]", checkpoint.encode()) if checkpoint else NULL
        o.checkpoint, o.subgraphs = at, subgraphs
        rc = lib.pons_state_snapshot(self._store(), thread.encode(), ns.encode(), o, ret, err)
        if rc == lib.PONS_ENOTFOUND:
            return StateSnapshot({}, (), config, None, None, None, (), ())
        check(rc, err)
        return self._snapshot(taken(ret[0]))

    def get_state_history(self, config, *, filter=None, before=None, limit=None):
        thread, _, ns = self._where(self._config(config))
        q, keep = ffi.new("pons_history_query *", {"limit": limit or 0}), []
        if before:
            keep.append(ffi.new("char[]", before["configurable"]["checkpoint_id"].encode()))
            q.before = keep[-1]
        if filter:
            keep.append(ffi.gc(value(filter), unref))
            q.filter = keep[-1]
        ret, err = ffi.new("pons_value **"), new_error()
        rc = lib.pons_state_history_find(self._store(), thread.encode(), ns.encode(), q, ret, err)
        if rc == lib.PONS_ENOTFOUND:
            return
        check(rc, err)
        for s in taken(ret[0]):  # of one under way, next has also what has finished of it
            made = self._snapshot(s)
            yield made._replace(next=tuple(t.name for t in made.tasks)) if made.tasks else made

    def update_state(self, config, values, as_node=None, task_id=None):
        config = self._config(config)
        thread, checkpoint, ns = self._where(config)
        call = Call(self, config, None, ())
        t, number = self._open(thread, call)
        stack.calls.append(call)
        try:
            ret, err, name = ffi.new("char[32]"), new_error(), ns.encode()
            if checkpoint and checkpoint != self._head(thread, ns):
                run = ffi.new("pons_run **")
                check(lib.pons_run_fork(t, self.c, name, checkpoint.encode(), NULL, NULL, run, err), err)
                lib.pons_run_destroy(run[0])
            v = NULL if values is None else ffi.gc(value(self._writes(values, self.channels)), unref)
            rc = lib.pons_state_update(t, self.c, name, v, as_node.encode() if as_node else NULL, ret, err)
            if rc < 0 and rc in (lib.PONS_EAMBIGUOUS, lib.PONS_EINVAL) and call.failed is None:
                raise InvalidUpdateError(str(raised(err)))
            if rc < 0 and call.failed is not None:
                raise call.failed
            check(rc, err)
            at = {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": ffi.string(ret).decode()}
            return {"configurable": at}
        finally:
            stack.calls.remove(call)
            call.forget()
            lib.pons_thread_close(t)
            release([number])

    def _head(self, thread, ns):
        ret, err = ffi.new("pons_value **"), new_error()
        o = ffi.new("pons_snapshot_options *", {"bare": True})
        check(lib.pons_state_snapshot(self._store(), thread.encode(), ns.encode(), o, ret, err), err)
        return taken(ret[0])["checkpoint_id"]

    async def aget_state(self, config, **more):
        return await on_thread(None, contextvars.copy_context(), self.get_state, config, **more)

    async def aupdate_state(self, config, values, as_node=None):
        return await on_thread(None, contextvars.copy_context(), self.update_state, config, values, as_node)

    async def aget_state_history(self, config, **more):
        for s in await on_thread(None, contextvars.copy_context(), lambda: list(self.get_state_history(config, **more))):
            yield s


class _Bound(Runs):
    """A graph with a config of its own; the graph it is of lives as long."""


_local = threading.local()
