"""libpons.so.0: values, errors, and the table of what C calls back."""

import ctypes
import os
import threading
from pathlib import Path

from . import _codec
from ._abi import ffi
from .errors import GraphRecursionError, InvalidUpdateError, PonsError


def _open():
    """$PONS_LIBRARY, else the one of the wheel, else the system's. Libraries that it needs come first, from beside it."""
    path, folder = os.environ.get("PONS_LIBRARY"), Path(__file__).parent / "_lib"
    if not path and not folder.is_dir():
        path = "libpons.so.0"
    if not path:
        path, left = str(folder / "libpons.so.0"), sorted(p for p in folder.glob("*.so*") if p.name != "libpons.so.0")
        while left:  # they need each other: until none is left
            missing = []
            for p in left:
                try:
                    ctypes.CDLL(str(p), mode=ctypes.RTLD_GLOBAL)
                except OSError:
                    missing.append(p)
            if len(missing) == len(left):
                break
            left = missing
    return ffi.dlopen(path, ffi.RTLD_NOW | ffi.RTLD_GLOBAL)


lib = _open()
lib.pons_value_init()
NULL = ffi.NULL
OK, PARKED = lib.PONS_OK, lib.PONS_EPARKED
_KINDS = {lib.PONS_ERECURSION: GraphRecursionError, lib.PONS_ECONCURRENT: InvalidUpdateError, lib.PONS_EINVAL: ValueError}


def new_error():
    return ffi.new("pons_error *")


def line(err):
    buf = ffi.new("char[]", 1200)
    return ffi.string(lib.pons_error_line(err, buf, 1200)).decode(errors="replace")


def raised(err):
    """The exception of a filled error."""
    made = _KINDS.get(err.status)
    return made(line(err)) if made else PonsError(err.status, line(err))


def check(status, err):
    if status < 0:
        raise raised(err)
    return status


def value(v):
    """A new reference to v as the engine has values; unref() gives it back."""
    text, ret = _codec.dumps(v), _scratch.ret
    if lib.pons_value_read(text, len(text), ret, NULL) < 0:
        err = new_error()
        check(lib.pons_value_read(text, len(text), ret, err), err)
    return ret[0]


class _Scratch(threading.local):
    """What C writes a result to that is read at once."""

    def __init__(self):
        self.ret = ffi.new("pons_value **")


_scratch = _Scratch()


def c_name(text):
    """A name for C, where it would end at its first NUL."""
    if "\0" in text:
        raise ValueError(f"a name can't have a NUL: {text[:80]!r}")
    return text.encode()


def unref(v):
    lib.pons_value_unref(v)


def text_by(write, it):
    out = ffi.new("char **")
    n = write(it, out)
    if n < 0:
        raise MemoryError
    try:
        return ffi.buffer(out[0], n)[:].decode()
    finally:
        lib.free(out[0])


def text_of(v):
    return text_by(lib.pons_value_line, v)


def python(v):
    """The Python value of a borrowed one; None of NULL."""
    return None if v == NULL else _codec.loads(text_of(v))


def taken(v):
    """The same of one that is ours, which is given back."""
    try:
        return python(v)
    finally:
        unref(v)


class Names:
    """A NULL-terminated list of names, and what keeps it alive."""

    def __init__(self, names):
        self.texts = [ffi.new("char[]", c_name(n)) for n in names]
        self.c = ffi.new("char *[]", [*self.texts, NULL])

    @staticmethod
    def of(names, keep):
        if names is None:
            return NULL
        made = Names(names)
        keep.append(made)
        return made.c
