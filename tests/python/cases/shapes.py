# States that are dataclasses or pydantic's models, schemas of input, output and nodes, context, config.
import dataclasses
import operator
from typing import Annotated, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime


@dataclasses.dataclass
class State:
    name: str = "nobody"
    log: Annotated[list, operator.add] = dataclasses.field(default_factory=list)


class Input(TypedDict):
    name: str


class Output(TypedDict):
    greeting: str


class Whole(TypedDict):
    name: str
    greeting: str
    secret: int


class Private(TypedDict):
    secret: int


@dataclasses.dataclass
class Context:
    user: str


g = StateGraph(State)
g.add_node("a", lambda s: {"log": [s.name], "name": s.name.upper()})
g.add_edge(START, "a")
print(g.compile().invoke({"name": "ann"}))

w = StateGraph(Whole, context_schema=Context, input_schema=Input, output_schema=Output)


def find(state: Input, config):
    return {"secret": len(state["name"]) + config["configurable"].get("plus", 0)}


def greet(state: Private, runtime: Runtime[Context]):
    return {"greeting": f"{runtime.context.user}: {sorted(state.items())}"}


w.add_node(find)
w.add_node(greet)
w.add_edge(START, "find")
w.add_edge("find", "greet")
print(w.compile().invoke({"name": "bob"}, {"configurable": {"plus": 10}}, context=Context(user="u")))
