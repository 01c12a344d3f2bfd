# streams.py - what random graphs stream, in pons and in LangGraph: updates, values, tasks, custom,
# messages and checkpoints, of the graph and of its subgraphs, while they run, ask, and go on.
#
#   streams.py --pons build/tests/graph_peer --seeds A..B [--show]
#
# The graphs are compare.py's, with nodes that say things. Within a superstep the order of tasks is
# chance there, so what is compared is the supersteps of each namespace, between its checkpoints: what
# each of them shows, sorted. `theirs` and `ours` say what is passed over (docs/internals/langgraph.md lists it).
# Each graph runs once more here for some of its nodes: that must be the same without the others.
import argparse
import json
import random
import subprocess
import sys

import compare
from compare import STEP, Peer, choose, decorate, function, make_graph, plain, state_of
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.config import get_stream_writer
from langgraph.errors import GraphRecursionError, InvalidUpdateError
from langgraph.types import Command

MODES = ["values", "updates", "messages", "custom", "tasks", "checkpoints"]

# ---------------------------------------------------------------- graphs that say things


def talk(r, spec, outer="own"):
    for name, node in spec["nodes"].items():
        if "sub" in node:
            # What is not kept shows nothing of its own here; one that remembers inside one that does not
            # has a single namespace there, whoever started it.
            node["mode"] = "own" if node["mode"] == outer == "own" else "inherit"
            talk(r, node["sub"], node["mode"])
            continue
        node.pop("fail", None)
        node["ops"] = [op for op in node["ops"] if op[0] != "put" or op[1] != "msgs"]
        if r.random() < 0.3:
            node["ops"].insert(r.choice([0, len(node["ops"])]), ["custom", r.randint(1, 9)])
        if r.random() < 0.3:
            node["ops"].append(["say", {"content": f"{name}-says-{r.randint(1, 9)}"}])
    return spec


def saying(name, node):
    loud = ("custom", "say")
    quiet = function(name, {**node, "ops": [op for op in node["ops"] if op[0] not in loud]})

    def run(state):
        first = bool(node["ops"]) and node["ops"][0][0] == "custom"
        if first:
            get_stream_writer()({"node": name, "said": node["ops"][0][1]})
        made = quiet(state)  # it asks here
        for op in node["ops"][first:]:
            if op[0] == "custom":
                get_stream_writer()({"node": name, "said": op[1]})
            elif op[0] == "say":
                GenericFakeChatModel(messages=iter([AIMessage(content=op[1]["content"])])).invoke("?")
        return made

    return run


class Talker(Peer):
    def __init__(self, spec):
        compare.function = saying
        super().__init__(spec)
        compare.function = function

    def act(self, op):
        self.events, self.error = [], None
        if op["op"] == "input":
            given, config = dict(op["values"]), self.config
        elif op["op"] == "go":
            given, config = None, self.config
        elif op["op"] == "answer":
            open_now = compare.asked(self.head())
            first = min(i.value for i in open_now)
            given = Command(resume={i.id: "A:" + i.value for i in open_now if op["all"] or i.value == first})
            config = self.config
        else:
            return super().act(op)
        try:
            for event in self.g.stream(given, config, stream_mode=MODES, subgraphs=True):
                self.events.append(event)
        except GraphRecursionError:
            return self.outcome("failed", "recursion")
        except InvalidUpdateError:
            return self.outcome("failed", "conflict")
        return self.outcome("interrupted" if self.head().next else "done", None)


# ---------------------------------------------------------------- the same shape for both


def pure(v):
    v = plain(v)
    if isinstance(v, dict):
        return {k: pure(x) for k, x in v.items()}
    return [pure(x) for x in v] if isinstance(v, list) else v


def asks(v):
    return sorted(str(i["value"] if isinstance(i, dict) else i.value) for i in v)


def question(payload):
    return isinstance(payload, dict) and "__interrupt__" in payload


def dense(result):  # what is empty there is not written here
    return {k: pure(v) for k, v in (result or {}).items() if v not in (None, [], 0)}


# What a namespace's state shows: of a subgraph only what it gives. Values that are never stored are gone
# there when a run goes on; here they stay while the thread is open.
def shown_state(only, values):
    return {k: v for k, v in state_of(values).items() if k != "gone" and (only is None or k in only)}


def stood(checkpoint):  # an input's: what an unfinished run wrote for one step is gone there
    state = shown_state(None, checkpoint["values"])
    return {k: v for k, v in state.items() if checkpoint["metadata"]["source"] != "input" or k not in STEP}


