"""The client that the conformance suite runs: the command line itself, and the person who uses it.

Each command is a process of its own, so what is known from one to the next is in the command line's credential store. The person
logs in, opens the page that is shown as a browser would, lists the tools and calls each; where a command asks for another login,
they follow that, as often as they are asked, within reason.

The suite names the scenario in `MCP_CONFORMANCE_SCENARIO`, what it has registered in `MCP_CONFORMANCE_CONTEXT`, the revision in
`MCP_CONFORMANCE_PROTOCOL_VERSION`, and appends the address of its server; `TOOLWRIGHT` is the program.
"""

import http.client
import json
import os
import subprocess
import sys
import tempfile
from urllib.parse import urlsplit

# The page that would describe the client; the suite knows it by its address.
METADATA = "https://conformance-test.local/client-metadata.json"
# More often than any scenario accepts.
MAX_LOGINS = 6
LOGIN_REQUEST = "run `toolwright mcp login suite`"
ACCEPT_REQUEST = "run `mcp accept suite`"


def settings(url, context):
    lines = ['model = "demo"', "[mcp.servers.suite]", f'url = "{url}"', 'oauth = "shared"', 'trust = "calls"']
    if revision := os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION"):
        lines.append(f'revision = "{revision}"')
    if client := context.get("client_id"):
        lines.append(f"client_id = {json.dumps(client)}")
        if secret := context.get("client_secret"):
            lines.append(f"client_secret = {json.dumps(secret)}")
    else:
        lines.append(f'client_metadata_url = "{METADATA}"')
    if is_without_person():
        lines.append('grant = "client_credentials"')
    return "\n".join(lines) + "\n"


def is_without_person():
    return "client-credentials" in os.environ["MCP_CONFORMANCE_SCENARIO"]


def start(*arguments):
    return subprocess.Popen(
        [os.environ["TOOLWRIGHT"], *arguments],
        cwd=folder,
        env={"HOME": folder, "OLLAMA_HOST": "http://127.0.0.1:1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(*arguments):
    child = start(*arguments)
    out, err = child.communicate()
    print(f"$ toolwright {' '.join(arguments)} → {child.returncode}\n{err}", flush=True)
    return child.returncode, out, err


def visit(url):
    """Requests a page, and returns the address that it redirects to."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port)
    connection.request("GET", f"{parts.path}?{parts.query}")
    response = connection.getresponse()
    response.read()
    return response.getheader("location")


def log_in():
    """Returns true if the command line has a credential afterwards."""
    child = start("mcp", "login", "suite")
    printed = []
    for line in child.stderr:
        printed.append(line)
        if line.strip().startswith("http"):
            address = line.strip()
            while address:
                address = visit(address)
    child.wait()
    print(f"$ toolwright mcp login suite → {child.returncode}\n{''.join(printed)}", flush=True)
    if child.returncode != 0 and ACCEPT_REQUEST in "".join(printed):
        # The person knows that the authorization server has moved.
        return run("mcp", "accept", "suite")[0] == 0 and log_in()
    return child.returncode == 0


def run_logged_in(*arguments):
    """Runs a command, and logs in as often as it asks for that."""
    global logins
    code, out, err = run(*arguments)
    while LOGIN_REQUEST in err and logins < MAX_LOGINS:
        logins += 1
        if not log_in():
            return 1, out
        code, out, err = run(*arguments)
    return code, out


def simplest(schema):
    """An object with one of the simplest values for each property that is required."""
    values = {"number": 1, "integer": 1, "boolean": True, "array": [], "object": {}}
    types = {name: property.get("type") for name, property in schema.get("properties", {}).items()}
    return {name: values.get(types.get(name), "test") for name in schema.get("required", [])}


if not os.environ["MCP_CONFORMANCE_SCENARIO"].startswith("auth/"):
    # The suite has no choice of these alone.
    sys.exit(0)
logins = 0
context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
with tempfile.TemporaryDirectory() as folder:
    with open(f"{folder}/toolwright.toml", "w") as file:
        file.write(settings(sys.argv[-1], context))
    if not is_without_person() and not log_in():
        sys.exit(1)
    code, listed = run_logged_in("tools", "list", "--json")
    tools = [tool for tool in json.loads(listed or "[]") if tool["name"].startswith("suite_")]
    for tool in tools:
        called, _ = run_logged_in("tools", "call", tool["name"], json.dumps(simplest(tool["inputSchema"])))
        code = code or called
    sys.exit(code or not tools)
