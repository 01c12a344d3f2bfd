"""Checkpoints in one SQLite file, which `pons threads`, `pons backup` and every other pons reads."""

import contextlib

from .. import Store


class SqliteSaver(Store):
    """SqliteSaver(path, or a connection to it). A second process may read it; a thread of it is written by one at a time."""

    def __init__(self, path):
        path = path_of(path)
        super().__init__("memory:" if path == ":memory:" else f"sqlite:{path}")

    @classmethod
    @contextlib.contextmanager
    def from_conn_string(cls, conn_string):
        with cls(conn_string) as made:
            yield made


def path_of(given):
    """The file of a connection of Python's, which the engine opens for itself; a path is one already."""
    if not hasattr(given, "execute"):
        return str(given)
    return next((file for _, name, file in given.execute("PRAGMA database_list") if name == "main" and file), ":memory:")
