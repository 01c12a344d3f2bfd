# Durable supersteps a second with the SQLite checkpointer (WAL, synchronous NORMAL), and then the
# size of the file after 1,000 appended messages, one a superstep.
import os
import tempfile
from typing import Annotated, TypedDict

from common import best_rate, counter, saver, show
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

STEPS = 300
MESSAGES = 1000
TEXT = "x" * 100


class Messages(TypedDict):
    messages: Annotated[list, add_messages]


with tempfile.TemporaryDirectory(prefix="pons-bench-") as folder:
    for durability in ("sync", "async"):
        graph = counter(STEPS, saver(os.path.join(folder, durability + ".db")))

        def run(i):
            config = {"configurable": {"thread_id": f"t{i}"}, "recursion_limit": STEPS + 10}
            graph.invoke({"n": 0}, config, durability=durability)

        show(durability, best_rate(STEPS, run), "steps/s")

    path = os.path.join(folder, "messages.db")
    keep = saver(path)
    chat = StateGraph(Messages)
    chat.add_node("say", lambda s: {"messages": [AIMessage(content=TEXT, id=f"m{len(s['messages'])}")]})
    chat.add_edge(START, "say")
    chat.add_conditional_edges("say", lambda s: "say" if len(s["messages"]) < MESSAGES else END)
    chat.compile(checkpointer=keep).invoke(
        {"messages": []}, {"configurable": {"thread_id": "chat"}, "recursion_limit": MESSAGES + 10}
    )
    keep.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    keep.conn.close()
    show("messages_bytes", os.path.getsize(path), "B")
