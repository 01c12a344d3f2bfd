"""Where checkpoints are kept: memory, one SQLite file, or whatever `pons` takes as PONS_STORE."""

import asyncio
import datetime
from typing import Any, NamedTuple

from .._library import NULL, check, ffi, lib, new_error, taken, unref, value


class CheckpointTuple(NamedTuple):
    config: dict
    checkpoint: dict
    metadata: Any = None
    parent_config: dict | None = None
    pending_writes: list | None = None


class Store:
    """An open store; closed with it. Any number of threads may use it."""

    def __init__(self, url):
        self.c, err = ffi.new("pons_store *"), new_error()
        check(lib.pons_store_open(url.encode(), self.c, err), err)

    def close(self):
        if self.c is not None:
            lib.pons_store_close(self.c)
            self.c = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "c", None) is not None:
            self.close()

    def get_tuple(self, config):
        """The values of a namespace at a checkpoint, or at its newest; None when there is none."""
        at = config["configurable"]
        found = snapshot(self.c[0], str(at["thread_id"]), at.get("checkpoint_ns", ""), at.get("checkpoint_id"))
        return None if found is None else _tuple(found)

    def list(self, config, *, filter=None, before=None, limit=None):
        """Those of a thread, newest first, whose metadata have what `filter` says."""
        at = config["configurable"]
        for s in history(self.c[0], str(at["thread_id"]), at.get("checkpoint_ns", ""), filter, before, limit):
            yield _tuple(s)

    def delete_thread(self, thread_id):
        err = new_error()
        check(self.c.ops.thread_delete(self.c.self, str(thread_id).encode(), err), err)

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
    o.checkpoint = keep = ffi.new("char[]", checkpoint.encode()) if checkpoint else NULL
    rc = lib.pons_state_snapshot(c, thread.encode(), ns.encode(), o, ret, err)
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
    rc = lib.pons_state_history_find(c, thread.encode(), ns.encode(), q, ret, err)
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
    return datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc).isoformat()
