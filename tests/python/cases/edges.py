# Small things that programs rely on: each row of the table is a name and what prints it.
import asyncio
import operator
import re
from typing import Annotated, TypedDict

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import InvalidUpdateError
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import create_react_agent
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, Overwrite, Send

C = {"configurable": {"thread_id": "t"}}


class State(TypedDict):
    v: Annotated[list, operator.add]


def beside(checkpointer=None, schema=State, **nodes):
    g = StateGraph(schema)
    for name, fn in nodes.items():
        g.add_node(name, fn).add_edge(START, name)
    return g.compile(checkpointer=checkpointer)


def says(*what):
    return lambda state: {"v": list(what)}


# ---- what takes a reducer's place


def overwrites():
    for made in (lambda v: {"__overwrite__": v}, Overwrite):
        one, two = (lambda state, v=v: {"v": made(v)} for v in (["only"], ["other"]))
        print(beside(a=one, b=says("x")).invoke({"v": ["i"]}), *beside(a=one).stream({"v": ["i"]}, stream_mode="values"))
        try:
            beside(a=one, b=two).invoke({"v": []})
        except Exception as exc:
            print(type(exc).__name__)
        app = beside(InMemorySaver(), a=says("x"))
        app.invoke({"v": ["i"]}, C)
        app.update_state(C, {"v": made(["u"])})
        print(app.get_state(C).values, app.invoke({"v": made(["in"])}, C))
        chat = beside(schema=MessagesState, a=lambda state: {"messages": made([AIMessage("b", id="1")])})
        print([(m.type, m.content) for m in chat.invoke({"messages": ["a"]})["messages"]])


# ---- what a prompt is given


class Model(GenericFakeChatModel):
    def bind_tools(self, *args, **more):
        return self


def prompts():
    store = InMemoryStore()
    store.put(("u",), "k", {"x": 5})

    def plain(state):
        return state["messages"]

    def keyword(state, config, *, store):
        print(store.get(("u",), "k").value, config["metadata"]["langgraph_node"])
        return state["messages"]

    def writes(state, *, writer, runtime):
        print(runtime.context, runtime.store is store)
        writer("w")
        return state["messages"]

    async def awaited(state, *, store):
        return [("system", str(store.get(("u",), "k").value)), *state["messages"]]

    for prompt in (plain, keyword, writes, awaited):
        agent = create_react_agent(Model(messages=iter([AIMessage("ok")])), [], prompt=prompt, store=store)
        asked = {"messages": [("user", "hi")]}
        made = asyncio.run(agent.ainvoke(asked)) if prompt is awaited else list(agent.stream(asked, stream_mode="custom"))
        print(prompt.__name__, made["messages"][-1].content if isinstance(made, dict) else made)


# ---- who works beside one that fails


def siblings():
    fails, runs = [True], []

    async def bad(state):
        while "slow" not in runs:
            await asyncio.sleep(0)
        if fails[0]:
            raise ValueError("boom")
        return {"v": ["bad"]}

    async def slow(state):
        runs.append("slow")
        try:
            await asyncio.sleep(600 if fails[0] else 0)
        except asyncio.CancelledError:
            runs.append("canceled")
            raise
        return {"v": ["slow"]}

    async def itself(state):
        raise asyncio.CancelledError("by itself")

    async def all_of_them():
        for names in ({"a": slow, "b": bad}, {"a": bad, "b": slow}):
            fails[0] = True
            runs.clear()
            app = beside(InMemorySaver(), **names)
            try:
                await app.ainvoke({"v": []}, C)
            except ValueError as exc:
                print(exc, runs)
            print([t.name for t in (await app.aget_state(C)).tasks if t.error])
            fails[0] = False
            print(await app.ainvoke(None, C), runs)
        fails[0] = True
        try:
            await beside(a=beside(bad=bad), b=slow).ainvoke({"v": []})  # a subgraph's
        except ValueError as exc:
            print(exc)
        for names in ({"a": itself}, {"a": itself, "b": slow}):
            try:
                await beside(**names).ainvoke({"v": []})
            except Exception as exc:
                print(type(exc).__name__, exc.node)

    asyncio.run(all_of_them())


# ---- breakpoints


def chain(checkpointer=None, before=None, after=None, **nodes):
    g, last = StateGraph(State), START
    for name, fn in nodes.items():
        g.add_node(name, fn).add_edge(last, name)
        last = name
    return g.compile(checkpointer=checkpointer, interrupt_before=before, interrupt_after=after)


def breakpoints():
    inner = chain(None, ["s2"], None, s1=says("s1"), s2=says("s2"))
    parts = {"a": says("a"), "b": says("b"), "c": says("c")}
    goes_on = (None, Command(resume="x"), Command(resume={"any": 1}), Command(update={"v": ["u"]}), Command(update={"v": ["u"]}, resume=1))
    for where in ({"before": ["b"]}, {"after": ["b"]}, {"before": ["a", "c"]}):
        for given in goes_on:
            app = chain(InMemorySaver(), **where, **parts)
            app.invoke({"v": []}, C)
            print(where, app.get_state(C).next, app.invoke(given, C), app.get_state(C).next)
    for given in (None, Command(resume=1)):
        app = chain(InMemorySaver(), sub=inner, z=says("z"))
        shown = [list(app.stream({"v": []}, C, stream_mode="updates")), app.get_state(C).next]
        print(*shown, list(app.stream(given, C, stream_mode=["updates"])))
        app = chain(InMemorySaver(), sub=inner, z=says("z"))
        print([(len(ns), e) for i in ({"v": []}, given) for ns, e in app.stream(i, C, subgraphs=True)])


# ---- commands for the graph around


def parents():
    def made(command):
        g = StateGraph(State).add_node("sub", chain(s=lambda state: command)).add_node("b", says("b")).add_edge(START, "sub")
        return g.compile().invoke({"v": []})

    up = Command.PARENT
    for more in ({"goto": "b"}, {"goto": "b", "update": {}}, {"goto": "b", "update": {"v": ["u"]}}, {"goto": Send("b", {"v": []})}, {}):
        print(made(Command(graph=up, **more)), made([Command(graph=up, **more)]))
    try:
        chain(InMemorySaver(), a=says("a")).invoke(Command(graph=up, goto="a"), C)
    except InvalidUpdateError as exc:
        print(type(exc).__name__)


# ---- what is kept of a config


def metadata():
    seen = []

    def node(state, config: RunnableConfig):
        told = config["metadata"]
        seen.append({k: told[k] for k in ("m", "user", "thread_id", "of", "langgraph_node") if k in told})
        return {"v": []}

    app = StateGraph(State).add_node("a", node, metadata={"of": "node"}).add_edge(START, "a").compile(checkpointer=InMemorySaver())
    config = {"configurable": {**C["configurable"], "user": "u", "n": 3, "yes": True, "m": 2, "o": ["x"], "__h": 1}, "metadata": {"m": 1}}
    app.invoke({"v": []}, config)
    print(sorted((k, v) for k, v in app.get_state(C).metadata.items() if k != "run_id"), seen)
    print([h.values for h in app.get_state_history(C, filter={"user": "u"})], list(app.get_state_history(C, filter={"user": "x"})))
    print({re.sub(r"\d", "9", h.created_at) for h in app.get_state_history(C)})


for row in (overwrites, prompts, siblings, breakpoints, parents, metadata):
    print("--", row.__name__)
    row()
