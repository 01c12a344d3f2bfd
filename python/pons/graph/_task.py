"""Tasks: functions that an entrypoint, another task or a node calls, and which of them a function's code names."""

import functools
import inspect

from .._now import at
from ._board import call_task


class Task:
    """A function that an entrypoint, another task or a node calls; what it gives is a future."""

    def __init__(self, fn, name, retries, cache):
        self.fn, self.name, self.retries, self.cache = fn, name or getattr(fn, "__name__", type(fn).__name__), retries, cache
        functools.update_wrapper(self, fn, updated=())

    def __call__(self, *args, **kwargs):
        caller = at.get()
        if caller is None:
            raise RuntimeError(f"the task '{self.name}' is called outside of an entrypoint")
        return call_task(caller, self, name_of(caller.tasks, self), args, kwargs)

    def clear_cache(self, cache):
        cache.clear()

    async def aclear_cache(self, cache):
        cache.clear()


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
