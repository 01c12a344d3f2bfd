# What models say, as they say it: stream_mode="messages" in nodes, subgraphs, tasks and on a loop of asyncio.
import asyncio
from typing import Annotated, TypedDict

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages


def model(*texts):
    return GenericFakeChatModel(messages=iter(AIMessage(t, id=f"m{i}-{t[:2]}") for i, t in enumerate(texts)))


def show(events, steps=True):
    for e in events:
        ns, (m, meta) = (e[0], e[1]) if isinstance(e[0], tuple) else ((), e)
        print([n.split(":")[0] for n in ns], type(m).__name__, repr(m.content), meta["langgraph_node"], meta["langgraph_step"] if steps else "",
              meta.get("tags"), meta.get("who"), meta.get("ls_model_type"), meta.get("thread_id"))  # fmt: skip


def one(fn, *, schema=MessagesState, name="say", **more):
    return StateGraph(schema).add_node(name, fn).add_edge(START, name).compile(**more)


given = {"messages": [HumanMessage("hi", id="h")]}
says = model("hello my dear friend", "once more")

show(one(lambda s: {"messages": says.invoke(s["messages"])}).stream(given, stream_mode="messages"))
print("-- streamed by the node itself, only its text kept")
show(one(lambda s: {"messages": [("ai", "".join(c.content for c in model("a b c").stream("x")))]}).stream(given, stream_mode="messages"))


def tagged(state, config: RunnableConfig):
    inner = model("tagged words").with_config(tags=["loud"], metadata={"who": "me"})
    quiet = model("not shown").with_config(tags=["nostream"])
    quiet.invoke("x", config)
    return {"messages": [inner.invoke(state["messages"], config)]}


print("-- tags and metadata")
show(one(tagged, checkpointer=InMemorySaver()).stream(given, {"configurable": {"thread_id": "t9"}, "tags": ["all"]}, stream_mode="messages"))

print("-- messages that no model made: shown once, and those that came in not at all")
show(one(lambda s: {"messages": [*s["messages"], AIMessage("made", id="x")]}).stream(given, stream_mode="messages"))

inner = one(lambda s: {"messages": model("from below").invoke("x")}, name="deep")
print("-- a subgraph")
show(one(inner, name="sub").stream(given, stream_mode="messages", subgraphs=True))

print("-- with other modes")
both = one(lambda s: {"messages": model("two modes").invoke("x")})
for mode, e in both.stream(given, stream_mode=["messages", "updates"]):
    print(mode, repr(e[0].content) if mode == "messages" else [m.content for m in [e["say"]["messages"]]])


class Side(TypedDict):
    left: Annotated[list, add_messages]
    right: Annotated[list, add_messages]


async def left(state):
    return {"left": [await model("left side").ainvoke("x")]}


async def right(state):
    return {"right": [await model("right side").ainvoke("x")]}


async def sides():
    g = StateGraph(Side).add_node("left", left).add_node("right", right).add_edge(START, "left").add_edge(START, "right").compile()
    return [(m.content, meta["langgraph_node"]) async for m, meta in g.astream({"left": []}, stream_mode="messages")]


print("-- asynchronous, side by side")
print(sorted(asyncio.run(sides())))


@task
def speak(word):
    return model(f"{word} spoken").invoke("x").content


@entrypoint()
def talk(words):
    return [speak(w).result() for w in words]


print("-- tasks")
show(talk.stream(["one", "two"], stream_mode="messages"), steps=False)
