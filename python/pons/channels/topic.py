"""The place that LangGraph has it at."""

from . import Topic

__all__ = ["Topic"]
