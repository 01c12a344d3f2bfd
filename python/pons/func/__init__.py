"""The functional form: an entrypoint that calls tasks. Names are LangGraph's.

    @task                            @entrypoint(checkpointer=...)
    def look(word): ...              def words(all_of_them, *, previous=None): ...

The engine has it (pons/functional.h): each task's result is kept before the entrypoint sees it. What runs
where is in _board.py.
"""

import functools
import inspect
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .._now import stack
from ._board import call_task
from ._flow import Flow

R = TypeVar("R")
S = TypeVar("S")
__all__ = ["entrypoint", "task"]


class Task:
    """A function that an entrypoint, another task or a node calls; what it gives is a future."""

    def __init__(self, fn, name, retries, cache):
        self.fn, self.name, self.retries, self.cache = fn, name or getattr(fn, "__name__", type(fn).__name__), retries, cache
        functools.update_wrapper(self, fn, updated=())

    def __call__(self, *args, **kwargs):
        if not stack.at:
            raise RuntimeError(f"the task '{self.name}' is called outside of an entrypoint")
        return call_task(stack.at[-1], self, args, kwargs)

    def clear_cache(self, cache):
        cache.clear()

    async def aclear_cache(self, cache):
        cache.clear()


def task(__func_or_none__=None, *, name=None, retry_policy=None, cache_policy=None):
    """Makes a task of a function: `@task`, or `@task(name=..., retry_policy=..., cache_policy=...)`."""
    retries = [retry_policy] if isinstance(retry_policy, tuple) and hasattr(retry_policy, "max_attempts") else list(retry_policy or ())

    def made(fn):
        return Task(fn, name, retries, cache_policy)

    return made if __func_or_none__ is None else made(__func_or_none__)


class entrypoint:
    """`@entrypoint(checkpointer=...)` makes what runs of a function of one argument: invoke, stream, get_state."""

    def __init__(self, checkpointer=None, store=None, cache=None, context_schema=None, cache_policy=None, retry_policy=None):
        self.checkpointer, self.store, self.cache, self.context_schema = checkpointer, store, cache, context_schema
        self.cache_policy = cache_policy
        self.retries = [retry_policy] if isinstance(retry_policy, tuple) and hasattr(retry_policy, "max_attempts") else list(retry_policy or ())

    @dataclass
    class final(Generic[R, S]):
        """What the caller gets, and what the next run has as `previous`."""

        value: R
        save: S

    def __call__(self, fn) -> Any:
        if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
            raise NotImplementedError("Generators are not supported in the Functional API.")
        if not inspect.signature(fn).parameters:
            raise ValueError("Entrypoint function must have at least one parameter")
        return Flow(fn, self)
