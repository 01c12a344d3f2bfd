# bt.py - BehaviorTree.CPP (4.8, the wheel of behaviortreepy) beside bench_bt.c: the same trees with its
# own AlwaysSuccess as leaves, so that no Python is in a tick. Ticks are timed
# by the processor's time, loads by the clock. Arguments choose figures: leaves, load.
import json
import sys
import time

import behaviortreepy

LEAVES_EACH = 5
TICKED = 20  # composites: 121 nodes
LOADED = 164  # composites: 985 nodes
LOADS = 101


def definition(n):
    composite = "<Sequence>\n" + "  <AlwaysSuccess/>\n" * LEAVES_EACH + "</Sequence>\n"
    return ('<root BTCPP_format="4"><BehaviorTree ID="M"><Sequence>' + composite * n +
            "</Sequence></BehaviorTree></root>")


def show(key, value, unit):
    print(json.dumps({"peer": "behaviortree-cpp", "key": key, "value": value, "unit": unit}))


def leaves():
    tree = behaviortreepy.BehaviorTreeFactory().create_tree_from_text(definition(TICKED))
    for seconds in (0.2, 1.0):  # the first one warms up
        began, n = time.process_time(), 0
        while time.process_time() - began < seconds:
            for _ in range(100):
                tree.tick_exactly_once()
            n += 100
        rate = n / (time.process_time() - began)
    show("leaves", rate, "ticks/s")


def load():
    text, ms = definition(LOADED), []
    for _ in range(LOADS):
        factory = behaviortreepy.BehaviorTreeFactory()
        began = time.perf_counter()
        factory.create_tree_from_text(text)
        ms.append((time.perf_counter() - began) * 1e3)
    show("load", sorted(ms)[LOADS // 2], "ms")


if "leaves" in sys.argv[1:]:
    leaves()
if "load" in sys.argv[1:]:
    load()