# One event as [mode, …] that both have, or None. subs: what each node that is a graph gives; its own
# update is not the same, nor what is no output of it.
def common(ns, mode, v, subs):
    only = subs[ns[-1].split(":")[0]] if ns else None
    if mode == "values":
        return None if question(v) else ["values", shown_state(only, v)]
    if mode == "updates":
        if question(v):
            return ["asks"] + asks(v["__interrupt__"])
        ((name, update),) = [(k, x) for k, x in v.items() if k != "__metadata__"]
        if name in subs:
            return ["updates", name]
        if isinstance(update, list) and ns:  # a channel that was written twice
            return ["updates", name]
        updates = [dense(u) for u in (update if isinstance(update, list) else [update])]
        return ["updates", name, "cached" if "__metadata__" in v else ""] + [shown_state(only, u) for u in updates]
    if mode == "custom":
        return ["custom", v]
    if mode == "messages":
        chunk, meta = v
        text = chunk["content"] if isinstance(chunk, dict) else chunk.content
        return ["messages", text, meta["langgraph_node"], meta["langgraph_step"], list(meta["langgraph_triggers"])] if text else None
    if mode == "checkpoints":
        first = ns and v["metadata"]["source"] == "input"  # here, what is shared is there already
        return ["checkpoints", v["metadata"]["step"], v["metadata"]["source"], sorted(v["next"]), {} if first else stood(v)]
    if "triggers" in v:
        given = {k: x for k, x in state_of(v["input"]).items() if k != "gone"}
        return ["start", v["name"], list(v["triggers"]), given]
    return ["end", v["name"], {} if v["name"] in subs else dense(v["result"]), asks(v["interrupts"])]


def places(events, subs):  # by namespace: [[what a superstep shows]…]
    found, values = {}, {}
    for ns, mode, payload in events:
        ns = tuple(ns)
        if mode == "values" and values.get(ns) == payload[1]:
            continue  # nothing new: a subgraph's whole output is an update there
        if mode in ("values", "checkpoints"):
            values[ns] = shown_state(subs[ns[-1].split(":")[0]] if ns else None, payload[-1])
        found.setdefault(ns, [[]])[-1].append(payload)
        if mode == "checkpoints":
            found[ns].append([])
    made = {}
    for ns, steps in found.items():
        bare = "|".join(part.split(":")[0] for part in ns)
        steps = [sorted((json.dumps(e, sort_keys=True) for e in merge(only_graphs(step, subs)))) for step in steps]
        made.setdefault(bare, []).append([s for s in steps if s])
    return {k: sorted(v) for k, v in made.items() if any(v)}


def only_graphs(step, subs):  # a superstep of subgraphs that changed nothing writes nothing here
    who = {e[1] for e in step if e[0] == "updates"}
    return [e for e in step if e[0] != "values"] if who and who <= set(subs) else step


def merge(step):  # questions are shown task by task there
    asked = sorted({q for e in step if e[0] == "asks" for q in e[1:]})
    held = [["asks"]] if ["asks"] in step and not asked else []
    return [e for e in step if e[0] != "asks"] + ([["asks"] + asked] if asked else held)


# Of a task that the cache gave: its start may be shown, its end is not there, and in a run that goes on it
# looks as what had finished before.
def given(events):
    ended = {v["id"] for _, mode, v in events if mode == "tasks" and "result" in v and not v.get("cached")}
    return [e for e in events if e[1] != "tasks" or e[2]["id"] in ended]


def theirs(events, finished, subs, op, over):
    kept, done, waits = [], set(finished), False
    for ns, mode, v in given(events):
        waits = waits or (not ns and mode == "values" and question(v))
        if waits and not ns and mode == "values":
            continue  # once more, with what finished siblings wrote
        if mode == "tasks":
            if v["id"] in finished:
                continue  # shown once more when the run goes on
            if "result" in v and not v["interrupts"]:
                done.add(v["id"])
        if mode == "updates" and "__metadata__" in v and op["op"] != "input":
            continue
        if mode == "updates" and v == {"__interrupt__": ()} and over:
            continue  # held after the last node
        made = common(ns, mode, v, subs)
        if made:
            kept.append((ns, mode, made))
    return kept, done


def ours(events, subs, op):
    kept, seen = [], set()
    for ns, mode, v in given(events):
        if mode == "checkpoints":
            at = v["config"]["configurable"]["checkpoint_id"]
            if at in seen:
                continue  # once more, with what the tasks wrote and ask
            seen.add(at)
        if mode == "updates" and "__metadata__" in v and op["op"] != "input":
            continue  # there, finished ones look like that as well
        made = common(ns, mode, v, subs)
        if made:
            kept.append((ns, mode, made))
    return kept


# Answering one of several runs all of them again there.
def quiet(op, before, events):
    some = op["op"] == "answer" and not op["all"] and before and len(before["asked"]) > 1
    return [e for e in events if not some or e[1] == "checkpoints" or e[2][0] == "updates"]


