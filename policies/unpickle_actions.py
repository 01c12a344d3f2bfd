"""Reads LeRobot's answer, a pickled list of TimedAction, from standard input and prints {"rows": [[number, …], …]}.

`pons watchdog policy` starts this for each answer behind the wall (src/tools/sandbox): no network, no file that could be
written, nothing that outlives it. Beside that, a pickle may only name what is in ALLOWED; none of it is torch's or
LeRobot's own code. A number that is not finite is null. What is wrong is {"error": "…"}.
"""

import collections
import io
import json
import math
import pickle
import struct
import sys

ROWS_MAX = 256
WIDTH_MAX = 32
STORAGE_MAX = 1 << 20  # numbers of one storage
MAGIC = 0x1950A86A20F9469CFC6C  # of torch.save's older format, which a storage in a pickle has
FORMS = {"FloatStorage": "f", "DoubleStorage": "d"}


class TimedAction:
    """The state that a pickle gives: timestamp, timestep, action."""


class Kind:
    """The type of a storage."""

    def __init__(self, form):
        self.form = form


def rebuild_tensor(storage, offset, size, stride, *_):
    """torch._utils._rebuild_tensor_v2 of one dimension: a list of numbers."""
    if not isinstance(storage, tuple) or len(size) != 1 or len(stride) != 1 or not 1 <= size[0] <= WIDTH_MAX:
        raise ValueError("an action is no tensor of one dimension")
    places = [offset + i * stride[0] for i in range(size[0])]
    if not all(isinstance(p, int) and 0 <= p < len(storage) for p in places):
        raise ValueError("a tensor reaches beyond its storage")
    return [storage[p] for p in places]


def load_storage(data):
    """torch.storage._load_from_bytes: one storage, in the format of torch.save before zip files."""
    stream = io.BytesIO(data)
    if Plain(stream).load() != MAGIC:
        raise ValueError("a storage is not in torch's format")
    Plain(stream).load()  # the format's version, then the machine's
    if not Plain(stream).load().get("little_endian", False):
        raise ValueError("a storage is not little-endian")
    reader = Storage(stream)
    kind, numbers = reader.load()
    Plain(stream).load()  # keys: the one
    (n,) = struct.unpack("<q", stream.read(8))
    if n != numbers or not 0 <= n <= STORAGE_MAX:
        raise ValueError("a storage has not the numbers that it says")
    return struct.unpack(f"<{n}{kind.form}", stream.read(n * struct.calcsize(kind.form)))


ALLOWED = {
    ("lerobot.async_inference.helpers", "TimedAction"): TimedAction,
    ("lerobot.scripts.server.helpers", "TimedAction"): TimedAction,  # before 0.4
    ("collections", "OrderedDict"): collections.OrderedDict,
    ("torch._utils", "_rebuild_tensor_v2"): rebuild_tensor,
    ("torch.storage", "_load_from_bytes"): load_storage,
}


class Plain(pickle.Unpickler):
    """Numbers, texts, lists and dicts alone."""

    def find_class(self, module, name):
        raise ValueError(f"it names {module}.{name}"[:200])


class Storage(Plain):
    def find_class(self, module, name):
        if module != "torch" or name not in FORMS:
            return super().find_class(module, name)
        return Kind(FORMS[name])

    def persistent_load(self, pid):
        word, kind, _, _, numbers = pid[:5]
        if word != "storage" or not isinstance(kind, Kind):
            raise ValueError("a storage is none")
        return kind, numbers


class Actions(Plain):
    def find_class(self, module, name):
        found = ALLOWED.get((module, name))
        return found if found else super().find_class(module, name)


def number(v):
    if isinstance(v, bool) or not isinstance(v, (int, float)):
        raise ValueError("an action has what is no number")
    return float(v) if math.isfinite(v) else None


def rows_of(data):
    actions = Actions(io.BytesIO(data)).load()
    if type(actions) is not list or not 1 <= len(actions) <= ROWS_MAX or not all(type(a) is TimedAction for a in actions):
        raise ValueError(f"it is no list of 1 to {ROWS_MAX} TimedAction")
    rows = []
    for a in sorted(actions, key=lambda a: number(vars(a).get("timestep"))):
        row = vars(a).get("action")
        if type(row) is not list or len(row) != len(rows[0] if rows else row):
            raise ValueError("the actions have several lengths")
        rows.append([number(v) for v in row])
    return rows


def main():
    try:
        said = {"rows": rows_of(sys.stdin.buffer.read())}
    except Exception as e:  # a pickle can raise anything
        said = {"error": f"{type(e).__name__}: {e}"[:240].replace("\n", " ")}
    print(json.dumps(said, allow_nan=False))


if __name__ == "__main__":
    main()
