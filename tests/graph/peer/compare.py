# compare.py - random graphs in pons and in LangGraph: the same graph, the same inputs, answers,
# edits and forks, and after each of them the same state, the same next nodes, the same questions.
#
#   compare.py --pons build/tests/graph_peer --seeds A..B [--show]
#
# A seed gives a graph and how it is used (tests/graph/peer/pons.c has the format). LangGraph goes
# first: what is done next depends on where the run is, so its run settles the scenario, which then
# goes to pons. Scenarios keep away from what is different on purpose; docs/internals/langgraph.md lists that, and
# `allowed` says the rest. The first difference of each seed is printed with its scenario.
import argparse
import json
import logging
import random
import subprocess
import sys
import threading
import warnings
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage
from langgraph.cache.memory import InMemoryCache
from langgraph.channels import AnyValue, EphemeralValue, Topic, UntrackedValue
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError, InvalidUpdateError
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import CachePolicy, Command, RetryPolicy, Send, interrupt

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)  # there, siblings of a task that failed may find the pool closed
LIMIT = 25
ROOT = {"log": "append", "n": "add", "x": "last", "u": "union", "m": "max", "res": "append", "msgs": "messages",
        "any": "any", "once": "ephemeral", "loose": "loose", "topic": "topic", "acc": "topic_acc", "gone": "untracked"}  # fmt: skip
STEP = ("any", "once", "loose", "topic")  # what lasts for one step
INNER = {"log": "append", "n": "add", "x": "last", "u": "union", "m": "max", "res": "append"}


def union(a, b):
    return a + [v for i, v in enumerate(b) if v not in a and v not in b[:i]]


def add(a, b):
    return a + b


def greatest(a, b):
    return max(a, b)


# There, a thread stores a topic's list while the next superstep may be making it longer.
class OwnTopic(Topic):
    def checkpoint(self):
        return list(self.values)


KINDS = {
    "last": Any, "append": Annotated[list, add], "add": Annotated[int, add], "max": Annotated[int, greatest],
    "union": Annotated[list, union], "messages": Annotated[list, add_messages],
    "any": Annotated[Any, AnyValue(Any)], "ephemeral": Annotated[Any, EphemeralValue(Any)],
    "loose": Annotated[Any, EphemeralValue(Any, guard=False)], "topic": Annotated[list, OwnTopic(int)],
    "topic_acc": Annotated[list, OwnTopic(int, True)], "untracked": Annotated[Any, UntrackedValue(Any, guard=False)],
}  # fmt: skip

# ---------------------------------------------------------------- a random graph


def make_ops(r, spec, name, names, inner, own):
    ops = []
    chance = r.random
    for _ in range(r.randint(0, 3)):
        what = r.choice(["n", "n", "x", "u", "m", "res", "see", "see", "msgs", "kind"])
        if what == "see":
            ops.append(["see", r.choice([c for c in spec["channels"] if c not in ("log", "msgs")])])
        elif what == "msgs":
            if not inner:
                said = {"role": "ai", "id": f"m{r.randint(0, 3)}", "content": f"{name}{r.randint(0, 9)}"}
                ops.append(["put", "msgs", [said]])
        elif what == "kind":
            if not inner:
                kind = r.choice(["any", "loose", "topic", "acc", "gone", "once"])
                value = r.randint(1, 9)
                if kind != "once" or chance() < 0.4:
                    ops.append(["put", kind, [value, value + 1] if kind in ("topic", "acc") and chance() < 0.5 else value])
        elif what == "x":
            if chance() < 0.4:
                ops.append(["put", "x", r.randint(1, 9)])
        elif what in ("n", "m"):
            ops.append(["put", what, r.randint(1, 3)])
        else:
            ops.append(["put", what, [r.randint(1, 4)]])
    if own and chance() < 0.8:
        ops.append(["put", own, r.randint(1, 99)])
    if chance() < 0.2:
        for k in range(r.randint(1, 2)):
            ops.append(["ask", k])
    if chance() < 0.3:
        ops.append(["arg"])
    seen = {}  # one write a channel, as a dict has
    return [op for op in ops if op[0] != "put" or not seen.setdefault(op[1], op) is not op]


