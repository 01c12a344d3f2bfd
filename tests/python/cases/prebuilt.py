# Agents ready made: create_react_agent, ToolNode and tools_condition, with models that say what they were told to.
import asyncio
import operator
from typing import Annotated, TypedDict

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.prebuilt import InjectedState, InjectedStore, ToolNode, ToolRuntime, create_react_agent, tools_condition
from langgraph.prebuilt.chat_agent_executor import AgentState, AgentStatePydantic
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, interrupt
from pydantic import BaseModel


class Model(GenericFakeChatModel):
    heard: list = []
    bound: list = []

    def bind_tools(self, tools, **_):
        self.bound.append([getattr(t, "name", t) for t in tools])
        return self

    def with_structured_output(self, schema, **_):
        return RunnableLambda(lambda messages: schema(text=f"{messages[0].type}: {messages[-1].content}"))

    def _generate(self, messages, *args, **more):
        self.heard.append([(m.type, m.content) for m in messages])
        return super()._generate(messages, *args, **more)


def model(*said):
    return Model(messages=iter([s if isinstance(s, AIMessage) else AIMessage(s) for s in said]), heard=[], bound=[])


def call(*calls):
    return AIMessage("", tool_calls=[{"name": n, "args": a, "id": f"c{i}"} for i, (n, a) in enumerate(calls)])


def show(title, out):
    print("--", title)
    for m in out["messages"]:
        calls = [(c["name"], sorted(c["args"].items()), c["id"]) for c in getattr(m, "tool_calls", [])]
        print("  ", m.type, m.name, repr(m.content), calls or "", getattr(m, "status", ""), getattr(m, "tool_call_id", ""))
    print("  ", {k: v for k, v in out.items() if k not in ("messages", "__interrupt__")}, [i.value for i in out.get("__interrupt__", ())])


def c(name="t", **more):
    return {"configurable": {"thread_id": name, **more}}


def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


@tool
def ask(what: str) -> str:
    """Asks a person."""
    return f"{what}: {interrupt(what)}"


@tool(return_direct=True)
def at_once(x: str) -> str:
    """Says it."""
    return x.upper()


def raises(x: int) -> str:
    """Raises."""
    raise ValueError(f"no {x}")


