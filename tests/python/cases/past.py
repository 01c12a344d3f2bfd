# Time travel, forks, updates; values that JSON does not have, in a file that another program opens.
import dataclasses
import datetime
import enum
import operator
import os
import tempfile
import uuid
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Point:
    x: int
    tags: list = ()


class State(TypedDict):
    n: int
    any: Any
    log: Annotated[list, operator.add]


KEPT = [[1, 2], {"set", }, b"bytes", datetime.datetime(2020, 1, 2, 3, 4), datetime.timedelta(1, 2), uuid.UUID(int=7),
        Colour.RED, Point(1, ["a"]), {1: 2}, 1 << 62, float("inf"), None, "\u4f60", {"a": [{"b": [Point(2, [])]}]}]  # fmt: skip


def keep(state):
    return {"any": KEPT[state["n"] % len(KEPT)], "n": state["n"] + 1, "log": [state["n"]]}


g = StateGraph(State)
g.add_node("keep", keep)
g.add_edge(START, "keep")
g.add_conditional_edges("keep", lambda s: "keep" if s["n"] < len(KEPT) else "__end__")
with tempfile.TemporaryDirectory() as folder:
    path, c = os.path.join(folder, "kept.db"), {"configurable": {"thread_id": "1"}}
    with SqliteSaver.from_conn_string(path) as saver:
        g.compile(checkpointer=saver).invoke({"n": 0}, c, durability="sync")
    with SqliteSaver.from_conn_string(path) as saver:
        app = g.compile(checkpointer=saver)
        past = list(app.get_state_history(c))
        print([h.values.get("any") for h in past])
        d = {"configurable": {"thread_id": "2"}}  # a part of a history: by its metadata, before a moment, so many
        app.invoke({"n": 9}, d)
        app.update_state(d, {"n": 12}, as_node="keep")
        app.invoke(None, d)
        for filter in ({"source": "loop"}, {"source": "update"}, {"step": 3}, {"source": "loop", "step": 2}, {"source": "none"}, {}):
            print(filter, [(h.metadata["step"], h.next) for h in app.get_state_history(d, filter=filter)])
        third = list(app.get_state_history(d))[2].config
        print([h.metadata["step"] for h in app.get_state_history(d, filter={"source": "loop"}, before=third, limit=2)])
        middle = past[4]
        print(app.invoke(None, middle.config)["log"])
        print(app.get_state(c).values["n"], app.get_state(middle.config).values["n"])
        fork = app.update_state(middle.config, {"n": 12, "log": ["edited"]}, as_node="keep")
        print(app.get_state(fork).next, app.invoke(None, c)["log"])
        print([h.metadata["source"] for h in app.get_state_history(c)][:3])
        print(app.get_state({"configurable": {"thread_id": "none"}}).values)