def make_graph(r, depth, prefix="", mode="inherit", extra=None):
    inner = depth > 0
    spec = {"channels": dict(INNER if inner else ROOT), "nodes": {}, "start": [], "joins": [], "before": [], "after": []}
    if extra:
        spec["channels"][extra] = "last"
    names = [prefix + c for c in "abcdef"[: r.randint(2, 4 if inner else 6)]]
    order = names[:]
    r.shuffle(order)
    for i, name in enumerate(order):
        later = order[i + 1 :]
        node = {"to": [], "route": None, "defer": i > 0 and r.random() < 0.15, "goes": []}
        if r.random() < (0.3, 0.25, 0.0)[depth]:
            sub_mode = r.choice(["inherit", "inherit", "own", "none"]) if mode == "inherit" else mode
            y = f"y_{name}"
            node |= {"mode": sub_mode, "in": ["x", "u"], "out": ["u"]}
            if sub_mode == "own":
                node["out"].append(y)
                spec["channels"][y] = "last"
            else:
                node["out"].append("res")
            node["sub"] = make_graph(r, depth + 1, name + "_", sub_mode, y if sub_mode == "own" else None)
        else:
            node["ops"] = make_ops(r, spec, name, names, inner, extra)
            if mode == "none":
                node["ops"] = [op for op in node["ops"] if op[0] != "ask"]
        spec["nodes"][name] = node
        if later and r.random() < 0.75:
            node["to"] = r.sample(later, min(len(later), r.choice([1, 1, 2])))
        if r.random() < 0.3:
            node["route"] = [r.choice(order) for _ in range(r.randint(1, 3))] + [r.choice(later + ["__end__"])]
    late = any(n["defer"] for n in spec["nodes"].values())  # there, Sends do not hold a deferred node back
    senders = 2 if late else 0  # Sends go forward, from few nodes: a loop of them would double at every turn
    for i, name in enumerate(order):
        node = spec["nodes"][name]
        sends = r.randint(1, 3) if "ops" in node and senders < 2 and i + 1 < len(order) and r.random() < 0.4 else 0
        senders += sends > 0
        for _ in range(sends):
            target = r.choice(order[i + 1 :])
            other = spec["nodes"][target]
            if other.get("mode") == "own" or (mode == "own" and inner):
                continue  # LangGraph gives parallel ones a single namespace
            arg = {"x": r.randint(1, 9), "u": [r.randint(1, 6)]} if "sub" in other else {"_s": r.randint(1, 9)}
            node["ops"].append(["send", target, arg])
        if "ops" in node and r.random() < 0.1:
            node["ops"].append(["goto", r.choice(order[1:])])
        node["goes"] = sorted({op[1] for op in node.get("ops", []) if op[0] in ("send", "goto")})
    spec["start"] = [order[0]] + ([order[1]] if r.random() < 0.3 else [])
    if len(order) > 3 and mode != "own" and r.random() < 0.3:  # a second input finds its legs there
        legs = r.sample(order[:-1], 2)
        spec["joins"].append([legs, order[-1]])
    reach(spec, order)
    for name, node in spec["nodes"].items():
        if not node["to"] and not node["route"] and not any(name in legs for legs, _ in spec["joins"]):
            node["to"] = ["__end__"]
    remembers = any(True for _ in owned(spec))  # there, going on with nothing does not run those
    if not inner and not remembers and r.random() < 0.25:
        spec["before"] = r.sample(names, 1)
    if not inner and not remembers and r.random() < 0.2:
        spec["after"] = r.sample(names, 1)
    return spec


# Nodes that fail at first, with policies of retries, and nodes whose runs are cached, which write how
# often they ran: only such as run one at a time and ask nothing. There, what asked is cached as well,
# and tasks of several Sends run at once.
def decorate(r, spec):
    sent = {op[1] for n in spec["nodes"].values() for op in n.get("ops", []) if op[0] == "send"}
    for name, node in spec["nodes"].items():
        if "ops" not in node or name in sent or any(op[0] == "ask" for op in node["ops"]):
            continue
        if r.random() < 0.2:
            who = r.sample(["default", "wrong", "any"], r.randint(1, 2))
            policies = [[w, r.randint(1, 4)] for w in who]
            kind = r.choice(["transient", "wrong"])
            node["fail"] = {"times": r.randint(1, 4), "kind": kind, "policies": policies}
        elif r.random() < 0.25:
            node["cache"] = r.sample(["x", "n"], r.randint(1, 2))
            node["ops"].append(["count"])
    return spec


