"""A server's URL and its command in, `all well` out: two clients list and call tools over both."""

import asyncio
import sys

import fastmcp
from fastmcp.client.transports import StdioTransport
from mcp import Client, StdioServerParameters

# For a machine with much other work, in seconds.
PATIENCE = 300


async def answer(context, params):
    from mcp.types import ElicitResult

    return ElicitResult(action="accept", content={"name": "Ada"})


async def meet(target, mode):
    async with Client(target, mode=mode, elicitation_callback=answer) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "test_simple_text" in names, names
        result = await client.call_tool("test_simple_text", {})
        assert result.content[0].text == "This is a simple text response for testing.", result
        result = await client.call_tool("test_error_handling", {})
        assert result.is_error, result
        result = await client.call_tool("test_input_required_result_elicitation", {})
        assert result.content[0].text == "Hello, Ada!", result
        prompt = await client.get_prompt("test_prompt_with_arguments", {"arg1": "x", "arg2": "y"})
        assert "arg1='x'" in prompt.messages[0].content.text, prompt
        resource = await client.read_resource("test://template/7/data")
        assert '"id":"7"' in resource.contents[0].text, resource


async def meet_fast(target):
    async with fastmcp.Client(target) as client:
        names = [tool.name for tool in await client.list_tools()]
        assert "test_simple_text" in names, names
        result = await client.call_tool("test_simple_text", {})
        assert result.content[0].text == "This is a simple text response for testing.", result


async def main():
    url, command = sys.argv[1:]
    for target in (url, StdioTransport(command=command, args=["--stdio"])):
        await asyncio.wait_for(meet_fast(target), timeout=PATIENCE)
    for mode in ("legacy", "2026-07-28", "auto"):
        for target in (url, StdioServerParameters(command=command, args=["--stdio"])):
            await asyncio.wait_for(meet(target, mode), timeout=PATIENCE)
    print("all well")


asyncio.run(main())
