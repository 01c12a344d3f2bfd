"""The place that LangGraph has it at."""

from . import UntrackedValue

__all__ = ["UntrackedValue"]
