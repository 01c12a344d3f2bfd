"""What runs has a graph of the engine: what Python's things are to it, its options, its picture, its end."""

import json

from .._library import NULL, check, ffi, lib, new_error
from .._things import handle, pointer, release
from . import _calls
from ._run import Runs


class Made(Runs):
    """Has `c`, the compiled graph, `numbers`, of the things it points to, and `tasks`, by their names."""

    def _pointer(self, thing):
        self.numbers.append(handle(thing))
        return pointer(self.numbers[-1])

    def clear_cache(self):
        err = new_error()
        check(lib.pons_graph_cache_clear(self.c, ffi.new("pons_store *")[0], NULL, err), err)

    def get_graph(self, config=None, *, xray=False):
        return Drawing(self, -1 if xray is True else int(xray))


def retries_of(policy):
    """One policy, several, or none, as a list."""
    return [policy] if isinstance(policy, tuple) and hasattr(policy, "max_attempts") else list(policy or ())


def policies(o, retries, cache, pointer, keep):
    """Retries and a cache in a node's options."""
    if retries:
        made = ffi.new("pons_retry[]", len(retries))
        for c, p in zip(made, retries):
            c.attempts, c.initial_ms, c.factor = p.max_attempts, int(p.initial_interval * 1000), p.backoff_factor
            c.max_ms, c.jitter = int(p.max_interval * 1000), 1.0 if p.jitter else 0.0
            c.retry_on, c.user = _calls.run_retry_on, pointer(p)
        keep.append(made)
        o.retries, o.n_retries = made, len(retries)
    if cache is not None:
        o.cache, o.cache_ttl_ms = True, int((cache.ttl or 0) * 1000)
        if cache.key_func is not None:
            o.cache_key, o.cache_user = _calls.run_cache_key, pointer(cache)


def free(c, numbers):
    lib.pons_graph_destroy(c)
    release(numbers)


class Drawing:
    """graph.get_graph(): what it looks like."""

    def __init__(self, graph, xray):
        self.graph, self.xray = graph, xray

    def _as(self, form):
        out, err = ffi.new("char **"), new_error()
        o = ffi.new("pons_draw_options *")
        word = ffi.new("char[]", form.encode())
        o.format, o.xray = word, self.xray
        check(lib.pons_graph_draw_as(self.graph.c, o, out, err), err)
        try:
            return ffi.string(out[0]).decode()
        finally:
            lib.free(out[0])

    def draw_mermaid(self, **_):
        return self._as("mermaid")

    def to_json(self, **_):
        return json.loads(self._as("langgraph"))