def reach(spec, order):
    while True:
        seen = set(spec["start"])
        while True:
            more = {t for n in seen for t in leaves(spec, n)} - seen - {"__end__"}
            if not more:
                break
            seen |= more
        lost = [n for n in order if n not in seen]
        if not lost:
            return
        before = [n for n in order[: order.index(lost[0])] if n in seen] or [order[0]]
        spec["nodes"][before[-1]]["to"].append(lost[0])


def leaves(spec, name):
    node = spec["nodes"][name]
    joined = [to for legs, to in spec["joins"] if name in legs]
    return set(node["to"]) | set(node["route"] or []) | set(node["goes"]) | set(joined)


# ---------------------------------------------------------------- the same in LangGraph


# LangGraph has a thread put what a node wrote into the cache, while the next superstep looks whether it
# is there: which comes first is chance. With this one a look waits for what was to be put before it.
class Cache(InMemoryCache):
    def __init__(self):
        super().__init__()
        self.under_way, self.settled = 0, threading.Condition()

    @property
    def set(self):  # looked up where it is asked for, called by that thread
        with self.settled:
            self.under_way += 1
        return self.put

    def put(self, keys):
        try:
            super().set(keys)
        finally:
            with self.settled:
                self.under_way -= 1
                self.settled.notify_all()

    def get(self, keys):
        with self.settled:
            self.settled.wait_for(lambda: self.under_way == 0)
        return super().get(keys)


answered = {}  # nodes with questions that came to their end, since the last operation


class Wrong(ValueError):
    pass


def may_retry(who):
    return {} if who == "default" else {"retry_on": Wrong if who == "wrong" else Exception}


def policies(node):
    made = {}
    if "fail" in node:
        wait = {"initial_interval": 0, "jitter": False}
        made["retry_policy"] = [RetryPolicy(max_attempts=n, **wait, **may_retry(who)) for who, n in node["fail"]["policies"]]
    if "cache" in node:
        made["cache_policy"] = CachePolicy(key_func=lambda state: json.dumps([state.get(c) for c in node["cache"]]))
    return made


def function(name, node):
    left, runs = [node.get("fail", {"times": 0})["times"]], [0]

    def run(state):
        if left[0] > 0:
            left[0] -= 1
            raise ConnectionError("away") if node["fail"]["kind"] == "transient" else Wrong("wrong")
        runs[0] += 1
        sent = state if "_s" in state else None
        log, update, routes = [name], {}, []
        for op in node["ops"]:
            if op[0] == "put":
                v = op[2]
                update[op[1]] = [message(m) for m in v] if op[1] == "msgs" else v
            elif op[0] == "see" and not sent:
                log.append([f"{name}.{op[1]}", plain(state.get(op[1])) or None])  # there, a list is born empty
            elif op[0] == "count":
                log.append([f"{name}.runs", runs[0]])
            elif op[0] == "arg":
                log.append([f"{name}.arg", sent["_s"] if sent else None])
            elif op[0] == "ask":
                question = f"{name}/{op[1]}"
                log.append([f"{name}.{question}", interrupt(question)])
            elif op[0] == "send":
                routes.append(Send(op[1], dict(op[2])))
            elif op[0] == "goto":
                routes.append(op[1])
        update["log"] = log
        if any(op[0] == "ask" for op in node["ops"]):
            answered[name] = answered.get(name, 0) + 1
        return Command(update=update, goto=routes) if routes else update

    return run


def message(m):
    return RemoveMessage(id=m["id"]) if m.get("type") == "remove" else AIMessage(content=m["content"], id=m["id"])


def router(to):
    return lambda state: to[min(state.get("n", 0), len(to) - 1)]


def schema(name, channels):
    return TypedDict(name, {c: KINDS[k] for c, k in channels.items()}, total=False)


def build(spec, saver=None, node=None):
    state = schema("State", spec["channels"])
    kinds = {}
    if node:
        kinds["input_schema"] = schema("In", {c: spec["channels"][c] for c in node["in"]})
        kinds["output_schema"] = schema("Out", {c: spec["channels"][c] for c in node["out"]})
    g = StateGraph(state, **kinds)
    for name, n in spec["nodes"].items():
        if "sub" in n:
            made = build(n["sub"], {"inherit": None, "own": True, "none": False}[n["mode"]], n)
        else:
            made = function(name, n)
        # A Send's argument is no part of the state: the node must see it as it came.
        g.add_node(name, made, defer=n["defer"], **({} if "sub" in n else {"input_schema": state}), **policies(n))
        for to in n["to"]:
            g.add_edge(name, to)
        if n["route"]:
            g.add_conditional_edges(name, router(n["route"]), sorted(set(n["route"])))
    for name in spec["start"]:
        g.add_edge(START, name)
    for legs, to in spec["joins"]:
        g.add_edge(legs, to)
    cache = None if node else Cache()
    return g.compile(checkpointer=saver, cache=cache, interrupt_before=spec["before"], interrupt_after=spec["after"])


