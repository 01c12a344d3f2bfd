"""Agents ready made: a model that calls tools until it has an answer. Names are LangGraph's.

    from pons.prebuilt import create_react_agent
    app = create_react_agent(model, [look, lift], prompt="You are careful.", checkpointer=...)

Models and tools are LangChain's, so langchain_core must be installed; the graph is one as any other.
"""

try:
    import langchain_core  # noqa: F401
except ImportError as exc:
    raise ImportError("pons.prebuilt takes the models and tools of langchain-core, which is not installed (pip install langchain-core)") from exc

from .chat_agent_executor import create_react_agent
from .tool_node import InjectedState, InjectedStore, ToolNode, ToolRuntime, tools_condition

__all__ = ["InjectedState", "InjectedStore", "ToolNode", "ToolRuntime", "create_react_agent", "tools_condition"]
