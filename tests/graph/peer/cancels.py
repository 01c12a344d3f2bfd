# cancels.py - random graphs canceled at their work: by another thread in pons, by asyncio in LangGraph;
# then what is stored, what is next, and what a resume makes of it.
#
#   cancels.py --pons build/tests/graph_peer --seeds A..B [--show]
#
# The graphs are compare.py's, without Sends. One run of one node does not come back by itself. Here,
# tasks run one after the other; there, all at once: siblings that come later in the order are held
# there until the run has been canceled, those before it have finished.
import argparse
import asyncio
import json
import random
import subprocess
import sys

import compare
from compare import Peer, decorate, function, make_graph, rows, values
from langgraph.errors import GraphRecursionError, InvalidUpdateError

gate = {"at": None, "held": None, "starts": {}}  # of the scenario under way


def tame(r, spec):
    for node in spec["nodes"].values():
        if "sub" in node:
            tame(r, node["sub"])
        else:
            node.pop("fail", None)
            node.pop("cache", None)  # written by a task of asyncio there, when its turn comes
            node["ops"] = [op for op in node["ops"] if op[0] not in ("send", "count")]
            node["goes"] = sorted({op[1] for op in node["ops"] if op[0] == "goto"})
    lost = [n for n in spec["nodes"] if n not in reached(spec)]
    for name in lost:  # only Sends led there
        spec["start"].append(name)
    return spec


def reached(spec):
    seen = set(spec["start"])
    while True:
        more = {t for n in seen for t in compare.leaves(spec, n)} - seen - {"__end__"}
        if not more:
            return seen
        seen |= more


def gated(name, node):
    quiet = function(name, node)
    root = name.split("_")[0]

    async def run(state):
        gate["starts"][name] = gate["starts"].get(name, 0) + 1
        at = gate["at"]
        if at and not gate["held"].is_set() and at == {"node": name, "run": gate["starts"][name]}:
            gate["held"].set()
        if gate["held"] and gate["held"].is_set() and at and root >= at["node"]:
            await asyncio.Event().wait()
        return quiet(state)

    return run


class Canceled(Peer):
    def __init__(self, spec):
        compare.function = gated
        super().__init__(spec)
        compare.function = function

    def act(self, op):
        return asyncio.run(self.run(op))

    async def run(self, op):
        gate["at"], gate["held"] = op.get("cancel"), asyncio.Event()
        given = dict(op["values"]) if op["op"] == "input" else None
        task = asyncio.create_task(self.g.ainvoke(given, self.config))
        held = asyncio.create_task(gate["held"].wait())
        try:
            await asyncio.wait([task, held], return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                for _ in range(50):  # whoever comes before it gets to its end
                    await asyncio.sleep(0.001)
                task.cancel()
            await task
        except asyncio.CancelledError:
            return self.outcome("failed", "canceled")
        except GraphRecursionError:
            return self.outcome("failed", "recursion")
        except InvalidUpdateError:
            return self.outcome("failed", "conflict")
        finally:
            held.cancel()
            gate["at"] = None
        return self.outcome("interrupted" if self.head().next else "done", None)


def make_scenario(seed):
    r = random.Random(f"cancels {seed}")
    spec = tame(r, decorate(random.Random(f"policies {seed}"), make_graph(r, 0)))
    spec["before"], spec["after"] = [], []
    peer = Canceled(spec)
    gate["starts"] = {}
    plain = [n for n, node in spec["nodes"].items() if "ops" in node]
    if not plain:
        return None, None, None
    first = {"op": "input", "values": values(r), "cancel": {"node": r.choice(plain), "run": r.choice([1, 1, 2])}}
    script, outcomes = [], []
    for op in (first, {"op": "go"}):
        script.append(op)
        outcomes.append(peer.act(op))
        if outcomes[-1]["error"] not in (None, "canceled"):
            break
    return {"graph": spec, "do": script, "sync": r.random() < 0.5}, outcomes, rows(peer.history())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--pons", required=True)
    p.add_argument("--seeds", default="1..500")
    p.add_argument("--show", action="store_true", help="print the scenario of each difference")
    a = p.parse_args()
    first, last = (int(x) for x in a.seeds.split(".."))
    runner = subprocess.Popen([a.pons], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    different, runs, canceled = 0, 0, 0
    for seed in range(first, last + 1):
        scenario, outcomes, past = make_scenario(seed)
        if not scenario:
            continue
        runner.stdin.write(json.dumps(scenario) + "\n")
        runner.stdin.flush()
        ours = json.loads(runner.stdout.readline())
        runs += 1
        canceled += outcomes[0]["error"] == "canceled"
        said = None
        if outcomes[0]["error"] in ("recursion", "conflict"):
            continue  # of a subgraph beside the one that was to be canceled
        if outcomes[0]["error"]:  # a subgraph that comes later may have begun there
            outcomes[0]["own"] = ours[0]["own"]
        if (outcomes[0]["error"] == "canceled") != (ours[0]["error"] == "canceled"):
            said = f"{outcomes[0]['error']}, here {ours[0]['error']} ({ours[0]['message']})"
        said = said or compare.compare(scenario, outcomes, past, ours)
        if said:
            different += 1
            print(f"seed {seed}: {said}", flush=True)
            if a.show:
                print(json.dumps(scenario))
    print(f"{runs} graphs, {canceled} of them canceled, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
