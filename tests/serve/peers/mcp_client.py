"""The official client of the Model Context Protocol (PyPI) with a server: URL TOKEN NAME. The same as
mcp_client.mjs, but for the connection that breaks. Says "ok" at the end."""
import asyncio
import json
import sys

import httpx2
from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client

url, token, name = sys.argv[1:]
asked = 0


async def ask(context, params):
    global asked
    asked += 1
    assert "May terminal run" in params.message, params.message
    if asked == 1:
        return types.ElicitResult(action="decline")
    return types.ElicitResult(action="accept", content={"allow": True})


async def main():
    headers = {"x-api-key": token}
    async with httpx2.AsyncClient(headers=headers, timeout=240) as http:
        async with streamable_http_client(f"{url}/mcp", http_client=http) as streams:
            async with ClientSession(streams[0], streams[1], elicitation_callback=ask) as s:
                await s.initialize()
                names = [t.name for t in (await s.list_tools()).tools]
                assert {"query_world", "robot_goal", "terminal"} <= set(names), names
                for _ in range(600):  # the body starts after the server
                    world = await s.call_tool("query_world", {})
                    if "kitchen" in world.content[0].text:
                        break
                    await asyncio.sleep(0.1)
                assert not world.is_error and "kitchen" in world.content[0].text
                where = await s.read_resource("pons://status")
                assert json.loads(where.contents[0].text)["connected"]
                rm = {"command": f"rm -rf {name}-none"}
                no = await s.call_tool("terminal", rm)
                assert no.is_error and asked == 1, no
                yes = await s.call_tool("terminal", rm)
                assert not yes.is_error and asked == 2, yes
                goal = await s.call_tool("robot_goal", {"text": "go to the living room"})
                assert not goal.is_error and goal.structured_content["status"] == "succeeded", goal
    print("ok")


asyncio.run(main())
