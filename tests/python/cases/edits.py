# What is changed from outside: each row of the table is a name and what prints it.
import operator
from typing import Annotated, TypedDict

from langchain_core.messages import HumanMessage

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import InvalidUpdateError
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt

C = {"configurable": {"thread_id": "t"}}


class State(TypedDict):
    v: Annotated[list, operator.add]


def chain(schema=State, checkpointer=None, **nodes):
    g, last = StateGraph(schema), START
    for name, fn in nodes.items():
        g.add_node(name, fn).add_edge(last, name)
        last = name
    return g.compile(checkpointer=checkpointer)


def says(what):
    return lambda state: {"v": [what]}


def asks(what):
    return lambda state: {"v": [f"{what}:{interrupt(what)}"]}


def tried(what):
    try:
        print(what())
    except InvalidUpdateError as exc:
        print(type(exc).__name__)


# ---- a fork without a change


def copies():
    for ends in (says("c"), asks("c")):
        app = chain(State, InMemorySaver(), a=says("a"), b=says("b"), c=ends)
        tried(lambda: app.update_state(C, None, as_node="__copy__"))  # of nothing
        app.invoke({"v": ["i"]}, C)
        for at in list(app.get_state_history(C)):
            made = app.update_state(at.config, None, as_node="__copy__")
            same = app.get_state(made).values == at.values
            done = app.invoke(None, made)
            same = same or at.next == ("__start__",)  # pons: what the input has made
            print(at.next, at.values, same, done["v"], "__interrupt__" in done, app.get_state(C).next)
        if app.get_state(C).next:
            print(app.invoke(Command(resume="yes"), C))


# ---- what an entrypoint gave


def entrypoints():
    @entrypoint(checkpointer=InMemorySaver())
    def total(x: int, *, previous=None):
        return (previous or 0) + x

    print(total.get_state(C).values)
    total.update_state(C, 7)
    print(total.get_state(C).values, total.get_state(C).next, total.invoke(1, C))
    total.update_state(C, 100, as_node="total")
    print(total.get_state(C).values, total.invoke(2, C))
    total.update_state(C, entrypoint.final(value="shown", save=10))
    print(total.get_state(C).values, total.get_state(C).next, total.invoke(3, C))

    @task
    def half(x):
        return x // 2

    @entrypoint(checkpointer=InMemorySaver())
    def asked(x, *, previous=None):
        return [half(x).result(), interrupt("?"), previous]

    print(asked.invoke(8, C)["__interrupt__"][0].value)
    asked.update_state(C, "instead")
    print(asked.get_state(C).values, asked.get_state(C).next)
    asked.invoke(6, C)
    print(asked.invoke(Command(resume="yes"), C))


# ---- a subgraph's own state


class Chat(MessagesState):
    v: Annotated[list, operator.add]


def subgraphs():
    inner = chain(State, None, s1=says("s1"), s2=asks("s2"))
    middle = chain(State, None, m1=lambda state: {}, deep=inner)
    for app, depth in ((chain(State, InMemorySaver(), sub=inner), 1), (chain(State, InMemorySaver(), top=middle), 2)):
        app.invoke({"v": []}, C)
        seen = app.get_state(C, subgraphs=True)
        for _ in range(depth):
            seen = seen.tasks[0].state
        print(seen.values, seen.next, app.get_state(seen.config).values, app.get_state(seen.config).next)
        made = app.update_state(seen.config, {"v": ["edited"]})
        print(app.get_state(made).values, app.get_state(made).next)
        made = app.update_state(made, {"v": ["again"]}, as_node="s1")
        tried(lambda: app.update_state(made, {"v": ["x"]}, as_node="nobody"))
        print(app.invoke(Command(resume="A"), C))

    app = chain(State, InMemorySaver(), sub=inner)
    app.invoke({"v": []}, C)
    at = app.get_state(C, subgraphs=True).tasks[0].state.config
    app.update_state(at, {"v": ["for s2"]}, as_node="s2")
    print(app.get_state(C, subgraphs=True).tasks[0].state.next, app.invoke(None, C))

    talks = chain(Chat, None, t1=lambda state: {"messages": [HumanMessage("t1", id="1")]}, t2=asks("t2"))
    app = chain(State, InMemorySaver(), sub=talks)  # which has no messages itself
    app.invoke({"v": []}, C)
    seen = app.get_state(C, subgraphs=True).tasks[0].state
    print([type(m).__name__ for m in seen.values["messages"]])
    app.update_state(seen.config, {"messages": [("user", "edited")]})
    print([m.content for m in app.get_state(C, subgraphs=True).tasks[0].state.values["messages"]])


# ---- what is told of what has run


class Mixed(State):
    s: str
    messages: Annotated[list, add_messages]


def results():
    say = {"messages": [HumanMessage("hi")]}
    app = chain(Mixed, InMemorySaver(), a=lambda _: {"v": ["a"], "s": "x"}, b=lambda _: {"s": "y"}, c=lambda _: say, d=lambda _: None)
    app.invoke({"v": []}, C)
    app.invoke({"v": ["i"], "s": "again"}, C)
    for at in app.get_state_history(C):
        print(at.next, [(t.name, sorted(t.result)) for t in at.tasks])
    for at in app.get_state_history(C, before=app.get_state(C).config, limit=4):
        print(at.next, at.values["v"])
    app = chain(State, InMemorySaver(), a=says("a"), b=asks("b"))
    app.invoke({"v": []}, C)
    app.invoke(None, list(app.get_state_history(C))[1].config)
    app.invoke(Command(resume="yes"), C)
    print([[(t.name, t.result) for t in at.tasks] for at in app.get_state_history(C) if at.metadata["source"] == "loop"][:3])

    @entrypoint(checkpointer=InMemorySaver())
    def total(x, *, previous=None):
        return (previous or 0) + x

    total.invoke(1, C)
    total.invoke(2, C)
    print([(t.name, t.result) for at in total.get_state_history(C) for t in at.tasks if t.name == "total"])


for row in (copies, entrypoints, subgraphs, results):
    print("--", row.__name__)
    row()
