# alone.py - the wheel in an environment with nothing else: what the page docs/reference/python.md says of it runs as it
# stands there, values come back as what they were, a killed process's run goes on, and the program `pons` reads
# what was kept.
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import deque
from ipaddress import ip_address, ip_network
from pathlib import Path, PurePath
from typing import Any, TypedDict
from zoneinfo import ZoneInfo

import pons
from pons.cache.memory import InMemoryCache
from pons.checkpoint.memory import InMemorySaver
from pons.checkpoint.sqlite import SqliteSaver
from pons.func import entrypoint, task
from pons.graph import START, MessagesState, StateGraph
from pons.graph.message import add_messages
from pons.plan import ExecutionResult, Plan, PlanStep, create_plan_from_llm_response
from pons.types import RetryPolicy, Send, TimeoutPolicy, interrupt

HERE = Path(__file__).resolve().parent
assert "site-packages" in pons.__file__, pons.__file__


class State(TypedDict):
    any: Any
    n: int


def graph(fn, **more):
    return StateGraph(State).add_node("a", fn, **more).add_edge(START, "a")


def refused(what, word):
    try:
        what()
    except Exception as e:
        assert word in str(e), (word, str(e))
        return
    raise AssertionError(f"nothing was said of {word}")


def values():
    kept = [(1, (2,)), frozenset({1}), {1: (2,)}, -(1 << 90), float("nan"), {"__py__": 1}, b"\0\xff", "\0", 1e300, True, [],
            Path("/a/b"), PurePath("c"), deque([1, (2,)], 3), re.compile("a+", re.I), re.compile(b"\xff"), ip_address("::1"), ip_network("10.0.0.0/8"),
            ZoneInfo("UTC")]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        c = {"configurable": {"thread_id": "t"}}
        for i, v in enumerate(kept):
            path = f"{folder}/{i}.db"
            with SqliteSaver(path) as saver:
                graph(lambda s, v=v: {"any": v}).compile(checkpointer=saver).invoke({"n": 0}, c)
            with SqliteSaver(path) as saver:
                back = graph(print).compile(checkpointer=saver).get_state(c).values["any"]
            assert repr(back) == repr(v), (back, v)
    refused(lambda: graph(lambda s: {"any": object()}).compile().invoke({"n": 0}), "builtins.object can't be kept")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert graph(lambda s: {"typo": 1, "any": 2}).compile().invoke({"n": 0, "other": 1}) == {"any": 2, "n": 0}
    assert ["writes 'typo', and the graph has no such channel" in str(w.message) for w in said] == [True], said
    refused(lambda: graph(print).compile(checkpointer="letters.db"), "a checkpointer is one of pons.checkpoint, which builtins.str is not")
    refused(lambda: entrypoint(checkpointer=object())(lambda n: n), "which builtins.object is not")
    refused(lambda: next(graph(print).compile().stream({"n": 0}, stream_mode="news")), "news")
    refused(lambda: graph(print).compile(checkpointer=InMemorySaver()).invoke({"n": 0}), "thread_id")
    refused(lambda: graph(print).compile().get_state({}), "compiled without a checkpointer, so nothing of it is kept")
    refused(lambda: graph(print).add_node("a", print), "there is a node 'a' already")
    refused(lambda: graph(print).add_edge(["a", "__end__"], "a"), "no edge leaves END")
    refused(lambda: graph(print, timeout=1), "asynchronous, which 'a' is not")
    refused(lambda: graph(print).compile().invoke({"n": 0}, {"recursion_limit": -1}), "recursion_limit is -1")
    refused(lambda: graph(print).compile().invoke({"n": 0}, {"recursion_limit": 0}), "recursion_limit is 0")
    refused(lambda: graph(lambda s: [][1]).compile().invoke({"n": 0}), "list index")
    asks = graph(lambda s: {"any": interrupt("who?")}).compile()
    refused(lambda: asks.nodes["a"].invoke({"n": 0}), "'a' is called by itself: no run is there to ask")
    refused(asks.get_input_jsonschema, "pip install pydantic")
    for raised in (KeyboardInterrupt, SystemExit):  # not an error of the node's, but no end of it either

        def end(_, raised=raised):
            raise raised

        with SqliteSaver(":memory:") as saver:
            app, c = graph(end, retry_policy=RetryPolicy(retry_on=lambda e: True)).compile(checkpointer=saver), {"configurable": {"thread_id": "t"}}
            try:
                app.invoke({"n": 0}, c)
                raise AssertionError(f"{raised} went nowhere")
            except raised:
                assert app.get_state(c).next == ("a",)
    sends = StateGraph(State).add_node("a", lambda s: {}).add_node("b", lambda arg: {"any": type(arg).__name__})
    sends.add_edge(START, "a").add_conditional_edges("a", lambda s: [Send("b", (1, 2))], ["b"])
    assert sends.compile().invoke({"n": 0})["any"] == "tuple"
    chat = StateGraph(MessagesState).add_node("a", lambda s: {"messages": [("ai", "hi")]}).add_edge(START, "a").compile()
    assert [m["type"] for m in chat.invoke({"messages": "hello"})["messages"]] == ["human", "ai"]  # without LangChain: dicts
    print("values come back; bad ones are refused")


