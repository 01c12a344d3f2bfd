"""What nodes return and callers pass. Names and members are LangGraph's."""

import datetime
import sys
from dataclasses import dataclass
from typing import Any, Callable, Generic, Literal, NamedTuple, Sequence, TypeVar

from ._now import now, turn
from .constants import INTERRUPT, OVERWRITE

N = TypeVar("N")
StreamMode = Literal["values", "updates", "messages", "custom", "tasks", "checkpoints", "debug"]
Durability = Literal["sync", "async", "exit"]
All = Literal["*"]
Checkpointer = Any  # one of pons.checkpoint; of a subgraph also True, False or None
StreamWriter = Callable[[Any], None]


@dataclass(frozen=True, init=False)
class Send:
    """Runs `node` next superstep with a private argument."""

    node: str
    arg: Any

    def __init__(self, node, arg):
        object.__setattr__(self, "node", node)
        object.__setattr__(self, "arg", arg)


@dataclass(frozen=True)
class Interrupt:
    """A question that a run waits with."""

    value: Any
    id: str = "placeholder-id"

    def __hash__(self):
        return hash(self.id)


def _is_output():
    """LangChain's tools give back as it is what is of a class of theirs, and anything else as text."""
    tools = sys.modules.get("langchain_core.messages.tool")
    mixin = getattr(tools, "ToolOutputMixin", None)
    if mixin is not None and mixin not in Command.__bases__:
        Command.__bases__ = (*Command.__bases__, mixin)


@dataclass(kw_only=True, frozen=True)
class Command(Generic[N]):
    """From a node: writes and where to go. As input: an answer, writes, or where to begin."""

    graph: str | None = None
    update: Any = None
    resume: Any = None
    goto: Any = ()
    PARENT = "__parent__"

    def __post_init__(self):
        _is_output()


@dataclass
class Overwrite:
    """A write that takes a reducer's place."""

    value: Any

    def __pons_json__(self):
        from ._codec import encode

        return {OVERWRITE: encode(self.value)}


@dataclass
class GraphOutput:
    """What invoke gives with version="v2": the output, and the questions that wait."""

    value: Any
    interrupts: tuple = ()

    def __getitem__(self, key):
        if key == INTERRUPT:
            return self.interrupts
        return self.value[key] if isinstance(self.value, dict) else getattr(self.value, key)

    def __contains__(self, key):
        if key == INTERRUPT:
            return bool(self.interrupts)
        return key in self.value if isinstance(self.value, dict) else hasattr(self.value, str(key))


class PregelTask(NamedTuple):
    id: str
    name: str
    path: tuple
    error: Any = None
    interrupts: tuple = ()
    state: Any = None
    result: Any = None


class StateSnapshot(NamedTuple):
    values: Any
    next: tuple
    config: dict
    metadata: dict | None
    created_at: str | None
    parent_config: dict | None
    tasks: tuple
    interrupts: tuple


_NEVER = (ArithmeticError, ImportError, LookupError, NameError, OSError, ReferenceError, RuntimeError, StopAsyncIteration,
          StopIteration, SyntaxError, TypeError, ValueError)  # fmt: skip


def default_retry_on(exc):
    """What may pass by itself: the network, servers' errors; not what the program did wrong."""
    if isinstance(exc, ConnectionError):
        return True
    status = getattr(getattr(exc, "response", None), "status_code", None)
    if status is not None:
        return status >= 500
    return not isinstance(exc, _NEVER)


class RetryPolicy(NamedTuple):
    initial_interval: float = 0.5
    backoff_factor: float = 2.0
    max_interval: float = 128.0
    max_attempts: int = 3
    jitter: bool = True
    retry_on: type[Exception] | Sequence[type[Exception]] | Callable[[Exception], bool] = default_retry_on

    def takes(self, exc):
        if isinstance(self.retry_on, type):
            return isinstance(exc, self.retry_on)
        if isinstance(self.retry_on, Sequence):
            return isinstance(exc, tuple(self.retry_on))
        return bool(self.retry_on(exc))


@dataclass(kw_only=True, frozen=True)
class TimeoutPolicy:
    """How long an attempt of an asynchronous node may take: in all, and without writing, streaming or `runtime.heartbeat()`. Seconds, or timedeltas."""

    run_timeout: Any = None
    idle_timeout: Any = None
    refresh_on: Literal["auto", "heartbeat"] = "auto"

    @classmethod
    def coerce(cls, value):
        made = value if isinstance(value, cls) else cls(run_timeout=value)
        if made.refresh_on not in ("auto", "heartbeat"):
            raise ValueError(f"there is no refresh_on={made.refresh_on!r} (there are: 'auto', 'heartbeat')")
        if made.refresh_on == "heartbeat":
            raise NotImplementedError("refresh_on='heartbeat' is not there: what a node streams counts as a sign of life too (docs/reference/python.md)")
        limits = {}
        for name in ("run_timeout", "idle_timeout"):
            given = getattr(made, name)
            if given is not None:
                limits[name] = given.total_seconds() if isinstance(given, datetime.timedelta) else float(given)
                if limits[name] <= 0:
                    raise ValueError(f"{name} is {given}; it is more than 0 seconds")
        if not limits:
            raise ValueError("a TimeoutPolicy has a run_timeout or an idle_timeout")
        return cls(**limits)


@dataclass(kw_only=True)
class CachePolicy:
    """A node's result is given again for the same key; ttl in seconds."""

    key_func: Callable[..., Any] | None = None
    ttl: int | None = None


def interrupt(value):
    """Asks a person, and returns the answer. The node is run again from its top when it is there."""
    before = turn.get()
    if before is not None:
        before()
    return now().interrupt(value)
