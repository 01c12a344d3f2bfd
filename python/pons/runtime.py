"""What a node that has a parameter `runtime` is given."""

from dataclasses import dataclass
from typing import Any, Callable, Generic, TypeVar

ContextT = TypeVar("ContextT")


@dataclass
class Runtime(Generic[ContextT]):
    context: Any = None
    stream_writer: Callable[[Any], None] = lambda _: None
    store: Any = None
    heartbeat: Callable[[], None] = lambda: None
    previous: Any = None


def get_runtime(context_schema=None):
    from ._now import now

    return now().runtime()
