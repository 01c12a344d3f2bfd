# Items that outlive threads: in nodes, tasks and outside of them.
from typing import TypedDict

from langgraph.config import get_store
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore, GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore


def shown(items):
    return sorted((i.namespace, i.key, sorted(i.value.items())) for i in items)


store = InMemoryStore()
store.put(("users", "mara"), "likes", {"what": "tea", "n": 3})
store.put(("users", "mara"), "has", {"what": "cat", "n": 1, "deep": {"er": [1, 2]}})
store.put(("users", "jo"), "likes", {"what": "rain", "n": 7})
store.put(("zoo",), "cat", {"what": "cat"})
found = store.get(("users", "mara"), "likes")
print(sorted(found.value.items()), found.key, found.namespace, found.created_at <= found.updated_at, found.created_at.tzinfo)
print(store.get(("users", "mara"), "none"))
print(shown(store.search(("users",))), shown(store.search(())), shown(store.search(("users", "jo"))), shown(store.search(("us",))))
for f in ({"what": "cat"}, {"n": {"$gt": 2}}, {"n": {"$gte": 1, "$lt": 7}}, {"what": {"$ne": "cat"}}, {"none": 1}):
    print(f, shown(store.search(("users",), filter=f)))
print(len(store.search((), limit=2)), len(store.search((), limit=10, offset=3)))
print(store.list_namespaces(), store.list_namespaces(prefix=("users",)), store.list_namespaces(max_depth=1))
print(store.list_namespaces(suffix=("mara",)), store.list_namespaces(prefix=("*", "jo")), store.list_namespaces(limit=1, offset=1))
store.put(("users", "mara"), "likes", {"what": "coffee"})
print(store.get(("users", "mara"), "likes").value)
store.delete(("users", "mara"), "likes")
store.delete(("users", "mara"), "likes")
print(store.get(("users", "mara"), "likes"), len(store.search(("users", "mara"))))
print([type(r).__name__ if r is not None else r for r in store.batch([
    PutOp(("a",), "k", {"v": 1}), GetOp(("zoo",), "cat"), SearchOp(("zoo",)),
    ListNamespacesOp((MatchCondition("prefix", ("zoo",)),))])])  # fmt: skip
for wrong in ((), ("a.b",), ("",), ("langgraph", "x"), (1,)):
    try:
        store.put(wrong, "k", {})
        print("taken", wrong)
    except ValueError as e:
        print(type(e).__name__)


class State(TypedDict):
    n: int
    seen: list


def by_runtime(state: State, runtime: Runtime):
    runtime.store.put(("runs",), f"r{state['n']}", {"n": state["n"]})
    return {"n": state["n"] + 1}


def by_parameter(state: State, *, store: BaseStore):
    return {"seen": sorted(i.key for i in store.search(("runs",)))}


def by_name(state: State):
    return {"n": len(get_store().search(("runs",)))}


g = StateGraph(State).add_sequence([by_runtime, by_parameter, by_name]).add_edge(START, "by_runtime")
app = g.compile(checkpointer=InMemorySaver(), store=store)
for n in (1, 5):
    print(app.invoke({"n": n}, {"configurable": {"thread_id": str(n)}}))
print(shown(store.search(("runs",))))


@task
def keeps(word):
    get_store().put(("words",), word, {"length": len(word)})
    return len(word)


@entrypoint(store=store)
def words(given, *, store: BaseStore):
    lengths = [f.result() for f in [keeps(w) for w in given]]
    return lengths, sorted(i.key for i in store.search(("words",)))


print(words.invoke(["one", "three"]))


def embed(texts):
    return [[t.count("a"), t.count("b"), 1] for t in texts]


near = InMemoryStore(index={"dims": 3, "embed": embed, "fields": ["text"]})
near.put(("d",), "1", {"text": "aaaa"})
near.put(("d",), "2", {"text": "bbbb"})
near.put(("d",), "3", {"text": "ab"}, index=False)
for item in near.search(("d",), query="bab", limit=2):
    print(item.key, None if item.score is None else round(item.score, 4))
