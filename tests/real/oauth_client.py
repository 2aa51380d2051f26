"""A protected server's URL in, `all well` out: the official client gets a token, and a better one where it must."""

import asyncio
import sys
from urllib.parse import parse_qs, urlparse

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

REDIRECT = "http://127.0.0.1:9/callback"
# For a machine with much other work, in seconds.
PATIENCE = 300


class Memory:
    """Keeps tokens as long as the test runs."""

    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class Person:
    """Consents on every page."""

    async def visit(self, page):
        async with httpx2.AsyncClient() as http:
            self.back = (await http.get(page)).headers["location"]

    async def come_back(self):
        query = {name: values[0] for name, values in parse_qs(urlparse(self.back).query).items()}
        return AuthorizationCodeResult(code=query["code"], state=query["state"], iss=query["iss"])


async def meet(url, mode):
    person = Person()
    metadata = OAuthClientMetadata(client_name="test", redirect_uris=[REDIRECT])
    auth = OAuthClientProvider(url, metadata, Memory(), person.visit, person.come_back)
    async with httpx2.AsyncClient(auth=auth) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert "add" in names and "fail" not in names, names
            result = await client.call_tool("add", {"a": 2, "b": 3})
            assert result.content[0].text == "5", result
            result = await client.call_tool("fail", {})
            assert result.is_error and "out of paper" in result.content[0].text, result


async def main():
    for mode in ("legacy", "2026-07-28"):
        await asyncio.wait_for(meet(sys.argv[1], mode), timeout=PATIENCE)
    print("all well")


asyncio.run(main())
