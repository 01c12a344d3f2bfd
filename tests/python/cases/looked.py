# A compiled graph looked at: nodes by themselves, schemas, drawings of routers that do not say where they lead.
import asyncio
import json
import operator
from dataclasses import dataclass
from typing import Annotated, Literal

from langgraph.config import get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.pregel import Pregel
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command
from pydantic import BaseModel
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    n: int
    log: Annotated[list[str], operator.add]


class Asked(TypedDict):
    q: str
    who: str


class Model(BaseModel):
    n: int
    who: str = "x"


@dataclass
class Data:
    n: int
    who: str = "x"


def twice(state, config):
    return {"n": state["n"] * 2, "log": [str(config["configurable"]["by"])]}


async def later(state):
    await asyncio.sleep(0)
    return {"log": ["later"]}


def keeps(state, store):
    return {"log": [store is kept]}


kept = InMemoryStore()
g = StateGraph(State).add_node(twice).add_node(later).add_edge(START, "twice").add_edge("twice", "later")
sub = g.compile()
app = StateGraph(State).add_node("sub", sub).add_node("keeps", keeps).add_edge(START, "sub").compile(store=kept)
print(list(sub.nodes), isinstance(sub, Pregel))
config = {"configurable": {"by": 7}}
print(sub.nodes["twice"].invoke({"n": 4}, config), asyncio.run(sub.nodes["later"].ainvoke({"n": 4})))
print(asyncio.run(sub.nodes["twice"].ainvoke({"n": 5}, config)))
print(sorted(asyncio.run(app.nodes["sub"].ainvoke({"n": 4}, config)).items()))
typed = StateGraph(Model).add_node("f", lambda s: {"who": type(s).__name__}).add_edge(START, "f").compile()
print(typed.nodes["f"].invoke(Model(n=1)))

for g in (StateGraph(State), StateGraph(State, input_schema=Asked), StateGraph(Model), StateGraph(Data), StateGraph(State, context_schema=Asked), StateGraph(State, Data)):
    app = g.add_node("a", lambda s: {}).add_edge(START, "a").compile(name="mine")
    for schema in (app.get_input_jsonschema(), app.get_output_jsonschema(), app.get_context_jsonschema()):
        print(json.dumps({k: v for k, v in schema.items() if k != "title"} if schema else schema, sort_keys=True))


class Chat(MessagesState):
    n: int


print(sorted(StateGraph(Chat).add_node("a", lambda s: {}).add_edge(START, "a").compile(name="c").get_graph().nodes))


def to_a(state):
    return "a"


def named(state) -> Literal["a", "b"]:
    return "a"


def goes(state) -> Command[Literal["a", END]]:
    return Command(goto="a")


def two():
    return StateGraph(State).add_node("a", lambda s: {}).add_node("b", lambda s: {})


def drawn(g):
    found = g.compile().get_graph()
    print(list(found.nodes), [(e.source, e.target, e.conditional) for e in found.edges])


drawn(two().add_conditional_edges(START, to_a))
drawn(two().add_edge(START, "a").add_conditional_edges("a", to_a))
drawn(two().add_edge(START, "a").add_conditional_edges("a", to_a).add_edge("b", "a"))
drawn(two().add_conditional_edges(START, to_a).add_edge("a", END).add_edge("b", END))
drawn(two().add_conditional_edges(START, to_a).add_edge(START, "b"))
drawn(two().add_node("c", goes).add_conditional_edges(START, to_a).add_edge("b", "c"))
drawn(two().add_conditional_edges(START, named))
