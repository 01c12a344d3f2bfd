"""An entrypoint as something that runs: a graph of the engine with one node, and the tasks that it calls.

The engine wants to know the tasks when it compiles. Those that the function's code names are found by looking;
one that turns up while it runs is added, the graph is compiled anew, and the run goes on with it, as it
would in another process: what has a result is not run again.
"""

import inspect
import weakref

from .._library import NULL, check, ffi, lib, new_error
from ..constants import INTERRUPT
from ..checkpoint.memory import InMemorySaver
from ..graph import _calls
from ..graph._run import SKIP, Runs
from ..graph._run import _interrupts as interrupts
from ..graph._schema import Channel
from ..graph.state import Drawing, _free, policies


class Flow(Runs):
    def __init__(self, fn, made):
        self.fn, self.name, self.made = fn, getattr(fn, "__name__", "entrypoint"), made
        self.__name__, self.__doc__ = self.name, fn.__doc__
        self.checkpointer, self.items = made.checkpointer, made.store
        self.kept = self.checkpointer if hasattr(self.checkpointer, "c") else InMemorySaver()
        self.channels = {n: Channel(lib.PONS_CHANNEL_LAST) for n in ("input", "output", "previous")}
        self.inputs, self.outputs = {"input": None}, {"output": None}
        self.wants = [n for n in inspect.signature(fn).parameters if n in ("config", "writer", "runtime", "store", "previous")]
        self.tasks = {}  # name: task
        self.numbers, self.c = [], None
        for task in found(fn):
            self.add(task)
        self._compile()
        if made.cache is not None:
            made.cache.graphs.append(self)

    learns = True

    def name_of(self, task):
        return name_of(self.tasks, task)

    def add(self, task):
        add(self.tasks, task, (self.name,))

    def _pointer(self, thing):
        self.numbers.append(_calls.handle(thing))
        return _calls.pointer(self.numbers[-1])

    def _compile(self):
        from . import _board

        b, keep, self.numbers = lib.pons_graph_builder_create(self.name.encode()), [], []
        try:
            entry = _calls.pointer(_calls.handle(weakref.proxy(self)))
            self.numbers.append(int(ffi.cast("uintptr_t", entry)))
            lib.pons_graph_entrypoint(b, _board.run_entry, entry)
            for name, task in self.tasks.items():
                lib.pons_graph_task(b, name.encode(), _board.run_task, self._pointer(task))
                lib.pons_graph_node_options(b, name.encode(), self._options(task.retries, task.cache, keep))
            lib.pons_graph_node_options(b, self.name.encode(), self._options(self.made.retries, self.made.cache_policy, keep))
            ret, err = ffi.new("pons_graph **"), new_error()
            check(lib.pons_graph_compile(b, NULL, ret, err), err)
            self.c = ret[0]
            weakref.finalize(self, _free, self.c, self.numbers)
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

    def run(self, at, given, previous):
        more = {"config": at.call.config, "writer": at.write, "store": None, "previous": previous}
        if "runtime" in self.wants:
            more["runtime"] = at.runtime()
            more["runtime"].previous = previous
        return self.fn(given, **{n: more[n] for n in self.wants})

    def clear_cache(self):
        err = new_error()
        check(lib.pons_graph_cache_clear(self.c, ffi.new("pons_store *")[0], ffi.NULL, err), err)

    def get_graph(self, config=None, *, xray=False):
        return Drawing(self, int(xray))

    # ---- what is shown: the result, not the channels

    def _store(self):
        return self.kept.c[0]

    def _writes(self, given, known):
        return {"input": given}

    def _output(self, state, keys):
        return state.get("output")

    def _result(self, state, asked, keys):
        return {INTERRUPT: list(asked)} if asked else state.get("output")

    def _values(self, state, whole=False):
        return state.get("output")

    def _shown(self, mode, v):
        if mode == "values":
            return {INTERRUPT: interrupts(v[INTERRUPT])} if INTERRUPT in v else SKIP if "input" in v else v.get("output")
        if mode == "updates" and self.name in v and INTERRUPT not in v:
            mine = v[self.name]
            return {**v, self.name: mine.get("output") if isinstance(mine, dict) else mine}
        return super()._shown(mode, v)

    def _update(self, u):
        return u


def name_of(tasks, task):
    """A task that a function makes each time that it is run is the same by its code."""
    code = getattr(task.fn, "__code__", task)
    return next((n for n, t in tasks.items() if t is task or getattr(t.fn, "__code__", None) is code), None)


def add(tasks, task, taken):
    name, n = task.name, 2
    while name in tasks or name in taken:
        name, n = f"{task.name} {n}", n + 1
    tasks[name] = task


def found(fn, seen=None):
    """The tasks that a function's code names, with those that they name."""
    from . import Task

    seen = set() if seen is None else seen
    fn = inspect.unwrap(fn) if callable(fn) else fn
    code = getattr(fn, "__code__", None)
    if code is None or code in seen:
        return []
    seen.add(code)
    cells = dict(zip(code.co_freevars, (c for c in fn.__closure__ or ())))
    tasks, codes = [], [code]
    for part in codes:
        codes += [c for c in part.co_consts if hasattr(c, "co_names")]
    for name in dict.fromkeys(n for part in codes for n in (*part.co_names, *part.co_freevars)):
        try:
            thing = cells[name].cell_contents if name in cells else fn.__globals__.get(name)
        except ValueError:  # not there yet
            continue
        if isinstance(thing, Task):
            tasks += [thing, *found(thing.fn, seen)]
        elif inspect.isfunction(thing) and thing.__module__ == fn.__module__:
            tasks += found(thing, seen)
    return list(dict.fromkeys(tasks))
