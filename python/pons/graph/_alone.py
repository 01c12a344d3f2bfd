"""A node by itself, as a test calls it: `app.nodes["post"].invoke(state)` is what it returns, and nothing is kept."""

import contextvars
from types import SimpleNamespace

from .._library import NULL
from .._now import at as current
from ._at import At
from ._beside import Stop, on_thread, running
from ._calls import _arguments


class _Nowhere(At):
    """Outside of any run."""

    def write(self, v):
        pass

    def config_of(self, config):
        return config

    def on_loop(self, what):
        raise RuntimeError(f"'{self.node.name}' is called by itself: no run is there to ask, or to answer it")


class Alone:
    def __init__(self, node, items):
        self.node, self.items, self.name = node, items, node.name

    def invoke(self, state, config=None):
        loop, stop = running()
        call = SimpleNamespace(graph=self, config=config or {}, context=None, loop=loop, stop=stop, tokens=None)
        token = current.set(_Nowhere(NULL, self.node, call))
        try:
            return _arguments(self.node, current.get(), self.node.cast(state))
        finally:
            current.reset(token)

    async def ainvoke(self, state, config=None):
        return await on_thread(Stop(), contextvars.copy_context(), self.invoke, state, config)
