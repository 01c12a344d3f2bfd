"""Where checkpoints are kept: memory, one SQLite file, or whatever `pons` takes as PONS_STORE."""

from typing import Any, NamedTuple

from .._library import NULL, check, ffi, lib, new_error, taken


class CheckpointTuple(NamedTuple):
    config: dict
    checkpoint: dict
    metadata: Any = None


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
        at, err, ret = config["configurable"], new_error(), ffi.new("pons_value **")
        o, name = ffi.new("pons_snapshot_options *"), at.get("checkpoint_id")
        o.checkpoint = keep = ffi.new("char[]", name.encode()) if name else NULL
        ns = at.get("checkpoint_ns", "").encode()
        rc = lib.pons_state_snapshot(self.c[0], str(at["thread_id"]).encode(), ns, o, ret, err)
        del keep
        if rc == lib.PONS_ENOTFOUND:
            return None
        check(rc, err)
        s = taken(ret[0])
        found = {"thread_id": s["thread"], "checkpoint_ns": s["ns"], "checkpoint_id": s["checkpoint_id"]}
        return CheckpointTuple({"configurable": found}, {"id": s["checkpoint_id"], "channel_values": s["values"]}, s["metadata"])

    def delete_thread(self, thread_id):
        err = new_error()
        check(self.c.ops.thread_delete(self.c.self, str(thread_id).encode(), err), err)
