"""Checkpoints in one SQLite file, which `pons threads`, `pons backup` and every other pons reads."""

import contextlib

from . import Store


class SqliteSaver(Store):
    """SqliteSaver(path). A second process may read it; a thread of it is written by one at a time."""

    def __init__(self, path):
        super().__init__("memory:" if str(path) == ":memory:" else f"sqlite:{path}")

    def setup(self):
        """Nothing is left to do."""

    @classmethod
    @contextlib.contextmanager
    def from_conn_string(cls, path):
        with cls(path) as made:
            yield made
