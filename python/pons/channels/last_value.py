"""The place that LangGraph has it at."""

from . import LastValue

__all__ = ["LastValue"]
