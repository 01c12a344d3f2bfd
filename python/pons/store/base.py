"""Items: documents that outlive threads, so that what one run has learnt another one knows (docs/reference/store.md).

A put is durable when it returns, and everybody reads it then, in nodes as outside of them: a node that is run
again puts again. The engine keeps, filters and searches (pons/items.h); these are LangGraph's names for it.
"""

import datetime
import weakref
from typing import Any, NamedTuple

from .._library import Names, c_name, check, ffi, lib, new_error, taken, unref
from .._library import value as to_c
from .._things import handle, pointer, release, thing


class InvalidNamespaceError(ValueError):
    """A namespace is a tuple of texts without '.', not empty; the first is not "langgraph"."""


class Item:
    """A document with its place."""

    def __init__(self, *, value, key, namespace, created_at, updated_at):
        self.value, self.key, self.namespace, self.created_at, self.updated_at = value, key, tuple(namespace), created_at, updated_at

    def dict(self):
        return {"namespace": list(self.namespace), "key": self.key, "value": self.value,
                "created_at": self.created_at.isoformat(), "updated_at": self.updated_at.isoformat()}  # fmt: skip

    def __eq__(self, other):
        return isinstance(other, Item) and self.dict() == other.dict()

    def __hash__(self):
        return hash((self.namespace, self.key))

    def __repr__(self):
        members = [f"{name}={v!r}" for name, v in self.dict().items()]
        return f"{type(self).__name__}({', '.join(members)})"


class SearchItem(Item):
    """One that was found; score: the share of the query's words that it has, or how near it is in meaning."""

    def __init__(self, namespace, key, value, created_at, updated_at, score=None):
        super().__init__(value=value, key=key, namespace=namespace, created_at=created_at, updated_at=updated_at)
        self.score = score

    def dict(self):
        return {**super().dict(), "score": self.score}


class GetOp(NamedTuple):
    namespace: tuple
    key: str
    refresh_ttl: bool = True


class SearchOp(NamedTuple):
    namespace_prefix: tuple
    filter: dict | None = None
    limit: int = 10
    offset: int = 0
    query: str | None = None
    refresh_ttl: bool = True


class MatchCondition(NamedTuple):
    match_type: str
    path: tuple


class ListNamespacesOp(NamedTuple):
    match_conditions: tuple | None = None
    max_depth: int | None = None
    limit: int = 100
    offset: int = 0


class PutOp(NamedTuple):
    namespace: tuple
    key: str
    value: dict | None
    index: Any = None
    ttl: float | None = None


class _Given:
    """No time to live is not the same as none said."""


NOT_PROVIDED = _Given()
_MINUTE_MS = 60_000


def _space(labels, whole=False, any_one=False):
    for label in labels:
        if not isinstance(label, str) or not label or "." in label or "\0" in label:
            raise InvalidNamespaceError(f"{label!r} in {tuple(labels)!r} can't be a label: a text without '.', not empty")
        if label == "*" and not any_one:
            raise InvalidNamespaceError(f"'*' in {tuple(labels)!r} stands for any label, which only list_namespaces takes")
    if whole and not labels:
        raise InvalidNamespaceError("a namespace has at least one label")
    if whole and labels[0] == "langgraph":
        raise InvalidNamespaceError(f"a namespace can't begin with 'langgraph', as {tuple(labels)!r} does")
    return ".".join(labels).encode()


def _time(ms):
    return datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc)


def _members(v, *keys):
    return {"namespace": tuple(v["namespace"]), "key": v["key"], "value": v["value"],
            "created_at": _time(v["created_ms"]), "updated_at": _time(v["updated_ms"]), **{k: v.get(k) for k in keys}}  # fmt: skip


@ffi.callback("int(void *, char **, size_t, float *, pons_error *)", error=lib.PONS_EINVAL)
def _embed(user, texts, n, ret, err):
    store = thing(user)()
    try:
        rows = store.embed([ffi.string(texts[i]).decode() for i in range(n)])
        dims = store.c.opts.dims
        for i, row in enumerate(rows):
            if len(row) != dims:
                raise ValueError(f"the embedding has {len(row)} numbers, not {dims}")
            ret[i * dims : (i + 1) * dims] = [float(x) for x in row]
        return lib.PONS_OK
    except BaseException as exc:
        store.failed = exc
        lib.pons_error_set(err, lib.PONS_EINVAL, b"python", b"%s", ffi.new("char[]", f"{type(exc).__name__}: {exc}"[:200].encode(errors="replace")))
        return lib.PONS_EINVAL


