"""The place that LangGraph has it at."""

from . import EphemeralValue

__all__ = ["EphemeralValue"]