def page():
    text, functional, plan = re.findall(r"```python\n(.*?)```", (HERE.parents[1] / "docs/reference/python.md").read_text(), re.S)
    with tempfile.TemporaryDirectory() as folder:
        out = subprocess.run([sys.executable, "-c", text], cwd=folder, capture_output=True, text=True, check=True).stdout
        assert "send 5 letters?" in out and "'status': 'sent 3'" in out, out
        for said in ("8: yes", "16: yes"):  # its next run has what the last one saved
            out = subprocess.run([sys.executable, "-c", functional], cwd=folder, capture_output=True, text=True, check=True).stdout
            assert out == said + "\n", out
        out = subprocess.run([sys.executable, "-c", plan], cwd=folder, capture_output=True, text=True, check=True).stdout
        assert out == "I am here\n['success', 'success'] completed\n", out
        program = os.environ.get("PONS_PROGRAM")
        if program:
            env = {**os.environ, "PONS_STORE": "letters.db", "PONS_WORKSPACE": f"{folder}/none"}  # a user of Python has none
            listed = subprocess.run([program, "threads", "--json"], env=env, cwd=folder, capture_output=True, text=True)
            assert '"t1"' in listed.stdout, listed
            checked = subprocess.run([program, "plan", "check", f"{folder}/plan.json"], env=env, cwd=folder, capture_output=True, text=True)
            assert checked.stdout == Path(folder, "plan.json").read_text() and not checked.stderr, checked
    print("the page's programs run, and `pons threads` lists its thread")


def plans():
    """What is wrong is named by its path; what waits goes on; what is raised is a step's failure, but Ctrl-C."""
    p = Plan.create_new("w")
    p.add("a")
    refused(lambda: Plan("", "g"), "plan_id: must not be empty")
    refused(lambda: PlanStep(-1, "a"), "step_id: must not be negative")
    refused(lambda: PlanStep(1, "a", parameters=3), "parameters: expected an object")
    refused(lambda: p.add_step(PlanStep(1, "b")), "steps[1].step_id: 1 already exists")
    refused(lambda: ExecutionResult("p", 1, False, "success"), "success: must be true")
    refused(lambda: create_plan_from_llm_response({"goal": "g", "steps": [{"step_id": 1, "action": "a"}] * 2}), "steps[1].step_id")
    refused(lambda: Plan.read("no plan"), "no plan found")
    read = Plan.read("Sure: {'goal': 'tidy', 'steps': [{'step_id': 1, 'action': 'go',}]}")
    assert read.goal == "tidy" and any("trailing-comma" in r for r in read.repairs), read.repairs
    assert Plan.from_dict(read.to_dict()) == read and read.to_json() == Plan.from_dict(read.to_dict()).to_json()

    def interrupted():
        raise KeyboardInterrupt

    try:
        p.run({"a": interrupted})
        raise AssertionError("Ctrl-C went nowhere")
    except KeyboardInterrupt:
        assert p.get_current_step().action == "a"
    assert p.run({"a": lambda: 7})[0].output == {"result": 7} and p.is_success()
    p = Plan.create_new("x")
    p.add("a", {"n": 1}, preconditions={"hot": True}, fallback="b")
    p.add("c", requires_confirmation=True)
    one, two = p.run({"a": list, "b": list})
    assert one.message == "precondition hot: hot is not known" and two.status.value == "skipped" and p.status.value == "failed"
    p = Plan.create_new("z")
    p.add("a", fallback="b")
    (one,) = p.run({"b": lambda: 5}, fallback_recovers=True)
    assert one.output["fallback"]["output"] == {"result": 5} and p.is_success(), one
    p = Plan.create_new("y")
    p.add("c", requires_confirmation=True)
    assert p.run({"c": lambda: 1 / 0}) == [] and p.status.value == "wait_confirmation"
    asked = []
    (one,) = p.run({"c": lambda: 1 / 0}, confirm=lambda question, step: asked.append((question, step.step_id)) or True)
    assert asked == [("c", 1)] and one.message == "division by zero" and p.get_failed_steps() == p.steps
    print("plans are made, checked, written and run")


