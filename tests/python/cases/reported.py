# What people's programs do that is seldom in guides: commands without an update, answers at a breakpoint, a sibling that
# fails, overwrites as dicts, copies of checkpoints, prompts that want a store, subgraphs' states. A program a kind; each
# prints its name and what came.
import asyncio
import operator
import time
from typing import Annotated, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import NodeCancelledError
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import create_react_agent
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, Overwrite, RetryPolicy, Send, interrupt

C = {"configurable": {"thread_id": "t"}}
LONG = 120  # seconds until a test that hangs is a test that fails


class State(TypedDict):
    v: Annotated[list, operator.add]


class Folded(TypedDict):
    n: Annotated[int, operator.add]
    m: Annotated[dict, lambda a, b: {**a, **b}]


def says(name):
    return name, lambda state: {"v": [name]}


def chain(*nodes, wide=False, kept=True, schema=State, **more):
    """Nodes one after the other, or beside each other."""
    g, last = StateGraph(schema), START
    for name, fn, *options in nodes:
        g.add_node(name, fn, **(options[0] if options else {})).add_edge(last, name)
        last = START if wide else name
    return g.compile(checkpointer=InMemorySaver() if kept else None, **more)


def below(*nodes, **more):
    return chain(*nodes, kept=False, **more)


def raised(fn):
    try:
        return fn()
    except Exception as exc:
        return type(exc).__name__, str(exc.__cause__ or "")


def snapshots(app, config=C):
    return [(s.metadata["source"], s.metadata["step"], s.next, s.values) for s in app.get_state_history(config)]


# ---- commands and breakpoints


def to_parent():
    for command in (Command(graph=Command.PARENT), Command(graph=Command.PARENT, goto="after"), Command(graph=Command.PARENT, update={"v": ["p"]})):
        sub = below(("go", lambda state, command=command: command))
        g = StateGraph(State).add_node("sub", sub).add_node(*says("after")).add_edge(START, "sub")
        yield g.compile().invoke({"v": []})

        def runs(state, inner=sub):  # a node's own code runs the graph
            return inner.invoke(state)

        g = StateGraph(State).add_node("runs", runs).add_node(*says("after")).add_edge(START, "runs")
        yield g.compile().invoke({"v": []}).get("v", [])[-1:]


def at_a_breakpoint():
    asks = ("b", lambda state: {"v": [interrupt("?")]})
    for node, stop in ((says("b"), {"interrupt_before": ["b"]}), (says("b"), {"interrupt_after": ["a"]}), (asks, {"interrupt_before": ["b"]})):
        app = chain(says("a"), node, **stop)
        yield app.invoke({"v": []}, C), app.get_state(C).next
        yield app.invoke(Command(resume="x"), C), app.get_state(C).next
    app = chain(says("a"), asks)  # the run's own, and with an update
    yield app.invoke({"v": []}, C, interrupt_before=["b"]), app.invoke(Command(resume="x", update={"v": ["u"]}), C)


def breakpoint_below():
    for stop in ({"interrupt_before": ["s2"]}, {"interrupt_after": ["s1"]}):
        app = chain(("sub", below(says("s1"), says("s2"), **stop)), says("z"))
        for mode in ("values", "updates"):
            yield list(app.stream({"v": []}, {"configurable": {"thread_id": mode}}, stream_mode=mode))
            each = app.stream({"v": []}, {"configurable": {"thread_id": f"{mode} below"}}, stream_mode=mode, subgraphs=True)
            yield [(len(ns), e) for ns, e in each]
            yield app.get_state({"configurable": {"thread_id": mode}}).next, app.invoke(None, {"configurable": {"thread_id": mode}})


# ---- what fails beside what


def a_sibling_fails():
    def app(tries=None, hold=LONG):
        seen, begun = [], asyncio.Event()

        async def slow(state):
            begun.set()
            try:
                await asyncio.sleep(hold)
            except asyncio.CancelledError:
                seen.append("canceled")
                raise
            return {"v": ["slow"]}

        async def bad(state):
            await begun.wait()
            seen.append("bad")
            if tries is None or seen.count("bad") < tries:
                raise ConnectionError("boom")
            return {"v": ["bad"]}

        retry = {"retry_policy": RetryPolicy(initial_interval=0.001, jitter=False)} if tries else {}
        return seen, chain(("bad", bad, retry), ("slow", slow), wide=True)

    for first in (None, 2):
        seen, g = app(first, LONG if first is None else 0.05)
        yield raised(lambda: asyncio.run(g.ainvoke({"v": []}, C))), seen, g.get_state(C).next

    async def late(state):
        await asyncio.sleep(LONG)

    async def early(state):
        raise ValueError("early")

    def run():
        return asyncio.run(chain(("late", late), ("sooner", early), wide=True).ainvoke({"v": []}, C))

    yield raised(run)


