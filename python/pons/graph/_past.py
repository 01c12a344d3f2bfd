"""What is kept of a graph's runs, and where: state, history, updates."""

import contextvars
import uuid

from .._library import NULL, c_name, check, ffi, lib, new_error, raised, unref, value
from .._things import handle, pointer, release
from ..checkpoint import history, snapshot
from ..constants import START
from ..errors import InvalidUpdateError
from ..types import StateSnapshot
from . import _calls
from ._beside import on_thread
from ._call import Call
from ._schema import members
from ._shown import Shown
from .message import written


class Past(Shown):
    """Has `c`, the compiled graph, and `inputs` beside what Shown has."""

    items = None  # the store of what outlives threads

    # ---- configuration

    def with_config(self, config=None, **more):
        """The same graph with a config of its own; the graph it is of lives as long."""
        made = object.__new__(type(self))
        made.__dict__ = {**self.__dict__, "bound": {**(config or {}), **more}, "of": self, "c": self.c, "numbers": []}
        return made

    def __copy__(self):
        return self.with_config()

    def __deepcopy__(self, memo):  # what is compiled never changes
        return self.with_config()

    def _config(self, config):
        bound = getattr(self, "bound", {})
        made = {**bound, **(config or {})}
        made["configurable"] = {**bound.get("configurable", {}), **((config or {}).get("configurable") or {})}
        return made

    def _kept(self):
        """Where runs are kept, or None."""
        return self.checkpointer if hasattr(self.checkpointer, "c") else None

    def _snapshot_at(self, thread, ns, checkpoint=None, **options):
        with self._kept().used() as c:
            return snapshot(c, thread, ns, checkpoint, **options)

    def _where(self, config, need=True):
        """(thread, checkpoint or None, namespace) of a config."""
        if not hasattr(self.checkpointer, "c"):
            if need:
                raise ValueError("the graph is compiled without a checkpointer, so nothing of it is kept")
            return f"run-{uuid.uuid4()}", None, ""
        at = config["configurable"]
        if "thread_id" not in at:
            raise ValueError("the config names no thread: {'configurable': {'thread_id': ...}} says where a run is kept")
        found = str(at["thread_id"]), at.get("checkpoint_id"), at.get("checkpoint_ns", "")
        for name in found:
            c_name(name or "")
        return found

    def _open(self, thread, call):
        o = ffi.new("pons_thread_options *", {"clock": lib.pons_clock_real()})
        number = handle(call)
        o.on_event, o.user = _calls.take_event, pointer(number)
        ret, err, kept = ffi.new("pons_thread **"), new_error(), self._kept()
        store = kept.lend() if kept else ffi.new("pons_store *")[0]
        try:
            check(lib.pons_thread_open(store, thread.encode(), o, ret, err), err)
        except BaseException:
            if kept:
                kept.give_back()
            release([number])
            raise

        def close():
            lib.pons_thread_close(ret[0])
            if kept:
                kept.give_back()
            release([number])

        return ret[0], close

    def _writes(self, given, known):
        """{channel: value} of an input or an update."""
        if given is None:
            return {}
        if not isinstance(given, dict):
            made = members(given)
            if made is None:
                raise InvalidUpdateError(f"an input or update is a dict, or an object of the state's class, not {given!r}")
            given = made
        return {k: written(v) if self.channels[k].messages else v for k, v in given.items() if k in known and not self.channels[k].managed}

    def _changes(self, given):
        """{channel: value} of an update."""
        return self._writes(given, self.channels)

    def get_state(self, config, *, subgraphs=False):
        config = self._config(config)
        thread, checkpoint, ns = self._where(config)
        found = self._snapshot_at(thread, ns, checkpoint, subgraphs=subgraphs)
        return StateSnapshot({}, (), config, None, None, None, (), ()) if found is None else self._below(ns)._snapshot(found)

    def get_state_history(self, config, *, filter=None, before=None, limit=None):
        thread, _, ns = self._where(self._config(config))
        with self._kept().used() as c:
            found = history(c, thread, ns, filter, before, limit)
            every = history(c, thread, ns, None, None, None) if filter or before else found
        after = {s["parent_id"]: s for s in every if s["metadata"]["source"] == "loop"}
        for s in found:  # of one under way, next has also what has finished of it
            graph = self._below(ns)
            graph._changed(s, after.get(s["checkpoint_id"]))
            made = graph._snapshot(s)
            yield made._replace(next=tuple(t.name for t in made.tasks)) if made.tasks else made

    def _speaks(self):
        """As which node a state is updated unless one is named; None: the last that wrote."""

    def update_state(self, config, values, as_node=None, task_id=None):
        if task_id is not None:
            raise NotImplementedError("task_id is not there: an update has a task of its own (docs/reference/python.md)")
        if as_node == "__copy__" and values is not None:
            raise NotImplementedError("as_node='__copy__' takes no values: update_state(update_state(config, None, '__copy__'), values, as_node) does")
        config = self._config(config)
        thread, checkpoint, ns = self._where(config)
        graph = self._below(ns)
        if as_node == "__input__":
            as_node = START
        call = Call(self, config, None, ())
        t, close = self._open(thread, call)
        try:
            with call:
                ret, err, name = ffi.new("char[32]"), new_error(), ns.encode()
                found = self._snapshot_at(thread, ns, bare=True)
                newest = found["checkpoint_id"] if found else None
                if as_node == "__copy__" and not newest:
                    raise InvalidUpdateError("nothing of the thread is kept that could be copied")
                if as_node == "__copy__" or (checkpoint and checkpoint != newest):
                    run = ffi.new("pons_run **")
                    check(lib.pons_run_fork(t, graph.c, name, (checkpoint or newest).encode(), NULL, NULL, run, err), err)
                    lib.pons_run_destroy(run[0])
                if as_node == "__copy__":
                    return self._snapshot(self._snapshot_at(thread, ns, bare=True)).config
                as_node = as_node or graph._speaks()
                v = NULL if values is None else ffi.gc(value(graph._changes(values)), unref)
                rc = lib.pons_state_update(t, graph.c, name, v, c_name(as_node) if as_node else NULL, ret, err)
                if rc < 0 and rc in (lib.PONS_EAMBIGUOUS, lib.PONS_EINVAL) and call.failed is None:
                    raise InvalidUpdateError(str(raised(err)))
                if rc < 0 and call.failed is not None:
                    raise call.failed
                check(rc, err)
                return self._snapshot(self._snapshot_at(thread, ns, ffi.string(ret).decode(), bare=True)).config
        finally:
            call.forget()
            close()

    async def aget_state(self, config, **more):
        return await on_thread(None, contextvars.copy_context(), self.get_state, config, **more)

    async def aupdate_state(self, config, values, as_node=None, task_id=None):
        return await on_thread(None, contextvars.copy_context(), self.update_state, config, values, as_node, task_id)

    async def aget_state_history(self, config, **more):
        for s in await on_thread(None, contextvars.copy_context(), lambda: list(self.get_state_history(config, **more))):
            yield s
