"""StateGraph: nodes over channels, run in supersteps with a checkpoint after each."""

from ..constants import END, START
from .message import MessagesState, add_messages
from .state import CompiledStateGraph, StateGraph

__all__ = ["END", "START", "CompiledStateGraph", "MessagesState", "StateGraph", "add_messages"]
