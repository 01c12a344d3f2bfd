# tools.py - tools of one node that ask people: in the order of the calls, one question at a time, and each answer goes to
# who asked, though the second is always the first to ask. (LangGraph 1.2.22 gives the first answer to the second tool.)
import asyncio
import threading

from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from pons.checkpoint.memory import InMemorySaver
from pons.graph import START, MessagesState, StateGraph
from pons.prebuilt import ToolNode, create_react_agent
from pons.types import Command, interrupt

LONG = 120  # seconds until a test that hangs is a test that fails
asks = threading.Event()


@tool
def first(what: str) -> str:
    """Asks when the second is about to."""
    assert asks.wait(LONG)
    return f"{what}: {interrupt(what)}, {interrupt('sure?')}"


@tool
def second(what: str) -> str:
    """Asks at once."""
    asks.set()
    return f"{what}: {interrupt(what)}"


@tool
async def afirst(what: str) -> str:
    """The same, awaited."""
    while not asks.is_set():
        await asyncio.sleep(0)
    return f"{what}: {interrupt(what)}, {interrupt('sure?')}"


@tool
async def asecond(what: str) -> str:
    """The same, awaited."""
    asks.set()
    return f"{what}: {interrupt(what)}"


def graph(*tools):
    calls = [{"name": t.name, "args": {"what": t.name}, "id": t.name} for t in tools]
    app = StateGraph(MessagesState).add_node("tools", ToolNode(tools)).add_edge(START, "tools").compile(checkpointer=InMemorySaver())
    return app, {"messages": [AIMessage("", tool_calls=calls)]}, {"configurable": {"thread_id": "t"}}


async def answered(app, given, config):
    asked = []
    while True:
        asks.clear()
        out = await app.ainvoke(given, config)
        if "__interrupt__" not in out:
            return asked, [m.content for m in out["messages"][1:]]
        assert len(out["__interrupt__"]) == 1, out
        asked.append(out["__interrupt__"][0].value)
        given = Command(resume=f"answer {len(asked)}")


class InTurn:
    """invoke in ainvoke's place."""

    def __init__(self, app):
        self.app = app

    async def ainvoke(self, given, config):
        return self.app.invoke(given, config)


for tools in ((first, second), (afirst, asecond)):
    app, given, config = graph(*tools)
    a, b = (t.name for t in tools)
    want = ([a, "sure?", b], [f"{a}: answer 1, answer 2", f"{b}: answer 3"])
    got = asyncio.run(answered(app if tools[0] is afirst else InTurn(app), given, config))
    assert got == want, got

def number(x: int) -> int:
    """Is one."""
    return x


calls = [{"name": "number", "args": {"x": i}, "id": str(i)} for i in range(500)]
said = ToolNode([number]).invoke({"messages": [AIMessage("", tool_calls=calls)]})["messages"]
assert [m.content for m in said] == [str(i) for i in range(500)] and threading.active_count() < 100, said
for refused in (lambda: create_react_agent(object(), [number]), lambda: create_react_agent(first, [number]), lambda: create_react_agent(print, [number], prompt=3), lambda: create_react_agent(first, [], typo=1)):
    try:
        refused()
    except (TypeError, ValueError) as exc:
        assert any(word in str(exc) for word in ("a model is", "a prompt is", "takes no typo")), exc
    else:
        raise AssertionError("it was taken")
print("tools that ask: each has its own answer")
