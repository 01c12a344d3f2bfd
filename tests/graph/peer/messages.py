# messages.py - conversations in pons and in langchain-core: the same messages in the same forms, what
# add_messages, trim_messages and count_tokens_approximately make of them, and what pons does.
#
#   messages.py --pons build/tests/graph_peer --seeds A..B
#
# Kept away from, because it is different on purpose (docs/internals/langgraph.md): usage_metadata and
# invalid_tool_calls in a dict (there, they land in additional_kwargs), removals and repeated ids after
# a removal of all (there, they stay in the list), what is no JSON (bytes, tuples).
import argparse
import json
import random
import subprocess
import sys
import warnings

from langchain_core.messages import convert_to_messages, trim_messages
from langchain_core.messages.utils import count_tokens_approximately
from langgraph.graph.message import add_messages

warnings.filterwarnings("ignore")
ROLES = ["user", "human", "assistant", "ai", "system", "developer", "tool", "function"]
TYPES = ["human", "ai", "system", "tool"]
WORDS = ["", "a", "hi there", "one\ntwo\nthree", "one\n", "\n", "\n\n\nx", "it's \"so\"", "naïve 水 😀", "x" * 40, "line\n" * 9]


def text(r):
    return r.choice(WORDS) + (r.choice(WORDS) if r.random() < 0.3 else "")


def block(r):
    kind = r.randint(0, 5)
    if kind < 2:
        return {"type": "text", "text": text(r)}
    if kind == 2:
        return {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * r.randint(0, 99)}}
    if kind == 3:
        return {"type": "tool_use", "id": "c1", "name": "f", "input": json_value(r, 0)}
    if kind == 4:
        return text(r)
    return {"type": "image", "source": {"data": "AAAA", "media_type": "image/png"}}


def json_value(r, depth):
    kind = r.randint(0, 7 if depth < 3 else 5)
    if kind == 6:
        return [json_value(r, depth + 1) for _ in range(r.randint(0, 3))]
    if kind == 7:
        return {r.choice(["a", "b", "it's", 'say "x"']): json_value(r, depth + 1) for _ in range(r.randint(0, 3))}
    return [None, True, False, r.randint(-(2**63), 2**63 - 1), r.choice([0.5, 1.0, -2.25, 1e22, 1e-7, 123456.789]), text(r)][kind]


def content(r):
    if r.random() < 0.6:
        return text(r)
    return [block(r) for _ in range(r.randint(0, 4))]


def call(r):
    args = {r.choice("abc"): json_value(r, 1) for _ in range(r.randint(0, 2))}
    if r.random() < 0.4:
        return {"id": "c1", "type": "function", "function": {"name": "f", "arguments": json.dumps(args)}}
    return {"name": "f", "args": args, "id": r.choice(["c1", "c2", None])} | ({"type": "tool_call"} if r.random() < 0.5 else {})


def form(r, ids=None):
    kind = r.random()
    if kind < 0.08:
        return text(r)
    if kind < 0.16:
        return [r.choice(ROLES[:6]), text(r)]
    role = r.choice(ROLES)
    m = {r.choice(["role", "type"]): role, "content": content(r)}
    if r.random() < 0.6:
        m["id"] = r.choice(ids or ["1", "2", 3, None])
    if r.random() < 0.2 or role == "function":
        m["name"] = r.choice(["bob", "é"])
    if role == "tool" and r.random() < 0.95:
        m["tool_call_id"] = r.choice(["c1", "c22", 7])
    if role == "tool" and r.random() < 0.3:
        m["status"] = r.choice(["success", "error"])
        m["artifact"] = json_value(r, 1)
    if role in ("assistant", "ai") and r.random() < 0.5:
        m["tool_calls"] = [call(r) for _ in range(r.randint(0, 2))]
    if r.random() < 0.15:
        m["mine"] = json_value(r, 1)
    if r.random() < 0.15:
        m["additional_kwargs"] = {"k": json_value(r, 1)}
    if r.random() < 0.15:
        m["response_metadata"] = r.choice([{}, {"model": "m"}, None])
    if r.random() < 0.03:
        m["content"] = r.choice([None, 5, {"a": 1}, [1]]) if role != "tool" else None
    if r.random() < 0.02:
        m.pop("content", None)
    if r.random() < 0.1 and "type" in m and role in ("human", "ai", "system") and "content" in m:
        name = {"human": "HumanMessage", "ai": "AIMessage", "system": "SystemMessage"}[role]
        return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": {k: v for k, v in m.items() if k != "type"}}
    return m


