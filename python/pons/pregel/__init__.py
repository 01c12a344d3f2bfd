"""The name of what runs: a compiled StateGraph, or an entrypoint."""

from ..graph._made import Made as Pregel

__all__ = ["Pregel"]
