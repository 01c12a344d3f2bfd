# graphs.py SEEDS - the random graphs of tests/graph/peer/compare.py through Python: built and used by the
# same lines in LangGraph and, with `langgraph` on the import lines changed to `pons`, here. What must be
# equal after every operation, and what differs on purpose, that file says.
import importlib.util
import json
import re
import sys
from pathlib import Path

PEER = Path(__file__).parents[1] / "graph/peer/compare.py"


def load(name, text):
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader=None))
    sys.modules[name] = module
    exec(compile(text, str(PEER), "exec"), module.__dict__)
    return module


SOURCE = PEER.read_text()
theirs = load("theirs", SOURCE)
ours = load("ours", re.sub(r"^(from|import) langgraph", r"\1 pons", SOURCE, flags=re.M))
WORDS = {"recursion": "GRAPH_RECURSION_LIMIT", "conflict": "INVALID_CONCURRENT_GRAPH_UPDATE"}


def replay(scenario):
    peer, done = ours.Peer(scenario["graph"]), []
    for op in scenario["do"]:
        ours.answered.clear()
        outcome = peer.act(op)
        done.append({**outcome, "error": WORDS.get(outcome["error"], outcome["error"]), "message": outcome["error"]})
    past = [{"step": h[0], "source": h[1], "next": h[2], "values": h[3]} for h in ours.rows(peer.history())]
    return [*done, past]


# Here, what a subgraph that was triggered gives back through a reducer of one's own takes the place of what
# its Sends give in the same superstep (docs/reference/graph.md, Subgraphs); there, it is folded with it.
def overwrites(spec):
    sent = {op[1] for n in spec["nodes"].values() for op in n.get("ops", []) if op[0] == "send"}
    return any("sub" in n and (name in sent or overwrites(n["sub"])) for name, n in spec["nodes"].items())


def main():
    first, last = (int(x) for x in sys.argv[1].split(".."))
    different, known, ops = 0, 0, 0
    for seed in range(first, last + 1):
        scenario, outcomes, past = theirs.make_scenario(seed)
        try:
            said = theirs.compare(scenario, outcomes, past, replay(json.loads(json.dumps(scenario))))
        except Exception as e:
            said = f"{type(e).__name__}: {e}"
        ops += len(outcomes)
        if said and said.startswith(("op", "history")) and '"u": ' in said and overwrites(scenario["graph"]):
            known += 1
        elif said:
            different += 1
            print(f"seed {seed}: {said[:700]}", flush=True)
    print(f"{last - first + 1} graphs through Python, {ops} operations, {known} different on purpose, {different} different")
    return 1 if different else 0


sys.exit(main())