def update(r, have):
    if r.random() < 0.15:
        return form(r, ["1", "2", "3", "4", "5"])
    out = []
    for _ in range(r.randint(0, 5)):
        if r.random() < 0.25:
            ident = r.choice(["1", "2", "3", "4", "5"] if r.random() < 0.1 or not have else sorted(have))
            have.discard(ident)
            out.append({"type": "remove", "content": "", "id": ident})
        else:
            out.append(form(r, ["1", "2", "3", "4", "5"]))
            if isinstance(out[-1], dict) and out[-1].get("id"):
                have.add(str(out[-1]["id"]))
    if r.random() < 0.1:
        out.insert(0, {"type": "remove", "content": "", "id": "__remove_all__"})
        out = [out[0]] + [m for m in out[1:] if not (isinstance(m, dict) and ("id" in m or "lc" in m))]
        have.clear()
    return out


def dump(m):
    return json.loads(json.dumps(m.model_dump()))


def case(r):
    kind = r.random()
    if kind < 0.35:
        return {"form": form(r)}
    if kind < 0.45:
        return {"tokens": [form(r) for _ in range(r.randint(0, 6))]}
    if kind < 0.7:
        have = set()
        return {"updates": [update(r, have) for _ in range(r.randint(1, 5))]}
    c = {"trim": [form(r) for _ in range(r.randint(0, 9))], "count": r.choice(["len", "approximate", "approximate"])}
    c["max"] = r.randint(-1, 10) if c["count"] == "len" else r.randint(0, 200)
    c["first"] = r.random() < 0.3
    c["partial"] = r.random() < 0.5
    c["system"] = not c["first"] and r.random() < 0.4
    c["start"] = [] if c["first"] or r.random() < 0.6 else r.sample(TYPES, r.randint(1, 2))
    c["end"] = [] if r.random() < 0.7 else r.sample(TYPES, r.randint(1, 2))
    return c


def theirs(c):
    if "form" in c:
        return dump(convert_to_messages([c["form"]])[0])
    if "tokens" in c:
        return count_tokens_approximately(c["tokens"])
    if "updates" in c:
        state = []
        for u in c["updates"]:
            state = add_messages(state, u)
        return [dump(m) for m in state]
    counter = len if c["count"] == "len" else "approximate"
    kept = trim_messages(c["trim"], max_tokens=c["max"], token_counter=counter, strategy="first" if c["first"] else "last",
                         allow_partial=c["partial"], include_system=c["system"], start_on=c["start"] or None, end_on=c["end"] or None)  # fmt: skip
    return [dump(m) for m in kept]


def plain(v):  # an id that was made is as good as another
    if isinstance(v, list):
        return [plain(x) for x in v]
    if isinstance(v, dict) and isinstance(v.get("id"), str) and len(v["id"]) > 20:
        return v | {"id": "made"}
    return v


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--pons", required=True)
    p.add_argument("--seeds", default="1..20000")
    a = p.parse_args()
    first, last = (int(x) for x in a.seeds.split(".."))
    runner = subprocess.Popen([a.pons], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    different, refused, kinds = 0, 0, {}
    for seed in range(first, last + 1):
        c = case(random.Random(seed))
        kind = next(iter(c))
        kinds[kind] = kinds.get(kind, 0) + 1
        runner.stdin.write(json.dumps(c) + "\n")
        runner.stdin.flush()
        line = runner.stdout.readline()
        if not line:
            print(f"seed {seed}: pons ended: {json.dumps(c)}")
            return 1
        ours = json.loads(line)
        if kind == "tokens":  # there, one that is no message ends the count
            c[kind] = [m for m in c[kind] if "error" not in safe({"form": m})]
        want = safe(c)
        refused += isinstance(want, dict) and "error" in want
        if isinstance(want, dict) and isinstance(ours, dict) and "error" in want and "error" in ours:
            continue
        if plain(want) != plain(ours):
            different += 1
            print(f"seed {seed}: {json.dumps(c)}\n  there {json.dumps(want)}\n  here  {json.dumps(ours)}", flush=True)
    told = ", ".join(f"{n} {k}" for k, n in sorted(kinds.items()))
    print(f"{last - first + 1} conversations ({told}; {refused} refused in both), {different} different")
    return 1 if different else 0


def safe(c):
    try:
        return theirs(c)
    except Exception as e:  # whatever refuses it
        return {"error": str(e)}


sys.exit(main())
