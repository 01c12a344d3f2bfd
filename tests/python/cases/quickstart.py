# The first graphs that people write: two nodes; a loop; a conversation that remembers.
import operator
from typing import Annotated, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph


class State(TypedDict):
    text: str


def node_a(state: State) -> dict:
    return {"text": state["text"] + "a"}


def node_b(state: State) -> dict:
    return {"text": state["text"] + "b"}


graph = StateGraph(State)
graph.add_node("node_a", node_a)
graph.add_node("node_b", node_b)
graph.add_edge(START, "node_a")
graph.add_edge("node_a", "node_b")
print(graph.compile().invoke({"text": ""}))


class Loop(TypedDict):
    n: int
    seen: Annotated[list, operator.add]
    total: Annotated[int, operator.add]


loop = StateGraph(Loop)
loop.add_node("step", lambda s: {"n": s["n"] + 1, "seen": [s["n"]], "total": s["n"]})
loop.add_edge(START, "step")
loop.add_conditional_edges("step", lambda s: "step" if s["n"] < 4 else END, ["step", END])
app = loop.compile(checkpointer=InMemorySaver())
config = {"configurable": {"thread_id": "1"}}
print(app.invoke({"n": 0}, config))
print(app.invoke({"n": 2}, config))
for h in app.get_state_history(config):
    print(h.metadata["source"], h.metadata["step"], h.next, h.values)


def answer(state: MessagesState):
    return {"messages": [{"role": "ai", "content": f"{len(state['messages'])} so far"}]}


chat = StateGraph(MessagesState).add_sequence([answer]).add_edge(START, "answer").compile(checkpointer=InMemorySaver())
for text in ("hello", "again"):
    out = chat.invoke({"messages": [{"role": "user", "content": text}]}, config)
print([(m.type, m.content) for m in out["messages"]], all(m.id for m in out["messages"]))


class Maybe(TypedDict, total=False):
    n: int


app = StateGraph(Maybe).add_node("more", lambda s: {"n": s.get("n", 0) + 1}).add_edge(START, "more").compile(checkpointer=InMemorySaver())
for given in ({}, {"unknown": 1}, {"n": 4}, {}):  # nothing to write is an input too
    print(app.invoke(given, config))
print([(h.metadata["source"], h.metadata["step"], h.values) for h in app.get_state_history(config)])
