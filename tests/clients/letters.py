"""The graphs letters and parrot of examples/graphs, in LangGraph Python: for the oracle that the same scripts run against."""
import operator
import time
import uuid
from typing import Annotated, TypedDict

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt


class Letters(TypedDict, total=False):
    wanted: int
    posted: bool
    letters: Annotated[list, operator.add]


def write(s):
    n = len(s.get("letters", []))
    get_stream_writer()({"writing": n + 1})
    return {"letters": [f"letter {n + 1}"]}


def ask(s):
    answer = interrupt(f"post {len(s['letters'])} letters?")
    return Command(goto="post" if answer in (True, "yes") else END)


b = StateGraph(Letters)
b.add_node("write", write)
b.add_node("ask", ask, destinations=("post", END))
b.add_node("post", lambda s: {"posted": True})
b.add_edge(START, "write")
b.add_conditional_edges("write", lambda s: "write" if len(s["letters"]) < s.get("wanted", 0) else "ask", ["write", "ask"])
b.add_edge("post", END)
letters = b.compile()


class Parrot(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    pause_ms: int
    id: str
    said: str
    left: str


def listen(s):
    words = next((m.content for m in reversed(s.get("messages", [])) if m.type == "human"), "")
    return Command(update={"id": str(uuid.uuid4()), "said": "", "left": words},
                   goto="ask" if words.startswith("please") else "speak")


def ask_nicely(s):
    answer = interrupt({"action_requests": [{"name": "speak", "args": {"text": s["left"]}, "description": "says it aloud"}],
                        "review_configs": [{"action_name": "speak", "allowed_decisions": ["approve", "edit", "reject"]}]})
    d = answer["decisions"][0]
    if d["type"] == "approve":
        return Command(goto="speak")
    if d["type"] == "edit":
        return Command(goto="speak", update={"left": d["edited_action"]["args"]["text"]})
    return Command(goto="finish", update={"said": f"I say nothing: {d.get('message', '')}"})


def speak(s):
    time.sleep(s.get("pause_ms", 0) / 1000)
    word, _, rest = s["left"].partition(" ")
    if word == "error":
        raise ValueError("a parrot does not say that")
    get_stream_writer()({"speaking": word})
    return {"said": s["said"] + word + (" " if rest else ""), "left": rest}


p = StateGraph(Parrot)
p.add_node("listen", listen, destinations=("ask", "speak"))
p.add_node("ask", ask_nicely, destinations=("speak", "finish"))
p.add_node("speak", speak)
p.add_node("finish", lambda s: {"messages": [AIMessage(id=s["id"], content=s["said"])]})
p.add_edge(START, "listen")
p.add_conditional_edges("speak", lambda s: "speak" if s["left"] else "finish", ["speak", "finish"])
p.add_edge("finish", END)
parrot = p.compile()
