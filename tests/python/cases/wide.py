# What programs use here and there, each for itself: several answers, questions below, contexts, modes together, drawings,
# messages taken away, savers' names, ways to wait and to try again.
import asyncio
import operator
import sqlite3
from dataclasses import dataclass
from typing import Annotated, Literal, Optional, TypedDict

from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver, MemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.config import get_config, get_store, get_stream_writer
from langgraph.constants import END, START
from langgraph.errors import GraphRecursionError
from langgraph.func import entrypoint, task
from langgraph.graph import MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES, AnyMessage, add_messages
from langgraph.graph.state import CompiledStateGraph
from langgraph.managed import IsLastStep, RemainingSteps
from langgraph.runtime import Runtime, get_runtime
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.types import CachePolicy, Checkpointer, Command, Interrupt, RetryPolicy, Send, StateSnapshot, StreamWriter, interrupt
from pydantic import BaseModel


class State(TypedDict, total=False):
    n: int
    log: Annotated[list, operator.add]


def c(name="t", **more):
    return {"configurable": {"thread_id": name}, **more}


def part(fn):
    print("--", fn.__name__)
    try:
        asyncio.run(fn()) if asyncio.iscoroutinefunction(fn) else fn()
    except Exception as exc:
        print("raised", type(exc).__name__, str(exc).split("\n")[0])


def one(fn, schema=State, name="one", **more):
    return StateGraph(schema).add_node(name, fn).add_edge(START, name).compile(**more)


def plain(v):
    if isinstance(v, dict):
        return {k: plain(x) for k, x in sorted(v.items()) if k not in ("id", "ts", "timestamp", "checkpoint_id", "created_at", "step_id", "config", "parent_config", "metadata", "triggers", "run_id")}
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    if isinstance(v, Interrupt):
        return ("asks", v.value)
    return v


@part
def several_questions():
    def asks(state):
        first = interrupt("first?")
        return {"log": [first, interrupt({"second": first})]}

    app = one(asks, checkpointer=InMemorySaver())
    print(plain(app.invoke({"n": 1}, c())), plain(app.invoke(Command(resume="a"), c())), app.get_state(c()).next)
    print(plain(app.invoke(Command(resume=None), c("u"))) if False else "", plain(app.invoke(Command(resume={"b": 2}), c())))
    g = StateGraph(State)
    for name in "xyz":
        g.add_node(name, lambda s, name=name: {"log": [name + interrupt(name)]}).add_edge(START, name)
    app = g.compile(checkpointer=InMemorySaver())
    asked = sorted(app.invoke({"n": 1}, c())["__interrupt__"], key=lambda i: i.value)
    print([i.value for i in asked], [t.name for t in app.get_state(c()).tasks], len(app.get_state(c()).interrupts))
    try:
        app.invoke(Command(resume="one for all"), c())
    except RuntimeError as exc:
        print("refused", "multiple" in str(exc), "resum" in str(exc))
    print(sorted(i.value for i in app.invoke(Command(resume={asked[1].id: "2"}), c())["__interrupt__"]))
    print(plain(app.invoke(Command(resume={i.id: i.value.upper() for i in app.get_state(c()).interrupts}), c())))


@part
def questions_below():
    inner = StateGraph(State).add_node("before", lambda s: {"log": ["before"]}).add_node("asks", lambda s: {"log": [interrupt("below?")]})
    inner = inner.add_edge(START, "before").add_edge("before", "asks").compile()
    app = StateGraph(State).add_node("sub", inner).add_node("after", lambda s: {"log": ["after"]})
    app = app.add_edge(START, "sub").add_edge("sub", "after").compile(checkpointer=InMemorySaver())
    print(plain(app.invoke({"n": 1}, c())), app.get_state(c()).next)
    s = app.get_state(c(), subgraphs=True)
    print([t.name for t in s.tasks], s.tasks[0].state.next, s.tasks[0].state.values, s.tasks[0].interrupts[0].value)
    print([e["after"] for e in app.stream(Command(resume="yes"), c(), stream_mode="updates") if "after" in e])
    print(app.get_state(c()).values)
    app2 = one(lambda s: {"log": [interrupt("plain?")]}, checkpointer=InMemorySaver())
    for e in app2.stream({"n": 1}, c("s"), stream_mode=["values", "updates"]):
        print(plain(e))
    print([plain(e) for e in app2.stream(Command(resume="ok", update={"n": 7}), c("s"), stream_mode=["values", "updates"])][1:])


