"""The oracle of test_oracle.c: LangGraph's InMemoryStore is told the same, one JSON object a line.

Made equal here, because the two differ by intent: a namespace whose last item went is listed no more
(InMemoryStore keeps it, and a get or a search of one that never was makes one).
"""
import json
import sys

from langgraph.store.memory import InMemoryStore

store = InMemoryStore()


def labels(text):
    return tuple(text.split(".")) if text else ()


def answer(op):
    ns, what = labels(op.get("ns", "")), op["op"]
    if what == "put":
        store.put(ns, op["key"], op["value"])
    elif what == "delete":
        store.delete(ns, op["key"])
    elif what == "get":
        item = store.get(ns, op["key"])
        return item.value if item else None
    elif what == "search":
        found = store.search(ns, filter=op.get("filter"), limit=op["limit"], offset=op["offset"])
        if op["limit"] < 1000:
            return len(found)
        return {".".join(i.namespace) + "|" + i.key: i.value for i in found}
    elif what == "spaces":
        for empty in [n for n, items in store._data.items() if not items]:
            del store._data[empty]
        return [
            list(n)
            for n in store.list_namespaces(
                prefix=labels(op.get("prefix", "")) or None,
                suffix=labels(op.get("suffix", "")) or None,
                max_depth=op.get("depth"),
                limit=op["limit"],
                offset=op["offset"],
            )
        ]
    return None


with open(sys.argv[1], encoding="utf-8") as script:
    for line in script:
        try:
            said = answer(json.loads(line))
        except Exception as e:  # what it can't compare, it does not answer
            said = {"error": type(e).__name__}
        print(json.dumps(said), flush=True)
