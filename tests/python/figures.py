# figures.py [ROUNDS] - the same lines on LangGraph and here, in turns: durable supersteps a second with a SQLite
# file, what of a superstep's time is the processor's, the size of the file after messages, and how long it takes
# from `python` to the first result. Each the best of the rounds (3), each of these the best of three after one to
# warm up. Prints the table of docs/reference/python.md.
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
app, best, cpu = graph(steps, saver(path) if durability != "none" else None), 0, 1e9
for i in range(4):
    begun, used = time.perf_counter(), time.process_time()
    app.invoke({"n": 0}, {"configurable": {"thread_id": str(i)}, "recursion_limit": steps + 10},
               **({} if durability == "none" else {"durability": durability}))
    if i: best = max(best, steps / (time.perf_counter() - begun))
    cpu = min(cpu, (time.process_time() - used) / steps * 1e6)
print(best, cpu)
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
        path = os.path.join(tempfile.mkdtemp(dir=folder), f"start{i}.db")
        times.append(float(subprocess.run([sys.executable, "-c", timer, sys.executable, "-W", "ignore", "-c", text, path], capture_output=True, text=True, check=True).stdout))
    return min(times[1:])


def rate(ours, durability, folder, turn):
    path = f"{folder}/{durability}{ours}{turn}.db"
    return [float(x) for x in run(ours, STEPS + RATE, "4000" if ours else "400", durability, path).split()]


def size(ours, folder, turn):
    return float(run(ours, STEPS + SIZE, f"{folder}/f{ours}{turn}.db"))


def main(rounds):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, durability in (("supersteps a second, SQLite, `sync`", "sync"), ("the same, `async`", "async"), ("without a store", "none")):
            turns = [(rate(True, durability, folder, i), rate(False, durability, folder, i)) for i in range(rounds)]
            here, there = (max(t[k][0] for t in turns) for k in (0, 1))
            cpu = [min(t[k][1] for t in turns) for k in (0, 1)]
            rows.append((name, f"{here:,.0f}", f"{there:,.0f}", here / there))
            rows.append(("processor of one, µs", f"{cpu[0]:.1f}", f"{cpu[1]:.0f}", cpu[1] / cpu[0]))
            print(*rows[-2:], file=sys.stderr, flush=True)
        here, there = (min(size(o, folder, i) for i in range(1)) for o in (True, False))
        rows.append(("size of the file after 1,000 messages, one a superstep", f"{here / 1e6:.2f} MB", f"{there / 1e6:.0f} MB", there / here))
        here, there = (min(started(o, folder) for _ in range(rounds)) for o in (True, False))
        rows.append(("from `python` to the first result, with a file", f"{here:.0f} ms", f"{there:.0f} ms", there / here))
    print("| best of", rounds, "rounds | pons | LangGraph | |\n|---|---|---|---|")
    for name, here, there, ratio in rows:
        print(f"| {name} | {here} | {there} | {ratio:.1f} × |")
    print(f"load of the machine at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
