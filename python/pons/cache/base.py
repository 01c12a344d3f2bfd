"""What every cache is, for annotations."""

from .memory import InMemoryCache as BaseCache

__all__ = ["BaseCache"]
