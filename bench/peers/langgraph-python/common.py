# What the scripts share: the counter graph of graph.loop in bench_graph.c, its best time of three
# after a warm-up, and the line that bench/run.sh reads.
import json
import sqlite3
import time
from typing import TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph


def show(key, value, unit):
    print(json.dumps({"peer": "langgraph-python", "key": key, "value": value, "unit": unit}), flush=True)


def saver(path):
    db = sqlite3.connect(path, check_same_thread=False)
    made = SqliteSaver(db)
    made.setup()  # creates the tables and chooses WAL
    db.execute("PRAGMA synchronous=NORMAL")
    return made


class Count(TypedDict):
    n: int


def counter(steps, checkpointer=None):
    graph = StateGraph(Count)
    graph.add_node("step", lambda state: {"n": state["n"] + 1})
    graph.add_edge(START, "step")
    graph.add_conditional_edges("step", lambda state: "step" if state["n"] < steps else END)
    return graph.compile(checkpointer=checkpointer)


def best_rate(steps, run):
    best = 0.0
    for i in range(4):
        begun = time.perf_counter()
        run(i)
        rate = steps / (time.perf_counter() - begun)
        best = max(best, rate) if i else best  # the first one is warm-up
    return best