@part
def questions_of_the_graph():
    app = StateGraph(State).add_sequence([("a", lambda s: {"log": ["a"]}), ("b", lambda s: {"log": ["b"]}), ("c", lambda s: {"log": ["c"]})])
    app = app.add_edge(START, "a").compile(checkpointer=MemorySaver(), interrupt_before=["b"], interrupt_after=["b"])
    print(plain(app.invoke({"n": 0}, c())), app.get_state(c()).next)
    print(plain(app.invoke(None, c())), app.get_state(c()).next, plain(app.invoke(None, c())))
    print([plain(e) for e in app.stream({"n": 0}, c("s"))], plain(app.invoke(None, c("s"), interrupt_after="*")), app.get_state(c("s")).next)


@part
def sequence():
    def first(state):
        return {"log": [1]}

    def second(state):
        return {"log": [2]}

    print(StateGraph(State).add_sequence([first, second]).add_edge(START, "first").compile().invoke({}))
    print(StateGraph(State).add_sequence([first, ("other", second)]).set_entry_point("first").set_finish_point("other").compile().invoke({}))
    for wrong in ([], [first, first]):
        try:
            StateGraph(State).add_sequence(wrong)
        except ValueError as exc:
            print("refused", type(exc).__name__)


@part
def tries():
    seen = []

    def flaky(state):
        seen.append(1)
        if len(seen) < 3:
            raise ConnectionError("again")
        return {"n": len(seen)}

    quick = {"initial_interval": 0.001, "jitter": False}
    print(StateGraph(State).add_node("f", flaky, retry_policy=RetryPolicy(**quick)).add_edge(START, "f").compile().invoke({}))
    for policy in (RetryPolicy(max_attempts=2, **quick), RetryPolicy(retry_on=KeyError, **quick), RetryPolicy(retry_on=lambda e: "again" in str(e), **quick),
                   [RetryPolicy(retry_on=KeyError, **quick), RetryPolicy(retry_on=(ConnectionError, OSError), max_attempts=4, **quick)]):  # fmt: skip
        seen.clear()
        try:
            print(StateGraph(State).add_node("f", flaky, retry_policy=policy).add_edge(START, "f").compile().invoke({}), len(seen))
        except ConnectionError as exc:
            print("raised", exc, len(seen))


@part
def caches():
    seen = []

    def slow(state):
        seen.append(state["n"])
        return {"log": [state["n"] * 2]}

    g = StateGraph(State).add_node("slow", slow, cache_policy=CachePolicy(ttl=100)).add_edge(START, "slow")
    app = g.compile(cache=InMemoryCache())
    print([plain(e) for n in (1, 1, 2) for e in app.stream({"n": n}, stream_mode="updates")], seen)
    app.clear_cache()
    print(app.invoke({"n": 1}), seen)
    seen.clear()
    g = StateGraph(State).add_node("slow", slow, cache_policy=CachePolicy(key_func=lambda s: str(s["n"] % 2))).add_edge(START, "slow")
    app = g.compile(cache=InMemoryCache())
    print([app.invoke({"n": n}) for n in (1, 3, 2)], seen)


@dataclass
class Who:
    name: str
    level: int = 1


