"""Items that end with the process."""

from .base import BaseStore


class InMemoryStore(BaseStore):
    def __init__(self, *, index=None, ttl=None):
        super().__init__("memory:", index, ttl)
