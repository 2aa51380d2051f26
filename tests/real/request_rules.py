"""A request body in, the rules of its API that it breaks out: those that no type can say.

That every call has one result, that roles take turns, how a name is spelt. The bodies have the right types already.
"""

import json
import re
from collections import Counter

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def chat(body):
    names = [tool[tool["type"]]["name"] for tool in body.get("tools", [])]
    yield from unique(names, "tool")
    yield from spelt(names)
    choice = body.get("tool_choice")
    if isinstance(choice, dict):
        yield from known(choice[choice["type"]]["name"], names)
    if form := body.get("response_format", {}).get("json_schema"):
        yield from spelt([form["name"]])
    waiting = []
    for message in body["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield f"a result without its call: {message['tool_call_id']}"
            else:
                waiting.remove(message["tool_call_id"])
            continue
        yield from unanswered(waiting)
        calls = message.get("tool_calls", [])
        waiting = [call["id"] for call in calls]
        yield from unique(waiting, "call")
        yield from spelt(call[call["type"]]["name"] for call in calls)
        yield from (f"an id that is refused: {id!r}" for id in waiting if not 0 < len(id) <= 40)
        content = message.get("content")
        if message["role"] == "assistant" and not calls and not content and "refusal" not in message:
            yield "an assistant's message that says nothing"
        if message["role"] != "assistant" and not content:
            yield f"a message of {message['role']} that says nothing"
    yield from unanswered(waiting)


# Items of the client that answer those of the model.
OUTPUTS = ("function_call_output", "custom_tool_call_output", "tool_search_output", "mcp_approval_response")


def responses(body):
    tools = body.get("tools", [])
    named = [(tool["type"], tool["name"]) for tool in tools if tool["type"] in ("function", "custom")]
    names = [name for _, name in named]
    yield from unique(names, "tool")
    yield from spelt(names)
    labels = [tool["server_label"] for tool in tools if tool["type"] == "mcp"]
    yield from unique(labels, "server")
    match body.get("tool_choice"):
        case {"type": "function" | "custom" as kind, "name": name}:
            yield from known((kind, name), named)
        case {"type": "mcp", "server_label": label}:
            yield from known(label, labels)
        case {"type": kind}:
            yield from known(kind, [tool["type"] for tool in tools])
    if form := body.get("text", {}).get("format"):
        yield from spelt([form["name"]])
    searches = [tool for tool in tools if tool["type"] == "tool_search"]
    if len(searches) > 1:
        yield "two tools that search"
    calls, results, asked, decided, kinds = [], [], [], [], {}
    items = body["input"]
    if not items:
        yield "nothing is said"
    for item, after in zip(items, [*items[1:], {}]):
        match item.get("type"):
            case "function_call" | "custom_tool_call" as kind:
                calls.append(item["call_id"])
                kinds[item["call_id"]] = f"{kind}_output"
                yield from spelt([item["name"]])
                if not 0 < len(item["call_id"]) <= 64:
                    yield f"an id that is refused: {item['call_id']!r}"
            case "function_call_output" | "custom_tool_call_output" as kind:
                results.append(item["call_id"])
                if item["call_id"] not in calls:
                    yield f"a result before its call: {item['call_id']}"
                elif kinds.get(item["call_id"]) != kind:
                    yield f"a result of another kind than its call: {item['call_id']}"
            # A search that the vendor ran itself has no id, and needs none.
            case "tool_search_call" if item["execution"] == "client":
                calls.append(item["call_id"])
                if not any(search.get("execution") == "client" for search in searches):
                    yield "a search that is not offered"
            case "tool_search_output" if item["execution"] == "client":
                results.append(item["call_id"])
                if item["call_id"] not in calls:
                    yield f"a result before its call: {item['call_id']}"
                spaces = [tool for tool in item["tools"] if tool["type"] == "namespace"]
                yield from unique([space["name"] for space in spaces], "namespace")
                yield from spelt(space["name"] for space in spaces)
                found = [tool for tool in item["tools"] if tool["type"] != "namespace"]
                found += [tool for space in spaces for tool in space["tools"]]
                names = [tool["name"] for tool in found]
                yield from unique(names, "found tool")
                yield from spelt(names)
                if not all(tool.get("defer_loading") for tool in found):
                    yield "a found tool that is not deferred"
            case "mcp_approval_request":
                asked.append(item["id"])
            case "mcp_approval_response":
                decided.append(item["approval_request_id"])
            case "reasoning":
                if after.get("type", "message") in OUTPUTS or not after:
                    yield "reasoning that nothing follows"
                if after.get("role") == "user":
                    yield "reasoning that only a person follows"
                if not item.get("encrypted_content") and not item.get("content"):
                    yield "reasoning that the vendor has not kept"
            case "message":
                if item["role"] == "assistant" and any(
                    part["type"].startswith("input_") for part in item["content"] if isinstance(part, dict)
                ):
                    yield "an assistant's message with parts of a person's"
    yield from unique(calls, "call")
    if Counter(calls) != Counter(results):
        yield f"calls {calls} and results {results} differ"
    if Counter(asked) != Counter(decided):
        yield f"questions {asked} and decisions {decided} differ"


def anthropic(body):
    tools = body.get("tools", [])
    names = [tool["name"] for tool in tools if "name" in tool]
    yield from unique(names, "tool")
    yield from spelt(names)
    deferred = {tool["name"] for tool in tools if tool.get("defer_loading")}
    if body.get("tool_choice", {}).get("type") == "tool":
        yield from known(body["tool_choice"]["name"], [name for name in names if name not in deferred])
    if "tool_choice" in body and not tools:
        yield "a choice of no tools"
    if tools and len(deferred) == len(tools):
        yield "tools that are all deferred"
    if any(tool.get("defer_loading") and "cache_control" in tool for tool in tools):
        yield "a cache mark on a deferred tool"
    versions = [tool["type"] for tool in tools if tool.get("name") == "code_execution" and "type" in tool]
    for tool in tools:
        programs = [caller for caller in tool.get("allowed_callers", []) if caller != "direct"]
        yield from (f"a caller that is not offered: {caller}" for caller in programs if caller not in versions)
        if programs and tool.get("strict"):
            yield "a strict tool that programs may call"
    if "container" in body and not versions:
        yield "a container without programs"
    servers = [server["name"] for server in body.get("mcp_servers", [])]
    sets = [tool["mcp_server_name"] for tool in tools if tool.get("type") == "mcp_toolset"]
    if servers != sets or len(set(servers)) < len(servers):
        yield f"servers {servers} and their toolsets {sets} differ"
    if (marks := json.dumps(body).count('"cache_control"')) > 4:
        yield f"{marks} cache marks"
    thinking = body.get("thinking", {})
    if thinking.get("type") == "enabled" and not 1024 <= thinking["budget_tokens"] < body["max_tokens"]:
        yield "a budget that the answer has no room for"
    if thinking and {"temperature", "top_p"} & body.keys():
        yield "sampling and thinking"
    if not body["messages"]:
        yield "nothing is said"
    ids, waiting, running, before = [], [], [], None
    for message in body["messages"]:
        if message["role"] == before:
            yield f"two messages of {before} in a row"
        before = message["role"]
        blocks = message["content"]
        if not blocks:
            yield "a message that says nothing"
        kinds = [block["type"] for block in blocks]
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if results != waiting:
            yield f"calls {waiting} and results {results} differ"
        if "tool_result" in kinds[len(results) :]:
            yield "results that do not come first"
        for inner in (block.get("content", []) for block in blocks if block["type"] == "tool_result"):
            found = [it["tool_name"] for it in inner if isinstance(it, dict) and it["type"] == "tool_reference"]
            if found and len(found) < len(inner):
                yield "a reference beside other content"
            yield from (f"a reference to no deferred tool: {name}" for name in found if name not in deferred)
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        ids += waiting
        yield from spelt(block["name"] for block in blocks if block["type"] == "tool_use")
        yield from (f"an id that is refused: {id!r}" for id in waiting if not re.fullmatch("[a-zA-Z0-9_-]+", id))
        if running and message["role"] == "user" and set(kinds) != {"tool_result"}:
            yield "a program gets more than results"
        callers = [block["caller"].get("tool_id") for block in blocks if block["type"] == "tool_use" and "caller" in block]
        running = [caller for caller in callers if caller]
        if running and message is body["messages"][-1]:
            yield "a program without results"
        hosted = [block["id"] for block in blocks if block["type"] in ("server_tool_use", "mcp_tool_use")]
        yield from (f"a call of no program: {caller}" for caller in running if caller not in hosted)
        hosted = [id for id in hosted if id not in running]
        found = [block["tool_use_id"] for block in blocks if block["type"].endswith("_tool_result")]
        if hosted != found:
            yield f"hosted calls {hosted} and results {found} differ"
        for block in texts_of(blocks):
            if not block["text"].strip():
                yield "a blank text"
    yield from unanswered(waiting)
    yield from unique(ids, "call")


def texts_of(blocks):
    for block in blocks:
        if block["type"] == "text":
            yield block
        if isinstance(block.get("content"), list):
            yield from (inner for inner in block["content"] if inner["type"] == "text")


def gemini(body):
    declared = [declaration for tool in body.get("tools", []) for declaration in tool.get("functionDeclarations", [])]
    names = [declaration["name"] for declaration in declared]
    yield from unique(names, "tool")
    yield from spelt(names)
    yield from (f"a name that begins with no letter: {name}" for name in names if not re.match("[a-zA-Z_]", name))
    for name in body.get("toolConfig", {}).get("functionCallingConfig", {}).get("allowedFunctionNames", []):
        yield from known(name, names)
    yield from nulls(body)
    waiting, before = [], None
    for content in body["contents"]:
        for part in content["parts"]:
            fields = part.keys() - {"thought", "thoughtSignature"}
            if len(fields) != 1:
                yield f"a part with {sorted(fields)}"
            if part.get("text") == "" and "thoughtSignature" not in part:
                yield "an empty text"
        calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        results = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
        answered = [(result["name"], result.get("id")) for result in results]
        if answered != waiting:
            yield f"calls {waiting} and results {answered} differ"
        if calls and (content["role"] != "model" or before != "user"):
            yield "calls that do not follow a person or results"
        if results and content["role"] != "user":
            yield "results of the model's own"
        waiting = [(call["name"], call.get("id")) for call in calls]
        yield from spelt(name for name, _ in waiting)
        yield from unique([id for _, id in waiting if id], "call")
        before = content["role"]
    yield from unanswered(waiting)


def ollama(body):
    names = [tool["function"]["name"] for tool in body.get("tools", [])]
    yield from unique(names, "tool")
    yield from spelt(names)
    yield from nulls(body)
    waiting = []
    for message in body["messages"]:
        if message["role"] == "tool":
            result = (message["tool_name"], message.get("tool_call_id"))
            if not waiting or waiting.pop(0) != result:
                yield f"a result without its call: {result}"
            continue
        yield from unanswered(waiting)
        waiting = [(call["function"]["name"], call.get("id") or None) for call in message.get("tool_calls", [])]
        yield from spelt(name for name, _ in waiting)
        if not waiting and not any(message.get(field) for field in ("content", "images", "thinking")):
            yield f"a message of {message['role']} that says nothing"
    yield from unanswered(waiting)


def spelt(names):
    return (f"a name that is refused: {name!r}" for name in names if not NAME.fullmatch(name))


def known(name, names):
    return [] if name in names else [f"{name} is chosen, of {names}"]


def unique(names, what):
    return (f"{what} {name} {count} times" for name, count in Counter(names).items() if count > 1)


def unanswered(calls):
    return (f"a call without its result: {call}" for call in calls)


# What anything may stand in: a schema, arguments, a result.
ANYTHING = {"parametersJsonSchema", "responseJsonSchema", "parameters", "format", "args", "arguments", "response"}


def nulls(place, path="$"):
    """Types that call everything optional admit nulls everywhere."""
    if place is None:
        yield f"{path} is null"
    fields = place.items() if isinstance(place, dict) else enumerate(place) if isinstance(place, list) else ()
    for key, value in fields:
        if key not in ANYTHING:
            yield from nulls(value, f"{path}.{key}")