@part
def contexts():
    def with_runtime(state: State, runtime: Runtime[Who]):
        return {"log": [runtime.context.name, runtime.context.level, get_runtime(Who).context is runtime.context, runtime.store is None, runtime.previous]}

    g = StateGraph(State, context_schema=Who).add_node(with_runtime).add_edge(START, "with_runtime").compile()
    print(g.invoke({}, context=Who("mara")), g.invoke({}, context={"name": "jo", "level": 3}))

    class Typed(TypedDict):
        name: str

    g = StateGraph(State, Typed).add_node("n", lambda s, runtime: {"log": [runtime.context]}).add_edge(START, "n").compile()
    print(g.invoke({}, context={"name": "x"}), list(g.stream({}, context={"name": "y"})))

    class Model(BaseModel):
        name: str = "m"

    g = StateGraph(State, Model).add_node("n", lambda s, runtime: {"log": [type(runtime.context).__name__, runtime.context.name]}).add_edge(START, "n").compile()
    print(g.invoke({}, context={"name": "x"}), g.invoke({}, context=Model()))
    g = StateGraph(State).add_node("n", lambda s, runtime: {"log": [runtime.context]}).add_edge(START, "n").compile()
    print(g.invoke({}))

    def route(state, runtime: Runtime[Who]) -> Literal["a", "b"]:
        return "a" if runtime.context.level > 1 else "b"

    g = StateGraph(State, Who).add_node("a", lambda s: {"log": ["a"]}).add_node("b", lambda s: {"log": ["b"]}).add_conditional_edges(START, route)
    print(g.compile().invoke({}, context=Who("x", 2)), g.compile().invoke({}, context=Who("x")))

    @entrypoint(context_schema=Who)
    def flow(x, runtime: Runtime[Who]):
        return [x, runtime.context.name]

    print(flow.invoke(1, context=Who("f")))


@part
def configs():
    def f(state, config: RunnableConfig):
        conf = get_config()
        return {"log": [config["configurable"]["thread_id"], conf["configurable"]["who"], sorted(config.get("tags") or []), (config.get("metadata") or {}).get("m")]}

    app = one(f, checkpointer=InMemorySaver())
    print(app.invoke({}, {"configurable": {"thread_id": "t", "who": "x"}, "tags": ["b", "a"], "metadata": {"m": 1}}))
    print(app.with_config(configurable={"who": "y", "thread_id": "u"}).invoke({}))

    def writes(state, writer: StreamWriter):
        writer("by parameter")
        get_stream_writer()({"by": "function"})
        return {"n": 1}

    print(list(one(writes).stream({}, stream_mode="custom")), list(one(writes).stream({}, stream_mode=["custom", "updates"])), one(writes).invoke({}))

    def keeps(state, *, store: BaseStore):
        store.put(("a",), "k", {"v": state["n"]})
        return {"log": [get_store().get(("a",), "k").value, get_runtime().store is store]}

    print(one(keeps, store=InMemoryStore()).invoke({"n": 3}))


@part
def modes():
    g = StateGraph(State).add_node("a", lambda s: {"n": s["n"] + 1}).add_node("b", lambda s: {"log": ["b"]}).add_edge(START, "a").add_edge("a", "b")
    app = g.compile(checkpointer=InMemorySaver())
    for mode in ("values", "updates", "custom", "tasks", "debug", ["values"], ["updates", "values", "tasks"], []):
        print(mode, [plain(e) for e in app.stream({"n": 1}, c(str(mode)), stream_mode=mode)])
    print(plain(app.invoke({"n": 1}, c("i"), stream_mode="updates")), plain(app.invoke({"n": 1}, c("i2"), stream_mode=["updates", "values"])))
    print(app.invoke({"n": 1}, c("k"), output_keys="n"), app.invoke({"n": 1}, c("k2"), output_keys=["n"]), list(app.stream({"n": 1}, c("k3"), stream_mode="values", output_keys=["log"])))
    for durability in ("sync", "async", "exit"):
        app.invoke({"n": 1}, c(durability), durability=durability)
        print(durability, [h.metadata["step"] for h in app.get_state_history(c(durability))])
    for e in app.stream({"n": 1}, c("v2"), stream_mode=["values", "updates"], version="v2"):
        print(e)
    print([*app.stream({"n": 1}, c("v3"), stream_mode="updates", version="v2")])
    out = app.invoke({"n": 1}, c("v4"), version="v2")
    print(type(out).__name__, out.value, out.interrupts)
    asks = one(lambda s: {"log": [interrupt("v2?")]}, checkpointer=InMemorySaver())
    out = asks.invoke({"n": 1}, c(), version="v2")
    print(out.value, plain(out.interrupts))
    print([plain(e) for e in asks.stream(None, c(), stream_mode=["values", "updates"], version="v2")])


