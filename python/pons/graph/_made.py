"""What runs has a graph of the engine: what Python's things are to it, its options, its picture, its end."""

import asyncio
import concurrent.futures
import contextvars
import sys

from .._library import NULL, check, ffi, lib, new_error
from .._things import handle, pointer, release
from . import _calls
from ._drawn import drawn
from ._run import Runs


# What else a compiled graph of LangGraph has to set.
_SETTINGS = ("cache", "cache_policy", "config", "input_channels", "interrupt_after_nodes", "interrupt_before_nodes", "output_channels", "retry_policy",
             "store", "stream_channels", "stream_eager", "stream_mode", "trigger_to_nodes")  # fmt: skip


class Made(Runs):
    """Has `c`, the compiled graph, `numbers`, of the things it points to, and `tasks`, by their names."""

    def _pointer(self, thing):
        self.numbers.append(handle(thing))
        return pointer(self.numbers[-1])

    def __setattr__(self, name, v):
        if name in _SETTINGS:
            raise NotImplementedError(f"{name} of a compiled graph can't be set: compile(), invoke() and stream() take what is there (docs/reference/python.md)")
        super().__setattr__(name, v)
        if name == "step_timeout":
            self._timed()

    def _timed(self):
        raise NotImplementedError("step_timeout is a StateGraph's; a task and an entrypoint have timeout=… (docs/reference/python.md)")

    def clear_cache(self, nodes=None):
        err = new_error()
        for name in [NULL] if nodes is None else [n.encode() for n in nodes]:
            check(lib.pons_graph_cache_clear(self.c, ffi.new("pons_store *")[0], name, err), err)

    # What LangChain's Runnables have.

    def batch(self, inputs, config=None, *, return_exceptions=False, **more):
        """The outputs of several inputs, which run side by side; config: one, or one each."""
        configs = config if isinstance(config, list) else [config] * len(inputs)
        with concurrent.futures.ThreadPoolExecutor(max_workers=(configs[0] or {}).get("max_concurrency") or None if configs else None) as pool:
            waits = [pool.submit(contextvars.copy_context().run, self.invoke, i, c, **more) for i, c in zip(inputs, configs)]
            return [(w.exception() if return_exceptions else None) or w.result() for w in waits]

    async def abatch(self, inputs, config=None, *, return_exceptions=False, **more):
        configs = config if isinstance(config, list) else [config] * len(inputs)
        return list(await asyncio.gather(*(self.ainvoke(i, c, **more) for i, c in zip(inputs, configs)), return_exceptions=return_exceptions))

    def __or__(self, other):
        from langchain_core.runnables import RunnableLambda

        return RunnableLambda(self.invoke, self.ainvoke, name=self.name) | other

    def get_name(self, suffix=None, *, name=None):
        name = name or self.name
        return name if not suffix else name + suffix.title() if name[0].isupper() else f"{name}_{suffix.lower()}"

    def joins_langchain(self):
        """Where LangChain is imported, its chains take a graph as one of theirs."""
        runnables = sys.modules.get("langchain_core.runnables")
        if hasattr(runnables, "Runnable"):
            runnables.Runnable.register(Made)

    def get_graph(self, config=None, *, xray=False):
        return drawn(self, -1 if xray is True else int(xray))


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