def plain(v):
    if isinstance(v, BaseMessage):
        return [v.id, v.content]
    if isinstance(v, dict) and "role" in v:
        return [v["id"], v["content"]]
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    return v


def state_of(values):  # what is empty there is missing here
    return {k: plain(v) for k, v in (values or {}).items() if v not in (None, [], 0)}


class Peer:
    def __init__(self, spec):
        self.spec, self.saver = spec, InMemorySaver()
        self.g = build(spec, self.saver)
        self.config = {"configurable": {"thread_id": "t"}, "recursion_limit": LIMIT}

    def history(self):
        return list(self.g.get_state_history(self.config))

    def act(self, op):
        try:
            if op["op"] == "input":
                self.g.invoke(dict(op["values"]), self.config)
            elif op["op"] == "go":
                self.g.invoke(None, self.config)
            elif op["op"] == "answer":
                open_now = asked(self.head())
                first = min(i.value for i in open_now)
                answers = {i.id: "A:" + i.value for i in open_now if op["all"] or i.value == first}
                self.g.invoke(Command(resume=answers), self.config)
            elif op["op"] == "update":
                values = {k: [message(m) for m in v] if k == "msgs" else v for k, v in op["values"].items()}
                self.g.update_state(self.config, values, as_node=op["as"])
            else:
                past = self.history()
                kinds = [[h.metadata["step"], h.metadata["source"], list(h.next)] for h in past]
                past = [past[i] for i in ordinary(kinds)]
                at = past[len(past) - 1 - op["at"] % len(past)]
                config = {**at.config, "recursion_limit": LIMIT}
                self.g.invoke(op["values"] and dict(op["values"]), config)
        except GraphRecursionError:
            return self.outcome("failed", "recursion")
        except InvalidUpdateError:
            return self.outcome("failed", "conflict")
        except (ConnectionError, Wrong):
            return self.outcome("failed", "node")
        except ValueError as e:
            return self.outcome("failed", "value: " + str(e))
        return self.outcome("interrupted" if self.head().next and op["op"] != "update" else "done", None)

    def head(self):  # get_state would apply what has finished of the step under way
        return next(iter(self.g.get_state_history(self.config, limit=1)))

    def outcome(self, status, error):
        s = self.head()
        own = {}
        for path in owned(self.spec):
            inner = {"configurable": {"thread_id": "t", "checkpoint_ns": path}}
            found = self.saver.get_tuple(inner)
            if found:
                values = found.checkpoint["channel_values"]
                own[path] = state_of({k: v for k, v in values.items() if k in INNER or k.startswith("y_")})
        return {"status": status, "error": error, "state": state_of(s.values), "next": sorted(s.next),
                "asked": sorted(i.value for i in asked(s)), "own": own}  # fmt: skip


def asked(snapshot):  # a finished task's questions are still with it there
    return [i for t in snapshot.tasks if t.result is None for i in t.interrupts]


def ordinary(past):  # not a fork's: one of an input has two checkpoints there, and one here
    replayed = [i - 1 for i, h in enumerate(past) if h[1] == "fork" and h[2] == ["__start__"]]
    return [i for i, h in enumerate(past) if h[1] != "fork" and i not in replayed]


def owned(spec, outer=""):
    for name, node in spec["nodes"].items():
        if node.get("mode") == "own":
            yield outer + name
            yield from owned(node["sub"], outer + name + "|")


# ---------------------------------------------------------------- a scenario


def make_scenario(seed):
    r = random.Random(seed)
    spec = decorate(random.Random(f"policies {seed}"), make_graph(r, 0))
    peer = Peer(spec)
    script, outcomes = [], []
    for i in range(r.randint(2, 7)):
        last = outcomes[-1] if outcomes else None
        op = choose(r, spec, last)
        if not op:
            break
        answered.clear()
        past = peer.history() if script else []
        outcome = peer.act(op)
        if any(n > 1 and "_" in name for name, n in answered.items()):
            # An own subgraph that is run again there finds the answer to its earlier question.
            return {"graph": spec, "do": script, "sync": True}, outcomes, rows(past)
        script.append(op)
        outcomes.append(outcome)
        if outcomes[-1]["status"] == "failed":
            break
    return {"graph": spec, "do": script, "sync": r.random() < 0.5}, outcomes, rows(peer.history())


