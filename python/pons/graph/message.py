"""Conversations: a channel of messages, known by their ids."""

import uuid
from typing import Annotated

from .._typing import TypedDict

REMOVE_ALL_MESSAGES = "__remove_all__"


def __getattr__(name):
    if name == "AnyMessage":  # for annotations; LangChain is imported by who asks for it
        from langchain_core.messages import AnyMessage

        return AnyMessage
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def _classes():
    try:
        import langchain_core.messages as m
    except ImportError:
        return None
    return {"human": m.HumanMessage, "ai": m.AIMessage, "system": m.SystemMessage, "tool": m.ToolMessage,
            "function": m.FunctionMessage, "remove": m.RemoveMessage, "AIMessageChunk": m.AIMessageChunk}  # fmt: skip


def written(v):
    """What is written to a channel of messages: a list, or one, which a pair is as well."""
    return to_wire([v] if isinstance(v, tuple) else v)


def to_wire(v):
    """Messages of LangChain as their members, (role, text) as a list; what is none stays as it is."""
    if isinstance(v, (list, tuple)):
        return [to_wire(x) for x in v]
    if hasattr(v, "model_dump") and hasattr(v, "type") and hasattr(v, "content"):
        return {k: x for k, x in v.model_dump().items() if x is not None or k in ("id", "name")}
    return v


def from_wire(v):
    """LangChain's messages where langchain_core is installed; dicts elsewhere."""
    classes = _classes() if v else None
    if not classes:
        return v
    return [_from(m, classes) for m in v] if isinstance(v, list) else _from(v, classes)


def _from(m, classes):
    if not isinstance(m, dict) or m.get("type") not in classes:
        return m
    return classes[m["type"]](**{k: x for k, x in m.items() if k != "type"})


def _message(m):
    if _classes() and isinstance(m, (dict, str, tuple, list)):
        from langchain_core.messages import convert_to_messages

        return convert_to_messages([m])[0]
    return m


def _id(m):
    return m.get("id") if isinstance(m, dict) else m.id


def add_messages(left, right):
    """Appends by id. As an annotation it names the engine's own reducer; called, it does the same."""
    left, right = ([_message(m) for m in (x if isinstance(x, list) else [x])] for x in (left, right))
    for m in left + right:
        if _id(m) is None:
            m.__setitem__("id", str(uuid.uuid4())) if isinstance(m, dict) else setattr(m, "id", str(uuid.uuid4()))
    merged, gone = {_id(m): m for m in left}, set()
    for m in right:
        if (m.get("type") if isinstance(m, dict) else m.type) != "remove":
            merged[_id(m)] = m
            gone.discard(_id(m))
        elif _id(m) == REMOVE_ALL_MESSAGES:
            merged.clear()
        elif _id(m) not in merged:
            raise ValueError(f"there is no message with the id '{_id(m)}' to remove")
        else:
            gone.add(_id(m))  # removed twice is removed; written after that, it is there, at its place
    return [m for i, m in merged.items() if i not in gone]


class MessagesState(TypedDict):
    messages: Annotated[list, add_messages]
