"""What a graph raises. Names are LangGraph's."""


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


class GraphBubbleUp(Exception):
    """How interrupts leave a node; not to be caught."""


class GraphInterrupt(GraphBubbleUp):
    """The node waits for an answer."""
