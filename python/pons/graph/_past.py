"""What is kept of a graph's runs, and where: state, history, updates."""

import contextvars
import uuid

from .._library import NULL, check, ffi, lib, new_error, raised, taken, unref, value
from .._things import handle, pointer, release
from ..errors import InvalidUpdateError
from ..types import StateSnapshot
from . import _calls
from ._beside import on_thread
from ._call import Call
from ._shown import Shown
from .message import to_wire


class Past(Shown):
    """Has `c`, the compiled graph, and `inputs` beside what Shown has."""

    items = None  # the store of what outlives threads

    # ---- configuration

    def with_config(self, config=None, **more):
        """The same graph with a config of its own; the graph it is of lives as long."""
        made = object.__new__(type(self))
        made.__dict__ = {**self.__dict__, "bound": {**(config or {}), **more}, "of": self, "c": self.c, "numbers": []}
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
        try:
            with call:
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
