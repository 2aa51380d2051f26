"""A FastMCP server with its own OAuth provider, which a test drives over stdin and watches over stdout.

Commands, one in each line: `hold KIND before|after` holds the next exchange of that kind before or after it takes effect (`instead`:
it has no effect), `release` lets it go on, `clock SECONDS` moves the clock of the provider, `revoke` forgets all tokens. Every line of stdout is a JSON object:
`port`, then `secret` for each secret that was issued, `held`, `refreshed`, `done`.
"""

import asyncio
import json
import socket
import sys
import time

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.auth.auth import ClientRegistrationOptions, RevocationOptions
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider

real_time = time.time
offset = 0
time.time = lambda: real_time() + offset

hold = {}
released = asyncio.Event()


def report(**line):
    print(json.dumps(line), flush=True)


async def pause(kind, when):
    if hold.get(kind) == when:
        del hold[kind]
        released.clear()
        report(held=kind)
        await released.wait()
        if when == "instead":
            raise RuntimeError("the provider has crashed")


class Provider(InMemoryOAuthProvider):
    """Reports the secrets that it issues, and can be held in the middle of what it does."""

    def tokens(self, token):
        report(secret=token.access_token)
        report(secret=token.refresh_token)
        return token

    async def register_client(self, client_info):
        await super().register_client(client_info)
        if client_info.client_secret:
            report(secret=client_info.client_secret)

    async def authorize(self, client, params):
        redirect = await super().authorize(client, params)
        report(secret=redirect.split("code=")[1].split("&")[0])
        return redirect

    async def exchange_authorization_code(self, client, authorization_code):
        await pause("login", "before")
        token = self.tokens(await super().exchange_authorization_code(client, authorization_code))
        await pause("login", "after")
        return token

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        await pause("refresh", "instead")
        await pause("refresh", "before")
        token = self.tokens(await super().exchange_refresh_token(client, refresh_token, scopes))
        report(refreshed=True)
        await pause("refresh", "after")
        return token

    async def revoke_token(self, token):
        await pause("revoke", "before")
        await super().revoke_token(token)


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
port = listener.getsockname()[1]
provider = Provider(
    base_url=f"http://127.0.0.1:{port}",
    client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=["shop"], default_scopes=["shop"]),
    revocation_options=RevocationOptions(enabled=True),
    required_scopes=["shop"],
)
shop = FastMCP("shop", auth=provider)


@shop.tool
async def add(a: int, b: int) -> int:
    """Adds two numbers."""
    await pause("call", "before")
    return a + b


async def commands():
    global offset
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        match line.split():
            case ["hold", kind, when]:
                hold[kind] = when
            case ["release"]:
                released.set()
            case ["clock", seconds]:
                offset = int(seconds)
            case ["revoke"]:
                provider.access_tokens.clear()
                provider.refresh_tokens.clear()
        report(done=line.strip())


async def main():
    config = uvicorn.Config(shop.http_app(), log_level="critical", lifespan="on")
    server = uvicorn.Server(config)
    asyncio.get_running_loop().create_task(commands())
    listener.listen()
    report(port=port)
    await server.serve(sockets=[listener])


asyncio.run(main())
