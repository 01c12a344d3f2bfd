"""What a tool is given that no model says: the state, the store, the runtime."""

import typing
from dataclasses import dataclass, field
from types import UnionType
from typing import Annotated, Any, Callable, Generic, TypeVar, Union, get_args, get_origin

from langchain_core.tools import InjectedToolArg
from langchain_core.tools.base import get_all_basemodel_annotations

try:  # an annotation by itself, without Annotated
    from langchain_core.tools.base import _DirectlyInjectedToolArg as Direct
except ImportError:
    Direct = InjectedToolArg

ContextT = TypeVar("ContextT")
StateT = TypeVar("StateT")


class InjectedState(InjectedToolArg):
    """`Annotated[dict, InjectedState]`: the state; `Annotated[str, InjectedState("who")]`: one member of it."""

    def __init__(self, field=None):
        self.field = field


class InjectedStore(InjectedToolArg):
    """`Annotated[BaseStore, InjectedStore()]`: the store that the graph was compiled with."""


@dataclass
class ToolRuntime(Direct, Generic[ContextT, StateT]):
    """`runtime: ToolRuntime`: all that there is about the call at work."""

    state: StateT
    context: ContextT
    config: dict
    stream_writer: Callable[[Any], None]
    tool_call_id: str | None
    store: Any
    tools: list = field(default_factory=list)

    def __class_getitem__(cls, of):  # the state's class may be left out
        return super().__class_getitem__(of if isinstance(of, tuple) else (of, Any))


def _marks(t, kind):
    """The marks of a kind in an annotation: instances or classes."""
    if isinstance(t, kind) or (isinstance(t, type) and issubclass(t, kind)):
        return [t]
    origin = get_origin(t)
    if origin in (Annotated, Union, UnionType):
        return [m for part in get_args(t) for m in _marks(part, kind)]
    return [t] if isinstance(origin, type) and issubclass(origin, kind) else []


class Wants:
    """What one tool is given: {parameter: member of the state, or None for the whole}, and names of parameters."""

    def __init__(self, tool):
        fn = getattr(tool, "func", None) or getattr(tool, "coroutine", None)
        schema = tool.get_input_schema()
        hints = typing.get_type_hints(fn, include_extras=True) if fn else {}
        self.state, self.optional, self.store, self.runtime, self.hidden = {}, set(), None, None, set()
        for name, t in {**hints, **get_all_basemodel_annotations(schema)}.items():
            if _marks(t, (InjectedToolArg, Direct)):
                self.hidden.add(name)
            if name == "runtime" or _marks(t, ToolRuntime):
                self.runtime = name
            if _marks(t, InjectedStore):
                self.store = name
            found = _marks(t, InjectedState)
            if len(found) > 1:
                raise ValueError(f"the parameter '{name}' of the tool '{tool.name}' names the state more than once")
            if found:
                member = getattr(found[0], "field", None)
                self.state[name] = member
                known = schema.model_fields.get(name)
                if member and known is not None and not known.is_required():
                    self.optional.add(name)

    @property
    def names(self):
        return {*self.state, *(n for n in (self.store, self.runtime) if n)}

    def given(self, tool, args, runtime, messages_key):
        """The arguments: what the model said, but for what only we say."""
        made = {}
        state = runtime.state
        if self.state and isinstance(state, list):
            if any(m not in (None, messages_key) for m in self.state.values()):
                wanted = ", ".join(m for m in self.state.values() if m)
                raise ValueError(f"the tool '{tool}' takes {wanted} of the state, and was given a list of messages")
            state = {messages_key: state}
        for name, member in self.state.items():
            if member is None:
                made[name] = state
                continue
            there = member in state if isinstance(state, dict) else hasattr(state, member)
            if there:
                made[name] = state[member] if isinstance(state, dict) else getattr(state, member)
            elif name not in self.optional:
                raise KeyError(member) if isinstance(state, dict) else AttributeError(member)
        if self.store:
            if runtime.store is None:
                raise ValueError(f"the tool '{tool}' takes the store (InjectedStore), and the graph is compiled without one")
            made[self.store] = runtime.store
        if self.runtime:
            made[self.runtime] = runtime
        return {**{k: v for k, v in args.items() if k not in self.hidden}, **made}