def a_caller_fails():
    seen = []

    @task
    async def slow(n):
        seen.append("slow")
        try:
            await asyncio.sleep(LONG if seen == ["slow"] else 0)
        except asyncio.CancelledError:
            seen.append("canceled")
            raise
        return n

    @entrypoint(checkpointer=InMemorySaver())
    async def flow(n):
        work = slow(n)
        if "canceled" not in seen:
            while not seen:
                await asyncio.sleep(0)
            raise ValueError("boom")
        return await work

    yield raised(lambda: asyncio.run(flow.ainvoke(1, C))), seen
    yield asyncio.run(flow.ainvoke(None, C)), seen


def canceled_by_itself():
    async def node(state):
        raise asyncio.CancelledError("me")

    @task
    async def work(n):
        raise asyncio.CancelledError("me")

    @entrypoint()
    async def flow(n):
        return await work(n)

    async def other(state):
        return {"v": ["other"]}

    for app in (below(("b", node)), below(("b", node), ("c", other), wide=True), flow):
        try:
            yield asyncio.run(app.ainvoke({"v": []}))
        except NodeCancelledError as exc:
            yield exc.node


def time_of_a_step():
    def slow(state):
        time.sleep(0.05)
        return {"v": ["slow"]}

    async def slower(state):
        await asyncio.sleep(LONG)

    app = below(("a", slow))
    yield app.invoke({"v": []})
    app.step_timeout = 0.01
    yield raised(lambda: app.invoke({"v": []}))[0]
    app = below(("a", slower))
    app.step_timeout = 0.01
    yield raised(lambda: asyncio.run(app.ainvoke({"v": []})))[0]


# ---- what is written


def overwrites():
    only = ("a", lambda state: {"v": {"__overwrite__": ["only"]}})
    yield below(only).invoke({"v": ["i"]}), list(below(only, says("b")).stream({"v": ["i"]}))
    app = chain(only)
    app.invoke({"v": {"__overwrite__": ["in"]}}, C)
    app.update_state(C, {"v": {"__overwrite__": ["up"]}})
    yield app.get_state(C).values
    yield raised(lambda: below(only, ("b", lambda state: {"v": Overwrite(["b"])}), wide=True).invoke({"v": []}))[0]
    yield below(("a", lambda state: {"n": {"__overwrite__": 7}, "m": {"__overwrite__": {"k": 1}}}), schema=Folded).invoke({"n": 1, "m": {"z": 0}})
    yield len(below(("a", lambda state: {"messages": {"__overwrite__": [("ai", "x")]}}), schema=MessagesState).invoke({"messages": [("user", "hi")]})["messages"])


def copies():
    app = chain(says("a"), says("b"))
    app.invoke({"v": []}, C)
    older = next(s for s in app.get_state_history(C) if s.next == ("b",))
    config = app.update_state(older.config, None, as_node="__copy__")
    yield app.get_state(config).next, app.get_state(config).values, app.invoke(None, config)
    yield snapshots(app)
    app = chain(says("a"), ("b", lambda state: {"v": [interrupt("?")]}))
    app.invoke({"v": []}, C)
    app.invoke(Command(resume=1), C)
    older = next(s for s in app.get_state_history(C) if s.next == ("b",))
    app.invoke(None, app.update_state(older.config, None, as_node="__copy__"))
    yield app.invoke(Command(resume=2), C)
    yield raised(lambda: app.update_state({"configurable": {"thread_id": "none"}}, None, as_node="__copy__"))[0]


def of_entrypoints():
    @entrypoint(checkpointer=InMemorySaver())
    def added(x, *, previous=None):
        return (previous or 0) + x

    @entrypoint(checkpointer=InMemorySaver())
    def kept(x, *, previous=None):
        return entrypoint.final(value=previous, save=x)

    for name, flow in (("added", added), ("kept", kept)):
        yield flow.invoke(1, C), flow.invoke(2, C)
        flow.update_state(C, 100)
        yield flow.get_state(C).values, flow.get_state(C).next, flow.invoke(3, C)
        flow.update_state(C, 50, as_node=name)
        yield flow.invoke(4, C), raised(lambda: flow.update_state(C, 1, as_node="nobody"))[0]


# ---- what is shown


