"""What a state's class says: its channels, and how they fold."""

import copy
import dataclasses
import inspect
import operator
import typing
from typing import Annotated, get_args, get_origin

from .. import channels, managed
from .._codec import know
from .._library import c_name, lib
from .._typing import is_typeddict, stripped
from .message import add_messages


class Channel:
    """One channel: its kind, and what Python has to do for it."""

    def __init__(self, kind, reducer=None, initial=None, several=False, listed=False, messages=False, of=None):
        self.kind, self.reducer, self.initial, self.several = kind, reducer, initial, several
        self.listed, self.messages, self.of = listed, messages, of

    def empty(self):
        """What it holds before the first write; one's own to change."""
        return copy.copy(self.initial)

    @property
    def managed(self):
        return self.kind in (lib.PONS_CHANNEL_IS_LAST_STEP, lib.PONS_CHANNEL_REMAINING_STEPS)

    def same(self, other):
        return (self.kind, self.reducer, self.several) == (other.kind, other.reducer, other.several)


def hints(schema):
    """Of a function: its annotations as types; as they stand where one of them can't be found."""
    try:
        return typing.get_type_hints(schema, include_extras=True)
    except (NameError, TypeError):
        return dict(getattr(schema, "__annotations__", {}))


def is_schema(t):
    return isinstance(t, type) and (is_typeddict(t) or dataclasses.is_dataclass(t) or hasattr(t, "model_fields"))


def members(v):
    """{name: value} of what an object of a state's class writes, or None where it is no such object. Of a model's members
    that nobody has set, those that are None by default say nothing."""
    fields = getattr(type(v), "model_fields", None)
    if fields is None:
        fields = getattr(type(v), "__dataclass_fields__", None)
        return None if fields is None else {k: getattr(v, k) for k in fields}
    given = {k: getattr(v, k) for k in fields if hasattr(v, k)}
    return {k: x for k, x in given.items() if x is not None or k in v.model_fields_set or fields[k].default is not None}


def as_context(schema, given):
    """A dict as the class that the graph's contexts are of."""
    if schema is None or not isinstance(given, dict) or not is_schema(schema) or is_typeddict(schema):
        return given
    return schema(**given)


def json_schema(schema, name):
    """A schema as JSON Schema has it."""
    try:
        from pydantic import TypeAdapter, create_model
    except ImportError:
        raise ImportError("JSON schemas are made by pydantic, which is not installed (pip install pydantic)") from None
    if not is_typeddict(schema):
        made = TypeAdapter(schema).json_schema()
        return {**made, "title": name} if dataclasses.is_dataclass(schema) else made
    # Not by TypeAdapter, which takes no typing.TypedDict before Python 3.12.
    need = schema.__required_keys__
    types = {n: (stripped(t), ... if n in need else None) for n, t in hints(schema).items()}
    made = create_model(schema.__name__, **types).model_json_schema()
    for n in types.keys() - need:
        del made["properties"][n]["default"]
    return made


def channels_of(schema):
    if schema is None or not (is_schema(schema) or hasattr(schema, "__annotations__")):
        raise ValueError(f"a state is a TypedDict, a dataclass or a model of pydantic, not {schema!r}")
    # What can't be found is an error here: a reducer that is not seen would be lost.
    types = {name: t for name, t in typing.get_type_hints(schema, include_extras=True).items() if not name.startswith("__")}
    for name, t in types.items():
        c_name(name)
        know(t)
    return {name: channel_of(t) for name, t in types.items()}


def channel_of(t):
    t = stripped(t)
    if get_origin(t) is not Annotated:
        return Channel(lib.PONS_CHANNEL_LAST)
    base, *notes = get_args(t)
    for note in reversed(notes):
        found = _noted(base, note)
        if found:
            return found
    return Channel(lib.PONS_CHANNEL_LAST)


def _noted(base, note):
    if note is managed.IsLastStepManager:
        return Channel(lib.PONS_CHANNEL_IS_LAST_STEP)
    if note is managed.RemainingStepsManager:
        return Channel(lib.PONS_CHANNEL_REMAINING_STEPS)
    if isinstance(note, type) and issubclass(note, channels.BaseChannel):
        note = note(base)
    if isinstance(note, channels.BinaryOperatorAggregate):
        return _folded(base, note.operator)
    if isinstance(note, channels.Topic):
        return Channel(lib.PONS_CHANNEL_TOPIC_ACC if note.accumulate else lib.PONS_CHANNEL_TOPIC)
    for kind, word in ((channels.AnyValue, "ANY"), (channels.EphemeralValue, "EPHEMERAL"), (channels.UntrackedValue, "UNTRACKED"), (channels.LastValue, "LAST")):
        if isinstance(note, kind):
            return Channel(getattr(lib, "PONS_CHANNEL_" + word), several=not getattr(note, "guard", True))
    if callable(note) and _takes_two(note):
        return _folded(base, note)
    return None


def _takes_two(f):
    try:
        need = [p for p in inspect.signature(f).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        return len(need) == 2 or (len(need) > 2 and need[2].default is not inspect.Parameter.empty)
    except (ValueError, TypeError):
        return True  # of C


def _folded(base, f):
    if f is add_messages:
        return Channel(lib.PONS_CHANNEL_MESSAGES, messages=True, initial=[])
    typ = get_origin(base) or base
    try:
        initial = {"Sequence": list, "MutableSequence": list, "Set": set, "Mapping": dict}.get(getattr(typ, "__name__", ""), typ)()
    except Exception:
        initial = None
    # Lists that are added are stored by what was appended.
    listed = f is operator.add and isinstance(initial, list)
    return Channel(lib.PONS_CHANNEL_REDUCE, reducer=f, initial=initial, listed=listed, of=typ)
