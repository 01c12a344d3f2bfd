"""Runs of a compiled graph: invoke and stream."""

import contextvars
import threading

from .. import _codec
from .._library import NULL, Names, c_name, check, ffi, lib, line, new_error, python, raised, taken, unref, value
from .._now import at
from ..checkpoint.memory import InMemorySaver
from ..constants import INTERRUPT
from ..errors import EmptyInputError, InvalidUpdateError
from ..types import Command, GraphOutput, Interrupt, Send, interrupt
from . import _calls
from ._beside import Stop, beside, on_thread
from ._call import Call
from ._past import Past
from ._schema import as_context
from ._shown import SKIP

_MODES = ("values", "updates", "messages", "custom", "tasks", "checkpoints", "debug")
_OWN = ("thread_id", "checkpoint_id", "checkpoint_ns", "checkpoint_map", "langgraph_step", "langgraph_node")  # of what a config names, what says where it is
_DURABILITY = {"async": "PONS_DURABILITY_ASYNC", "sync": "PONS_DURABILITY_SYNC", "exit": "PONS_DURABILITY_EXIT"}


class Runs(Past):
    """What a CompiledStateGraph does once the engine has it."""

    learns = False  # tasks that it has not been compiled with
    debug, step_timeout = False, None

    def invoke(self, input, config=None, *, context=None, stream_mode="values", output_keys=None, interrupt_before=None,
               interrupt_after=None, durability=None, version="v1", print_mode=(), debug=None, control=None, subgraphs=False):  # fmt: skip
        prints = self._prints(print_mode, debug, control)
        if stream_mode != "values" or prints:
            shown = list(self.stream(input, config, context=context, stream_mode=stream_mode, output_keys=output_keys, version=version, print_mode=prints, subgraphs=subgraphs,
                                     interrupt_before=interrupt_before, interrupt_after=interrupt_after, durability=durability, debug=False))  # fmt: skip
            if stream_mode != "values":
                return shown
            state, asked = self._ended
            return GraphOutput(self._output(state, output_keys), tuple(asked)) if _version(version) else self._result(state, asked, output_keys)
        if _version(version):
            self.invoke(input, config, context=context, interrupt_before=interrupt_before, interrupt_after=interrupt_after, durability=durability,
                        debug=False)  # fmt: skip
            state, asked = self._ended
            return GraphOutput(self._output(state, output_keys), tuple(asked))
        outer = at.get()
        if outer is not None and hasattr(outer.call.graph.checkpointer, "c") and self._inherits(config):
            return self._within(input, config, context, output_keys, interrupt_before, interrupt_after)
        return self._invoke(input, config, context, output_keys, interrupt_before, interrupt_after, durability)

    def _inherits(self, config):
        """What its nodes ask, the node asks that runs it: nothing else says where it would be kept."""
        if self.checkpointer is None or self.checkpointer is True:
            return True
        return hasattr(self.checkpointer, "c") and "thread_id" not in self._config(config)["configurable"]

    def _invoke(self, input, config, context, keys, before, after, durability=None):
        outer = at.get()
        modes = outer.call.below if outer is not None else ()
        for ns, mode, text, *of in self._run(input, config, context, modes, bool(modes), before, after, durability):
            outer.show(ns, mode, text, of[0] if of else self._below(ns))
        return self._result(*self._ended, keys)

    def _within(self, input, config, context, *rest):
        """A node's own code runs the graph: what it asks the node asks. It runs from its top when the node does, with the answers."""
        inner, thread = self.with_config(), {"thread_id": "within"}
        with InMemorySaver() as inner.checkpointer:
            inner.kept = inner.checkpointer
            config = {**(config or {}), "configurable": {**((config or {}).get("configurable") or {}), **thread}}
            for name in ("checkpoint_id", "checkpoint_ns"):
                config["configurable"].pop(name, None)
            made = inner._invoke(input, config, context, *rest)
            while (asked := inner._ended[1]):
                answers = {i.id: interrupt(i.value) for i in asked}
                made = inner._invoke(Command(resume=answers), config, context, *rest)
            return made

    def _result(self, state, asked, keys):
        state = self._output(state, keys)
        if asked and isinstance(state, dict):
            state[INTERRUPT] = list(asked)
        return state

    def stream(self, input, config=None, *, context=None, stream_mode="updates", output_keys=None, interrupt_before=None,
               interrupt_after=None, durability=None, subgraphs=False, version="v1", print_mode=(), debug=None, control=None):  # fmt: skip
        prints = self._prints(print_mode, debug, control)
        shows = (stream_mode,) if isinstance(stream_mode, str) else tuple(stream_mode)
        modes = tuple(dict.fromkeys((*shows, *prints)))
        for mode in modes:
            if mode not in _MODES:
                raise ValueError(f"there is no stream mode '{mode}' (there are: {', '.join(_MODES)})")
        events = self._run(input, config, context, modes, subgraphs, interrupt_before, interrupt_after, durability)
        parts = _version(version)
        for ns, mode, shown in self._seen(events, modes, output_keys):
            path = tuple(ns.split("|")) if ns else ()
            if mode in prints:
                print(f"[{mode}]", *([f"[graph={path}]"] if path else []), repr(shown))
            if mode not in shows:
                continue
            if parts:
                yield _part(mode, path, shown)
                continue
            path = (path,) if subgraphs else ()
            yield (*path, mode, shown) if isinstance(stream_mode, (list, tuple)) else (*path, shown) if path else shown

    def _prints(self, modes, debug, control):
        """What is printed as well as it comes."""
        if control is not None:
            raise NotImplementedError("control is not there: who awaits a run cancels it, and a stream that is closed ends (docs/reference/python.md)")
        if self.debug if debug is None else debug:
            return ("updates", "values")
        return (modes,) if isinstance(modes, str) else tuple(modes or ())

    def _seen(self, events, modes, keys):
        """(namespace, mode, what is shown) of the events; what was asked before is asked again."""
        last, told = {}, set()
        for ns, mode, text, *of in events:  # of: the graph that a node has run
            graph = of[0] if of else self if mode == "messages" else self._below(ns)
            shown = graph._shown(mode, _codec.loads(text), keys)
            if shown is SKIP or (keys is not None and not _moved(shown, keys, mode, last)):
                continue
            if not ns and isinstance(shown, dict) and INTERRUPT in shown:
                told.add(mode)
            yield ns, mode, shown
        state, asked = self._ended
        for mode in ("updates", "values"):
            if asked and mode in modes and mode not in told:
                again = self._result(state, asked, keys) if mode == "values" else {}
                yield "", mode, {**again, INTERRUPT: asked} if isinstance(again, dict) else again

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
        if ns and self._below(ns) is not self:
            checkpoint, ns = self._around(thread, checkpoint, ns, config["configurable"].get("checkpoint_map") or {})
        call = Call(self, config, as_context(self.context_schema, context), modes, subgraphs)
        t, close = self._open(thread, call)
        run = NULL
        try:
            o = self._run_options(call, modes, subgraphs, before, after, durability)
            with call:
                run = self._begin(t, ns, input, checkpoint, o, call)
            err = new_error()
            while True:
                yield from self._drain(call)
                if call.pressed is not None:
                    raise call.pressed
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
                close()

            call.over(over)

    def _around(self, thread, checkpoint, ns, around):
        """A subgraph goes on where the graph around it does: (None, "")."""
        for at, given in ((ns, checkpoint), ("", around.get(""))):
            newest = self._snapshot_at(thread, at, bare=True)
            if given and newest and given != newest["checkpoint_id"]:
                raise NotImplementedError(f"a run can't go on from an older checkpoint of the subgraph {ns!r} (docs/reference/python.md)")
        return None, ""

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
        if err.status == lib.PONS_ETIMEOUT and self.step_timeout is not None:
            raise TimeoutError(line(err))
        if call.failed is not None and err.status not in (lib.PONS_ERECURSION, lib.PONS_ECONCURRENT):
            raise call.failures.get(ffi.string(err.message).decode(errors="replace"), call.failed)
        raise raised(err)

    def _run_options(self, call, modes, subgraphs, before, after, durability):
        o = ffi.new("pons_run_options *")
        if durability is not None and durability not in _DURABILITY:
            raise ValueError(f"there is no durability {durability!r} (there are: {', '.join(_DURABILITY)})")
        o.durability = getattr(lib, _DURABILITY[durability or "async"])
        limit = call.config.get("recursion_limit")
        if limit is not None:
            o.recursion_limit = int(limit)
            if o.recursion_limit < 1:
                raise ValueError(f"recursion_limit is {limit}; it is at least 1")
        for mode in modes:
            o.stream |= lib.pons_stream_mode(mode.encode())
        o.stream_subgraphs = subgraphs
        if call.stop is not None:
            o.cancel = call.stop.c
        for names, member in ((before, "interrupt_before"), (after, "interrupt_after")):
            if names:
                setattr(o, member, Names.of(["*"] if names == "*" else names, call.keep))
        named = {k: v for k, v in call.config["configurable"].items() if k not in _OWN and k[:2] != "__" and isinstance(v, (str, int, float))}
        metadata = {**named, **(call.config.get("metadata") or {}), **({"tags": call.config["tags"]} if call.config.get("tags") else {})}
        if metadata:
            o.metadata = value(metadata)
            call.keep.append(ffi.gc(o.metadata, unref))
        return o

    def _begin(self, t, ns, given, checkpoint, o, call):
        ret, err, name = ffi.new("pons_run **"), new_error(), ns.encode()
        if isinstance(given, Command):
            rc = self._command(t, name, given, o, call, ret, err)
        elif given is None:
            rc = (lib.pons_run_fork(t, self.c, name, checkpoint.encode(), NULL, o, ret, err) if checkpoint
                  else lib.pons_run_resume(t, self.c, name, o, ret, err))  # fmt: skip
            if rc == lib.PONS_ENOTFOUND and not checkpoint:
                raise EmptyInputError("there is no input, and nothing of the thread to go on with")
        else:
            v = ffi.gc(value(self._writes(given, self.inputs)), unref)
            rc = (lib.pons_run_fork(t, self.c, name, checkpoint.encode(), v, o, ret, err) if checkpoint
                  else lib.pons_run_start(t, self.c, name, v, o, ret, err))  # fmt: skip
        check(rc, err)
        return ret[0]

    def _command(self, t, name, given, o, call, ret, err):
        c, keep = ffi.new("pons_command *"), call.keep
        if given.graph is not None:
            raise InvalidUpdateError(f"Command(graph={given.graph!r}) as an input: there is no parent graph")
        if given.update is not None:
            c.update = value(self._writes(dict(given.update), self.channels))
        where = _calls.ways(given.goto)
        sends = [w for w in where if isinstance(w, Send)]
        plain = [w for w in where if not isinstance(w, Send)]
        if plain:
            c.go = Names.of(plain, keep)
        made = ffi.new("pons_send[]", max(len(sends), 1))
        for i, s in enumerate(sends):
            keep.append(ffi.new("char[]", c_name(s.node)))
            made[i].node, made[i].arg = keep[-1], value(s.arg)
        c.sends, c.n_sends = made, len(sends)
        if given.resume is not None:
            found = self._snapshot_at(ffi.string(lib.pons_thread_id(t)).decode(), name.decode()) if self._kept() else None
            open_ids = {i["id"] for i in found["interrupts"]} if found else ()
            v = ffi.gc(value(given.resume), unref)
            if isinstance(given.resume, dict) and given.resume and all(k in open_ids for k in given.resume):
                c.resume_map = v
            else:
                c.resume = v
            keep.append(v)
        rc = lib.pons_run_command(t, self.c, name, c, o, ret, err)
        if rc == lib.PONS_EAMBIGUOUS:
            raise RuntimeError("multiple questions wait for their answers: Command(resume={id: answer}) says which one is meant")
        return rc

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


def _version(version):
    """Whether a stream's events are objects, as those of "v2" are."""
    if version not in ("v1", "v2"):
        raise ValueError(f"there is no version '{version}' of a stream (there are: v1, v2)")
    return version == "v2"


def _part(mode, path, shown):
    if mode != "values":
        return {"type": mode, "ns": path, "data": shown}
    asked = shown.pop(INTERRUPT, ()) if isinstance(shown, dict) else ()
    return {"type": mode, "ns": path, "data": shown, "interrupts": asked}


def _moved(shown, keys, mode, last):
    """Of values with output_keys: whether they are others than those that were shown."""
    if mode != "values" or (isinstance(shown, dict) and INTERRUPT in shown):
        return True
    before = last.get("values", {k: [] for k in keys} if isinstance(shown, dict) else None)
    last["values"] = shown
    return shown != before and shown not in ({}, None)


_local = threading.local()
