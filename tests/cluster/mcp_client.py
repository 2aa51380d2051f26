"""A server's URL in, `all well` out: clients of MCP of both eras, whose requests go to another node each time."""

import asyncio
import sys
from uuid import uuid4

import fastmcp
from mcp import Client
from mcp.types import ElicitResult

# More than there are nodes.
ROUNDS = 7
# For a machine with much other work, in seconds.
PATIENCE = 300


async def accept(context, params):
    assert "refund" in params.message.lower(), params.message
    return ElicitResult(action="accept", content={})


async def meet(url, mode):
    async with Client(url, mode=mode, elicitation_callback=accept) as client:
        for _ in range(ROUNDS):
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert "get_city_time" in names, names
            result = await client.call_tool("get_city_time", {"city": "Tokyo"})
            assert "Tokyo" in result.content[0].text, result
        for _ in range(ROUNDS):
            # The answer to the question arrives at another node than the one whose call waits for it.
            result = await client.call_tool("issue_refund", {"order": str(uuid4()), "amount": 5})
            assert not result.is_error, result


async def meet_fast(url):
    async with fastmcp.Client(url) as client:
        for _ in range(ROUNDS):
            result = await client.call_tool("get_city_time", {"city": "Paris"})
            assert "Paris" in result.content[0].text, result


async def main():
    url = sys.argv[1] + "/mcp"
    await asyncio.wait_for(meet_fast(url), timeout=PATIENCE)
    for mode in ("legacy", "2026-07-28", "auto"):
        await asyncio.wait_for(meet(url, mode), timeout=PATIENCE)
    # Several sessions at once.
    await asyncio.wait_for(asyncio.gather(*(meet(url, "legacy") for _ in range(5))), timeout=PATIENCE)
    print("all well")


asyncio.run(main())
