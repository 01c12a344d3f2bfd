"""A node, a task or an entrypoint at work, and how C's pointers stand for Python's things.

C has one function for each kind of call, and a number for each Python thing as its user pointer. An exception
stays in the call (`call.failed`) and is raised again where the run was started; C gets its line. Nothing
is raised through C.
"""

import asyncio
import inspect
import itertools

from .._library import NULL, PARKED, ffi, lib, new_error, python, raised, value
from .._now import stack
from ..errors import GraphInterrupt, InvalidUpdateError
from ..runtime import Runtime
from .message import from_wire, to_wire

_numbers = itertools.count(1)
_things = {}


def handle(thing):
    """A number for C; the thing lives until given back."""
    n = next(_numbers)
    _things[n] = thing
    return n


def release(numbers):
    for n in numbers:
        _things.pop(n, None)


def pointer(n):
    return ffi.cast("void *", n)


def thing(user):
    """What a user pointer of C stands for."""
    return _things[int(ffi.cast("uintptr_t", user))]


def fail(err, exc):
    """Keeps the exception and tells C of it."""
    if stack.calls:
        stack.calls[-1].failed = exc
    text = f"{type(exc).__name__}: {exc}".split("\n")[0][:400]
    lib.pons_error_set(err, lib.PONS_EINVAL, b"python", b"%s", ffi.new("char[]", text.encode(errors="replace")))
    return lib.PONS_EINVAL


class At:
    """A node at work."""

    def __init__(self, cx, node, call):
        self.cx, self.node, self.call, self.wrote = cx, node, call, {}

    def write(self, v):
        lib.pons_cx_custom(self.cx, value(v))

    def interrupt(self, v):
        ret, err = ffi.new("pons_value **"), new_error()
        rc = lib.pons_interrupt(self.cx, value(v), ret, err)
        if rc == PARKED:
            raise GraphInterrupt
        if rc < 0:
            raise raised(err)
        return python(ret[0])

    def on_loop(self, what):
        return what()

    def runtime(self):
        return Runtime(context=self.call.context, stream_writer=self.write)

    def read(self, names, channels, seen):
        """{channel: value} of those that have one."""
        state = {}
        for name, key in names:
            v = lib.pons_cx_get(self.cx, key)
            if v == NULL:
                if channels[name].initial is not None:
                    state[name] = channels[name].empty()
                continue
            known = seen.get(name)
            if known is not None and known[0] == v:
                state[name] = known[1]
                continue
            made = python(v)
            if channels[name].messages:
                made = from_wire(made)
            self.call.remember(name, lib.pons_value_ref(v), made)
            state[name] = made
        return state

    def put(self, name, v, channels):
        channel = channels.get(name)
        if channel is None:
            raise InvalidUpdateError(f"the graph has no channel '{name}'")
        if channel.messages:
            c = value(to_wire(v))
        else:
            if channel.listed and not isinstance(v, list) and type(v).__name__ != "Overwrite":
                raise TypeError(f"'{name}' takes lists, not {type(v).__name__}")
            c = value(v)
            if channel.kind == lib.PONS_CHANNEL_LAST:  # the next node reads this very object
                self.call.remember(name, lib.pons_value_ref(c), v)
        rc = lib.pons_cx_put(self.cx, name.encode(), c)
        if rc < 0:
            raise InvalidUpdateError(f"'{name}' can't be written: {ffi.string(lib.pons_status_word(rc)).decode()}")


async def _wait(made):
    return await made


def waited(made):
    """What a function gave, or what it awaits gives."""
    return asyncio.run(_wait(made)) if inspect.isawaitable(made) else made