def of_subgraphs():
    sub = below(says("s1"), ("s2", lambda state: {"v": ["s2 " + interrupt("?")]}))
    app = chain(("sub", sub))
    app.invoke({"v": []}, C)
    config = app.get_state(C, subgraphs=True).tasks[0].state.config
    yield sorted(config["configurable"]), sorted(config["configurable"]["checkpoint_map"].values()) == sorted(
        [app.get_state(C).config["configurable"]["checkpoint_id"], config["configurable"]["checkpoint_id"]]
    )
    config = app.update_state(config, {"v": ["edited"]})
    yield sorted(config["configurable"]), app.get_state(config).values, app.get_state(C, subgraphs=True).tasks[0].state.next
    yield app.invoke(Command(resume="A"), C)


def metadata():
    app = chain(says("a"))
    named = {"thread_id": "t", "user": "u", "n": 3, "f": 1.5, "yes": True, "list": [1], "__own": 1}
    app.invoke({"v": []}, {"configurable": named, "metadata": {"m": 1}})
    for s in app.get_state_history(C):
        yield {k: v for k, v in sorted(s.metadata.items()) if k not in ("run_id", "tags")}, len(s.created_at), s.created_at[19] + s.created_at[-6:]
    bad = chain(says("a"), ("b", lambda state: int("no")))
    raised(lambda: bad.invoke({"v": []}, C))
    yield [(x.name, x.error) for x in bad.get_state(C).tasks]
    yield [s.metadata["user"] for s in app.get_state_history(C, filter={"user": "u"})]


def history():
    def both(state):
        return Command(update={"v": ["both"]}, goto=Send("x", {"v": ["arg"]}))

    for app in (chain(says("a"), says("b")), chain(("w", both), ("x", lambda state: {"v": state["v"]})), chain(says("b"), says("a"), wide=True)):
        app.invoke({"v": []}, C)
        yield [sorted((t.name, str(t.result)) for t in s.tasks) for s in app.get_state_history(C)]
        yield [[(t.name, t.result) for t in s.tasks] for s in app.get_state_history(C, limit=1, filter={"source": "input"})]
    app = chain(says("a"), ("b", lambda state: {"v": [interrupt("?")]}), wide=True)
    app.invoke({"v": []}, C)
    yield [(t.name, t.result) for t in app.get_state(C).tasks], app.invoke(Command(resume="A"), C)
    yield [[(t.name, t.result) for t in s.tasks] for s in app.get_state_history(C)]


def prompts():
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.prompts import ChatPromptTemplate

    class Model(GenericFakeChatModel):
        def bind_tools(self, *a, **k):
            return self

    items, told = InMemoryStore(), []
    items.put(("u",), "k", {"x": 5})

    def plain(state):
        told.append("plain")
        return state["messages"]

    def with_store(state, config, *, store):
        told.append(store.get(("u",), "k").value)
        return state["messages"]

    def with_runtime(state, runtime):
        told.append(runtime.store is items)
        return state["messages"]

    def with_writer(state, writer):
        told.append(callable(writer))
        return state["messages"]

    async def awaited(state, *, store):
        told.append(store.get(("u",), "k").value)
        return state["messages"]

    def template(state, config, *, store):
        told.append("template")
        return ChatPromptTemplate([("system", "be {x}"), ("placeholder", "{messages}")]).partial(x=store.get(("u",), "k").value["x"])

    for prompt in (template, plain, with_store, with_runtime, with_writer, awaited):
        agent = create_react_agent(Model(messages=iter([AIMessage("ok")] * 2)), [], prompt=prompt, store=items)
        if prompt is not awaited:
            agent.invoke({"messages": [("user", "hi")]})
        asyncio.run(agent.ainvoke({"messages": [("user", "hi")]}))
        yield told
        told.clear()


def options():
    app = below(says("a"))
    yield interrupt.__name__, app.get_name("x"), app.get_name("x", name="low")
    bad = below(("a", lambda state: 1 / 0))
    yield [type(x).__name__ for x in bad.batch([{"v": []}] * 2, return_exceptions=True)]
    yield [type(x).__name__ for x in asyncio.run(bad.abatch([{"v": []}], return_exceptions=True))]
    asks = chain(("a", lambda state: {"v": [interrupt(value="?")]}))
    yield asks.invoke({"v": []}, C)["__interrupt__"][0].value, asks.invoke(Command(resume=1), C)


KINDS = (to_parent, at_a_breakpoint, breakpoint_below, a_sibling_fails, a_caller_fails, canceled_by_itself, time_of_a_step, overwrites, copies, of_entrypoints,
         of_subgraphs, metadata, history, prompts, options)  # fmt: skip
for kind in KINDS:
    for n, came in enumerate(kind()):
        print(kind.__name__, n, came)
