"""The agent by LangGraph's Python client: `python agent.py URL KEY`, of a server whose model is agent.mjs's script."""
import asyncio
import sys

from langgraph_sdk import get_client

client = get_client(url=sys.argv[1], api_key=sys.argv[2])
human = lambda text: {"messages": [{"role": "user", "content": text}]}


async def main():
    t = (await client.threads.create())["thread_id"]
    events = [e async for e in client.runs.stream(t, "agent", input=human("list it"), stream_mode=["messages-tuple", "values", "custom"])]
    last = [e for e in events if e.event == "values"][-1].data["messages"]
    assert [m["type"] for m in last] == ["human", "ai", "tool", "ai"], last
    tokens = "".join(e.data[0]["content"] for e in events if e.event == "messages" and e.data[0]["id"] == last[-1]["id"])
    assert tokens == last[-1]["content"] == "all is done here", tokens
    asked = await client.runs.wait(t, "agent", input=human("remove it"))
    assert asked["__interrupt__"][0]["value"]["action_requests"][0]["name"] == "terminal", asked
    end = await client.runs.wait(t, "agent", command={"resume": {"decisions": [{"type": "reject", "message": "no"}]}})
    assert end["messages"][-1]["content"] == "then not", end
    assert len(await client.threads.get_history(t, limit=50)) > 5
    print("ok    a turn, a question and its answer")


asyncio.run(main())
