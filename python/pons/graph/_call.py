"""One run under way."""

import collections
import queue
import threading

from .._library import unref
from .._now import at, stack
from . import _tokens
from ._beside import Stop, running
from ._board import Board


class Call:
    """One run under way: what its nodes find, and what it has streamed."""

    def __init__(self, graph, config, context, stream, subgraphs=False):
        self.graph, self.config, self.context, self.failed, self.unknown = graph, config, context, None, None
        self.live = "messages" in stream or "custom" in stream  # what nodes say is shown while they work
        self.events, self.seen = _Live() if self.live else collections.deque(), {}
        self.outer = at.get()  # the node whose code runs this
        # What graphs show that nodes run. Their models speak by the callbacks that they are called with.
        self.below = tuple(m for m in stream if m != "messages") if subgraphs else ()
        self.keep, self.failures, self.begun, self.step = [], {}, {}, (None, [])  # step: where it is, and who was begun for it
        self.pressed = None  # Ctrl-C, which ends the run
        self.loop, self.stop = running()
        self.stop = self.stop or (Stop() if self.live else None)
        self.tokens = _tokens.of(self, "messages" in stream)
        self.board = Board(self)
        self.left, self.working, self.last = threading.Lock(), False, None

    def remember(self, name, ref, made):
        """ref is a reference of our own, so the pointer means this value as long as it is known."""
        old = self.seen.get(name)
        self.seen[name] = (ref, made)
        if old is not None:
            unref(old[0])

    def __enter__(self):  # while the engine is at it: what it calls back finds it
        stack.calls.append(self)

    def __exit__(self, *_):
        stack.calls.pop()

    def over(self, what):
        """what ends the run: now, or by the thread that is still at work for it."""
        with self.left:
            if self.working:
                self.last = what
                return
        what()

    def forget(self):
        for ref, _ in self.seen.values():
            unref(ref)
        self.seen = {}


class _Live(queue.SimpleQueue):
    """Events for another thread."""

    append = queue.SimpleQueue.put

    def popleft(self):
        return self.get_nowait()

    def __bool__(self):
        return not self.empty()
