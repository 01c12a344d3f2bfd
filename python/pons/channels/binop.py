"""The place that LangGraph has it at."""

from . import BinaryOperatorAggregate

__all__ = ["BinaryOperatorAggregate"]