@part
def drawings():
    def a(state) -> Command[Literal["b", "__end__"]]:
        return Command(goto="b")

    inner = StateGraph(State).add_node("x", lambda s: s).add_node("y", lambda s: s).add_edge(START, "x").add_edge("x", "y").compile()
    g = StateGraph(State).add_node(a).add_node("b", inner).add_node("c", lambda s: s, defer=True).add_node("d", lambda s: s, metadata={"kind": "last"}).add_edge(START, "a")
    g.add_conditional_edges("b", lambda s: "go", {"go": "c", "end": END}).add_edge("c", "d")
    app = g.compile(interrupt_before=["c"])
    print(app.get_graph().draw_mermaid())
    print(app.get_graph(xray=True).draw_mermaid())
    print(sorted(app.get_graph().nodes), [(e.source, e.target, e.data, e.conditional) for e in app.get_graph().edges])
    g = StateGraph(State).add_node("a", lambda s: s).add_node("b", lambda s: s).add_node("c", lambda s: s).add_edge(START, "a").add_edge(START, "b").add_edge(["a", "b"], "c")
    print(g.compile().get_graph().draw_mermaid(), isinstance(g.compile(), CompiledStateGraph))
    print(g.add_conditional_edges("c", lambda s: END).compile().get_graph().draw_mermaid())


@part
def messages():
    app = one(lambda s: {"messages": [RemoveMessage(id=m.id) for m in s["messages"][:-1]]}, schema=MessagesState, checkpointer=InMemorySaver())
    print([m.content for m in app.invoke({"messages": [HumanMessage(x, id=x) for x in "abc"]}, c())["messages"]])
    app.update_state(c(), {"messages": [AIMessage("new", id="c")]})
    print([(m.type, m.content) for m in app.get_state(c()).values["messages"]])
    all_gone = one(lambda s: {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), AIMessage("only")]}, schema=MessagesState)
    print([m.content for m in all_gone.invoke({"messages": "hello"})["messages"]])
    wrong = one(lambda s: {"messages": [RemoveMessage(id="nobody")]}, schema=MessagesState)
    try:
        wrong.invoke({"messages": []})
    except ValueError as exc:
        print("refused", "nobody" in str(exc))
    for given in ("text", ("user", "pair"), {"role": "assistant", "content": "dict"}, [("ai", "x"), HumanMessage("y")], HumanMessage([{"type": "text", "text": "z"}])):
        print([(m.type, m.content) for m in one(lambda s: {}, schema=MessagesState).invoke({"messages": given})["messages"]])
    print([(m.type, m.content, m.id) for m in add_messages([HumanMessage("a", id="1"), AIMessage("b", id="2")], [AIMessage("c", id="2"), RemoveMessage(id="1")])])

    class Extra(MessagesState):
        n: int

    class Own(TypedDict):
        chat: Annotated[list[AnyMessage], add_messages]

    print(one(lambda s: {"messages": AIMessage("one", id="i"), "n": 1}, schema=Extra).invoke({"messages": [], "n": 0})["messages"][0].content)
    print([m.type for m in one(lambda s: {"chat": [ToolMessage("t", tool_call_id="1")]}, schema=Own).invoke({"chat": ["hi"]})["chat"]])


@part
def savers():
    with SqliteSaver.from_conn_string(":memory:") as saver:
        app = one(lambda s: {"n": s["n"] + 1}, checkpointer=saver)
        print(app.invoke({"n": 1}, c()), app.get_state(c()).values)
        print(saver.get_tuple(c()).checkpoint["channel_values"].get("n"), len(list(saver.list(c()))), [t.metadata["step"] for t in saver.list(c(), limit=2)])
        saver.delete_thread("t")
        print(app.get_state(c()).values, saver.get_tuple(c()))
    keep = InMemorySaver()
    app = one(lambda s: {"n": 1}, checkpointer=keep)
    app.invoke({"n": 0}, c())
    print(app.checkpointer is keep, isinstance(app.get_state(c()), StateSnapshot))
    saver = SqliteSaver(sqlite3.connect(":memory:", check_same_thread=False))
    print(one(lambda s: {"n": 1}, checkpointer=saver).invoke({"n": 0}, c()))


@part
async def savers_awaited():
    async with AsyncSqliteSaver.from_conn_string(":memory:") as saver:
        async def f(state):
            return {"n": state["n"] + 1}

        app = one(f, checkpointer=saver)
        print(await app.ainvoke({"n": 1}, c()), (await app.aget_state(c())).values, [h.metadata["step"] async for h in app.aget_state_history(c())])
        await app.aupdate_state(c(), {"n": 9})
        print((await saver.aget_tuple(c())).checkpoint["channel_values"].get("n"), len([t async for t in saver.alist(c())]))
        await saver.adelete_thread("t")
        print((await app.aget_state(c())).values)


