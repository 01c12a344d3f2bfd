"""Python values as JSON and back.

What JSON has is written as it is. The rest is {"__py__": [kind, ...]}: it comes back as what it was, also
in another process. Classes (dataclasses, pydantic's models, enumerations) come back when the module they
are from is imported there, or, where a function has made them, when a graph's state names them there; otherwise
as the dict of their members. Nothing is ever pickled: reading a database runs no code that it names.
"""

import base64
import collections
import dataclasses
import datetime
import decimal
import enum
import ipaddress
import json
import math
import pathlib
import re
import sys
import typing
import uuid
import weakref
import zoneinfo

KEY = "__py__"
_PLAIN = (str, bool, type(None))
_I64 = 1 << 63


def encode(v):
    """A tree that json.dumps writes so that decode makes v of it again; v itself when it is one already."""
    kind = type(v)
    if kind in _PLAIN:
        return v
    if kind is int:
        return v if -_I64 <= v < _I64 else {KEY: ["int", str(v)]}
    if kind is float:
        return v if math.isfinite(v) else {KEY: ["float", repr(v)]}
    if kind is list:
        return [encode(x) for x in v]
    if kind is dict:
        if KEY in v or not all(type(k) is str and "\0" not in k for k in v):
            return {KEY: ["dict", [[encode(k), encode(x)] for k, x in v.items()]]}
        return {k: encode(x) for k, x in v.items()}
    return _special(v, kind)


def _special(v, kind):
    if kind in (tuple, set, frozenset):
        return {KEY: [kind.__name__, [encode(x) for x in v]]}
    if kind in (bytes, bytearray):
        return {KEY: [kind.__name__, base64.b64encode(v).decode()]}
    if kind in (datetime.datetime, datetime.date, datetime.time):
        return {KEY: [kind.__name__, v.isoformat()]}
    if kind is datetime.timedelta:
        return {KEY: ["timedelta", [v.days, v.seconds, v.microseconds]]}
    if kind in (uuid.UUID, decimal.Decimal):
        return {KEY: [kind.__name__, str(v)]}
    if kind is collections.deque:
        return {KEY: ["deque", [[encode(x) for x in v], v.maxlen]]}
    if kind is re.Pattern:
        return {KEY: ["Pattern", [encode(v.pattern), v.flags]]}
    if isinstance(v, pathlib.PurePath):
        return {KEY: ["Path" if isinstance(v, pathlib.Path) else "PurePath", str(v)]}
    if kind.__module__ in ("ipaddress", "zoneinfo"):
        return {KEY: [kind.__name__, str(v)]}
    name = [kind.__module__, kind.__qualname__]
    _local(kind, *name)
    if isinstance(v, enum.Enum):
        return {KEY: ["enum", *name, encode(v.value)]}
    if hasattr(v, "__pons_json__"):
        return v.__pons_json__()
    if hasattr(kind, "model_fields") and hasattr(v, "model_dump"):  # pydantic: members as they are, not dumped
        return {KEY: ["model", *name, {k: encode(getattr(v, k)) for k in kind.model_fields if hasattr(v, k)}]}
    if dataclasses.is_dataclass(v):
        return {KEY: ["dataclass", *name, {f.name: encode(getattr(v, f.name)) for f in dataclasses.fields(v)}]}
    if isinstance(v, tuple) and hasattr(v, "_fields"):
        return {KEY: ["namedtuple", *name, {k: encode(x) for k, x in zip(v._fields, v)}]}
    for base in (str, bool, int, float, list, dict, tuple):  # of a subclass, its value
        if isinstance(v, base):
            return encode(base(v))
    raise TypeError(f"a value of {kind.__module__}.{kind.__qualname__} can't be kept in a checkpoint")


_SIMPLE = {
    "int": int, "float": float, "UUID": uuid.UUID, "Decimal": decimal.Decimal,
    "bytes": base64.b64decode, "bytearray": lambda s: bytearray(base64.b64decode(s)),
    "datetime": datetime.datetime.fromisoformat, "date": datetime.date.fromisoformat, "time": datetime.time.fromisoformat,
    "timedelta": lambda d: datetime.timedelta(*d), "deque": lambda d: collections.deque(*d), "Pattern": lambda p: re.compile(*p),
    "Path": pathlib.Path, "PurePath": pathlib.PurePath, "ZoneInfo": zoneinfo.ZoneInfo,
    **{n: getattr(ipaddress, n) for n in ("IPv4Address", "IPv4Interface", "IPv4Network", "IPv6Address", "IPv6Interface", "IPv6Network")},
}  # fmt: skip
_MANY = {"tuple": tuple, "set": set, "frozenset": frozenset}


# Classes that functions have made, which no module has by a name: those that are alive here.
_locals = weakref.WeakValueDictionary()


def _local(kind, module, qualname):
    if "<locals>" in qualname:
        _locals[module, qualname] = kind


def know(t):
    """The classes in a type of a state's member: of a value that another process has kept, they are found here."""
    for kind in _classes_in(t, set()):
        _local(kind, kind.__module__, kind.__qualname__)


def _classes_in(t, seen):
    if isinstance(t, typing.TypeAliasType if hasattr(typing, "TypeAliasType") else ()):
        t = t.__value__
    for part in typing.get_args(t):
        yield from _classes_in(part, seen)
    if not isinstance(t, type) or t in seen or not (dataclasses.is_dataclass(t) or hasattr(t, "model_fields") or issubclass(t, (enum.Enum, dict, tuple))):
        return
    seen.add(t)
    yield t
    try:
        members = typing.get_type_hints(t)
    except (NameError, TypeError):
        return
    for part in members.values():
        yield from _classes_in(part, seen)


def _class(module, qualname):
    if module.startswith("langchain_core.messages"):
        import langchain_core.messages  # noqa: F401
    if "<locals>" in qualname:
        return _locals.get((module, qualname))
    at = sys.modules.get(module)
    for part in qualname.split("."):
        at = getattr(at, part, None)
    return at if isinstance(at, type) else None


def _object(d):
    """For json: from the innermost out, so what is in it is decoded already."""
    if KEY not in d or len(d) != 1:
        return d
    kind, *rest = d[KEY]
    if kind in _SIMPLE:
        return _SIMPLE[kind](rest[0])
    if kind in _MANY:
        return _MANY[kind](rest[0])
    if kind == "dict":
        return {k: v for k, v in rest[0]}
    made, members = _class(rest[0], rest[1]), rest[2]
    if kind == "enum" and made and issubclass(made, enum.Enum):
        return made(members)
    if kind == "model" and hasattr(made, "model_construct"):
        return made.model_construct(**members)
    if kind == "namedtuple" and made and hasattr(made, "_fields"):
        return made(**members)
    if kind == "dataclass" and dataclasses.is_dataclass(made):
        new = object.__new__(made)
        for k, v in members.items():
            object.__setattr__(new, k, v)
        return new
    return members


_load = json.JSONDecoder(object_hook=_object).decode
_plain = json.JSONDecoder().decode
_dump = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False).encode


def dumps(v):
    if type(v) is int and -_I64 <= v < _I64:
        return b"%d" % v
    return _dump(encode(v)).encode()


def loads(text):
    return _load(text) if KEY in text else _plain(text)