hi = {"messages": [HumanMessage("hi")]}
m = model(call(("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4})), call(("add", {"a": 3, "b": 7})), "ten")
agent = create_react_agent(m, [add], prompt="You count.", name="counter")
show("an agent", agent.invoke(hi))
print(agent.name, m.bound, m.heard)
print(agent.get_graph().draw_mermaid())

show("no tools", create_react_agent(model("hello"), [], prompt=SystemMessage("be kind")).invoke(hi))
show("a prompt that is a function", create_react_agent(model("x"), [add], prompt=lambda s: [("system", str(len(s["messages"]))), *s["messages"]]).invoke(hi))
show("v1", create_react_agent(model(call(("add", {"a": 1, "b": 2}), ("add", {"a": 5, "b": 5})), "done"), [add], version="v1").invoke(hi))
show("wrong arguments, no such tool", create_react_agent(model(call(("add", {"a": "one"}), ("sub", {"a": 1})), "sorry"), [add]).invoke(hi))
show("returns at once", create_react_agent(model(call(("at_once", {"x": "a"}), ("add", {"a": 1, "b": 1})), "not said"), [at_once, add]).invoke(hi))
show("few steps", create_react_agent(model(*[call(("add", {"a": 1, "b": 2}))] * 9), [add]).invoke(hi, {"recursion_limit": 4}))
try:
    create_react_agent(model(call(("raises", {"x": 1}))), [raises]).invoke(hi)
except ValueError as exc:
    print("raised", exc)
try:
    create_react_agent(model("x"), [add]).invoke({"messages": [call(("add", {"a": 1, "b": 2}))]})
except ValueError:
    print("a call without an answer is refused")
for kind in (True, "it failed", ValueError, (TypeError, ValueError), lambda e: f"because of {e}"):
    show("errors handled", create_react_agent(model(call(("raises", {"x": 2})), "oh"), ToolNode([raises], handle_tool_errors=kind)).invoke(hi))

app = create_react_agent(model(call(("ask", {"what": "name"}), ("add", {"a": 2, "b": 2}), ("ask", {"what": "age"})), "thanks"), [ask, add], checkpointer=InMemorySaver())
out = app.invoke(hi, c())
print(sorted(i.value for i in out["__interrupt__"]), app.get_state(c()).next)
show("answered", app.invoke(Command(resume={i.id: i.value[::-1] for i in out["__interrupt__"]}), c()))
app = create_react_agent(model(call(("add", {"a": 2, "b": 2})), "four"), [add], checkpointer=InMemorySaver(), interrupt_before=["tools"])
show("before the tools", app.invoke(hi, c()))
state = app.get_state(c())
print(state.next)
said = state.values["messages"][-1]
app.update_state(c(), {"messages": [AIMessage("", id=said.id, tool_calls=[{**said.tool_calls[0], "args": {"a": 2, "b": 20}}])]})
show("with other arguments", app.invoke(None, c()))
print([(h.metadata["step"], h.next) for h in app.get_state_history(c())])


class Answer(BaseModel):
    text: str


show("structured", create_react_agent(model(call(("add", {"a": 1, "b": 2})), "three"), [add], response_format=Answer).invoke(hi))
show("structured, with a prompt", create_react_agent(model("three"), [], response_format=("put it so", Answer)).invoke(hi))


class Mine(AgentState):
    who: str
    seen: Annotated[list, operator.add]


@tool
def knows(word: str, state: Annotated[dict, InjectedState], who: Annotated[str, InjectedState("who")], store: Annotated[BaseStore, InjectedStore()]) -> str:
    """Knows."""
    store.put(("w",), word, {"of": who})
    return f"{word} of {who}, {len(state['messages'])} said, {len(store.search(('w',)))} kept"


@tool
def runs(word: str, runtime: ToolRuntime) -> str:
    """Runs."""
    runtime.stream_writer({"at": word})
    return f"{word} {runtime.tool_call_id} {runtime.state['who']} {runtime.context} {sorted(runtime.config['configurable'].get('user', '-'))}"


@tool
def hands(word: str, id: Annotated[str, InjectedToolCallId]) -> Command:
    """Writes the state."""
    return Command(update={"who": word, "seen": [word], "messages": [ToolMessage(f"is {word}", tool_call_id=id)]})


m = model(call(("knows", {"word": "tea", "who": "forged"}), ("runs", {"word": "go"}), ("hands", {"word": "jo"})), call(("knows", {"word": "rain"})), "done")
app = create_react_agent(m, [knows, runs, hands], state_schema=Mine, store=InMemoryStore())
for mode, e in app.stream({**hi, "who": "mara"}, c(user="u"), stream_mode=["custom", "values"], context={"k": 1}):
    if mode == "custom":
        print("custom", e)
show("what tools are given", e)


class Model2(AgentStatePydantic):
    who: str = "nobody"


@tool
def whose(state: Annotated[Model2, InjectedState]) -> str:
    """Whose."""
    return f"{type(state).__name__} of {state.who}"


show("a model of pydantic", create_react_agent(model(call(("whose", {})), "x"), [whose], state_schema=Model2).invoke({**hi, "who": "jo"}))


def trims(state):
    return {"llm_input_messages": state["messages"][-1:]}


def cuts(state):
    return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *state["messages"][-2:]]}


long = {"messages": [HumanMessage(str(i), id=str(i)) for i in range(5)]}
m = model("a")
show("shown less", create_react_agent(m, [add], pre_model_hook=trims).invoke(long))
print(m.heard)
show("kept less", create_react_agent(model(call(("add", {"a": 1, "b": 2})), "b"), [add], pre_model_hook=cuts).invoke(long))


def looks(state):
    last = state["messages"][-1]
    if last.tool_calls and last.tool_calls[0]["args"]["a"] > 5:
        return {"messages": [ToolMessage("not allowed", tool_call_id=last.tool_calls[0]["id"])]}


app = create_react_agent(model(call(("add", {"a": 9, "b": 2})), call(("add", {"a": 1, "b": 2})), "b"), [add], post_model_hook=looks)
show("looked at after the model", app.invoke(hi))
print(app.get_graph().draw_mermaid())
small, large = model("small"), model("large")
app = create_react_agent(lambda state, runtime: large if runtime.context["large"] else small, [], context_schema=dict)
for which in (True, False):
    show("a model that is chosen", app.invoke(hi, context={"large": which}))


@tool
async def later(x: int) -> int:
    """Later."""
    await asyncio.sleep(0)
    return x + 1


async def awaited():
    app = create_react_agent(model(call(("later", {"x": 1}), ("add", {"a": 1, "b": 2})), "so"), [later, add])
    show("awaited", await app.ainvoke(hi))
    asks = AIMessage("let me see", tool_calls=call(("add", {"a": 1, "b": 2})).tool_calls)
    app = create_react_agent(model(asks, "so it is"), [add])
    async for message, meta in app.astream(hi, stream_mode="messages"):
        print("  ", type(message).__name__, repr(message.content), meta["langgraph_node"])


asyncio.run(awaited())

print("-- by hand")
said = model(call(("add", {"a": 1, "b": 2}), ("at_once", {"x": "b"})), "done")
g = StateGraph(MessagesState).add_node("llm", lambda s: {"messages": said.invoke(s["messages"])}).add_node("tools", ToolNode([add, at_once]))
g.add_edge(START, "llm").add_edge("tools", "llm").add_conditional_edges("llm", tools_condition)
app = g.compile()
print(app.get_graph().draw_mermaid())
for e in app.stream(hi, stream_mode="updates"):
    for k, v in e.items():
        show(k, {"messages": v["messages"] if isinstance(v["messages"], list) else [v["messages"]]})
print(tools_condition([call(("add", {}))]), tools_condition({"messages": [AIMessage("x")]}), tools_condition({"log": [call(("a", {}))]}, "log"))


def wraps(request, execute):
    out = execute(request.override(tool_call={**request.tool_call, "args": {"a": 10, "b": request.tool_call["args"]["b"]}}))
    out.content += "!"
    return out


show("wrapped", create_react_agent(model(call(("add", {"a": 1, "b": 2})), "x"), ToolNode([add], wrap_tool_call=wraps)).invoke(hi))


@tool
def to_other(id: Annotated[str, InjectedToolCallId], state: Annotated[dict, InjectedState]) -> Command:
    """Hands over."""
    return Command(goto="other", graph=Command.PARENT, update={"messages": [*state["messages"], ToolMessage("handed over", tool_call_id=id)]})


first = create_react_agent(model(call(("to_other", {}))), [to_other], name="first")
other = create_react_agent(model("I have it"), [], name="other")
g = StateGraph(MessagesState).add_node("first", first, destinations=("other", END)).add_node("other", other).add_edge(START, "first")
show("handed over", g.compile(checkpointer=InMemorySaver()).invoke(hi, c()))