class BaseStore:
    """A store of items at a place: memory, or a SQLite file. index: {"dims", "embed", "fields"}; ttl: {"default_ttl"
    in minutes, "refresh_on_read"}. Any number of threads may use it."""

    def __init__(self, url, index=None, ttl=None):
        self.c, self.store, err, self.keep, self.failed = ffi.new("pons_items *"), ffi.new("pons_store *"), new_error(), [], None
        check(lib.pons_store_open(c_name(url), self.store, err), err)
        self.c.store, self.c.clock, self.open = self.store[0], lib.pons_clock_real(), True
        o, numbers = self.c.opts, []
        o.ttl_ms, o.keep_read = int(((ttl or {}).get("default_ttl") or 0) * _MINUTE_MS), (ttl or {}).get("refresh_on_read", True)
        if index:
            embed = index["embed"]
            if isinstance(embed, str):
                raise NotImplementedError(f"index['embed'] is {embed!r}: give the function, or the embeddings themselves (docs/reference/python.md)")
            self.embed = getattr(embed, "embed_documents", embed)
            numbers.append(handle(weakref.ref(self)))
            o.embed, o.embed_user, o.dims = _embed, pointer(numbers[0]), index["dims"]
            if index.get("fields"):
                o.fields = Names.of(index["fields"], self.keep)
        weakref.finalize(self, release, numbers)

    def close(self):
        if getattr(self, "open", False):
            self.open = False
            lib.pons_store_close(self.store)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def setup(self):
        """Nothing is left to do."""

    def _check(self, rc, err):
        if not self.open:
            raise ValueError("the store is closed")
        failed, self.failed = self.failed, None
        if rc < 0 and failed is not None:
            raise failed
        return check(rc, err)

    def _ready(self):
        if not self.open:
            raise ValueError("the store is closed")
        return new_error()

    def put(self, namespace, key, value, index=None, *, ttl=NOT_PROVIDED):
        if not isinstance(value, dict):
            raise TypeError(f"an item is a dict, not {type(value).__name__}")
        ns, err, keep = _space(namespace, whole=True), self._ready(), []
        o = ffi.new("pons_item_put *", {"unsearched": index is False})
        if isinstance(index, (list, tuple)):
            o.fields = Names.of(index, keep)
        if ttl is not NOT_PROVIDED:
            o.ttl_ms = -1 if ttl is None else max(1, int(ttl * _MINUTE_MS))
        v = ffi.gc(to_c(value), unref)
        self._check(lib.pons_items_put(self.c, ns, c_name(str(key)), v, o, err), err)

    def get(self, namespace, key, *, refresh_ttl=None):
        ret, err = ffi.new("pons_value **"), self._ready()
        rc = lib.pons_items_get(self.c, _space(namespace), c_name(str(key)), ret, err)
        if rc == lib.PONS_ENOTFOUND:
            return None
        self._check(rc, err)
        return Item(**_members(taken(ret[0])))

    def delete(self, namespace, key):
        err = self._ready()
        self._check(lib.pons_items_delete(self.c, _space(namespace), c_name(str(key)), err), err)

    def search(self, namespace_prefix, /, *, query=None, filter=None, limit=10, offset=0, refresh_ttl=None):
        ret, err, keep = ffi.new("pons_value **"), self._ready(), [ffi.new("char[]", _space(namespace_prefix))]
        q = ffi.new("pons_items_query *", {"prefix": keep[0], "limit": limit or -1, "offset": offset})
        if filter:
            keep.append(ffi.gc(to_c(filter), unref))
            q.filter = keep[-1]
        if query:
            keep.append(ffi.new("char[]", query.encode()))
            q.query = keep[-1]
        self._check(lib.pons_items_search(self.c, q, ret, err), err)
        return [SearchItem(**_members(v, "score")) for v in taken(ret[0])][: limit or 0]

    def list_namespaces(self, *, prefix=None, suffix=None, max_depth=None, limit=100, offset=0):
        ret, err = ffi.new("pons_value **"), self._ready()
        keep = [ffi.new("char[]", _space(labels or (), any_one=True)) for labels in (prefix, suffix)]
        q = ffi.new("pons_items_spaces *", {"prefix": keep[0], "suffix": keep[1], "max_depth": max_depth or 0, "limit": limit or -1, "offset": offset})
        self._check(lib.pons_items_namespaces(self.c, q, ret, err), err)
        return [tuple(ns) for ns in taken(ret[0])]

    def sweep_ttl(self):
        """Removes what has expired, which nobody sees any more; gives how many."""
        n, err = ffi.new("int64_t *"), self._ready()
        self._check(lib.pons_items_sweep(self.c, n, err), err)
        return n[0]

    def batch(self, ops):
        return [self._op(op) for op in ops]

    def _op(self, op):
        if isinstance(op, GetOp):
            return self.get(op.namespace, op.key)
        if isinstance(op, PutOp):
            if op.value is None:
                return self.delete(op.namespace, op.key)
            return self.put(op.namespace, op.key, op.value, op.index, **({} if op.ttl is None else {"ttl": op.ttl}))
        if isinstance(op, SearchOp):
            return self.search(op.namespace_prefix, query=op.query, filter=op.filter, limit=op.limit, offset=op.offset)
        if isinstance(op, ListNamespacesOp):
            where = {c.match_type: c.path for c in op.match_conditions or ()}
            return self.list_namespaces(**where, max_depth=op.max_depth, limit=op.limit, offset=op.offset)
        raise TypeError(f"{op!r} is no operation of a store")


def _awaited(name):
    async def method(self, *args, **kwargs):
        import contextvars

        from ..graph._beside import on_thread

        return await on_thread(None, contextvars.copy_context(), getattr(self, name), *args, **kwargs)

    method.__name__ = "a" + name
    return method


for _name in ("get", "put", "delete", "search", "list_namespaces", "batch"):
    setattr(BaseStore, "a" + _name, _awaited(_name))
