"""The node at work on this thread."""

import threading


class _Stack(threading.local):
    def __init__(self):
        self.at = []  # nodes, the inner ones last
        self.calls = []  # runs


stack = _Stack()


def now():
    if not stack.at:
        raise RuntimeError("called outside of a node")
    return stack.at[-1]