def rows(past):
    return [[h.metadata["step"], h.metadata["source"], sorted(h.next), state_of(h.values)] for h in past]


def values(r):
    v = {"n": r.randint(0, 2), "x": r.randint(1, 9)}
    if r.random() < 0.4:
        v["u"] = [r.randint(1, 6)]
    return v


def choose(r, spec, last):
    again = not spec["joins"]  # there, legs that had arrived count for the next input
    if last is None:
        return {"op": "input", "values": values(r)}
    kind = r.random()
    if last["asked"]:
        late = any(n["defer"] for n in spec["nodes"].values())  # there, those that waited do so still
        keep = kind < 0.85 or not again or late or any(True for _ in owned(spec))
        return {"op": "answer", "all": r.random() < 0.6} if keep else {"op": "input", "values": values(r)}
    if kind < 0.25 and not any("|" in path for path in owned(spec)):  # there, those do not go back
        return {"op": "fork", "at": r.randint(0, 99), "values": values(r) if again and not [*owned(spec)] and r.random() < 0.3 else None}
    if kind < 0.5 and not any(True for _ in owned(spec)) and all("sub" not in spec["nodes"][n] for n in last["next"]):
        # Speaking for one of several, for a deferred one or a join's: docs/internals/langgraph.md.
        many = len(last["next"]) > 1 or spec["joins"]
        nodes = [n for n in spec["nodes"] if not (n in last["next"] and (many or spec["nodes"][n]["defer"]))]
        if nodes:
            return {"op": "update", "as": r.choice(nodes), "values": values(r)}
    if last["next"]:
        late = any(n["defer"] for n in spec["nodes"].values())
        return {"op": "go"} if kind < 0.95 or not again or late else {"op": "input", "values": values(r)}
    if not again and any("|" in path for path in owned(spec)):
        return None
    if not again:
        return {"op": "fork", "at": r.randint(0, 99), "values": None}
    return {"op": "input", "values": values(r)}


# ---------------------------------------------------------------- drawings


# Graphs of which LangGraph draws what they are: there, an edge to END is left out of a node that has
# another way on, nodes that only Commands or Sends lead to are tied to whatever ran before them, and a
# conditional edge beside a static one may win.
def make_drawn(r, depth=0, prefix=""):
    names = [prefix + c for c in "abcdef"[: r.randint(1, 5)]]
    spec = {"channels": dict(ROOT), "nodes": {}, "start": names[:1], "joins": [], "before": [], "after": []}
    for i, name in enumerate(names):
        later = names[i + 1 :]
        node = {"to": [], "route": None, "defer": False, "goes": [], "ops": []}
        if depth < 2 and r.random() < 0.3:
            node |= {"mode": "inherit", "in": [], "out": [], "sub": make_drawn(r, depth + 1, name + "_")}
        if not later:
            node["to"] = ["__end__"]
        elif len(later) > 1 and r.random() < 0.4:
            node["route"] = later[:1] + r.sample(later[1:] + ["__end__"] * (depth == 0), 1)
        else:
            node["to"] = later[:1] + (r.sample(later[1:], 1) if len(later) > 1 and r.random() < 0.4 else [])
        spec["nodes"][name] = node
    if depth == 0 and r.random() < 0.4:
        spec["before"] = r.sample(names, 1)
    if depth == 0 and r.random() < 0.4:
        spec["after"] = r.sample(names, 1)
    return spec


def drawing(graph):
    nodes = {n["id"]: n.get("metadata") for n in graph["nodes"]}
    edges = sorted((e["source"], e["target"], e.get("conditional", False)) for e in graph["edges"])
    return nodes, edges


def draw(runner, seed):
    spec, xray = make_drawn(random.Random(seed)), seed % 4
    theirs = drawing(build(spec, InMemorySaver()).get_graph(xray=xray).to_json())
    runner.stdin.write(json.dumps({"draw": spec, "xray": xray}) + "\n")
    runner.stdin.flush()
    ours = drawing(json.loads(runner.stdout.readline()))
    if theirs == ours:
        return None
    there, here = [e for e in theirs[1] if e not in ours[1]], [e for e in ours[1] if e not in theirs[1]]
    nodes = {k: v for k, v in theirs[0].items() if ours[0].get(k, 0) != v}, {k: v for k, v in ours[0].items() if theirs[0].get(k, 0) != v}
    return f"drawing: nodes {nodes[0]}, here {nodes[1]}; edges {there}, here {here}"


