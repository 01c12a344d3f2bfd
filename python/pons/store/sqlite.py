"""Items in one SQLite file, which may be that of the checkpoints; `pons items` reads it."""

import contextlib

from .base import BaseStore


class SqliteStore(BaseStore):
    def __init__(self, path, *, index=None, ttl=None):
        super().__init__("memory:" if str(path) == ":memory:" else f"sqlite:{path}", index, ttl)

    @classmethod
    @contextlib.contextmanager
    def from_conn_string(cls, conn_string, *, index=None, ttl=None):
        with cls(conn_string, index=index, ttl=ttl) as made:
            yield made
