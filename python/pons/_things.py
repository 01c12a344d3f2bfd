"""How C's pointers stand for Python's things: C has a number for each as its user pointer."""

import itertools

from ._library import ffi

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
