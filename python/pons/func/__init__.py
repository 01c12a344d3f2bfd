"""The functional form: an entrypoint that calls tasks. Names are LangGraph's.

    @task                            @entrypoint(checkpointer=...)
    def look(word): ...              def words(all_of_them, *, previous=None): ...

The engine has it (pons/functional.h): each task's result is kept before the entrypoint sees it. What runs
where is in graph/_board.py.
"""

import inspect
from typing import Any

from ..graph._board import final
from ..graph._at import timed
from ..graph._made import retries_of
from ..graph._task import Task
from ..types import TimeoutPolicy
from ._flow import Flow

__all__ = ["entrypoint", "task"]


def task(__func_or_none__=None, *, name=None, retry_policy=None, cache_policy=None, timeout=None):
    """Makes a task of a function: `@task`, or `@task(name=..., retry_policy=..., cache_policy=..., timeout=...)`."""
    retries = retries_of(retry_policy)

    def made(fn):
        return Task(_within(fn, timeout), name, retries, cache_policy)

    return made if __func_or_none__ is None else made(__func_or_none__)


def _within(fn, timeout):
    return fn if timeout is None else timed(getattr(fn, "__name__", "task"), fn, TimeoutPolicy.coerce(timeout))


class entrypoint:
    """`@entrypoint(checkpointer=...)` makes what runs of a function of one argument: invoke, stream, get_state."""

    def __init__(self, checkpointer=None, store=None, cache=None, context_schema=None, cache_policy=None, retry_policy=None,
                 timeout=None):  # fmt: skip
        self.checkpointer, self.store, self.cache, self.context_schema = checkpointer, store, cache, context_schema
        self.cache_policy = cache_policy
        self.retries, self.timeout = retries_of(retry_policy), timeout

    final = final

    def __call__(self, fn) -> Any:
        if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
            raise NotImplementedError(f"the entrypoint '{fn.__name__}' is a generator; it may stream by get_stream_writer instead")
        if not inspect.signature(fn).parameters:
            raise ValueError(f"the entrypoint '{fn.__name__}' takes no argument; its first is the input")
        return Flow(_within(fn, self.timeout), self)
