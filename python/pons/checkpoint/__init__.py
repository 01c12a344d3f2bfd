"""Where checkpoints are kept: memory, one SQLite file, or whatever `pons` takes as PONS_STORE."""

import asyncio
import contextlib
import datetime
import threading
from typing import Any, NamedTuple

from .._library import NULL, c_name, check, ffi, lib, new_error, taken, unref, value


class CheckpointTuple(NamedTuple):
    config: dict
    checkpoint: dict
    metadata: Any = None
    parent_config: dict | None = None
    pending_writes: list | None = None


class Store:
    """An open store; closed with it. Any number of threads may use it. Closed while a run uses it, it ends with the run."""

    def __init__(self, url):
        self.lock, self.users, self.closed, self.c, err = threading.Lock(), 0, True, ffi.new("pons_store *"), new_error()
        check(lib.pons_store_open(c_name(url), self.c, err), err)
        self.closed = False

    def lend(self):
        """The engine's, until it is given back."""
        with self.lock:
            if self.closed:
                raise ValueError("the checkpointer is closed")
            self.users += 1
            return self.c[0]

    def give_back(self):
        self._less(1, False)

    @contextlib.contextmanager
    def used(self):
        c = self.lend()
        try:
            yield c
        finally:
            self.give_back()

    def close(self):
        self._less(0, True)

    def _less(self, users, closes):
        with self.lock:
            was, self.users, self.closed = self.users + (not self.closed), self.users - users, self.closed or closes
            ends = was and not self.users and self.closed
        if ends:
            lib.pons_store_close(self.c)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if not getattr(self, "closed", True):
            self.close()

    def get_tuple(self, config):
        """The values of a namespace at a checkpoint, or at its newest; None when there is none."""
        at = config["configurable"]
        with self.used() as c:
            found = snapshot(c, str(at["thread_id"]), at.get("checkpoint_ns", ""), at.get("checkpoint_id"))
        return None if found is None else _tuple(found)

    def list(self, config, *, filter=None, before=None, limit=None):
        """Those of a thread, newest first, whose metadata have what `filter` says."""
        at = config["configurable"]
        with self.used() as c:
            found = history(c, str(at["thread_id"]), at.get("checkpoint_ns", ""), filter, before, limit)
        yield from map(_tuple, found)

    def delete_thread(self, thread_id):
        err = new_error()
        with self.used():
            check(self.c.ops.thread_delete(self.c.self, c_name(str(thread_id)), err), err)

    def setup(self):
        """Nothing is left to do."""

    async def aget_tuple(self, config):
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(self, config, **more):
        for found in await asyncio.to_thread(lambda: [*self.list(config, **more)]):
            yield found

    async def adelete_thread(self, thread_id):
        await asyncio.to_thread(self.delete_thread, thread_id)


def saver_of(given):
    """What a graph may be compiled with: one of ours, or what a subgraph says of its own (True, False, None)."""
    if given is None or isinstance(given, (bool, Store)):
        return given
    raise TypeError(f"a checkpointer is one of pons.checkpoint, which {type(given).__module__}.{type(given).__qualname__} is not: nothing would be kept")


def snapshot(c, thread, ns, checkpoint=None, **options):
    """What is kept of a namespace at a checkpoint, or at its newest; None where there is none."""
    o, ret, err = ffi.new("pons_snapshot_options *", options), ffi.new("pons_value **"), new_error()
    o.checkpoint = keep = ffi.new("char[]", c_name(checkpoint)) if checkpoint else NULL
    rc = lib.pons_state_snapshot(c, c_name(thread), c_name(ns), o, ret, err)
    del keep
    if rc == lib.PONS_ENOTFOUND:
        return None
    check(rc, err)
    return taken(ret[0])


def history(c, thread, ns, filter, before, limit):
    """Snapshots of a namespace, newest first: those before the config `before`, whose metadata have what `filter` says."""
    q, keep = ffi.new("pons_history_query *", {"limit": limit or 0}), []
    if before:
        keep.append(ffi.new("char[]", before["configurable"]["checkpoint_id"].encode()))
        q.before = keep[-1]
    if filter:
        keep.append(ffi.gc(value(filter), unref))
        q.filter = keep[-1]
    ret, err = ffi.new("pons_value **"), new_error()
    rc = lib.pons_state_history_find(c, c_name(thread), c_name(ns), q, ret, err)
    if rc == lib.PONS_ENOTFOUND:
        return []
    check(rc, err)
    return taken(ret[0])


def _tuple(s):
    def config(checkpoint):
        return {"configurable": {"thread_id": s["thread"], "checkpoint_ns": s["ns"], "checkpoint_id": checkpoint}}

    checkpoint = {"id": s["checkpoint_id"], "ts": iso(s["ts_ms"]), "channel_values": s.get("values") or {}}
    return CheckpointTuple(config(s["checkpoint_id"]), checkpoint, s["metadata"], config(s["parent_id"]) if s.get("parent_id") else None)


def iso(ms):
    return datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc).isoformat(timespec="microseconds")
