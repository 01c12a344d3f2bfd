"""The same for programs that await: what is asked of it runs on another thread."""

import contextlib

from . import SqliteSaver


class AsyncSqliteSaver(SqliteSaver):
    @classmethod
    @contextlib.asynccontextmanager
    async def from_conn_string(cls, conn_string):
        with cls(conn_string) as made:
            yield made

    async def setup(self):
        """Nothing is left to do."""

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.close()
