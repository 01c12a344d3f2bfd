"""What a graph raises. Names are LangGraph's."""

from dataclasses import dataclass


class PonsError(RuntimeError):
    """An error of the engine: `status` is its number (pons/error.h), the text its one line."""

    def __init__(self, status, line):
        super().__init__(line)
        self.status = status


class GraphRecursionError(RecursionError):
    """The run took more supersteps than its limit."""


class InvalidUpdateError(Exception):
    """Two nodes wrote a channel that takes one write a superstep, or a write makes no sense."""


class EmptyInputError(Exception):
    """The input writes nothing."""


class EmptyChannelError(Exception):
    """The channel has no value."""


@dataclass(frozen=True, slots=True)
class NodeError:
    """What a node's error handler is told: which node failed, and with what."""

    node: str
    error: BaseException


class NodeTimeoutError(Exception):
    """An asynchronous node took longer than it may: `kind` is "run" or "idle", `timeout` in seconds."""

    def __init__(self, node, elapsed, *, kind, run_timeout=None, idle_timeout=None):
        self.node, self.elapsed, self.kind, self.run_timeout, self.idle_timeout = node, elapsed, kind, run_timeout, idle_timeout
        self.timeout = idle_timeout if kind == "idle" else run_timeout
        super().__init__(f"the node {node!r} has had {elapsed:.3f} s, and its {kind} timeout is {self.timeout} s")


class NodeCancelledError(Exception):
    """A node raised asyncio.CancelledError by itself: nobody has canceled the run."""

    def __init__(self, node, message=None):
        self.node = node
        super().__init__(message or f"the node {node!r} raised asyncio.CancelledError, and nobody had canceled the run")


class GraphBubbleUp(Exception):
    """How interrupts leave a node; not to be caught."""


class ParentCommand(GraphBubbleUp):
    """A command for the graph whose node's code runs this one: it is that node's."""

    def __init__(self, command):
        super().__init__(command)
        self.command = command


class GraphInterrupt(GraphBubbleUp):
    """The node waits for an answer."""
