# figures.py - the same lines on LangGraph and here, one after the other in this run: durable supersteps a
# second with a SQLite file, the size of the file after messages, and how long it takes from `python` to the
# first result. The best of three, after one to warm up.
import json
import os
import re
import subprocess
import sys
import tempfile

STEPS = """
import operator, os, sqlite3, sys, time
from typing import Annotated, TypedDict
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph

class Count(TypedDict):
    n: int

def saver(path):
    return SqliteSaver(path) if "pons" in SqliteSaver.__module__ else theirs(path)

def theirs(path):
    db = sqlite3.connect(path, check_same_thread=False)
    made = SqliteSaver(db)
    made.setup()
    db.execute("PRAGMA synchronous=NORMAL")
    return made

def graph(steps, keep):
    g = StateGraph(Count)
    g.add_node("step", lambda s: {"n": s["n"] + 1})
    g.add_edge(START, "step")
    g.add_conditional_edges("step", lambda s: "step" if s["n"] < steps else "__end__", ["step", "__end__"])
    return g.compile(checkpointer=keep)
"""
RATE = """
steps, durability, path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
app, best = graph(steps, saver(path) if durability != "none" else None), 0
for i in range(4):
    begun = time.perf_counter()
    app.invoke({"n": 0}, {"configurable": {"thread_id": str(i)}, "recursion_limit": steps + 10},
               **({} if durability == "none" else {"durability": durability}))
    if i: best = max(best, steps / (time.perf_counter() - begun))
print(best)
"""
START = """
graph(1, saver(sys.argv[1])).invoke({"n": 0}, {"configurable": {"thread_id": "t"}})
"""
SIZE = """
class Log(TypedDict):
    log: Annotated[list, operator.add]
g = StateGraph(Log)
g.add_node("say", lambda s: {"log": ["x" * 100]})
g.add_edge(START, "say")
g.add_conditional_edges("say", lambda s: "say" if len(s["log"]) < 1000 else "__end__", ["say", "__end__"])
keep = saver(sys.argv[1])
g.compile(checkpointer=keep).invoke({"log": []}, {"configurable": {"thread_id": "t"}, "recursion_limit": 1100})
if hasattr(keep, "conn"): keep.conn.close()
else: keep.close()
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
db.close()
print(os.path.getsize(sys.argv[1]))
"""


def run(ours, text, *words):
    if ours:
        text = re.sub(r"^from langgraph", "from pons", text, flags=re.M)
    return subprocess.run([sys.executable, "-W", "ignore", "-c", text, *words], capture_output=True, text=True, check=True).stdout


def started(ours, folder):
    timer = "import subprocess, sys, time\nbegun = time.perf_counter()\nsubprocess.run(sys.argv[1:], check=True)\nprint((time.perf_counter() - begun) * 1000)"
    text = re.sub(r"^from langgraph", "from pons", STEPS + START, flags=re.M) if ours else STEPS + START
    times = []
    for i in range(5):
        path = os.path.join(folder, f"start{ours}{i}.db")
        times.append(float(subprocess.run([sys.executable, "-c", timer, sys.executable, "-W", "ignore", "-c", text, path], capture_output=True, text=True, check=True).stdout))
    return min(times[1:])


with tempfile.TemporaryDirectory() as folder:
    for name, unit, more, figure in (
        ("steps, sync", "steps/s", True, lambda o: float(run(o, STEPS + RATE, "2000" if o else "300", "sync", f"{folder}/s{o}.db"))),
        ("steps, async", "steps/s", True, lambda o: float(run(o, STEPS + RATE, "2000" if o else "300", "async", f"{folder}/a{o}.db"))),
        ("steps, no store", "steps/s", True, lambda o: float(run(o, STEPS + RATE, "2000" if o else "1000", "none", "-"))),
        ("file after 1,000 messages", "B", False, lambda o: float(run(o, STEPS + SIZE, f"{folder}/f{o}.db"))),
        ("start to first result", "ms", False, lambda o: started(o, folder)),
    ):
        there, here = figure(False), figure(True)
        ratio = here / there if more else there / here
        print(json.dumps({"figure": name, "unit": unit, "pons": round(here, 1), "langgraph": round(there, 1), "ratio": round(ratio, 1)}), flush=True)
