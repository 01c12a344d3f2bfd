"""The place that LangGraph has it at."""

from . import BaseChannel

__all__ = ["BaseChannel"]