def paced(program, path):
    """The process of a program whose steps say their number and read a byte: it is a few steps ahead at most of who kills it."""
    p = subprocess.Popen([sys.executable, "-c", program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    p.stdin.write("." * 8)
    p.stdin.flush()
    return p


def went_on(p):
    try:
        p.stdin.write(".")
        p.stdin.flush()
    except BrokenPipeError:  # it has ended
        pass


# A node that takes long is killed at a random superstep, many times; the run goes on from what was committed.
WORK = """
import os, sys
from typing import TypedDict
from pons.checkpoint.sqlite import SqliteSaver
from pons.graph import START, StateGraph
class S(TypedDict):
    n: int
def step(s):
    os.write(1, b"%d\\n" % s["n"])
    os.read(0, 1)
    return {"n": s["n"] + 1}
g = StateGraph(S).add_node("step", step).add_edge(START, "step")
g.add_conditional_edges("step", lambda s: "step" if s["n"] < 3000 else "__end__", ["step", "__end__"])
app = g.compile(checkpointer=SqliteSaver(sys.argv[1]))
c = {"configurable": {"thread_id": "t"}}
out = app.invoke(None if app.get_state(c).values else {"n": 0}, c, durability="sync")
print("end", out["n"])
"""


def killed():
    with tempfile.TemporaryDirectory() as folder:
        seen, kills = -1, 0
        for stop in (*range(100, 3000, 290), None):
            p = paced(WORK, f"{folder}/k.db")
            first = None
            for line in p.stdout:
                if line.startswith("end"):
                    assert line == "end 3000\n", line
                    stop = "ended"
                    break
                n = int(line)
                if first is None:  # the last one that was begun may be begun again; none is left out
                    first = n
                    assert seen - 1 <= n <= seen + 1, (seen, n)
                seen = n
                if stop and n >= stop:
                    p.send_signal(signal.SIGKILL)
                    kills += 1
                    seen += sum(1 for _ in p.stdout)
                    break
                went_on(p)
            p.wait()
        assert stop == "ended" and kills >= 5, (stop, kills)
    print(f"killed {kills} times, and no step was left out")


# The same of tasks: one whose result was kept is never run again, the one at work is.
TASKS = """
import os, sys
from pons.checkpoint.sqlite import SqliteSaver
from pons.func import entrypoint, task
@task
def work(n):
    os.write(1, b"%d\\n" % n)
    os.read(0, 1)
    return n + 1
@entrypoint(checkpointer=SqliteSaver(sys.argv[1]))
def all_of_it(n):
    for _ in range(400):
        n = work(n).result()
    return n
c = {"configurable": {"thread_id": "t"}}
print("end", all_of_it.invoke(None if all_of_it.get_state(c).next else 0, c))
"""


def killed_in_tasks():
    with tempfile.TemporaryDirectory() as folder:
        seen, kills = -1, 0
        for stop in (*range(40, 400, 60), None):
            p = paced(TASKS, f"{folder}/k.db")
            for line in p.stdout:
                if line.startswith("end"):
                    assert line == "end 400\n", line
                    stop = "ended"
                    break
                n = int(line)
                assert n in (seen, seen + 1), (seen, n)
                seen = n
                if stop and n >= stop:
                    p.send_signal(signal.SIGKILL)
                    kills += 1
                    seen += sum(1 for _ in p.stdout)
                    break
                went_on(p)
            p.wait()
        assert stop == "ended" and kills >= 4, (stop, kills)
    print(f"killed {kills} times in a task, and none that had its result was run again")


# Three nodes side by side: two end, the one between them never does, until it is run again.
BESIDE = """
import operator, os, sys, time
from typing import Annotated, TypedDict
from pons.checkpoint.sqlite import SqliteSaver
from pons.graph import START, StateGraph
class State(TypedDict):
    log: Annotated[list, operator.add]
path, again = sys.argv[1], len(sys.argv) > 2
def node(name):
    def runs(state):
        os.write(1, name.encode())
        while name == "b" and not again:
            time.sleep(1)
        return {"log": [name]}
    return runs
g = StateGraph(State)
for name in "abc":
    g.add_node(name, node(name)).add_edge(START, name)
with SqliteSaver(path) as saver:
    app, c = g.compile(checkpointer=saver), {"configurable": {"thread_id": "t"}}
    print(app.invoke(None if again else {"log": []}, c)["log"])
"""


def killed_beside():
    """What has ended while another node works is kept: a kill then does not run it again."""
    with tempfile.TemporaryDirectory() as folder:
        path, c = f"{folder}/k.db", {"configurable": {"thread_id": "t"}}
        p = subprocess.Popen([sys.executable, "-c", BESIDE, path], stdout=subprocess.PIPE)
        kept, until = [], time.monotonic() + 60
        with SqliteSaver(path) as saver:
            app = StateGraph(State).add_edge(START, "a").add_node("a", print).compile(checkpointer=saver)
            while len(kept) < 2 and p.poll() is None and time.monotonic() < until:
                kept = [t.name for t in app.get_state(c).tasks if t.result is not None]
        p.kill()
        p.wait()
        assert kept == ["a", "c"], kept
        done = subprocess.run([sys.executable, "-c", BESIDE, path, "again"], capture_output=True, text=True)
        assert done.stdout == "b['a', 'b', 'c']\n", (done.stdout, done.stderr[-500:])
    print("killed while one of three works: the others' ends were kept")


def no_langchain():
    """What needs langchain-core says so; a graph is drawn without it."""
    try:
        import pons.prebuilt  # noqa: F401
    except ImportError as exc:
        assert "langchain-core" in str(exc) and "pip install" in str(exc), exc
    else:
        raise AssertionError("langchain-core is installed: this is not a clean virtual environment")
    g = StateGraph(State).add_node("one", lambda s: {}).add_node("two", lambda s: {}).add_edge(START, "one").add_edge("one", "two").compile()
    drawn = g.get_graph()
    assert drawn.draw_mermaid().splitlines()[-3:] == ["  __start__ --> one", "  one --> two", "  two --> __end__"], drawn.draw_mermaid()
    assert [(e["source"], e["target"]) for e in drawn.to_json()["edges"]] == [("__start__", "one"), ("one", "two"), ("two", "__end__")]


def options():
    """What LangGraph's signatures have and pons does not names itself; nothing is taken and ignored."""
    app, config = graph(lambda s: {"n": 1}).compile(checkpointer=InMemorySaver()), {"configurable": {"thread_id": "t"}}
    flow = entrypoint(checkpointer=InMemorySaver())(lambda x: x)
    app.invoke({"n": 0}, config)
    for runs in (app, flow):
        for call in (runs.invoke, lambda *a, runs=runs, **k: list(runs.stream(*a, **k))):
            for name in ("control", "checkpoint_during", "input_keys", "nothing_of_the_kind"):
                refused(lambda: call({"n": 0}, config, **{name: True}), name)
            refused(lambda: call({"n": 0}, config, durability="x"), "durability")
            refused(lambda: call({"n": 0}, config, stream_mode="tools"), "tools")
            refused(lambda: call({"n": 0}, config, version="v3"), "v3")
        refused(lambda: runs.update_state(config, {"n": 1}, task_id="t"), "task_id")
        refused(lambda: runs.update_state(config, {"n": 1}, as_node="__copy__"), "__copy__")
        for name in ("store", "cache", "retry_policy", "stream_mode", "interrupt_before_nodes", "stream_channels"):
            refused(lambda: setattr(runs, name, None), name)
    refused(lambda: setattr(flow, "step_timeout", 1), "step_timeout")
    for what, name in (
        (lambda v: graph(lambda s: {}, trace_policy=v), "trace_policy"),
        (lambda v: graph(lambda s: {}, retry=v), "retry"),
        (lambda v: graph(lambda s: {}).compile(transformers=v), "transformers"),
        (lambda v: StateGraph(State, config_schema=v), "config_schema"),
        (lambda v: interrupt("?", response_schema=v), "response_schema"),
        (lambda v: Send("a", 1, timeout=v), "timeout"),
        (lambda v: InMemorySaver(serde=v), "serde"),
        (lambda v: SqliteSaver("x.db", serde=v), "serde"),
        (lambda v: InMemoryCache(serde=v), "serde"),
        (lambda v: entrypoint(retry=v), "retry"),
        (lambda v: task(retry=v), "retry"),
        (lambda v: add_messages([], [], format=v), "format"),
        (lambda v: TimeoutPolicy.coerce(TimeoutPolicy(run_timeout=1, refresh_on="heartbeat")), "refresh_on"),
    ):
        refused(lambda: what("given"), name)


values()
page()
options()
plans()
no_langchain()
killed()
killed_in_tasks()
killed_beside()
