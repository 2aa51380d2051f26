"""The tools of the benchmark, served by FastMCP: `python server.py http|stdio TOOLS`."""

import logging
import socket
import sys

import uvicorn
from fastmcp import FastMCP

way, tools = sys.argv[1:]
logging.disable()
shop = FastMCP("pypi")


def add(a: int, b: int) -> str:
    """Adds two numbers."""
    return str(a + b)


def page() -> str:
    """Reads a page."""
    return "x" * 10_000


def offer(function, name):
    # A thread for each call would cost more than the sum.
    shop.tool(function, name=name, output_schema=None, run_in_thread=False)


offer(add, "add")
offer(page, "page")
for number in range(2, int(tools)):
    offer(add, f"tool_{number}")

if way == "stdio":
    shop.run(show_banner=False)
else:
    # asyncio sends at once only on sockets whose protocol is TCP.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    config = uvicorn.Config(shop.http_app(), log_level="critical", ws="none")
    uvicorn.Server(config).run(sockets=[listener])
