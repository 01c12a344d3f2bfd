"""What `typing` has only in later Pythons, where typing_extensions is installed (LangChain brings it).

A TypedDict of typing_extensions is another kind than one of `typing`: pydantic takes only the former before Python
3.12, so what is ours here is of that kind where it can be.
"""

import typing

try:
    import typing_extensions as newer
except ImportError:
    newer = typing

TypedDict = newer.TypedDict
_MARKS = tuple(getattr(m, n) for m in (typing, newer) for n in ("Required", "NotRequired", "ReadOnly") if hasattr(m, n))


def is_typeddict(t):
    """Of either kind, which typing.is_typeddict does not say."""
    return isinstance(t, type) and issubclass(t, dict) and hasattr(t, "__total__") and hasattr(t, "__required_keys__")


def stripped(t):
    """A member's type without what says whether it must be there."""
    while typing.get_origin(t) in _MARKS:
        t = typing.get_args(t)[0]
    return t
