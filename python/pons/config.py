"""What a node may ask for without taking it as a parameter."""

from ._now import now


def get_stream_writer():
    """A function that streams what it is given, in the mode `custom`."""
    return now().write


def get_store():
    """The store of items that the graph was compiled with."""
    return now().call.graph.items


def get_config():
    """The config of this run."""
    at = now()
    return at.config_of(at.call.config)