def graphs(spec):
    for name, node in spec["nodes"].items():
        if "sub" in node:
            yield name, node["out"]
            yield from graphs(node["sub"])


# ---------------------------------------------------------------- comparing


def make_scenario(seed):
    r = random.Random(f"streams {seed}")
    spec = talk(r, decorate(random.Random(f"policies {seed}"), make_graph(r, 0)))
    peer = Talker(spec)
    script, outcomes, shown, finished = [], [], [], set()
    for _ in range(r.randint(1, 5)):
        last = outcomes[-1] if outcomes else None
        op = choose(r, spec, last)
        if not op or op["op"] in ("fork", "update"):
            break
        outcome = peer.act(op)
        if outcome["status"] == "failed":
            break
        made, finished = theirs(peer.events, finished, dict(graphs(spec)), op, not outcome["next"])
        script.append(op)
        outcomes.append(outcome)
        shown.append(places(quiet(op, last, made), dict(graphs(spec))))
    return {"graph": spec, "do": script, "sync": True, "stream": MODES}, shown


def ask(runner, scenario):
    runner.stdin.write(json.dumps(scenario) + "\n")
    runner.stdin.flush()
    return json.loads(runner.stdout.readline())


def difference(op, a, b):
    for ns in sorted(set(a) | set(b)):
        x, y = a.get(ns, []), b.get(ns, [])
        if x == y:
            continue
        for k in range(max(len(x), len(y))):
            one, two = (x[k] if k < len(x) else []), (y[k] if k < len(y) else [])
            for i in range(max(len(one), len(two))):
                p, q = (one[i] if i < len(one) else []), (two[i] if i < len(two) else [])
                if p != q:
                    return f"{op}: '{ns}' step {i}: {[e for e in p if e not in q]}, here {[e for e in q if e not in p]}"
    return None


def of_nodes(events, names):
    kept = []
    for ns, mode, v in events:
        path = [part.split(":")[0] for part in ns]
        if mode == "updates" and not question(v):
            path += [k for k in v if k != "__metadata__"]
        elif mode == "messages":
            path.append(v[1]["langgraph_node"])
        elif mode == "custom":
            path.append(v["node"])
        elif mode == "tasks":
            path.append(v["name"])
        else:
            kept.append([ns, mode, v])
            continue
        if set(path) & set(names):
            kept.append([ns, mode, v])
    return kept


def no_ids(events):
    ids = {}

    def name(text):
        return ids.setdefault(text, f"#{len(ids)}")

    def walk(v, key=""):
        if isinstance(v, dict):
            return {k: walk(x, k) for k, x in v.items() if k not in ("config", "parent_config", "thread_id", "parents")}
        if isinstance(v, list):
            return [walk(x, key) for x in v]
        return "" if isinstance(v, str) and (key in ("id", "langgraph_checkpoint_ns", "checkpoint_ns", "state", "ns")) else v

    shown = [[[part.split(":")[0] for part in ns], mode, walk(v)] for ns, mode, v in events]
    return sorted(shown, key=lambda e: e[0])  # each namespace in its order


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--pons", required=True)
    p.add_argument("--seeds", default="1..2000")
    p.add_argument("--show", action="store_true", help="print the scenario of each difference")
    a = p.parse_args()
    first, last = (int(x) for x in a.seeds.split(".."))
    runner = subprocess.Popen([a.pons], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    different, count = 0, {}
    for seed in range(first, last + 1):
        scenario, shown = make_scenario(seed)
        whole = ask(runner, scenario)[:-1]
        said = None
        subs, before = dict(graphs(scenario["graph"])), None
        for op, there, outcome in zip(scenario["do"], shown, whole):
            for _, mode, _ in outcome["events"]:
                count[mode] = count.get(mode, 0) + 1
            said = said or difference(op, there, places(quiet(op, before, ours(outcome["events"], subs, op)), subs))
            before = outcome
        names = [n for n in scenario["graph"]["nodes"] if random.Random(f"{seed} {n}").random() < 0.4]
        if names and not said:
            some = ask(runner, {**scenario, "nodes": names})[:-1]
            for op, all_of, few in zip(scenario["do"], whole, some):
                want, have = no_ids(of_nodes(all_of["events"], names)), no_ids(few["events"])
                if want != have and not said:
                    said = f"{op}: of {names}: {[e for e in want if e not in have][:2]}, here {[e for e in have if e not in want][:2]}"
        if said:
            different += 1
            print(f"seed {seed}: {said[:1500]}", flush=True)
            if a.show:
                print(json.dumps(scenario))
    told = ", ".join(f"{n} {mode}" for mode, n in sorted(count.items()))
    print(f"{last - first + 1} graphs streamed ({told}), {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
