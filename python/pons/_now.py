"""The node at work, and the runs whose engine is at work on this thread."""

import contextvars
import threading

at = contextvars.ContextVar("pons_at", default=None)  # a node goes with its context, to other threads and loops too


turn = contextvars.ContextVar("pons_turn", default=None)  # of one of several that ask in an order: called first


class _Calls(threading.local):
    def __init__(self):
        self.calls = []  # the inner ones last: what C calls back finds its run


stack = _Calls()


def now():
    found = at.get()
    if found is None:
        raise RuntimeError("called outside of a node")
    return found
