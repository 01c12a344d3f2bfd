"""The place that LangGraph has it at."""

from . import AnyValue

__all__ = ["AnyValue"]