# ---------------------------------------------------------------- comparing

ERRORS = {"recursion": ("recursion",), "conflict": ("concurrent",)}


def brief(v):
    text = json.dumps(v)
    return text if len(text) < 400 else text[:120] + " … " + text[-240:]


def compare(scenario, theirs, their_past, ours):
    for i, (a, b) in enumerate(zip(theirs, ours)):
        b["state"], b["next"], b["asked"] = state_of(b["state"]), sorted(b["next"]), sorted(b["asked"])
        b["own"] = {k: state_of(v) for k, v in b["own"].items()}
        if a["error"] == "conflict" and b["asked"]:
            return None  # there it shows when somebody asks, here when the step is over
        if a["status"] != b["status"]:
            return f"op {i} {scenario['do'][i]}: status {a['status']} ({a['error']}), here {b['status']} ({b['message']})"
        if a["error"] == "recursion" and b["error"] == "GRAPH_RECURSION_LIMIT":
            return None  # one superstep later there when it went on with nothing; the scenario ends here
        for part in ("state", "next", "asked", "own"):
            if part == "asked" and a["status"] == "failed":
                continue
            if part == "own" and a["error"] == "node":
                continue  # a subgraph beside it may have ended there, or not
            if part == "own" and scenario["do"][i]["op"] == "fork" and a["status"] == "interrupted":
                continue  # there, they go back when they are run
            if a[part] != b[part]:
                return f"op {i} {scenario['do'][i]}: {part} {brief(a[part])}, here {brief(b[part])}"
    past = [[h["step"], h["source"], sorted(h["next"]), state_of(h["values"])] for h in ours[-1]]
    for h in past + their_past:  # there, a join that has one leg again is shown as next at times
        h[2] = [n for n in h[2] if n not in [to for _, to in scenario["graph"]["joins"]]]
        if h[1] == "input":  # there, what an unfinished run wrote for one step is gone one checkpoint earlier
            h[3] = {k: v for k, v in h[3].items() if k not in STEP}
    if any(op["op"] == "fork" for op in scenario["do"]):  # its own checkpoint is another there
        past = [[0] + h[1:] for h in past if h[1] != "fork"]
        their_past = [[0] + their_past[i][1:] for i in ordinary(their_past)]
    if past != their_past:
        for k, (x, y) in enumerate(zip(reversed(their_past), reversed(past))):
            if x != y:
                return f"history {k}: {brief(x)}, here {brief(y)}"
        return f"history: {len(their_past)} checkpoints, here {len(past)}"
    return None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--pons", required=True)
    p.add_argument("--seeds", default="1..2000")
    p.add_argument("--show", action="store_true", help="print the scenario of each difference")
    a = p.parse_args()
    first, last = (int(x) for x in a.seeds.split(".."))
    runner = subprocess.Popen([a.pons], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    different, ops, seen, policies = 0, 0, {}, {"failing": 0, "cached": 0, "failed": 0}
    for seed in range(first, last + 1):
        scenario, outcomes, past = make_scenario(seed)
        runner.stdin.write(json.dumps(scenario) + "\n")
        runner.stdin.flush()
        line = runner.stdout.readline()
        if not line:
            print(f"seed {seed}: pons ended: {json.dumps(scenario)}")
            return 1
        ops += len(outcomes)
        for node in scenario["graph"]["nodes"].values():
            policies["failing"] += "fail" in node
            policies["cached"] += "cache" in node
        policies["failed"] += any(o["error"] == "node" for o in outcomes)
        for op in scenario["do"]:
            seen[op["op"]] = seen.get(op["op"], 0) + 1
        said = compare(scenario, outcomes, past, json.loads(line)) or draw(runner, seed)
        if said:
            different += 1
            print(f"seed {seed}: {said}", flush=True)
            if a.show:
                print(json.dumps(scenario, indent=1))
    told = ", ".join(f"{n} {op}" for op, n in sorted(seen.items()))
    told += "; " + ", ".join(f"{n} {what}" for what, n in policies.items())
    print(f"{last - first + 1} graphs, {ops} operations ({told}), {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