@part
def steps():
    class S(TypedDict):
        n: int
        left: RemainingSteps
        last: IsLastStep

    seen = []

    def f(state: S):
        seen.append((state["left"], state["last"]))
        return {"n": state["n"] + 1}

    g = StateGraph(S).add_node("f", f).add_edge(START, "f").add_conditional_edges("f", lambda s: "f" if s["left"] > 1 else END, ["f", END])
    print(g.compile().invoke({"n": 0}, {"recursion_limit": 5}), seen)
    try:
        StateGraph(S).add_node("f", f).add_edge(START, "f").add_edge("f", "f").compile().invoke({"n": 0}, {"recursion_limit": 3})
    except GraphRecursionError:
        print("too many")


@part
def functional():
    @task
    def double(x):
        return x * 2

    @task(retry_policy=RetryPolicy(initial_interval=0.001), name="named")
    def other(x):
        return x + 1

    @entrypoint(checkpointer=InMemorySaver())
    def flow(x: int, *, previous: Optional[int] = None) -> entrypoint.final[int, int]:
        return entrypoint.final(value=(previous or 0) + other(double(x).result()).result(), save=x)

    print(flow.invoke(1, c()), flow.invoke(5, c()), flow.get_state(c()).values)
    print([plain(e) for e in flow.stream(2, c("s"), stream_mode="updates")])

    @entrypoint(checkpointer=InMemorySaver())
    async def awaits(x):
        return await asyncio.gather(*[double(i) for i in range(x)])

    print(asyncio.run(awaits.ainvoke(3, c())))


@part
def runnables():
    g = StateGraph(State).add_node("r", RunnableLambda(lambda s: {"n": s["n"] * 10})).add_edge(START, "r").compile(name="mine")
    print(g.invoke({"n": 2}), g.batch([{"n": 1}, {"n": 2}]), g.name)
    chain = g | RunnableLambda(lambda s: s["n"])
    print((RunnableLambda(lambda n: {"n": n}) | g | (lambda s: s["n"])).invoke(7), asyncio.run((RunnableLambda(lambda n: {"n": n}) | g).ainvoke(8)), g.get_name())
    print(chain.invoke({"n": 3}), asyncio.run(g.abatch([{"n": 4}])))


@part
def states():
    class M(BaseModel):
        n: int
        who: str = "x"

    def f(state: M):
        return {"who": state.who + type(state).__name__}

    print(one(f, schema=M).invoke({"n": 1}), one(f, schema=M).invoke(M(n=2)))
    try:
        one(f, schema=M).invoke({"n": "no number"})
    except ValueError as exc:
        print("refused", type(exc).__name__)

    @dataclass
    class D:
        n: int = 0

    print(one(lambda s: {"n": s.n + 1}, schema=D).invoke({"n": 1}), one(lambda s: D(n=s.n + 1), schema=D).invoke(D(4)))

    class In(TypedDict):
        a: int

    class Out(TypedDict):
        b: int

    class Both(In, Out):
        pass

    print(StateGraph(Both, input_schema=In, output_schema=Out).add_node("f", lambda s: {"b": s["a"] + 1}).add_edge(START, "f").compile().invoke({"a": 1}))


@part
def wrong():
    for make in (
        lambda: StateGraph(State).add_node("a", lambda s: s).compile(),
        lambda: StateGraph(State).add_node("a", lambda s: s).add_edge(START, "b").compile(),
        lambda: StateGraph(State).add_node("a", lambda s: s).add_node("a", lambda s: s),
        lambda: one(lambda s: {}).invoke(None),
        lambda: one(lambda s: {}, checkpointer=InMemorySaver()).invoke({}),
        lambda: one(lambda s: 5).invoke({}),
        lambda: one(lambda s: {}).invoke("text"),
        lambda: one(lambda s: {}).get_state(c()),
    ):
        try:
            make()
            print("nothing was wrong")
        except Exception as exc:
            print(type(exc).__name__)
