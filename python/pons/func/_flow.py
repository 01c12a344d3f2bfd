"""An entrypoint as something that runs: a graph of the engine with one node, and the tasks that it calls.

The engine wants to know the tasks when it compiles. Those that the function's code names are found by looking;
one that turns up while it runs is added, the graph is compiled anew, and the run goes on with it, as it
would in another process: what has a result is not run again.
"""

import inspect
import weakref

from .._library import NULL, c_name, check, ffi, lib, new_error
from .._things import handle, pointer
from ..constants import INTERRUPT
from ..checkpoint import saver_of
from ..checkpoint.memory import InMemorySaver
from ..graph._board import final, run_entry, run_task
from ..graph._made import Made, free, policies
from ..graph._shown import SKIP, interrupts
from ..graph._schema import Channel
from ..graph._task import add, found


class Flow(Made):
    def __init__(self, fn, made):
        self.fn, self.name, self.made = fn, getattr(fn, "__name__", "entrypoint"), made
        self.__name__, self.__doc__ = self.name, fn.__doc__
        self.checkpointer, self.items, self.context_schema = saver_of(made.checkpointer), made.store, made.context_schema
        self.kept = self.checkpointer if hasattr(self.checkpointer, "c") else InMemorySaver()
        self.channels = {n: Channel(lib.PONS_CHANNEL_LAST) for n in ("input", "output", "previous")}
        self.inputs, self.outputs = {"input": None}, {"output": None}
        self.wants = [n for n in inspect.signature(fn).parameters if n in ("config", "writer", "runtime", "store", "previous")]
        self.tasks = {}  # name: task
        self.numbers, self.c = [], None
        for task in found(fn):
            self.add(task)
        self._compile()
        self.joins_langchain()
        if made.cache is not None:
            made.cache.graphs.append(self)

    learns = True

    def add(self, task):
        add(self.tasks, task, (self.name,))

    def _compile(self):
        b, keep, self.numbers = lib.pons_graph_builder_create(c_name(self.name)), [], []
        try:
            entry = pointer(handle(weakref.proxy(self)))
            self.numbers.append(int(ffi.cast("uintptr_t", entry)))
            lib.pons_graph_entrypoint(b, run_entry, entry)
            for name, task in self.tasks.items():
                lib.pons_graph_task(b, c_name(name), run_task, self._pointer((task, self.tasks)))
                lib.pons_graph_node_options(b, name.encode(), self._options(task.retries, task.cache, keep))
            lib.pons_graph_node_options(b, self.name.encode(), self._options(self.made.retries, self.made.cache_policy, keep))
            ret, err = ffi.new("pons_graph **"), new_error()
            check(lib.pons_graph_compile(b, NULL, ret, err), err)
            self.c = ret[0]
            weakref.finalize(self, free, self.c, self.numbers)
        finally:
            lib.pons_graph_builder_destroy(b)

    def _options(self, retries, cache, keep):
        o = ffi.new("pons_node_options *")
        keep.append(o)
        policies(o, retries, cache if self.made.cache is not None else None, self._pointer, keep)
        return o

    def learned(self, call):
        """A run met a task that the graph does not have: whether it has it now."""
        if call.unknown is None:
            return False
        self.add(call.unknown)
        call.unknown = None
        self._compile()
        return True

    def run(self, at, given, previous, config):
        more = {"config": at.config_of(config) if "config" in self.wants else None, "writer": at.write, "store": self.items, "previous": previous}
        if "runtime" in self.wants:
            more["runtime"] = at.runtime()
            more["runtime"].previous = previous
        return self.fn(given, **{n: more[n] for n in self.wants})

    # ---- what is shown: the result, not the channels

    def _kept(self):
        return self.kept

    def _writes(self, given, known):
        return {"input": given}

    def _changes(self, given):
        saved = isinstance(given, final)  # as the function may give it
        return {"output": given.value if saved else given, "previous": given.save if saved else given}

    def _speaks(self):
        return self.name

    def _output(self, state, keys):
        return state.get("output")

    def _result(self, state, asked, keys):
        return {INTERRUPT: list(asked)} if asked else state.get("output")

    def _values(self, state, whole=False):
        return state.get("output")

    def _shown(self, mode, v, keys=None):
        if mode == "values":
            return {INTERRUPT: interrupts(v[INTERRUPT])} if INTERRUPT in v else SKIP if "input" in v else v.get("output")
        if mode == "updates" and self.name in v and INTERRUPT not in v:
            mine = v[self.name]
            return {**v, self.name: mine.get("output") if isinstance(mine, dict) else mine}
        return super()._shown(mode, v)

    def _update(self, u):
        return u

    def _changed(self, s, after):
        super()._changed(s, after)
        for t in s["tasks"]:
            if isinstance(t.get("result"), dict):
                t["result"] = t["result"].get("output", t["result"].get("input"))
