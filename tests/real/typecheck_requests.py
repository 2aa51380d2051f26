"""A folder of request bodies in, one folder per vendor; what the official SDKs' types say against them out.

The types are closed first, as in `typecheck.py`; what no type can say is in `request_rules.py`. `--self-test` shows,
with `request_samples.py`, that both have teeth.
"""

import json
import sys
from pathlib import Path
from typing import Annotated, Literal, Optional, Union

import ollama._types as ollama
from anthropic.types.beta.message_create_params import MessageCreateParamsStreaming as BetaMessages
from anthropic.types.message_create_params import MessageCreateParamsStreaming as Messages
from google.genai import types as google
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming as Chat
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming as Responses
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, create_model

import request_rules
from request_samples import BAD, GOOD
from typecheck import DECLARATION, REFUSALS, closed, spoilt

CLOSED = ConfigDict(extra="forbid")


def gemini():
    """The body of `generateContent`: the SDK has types for its parts, and assembles them itself."""
    part = google.Part
    content = create_model(
        "Content", __base__=google.Content, role=(Literal["user", "model"], ...), parts=(filled(part), ...)
    )
    system = create_model("System", __base__=google.Content, parts=(filled(part), ...))
    tool = create_model("Tool", __base__=google.Tool, function_declarations=(Optional[filled(DECLARATION)], None))
    fields = {
        "contents": (filled(content), ...),
        "systemInstruction": (system, None),
        "tools": (filled(tool), None),
        "toolConfig": (google.ToolConfig, None),
        "generationConfig": (google.GenerationConfig, None),
        "safetySettings": (filled(google.SafetySetting), None),
        "cachedContent": (str, None),
    }
    return create_model("GenerateContent", __config__=CLOSED, **fields)


def ollama_chat():
    """The body of `/api/chat` without the ways round its types; a picture travels as text."""
    call = ollama.Message.ToolCall
    message = create_model(
        "Message",
        __base__=ollama.Message,
        role=(Literal["system", "user", "assistant", "tool"], ...),
        content=(str, ...),
        images=(filled(str), None),
        tool_calls=(filled(call), None),
    )
    fields = {
        "stream": (Literal[True], ...),
        "messages": (filled(message), ...),
        "tools": (filled(ollama_tool()), None),
        "options": (ollama.Options, None),
        # The SDK says any text; the server reads these words.
        "think": (Union[bool, Literal["low", "medium", "high", "max"]], None),
    }
    return create_model("ChatRequest", __base__=ollama.ChatRequest, **fields)


class Property(ollama.Tool.Function.Parameters.Property):
    """The SDK knows only flat ones; the server's own type (`ToolProperty` of its package `api`) has these as well."""

    anyOf: Optional[list["Property"]] = None
    properties: Optional[dict[str, "Property"]] = None
    required: Optional[list[str]] = None


def ollama_tool():
    parameters = create_model(
        "Parameters", __base__=ollama.Tool.Function.Parameters, properties=(Optional[dict[str, Property]], None)
    )
    function = create_model(
        "Function", __base__=ollama.Tool.Function, name=(str, ...), parameters=(Optional[parameters], None)
    )
    return create_model("Tool", __base__=ollama.Tool, function=(function, ...))


def filled(kind):
    return Annotated[list[kind], Field(min_length=1)]


CHAT = TypeAdapter(closed(Chat))
RESPONSES = TypeAdapter(closed(Responses))
ANTHROPIC = TypeAdapter(closed(Messages))
ANTHROPIC_BETA = TypeAdapter(closed(BetaMessages))
GEMINI = TypeAdapter(gemini())
OLLAMA = TypeAdapter(ollama_chat())
# These two are models, which can be closed as they are used.
MODELS = (GEMINI, OLLAMA)

# The folders: a vendor, or what its headers make of it.
TYPES = {
    "openai": RESPONSES,
    "azure": RESPONSES,
    "openai-chat": CHAT,
    "azure-chat": CHAT,
    "groq": CHAT,
    "mistral": CHAT,
    "deepseek": CHAT,
    "xai": CHAT,
    "openrouter": CHAT,
    "together": CHAT,
    "vllm": CHAT,
    "llama.cpp": CHAT,
    "lm-studio": CHAT,
    "anthropic": ANTHROPIC,
    "anthropic-programs": ANTHROPIC,
    "anthropic-beta": ANTHROPIC_BETA,
    "gemini": GEMINI,
    "ollama": OLLAMA,
}

# What a vendor takes though its type does not say so: who, where it stands, and why. In a path `*` is every place of a
# list, and a pair is every object with that key and value. A row that nothing uses any more is reported.
EXTENSIONS = [
    (
        ["openai", "azure"],
        ("tool_choice", ("type", "web_search")),
        "the type knows only the names that the search had as a preview",
    ),
    (
        ["openai", "azure"],
        ("tool_choice", ("type", "web_search_2025_08_26")),
        "the type knows only the names that the search had as a preview",
    ),
    (
        ["anthropic"],
        ("temperature",),
        "the SDK is for a later version of the API, which has no sampling; the version that requests name has",
    ),
    (
        ["anthropic"],
        ("top_p",),
        "the SDK is for a later version of the API, which has no sampling; the version that requests name has",
    ),
    (
        ["mistral"],
        ("messages", ("role", "assistant"), "content", ("type", "thinking")),
        "Mistral thinks inside its content, and wants it back",
    ),
    (
        ["mistral"],
        ("messages", ("role", "tool"), "content", ("type", "image_url")),
        "Mistral's results carry what its messages carry",
    ),
    (
        ["deepseek"],
        ("messages", ("role", "assistant"), "reasoning_content"),
        "DeepSeek refuses a call without what was thought before it",
    ),
    (
        ["openrouter"],
        ("messages", ("role", "assistant"), "reasoning_details"),
        "OpenRouter hands the model behind it what that model signed",
    ),
    (
        ["vllm"],
        ("messages", ("role", "assistant"), "tool_calls", "*", "extra_content"),
        "what a server adds to its own calls goes back to it, and to nobody else",
    ),
    (
        ["ollama"],
        ("messages", ("role", "assistant"), "tool_calls", "*", "id"),
        "the server gives calls ids, and reads them",
    ),
    (
        ["ollama"],
        ("messages", ("role", "assistant"), "tool_calls", "*", "function", "index"),
        "the server numbers calls, and reads the numbers",
    ),
    (
        ["ollama"],
        ("messages", ("role", "tool"), "tool_call_id"),
        "the server reads which call a result belongs to",
    ),
]


def without_extensions(vendor, body, used):
    body = json.loads(json.dumps(body))
    for vendors, path, _ in EXTENSIONS:
        if vendor in vendors and take(body, path):
            used.add((vendor, path))
    return body


def take(place, path):
    """Takes away what a path leads to, and says whether there was anything."""
    step, *rest = path
    if isinstance(place, list):
        found = [item for item in place if step == "*" or looks_like(item, step)]
        if rest:
            return any([take(item, rest) for item in found])
        place[:] = [item for item in place if item not in found]
        return bool(found)
    if not isinstance(place, dict) or step not in place:
        return False
    if rest and not (isinstance(place[step], dict) and looks_like(place[step], rest[0])):
        return take(place[step], rest)
    del place[step]
    return True


def looks_like(item, pattern):
    return isinstance(item, dict) and isinstance(pattern, tuple) and item.get(pattern[0]) == pattern[1]


def type_complaint(kind, body):
    """What a type says against a body, or nothing."""
    try:
        extra = "forbid" if kind in MODELS else None
        kind.validate_json(json.dumps(body), strict=True, by_alias=True, by_name=False, extra=extra)
    except ValidationError as why:
        # A union complains once for each of its arms; the arm that was meant got furthest.
        found = sorted(why.errors(), key=lambda error: -len(error["loc"]))
        lines = [f"{'.'.join(map(str, error['loc']))}: {error['msg']} ({error['input']!r:.80})" for error in found]
        return "\n  ".join(lines[:6])
    except REFUSALS as why:
        return str(why)


RULES = [
    (CHAT, request_rules.chat),
    (RESPONSES, request_rules.responses),
    (ANTHROPIC, request_rules.anthropic),
    (ANTHROPIC_BETA, request_rules.anthropic),
    (GEMINI, request_rules.gemini),
    (OLLAMA, request_rules.ollama),
]


def complaints(vendor, body, used):
    kind = TYPES[vendor]
    if why := type_complaint(kind, without_extensions(vendor, body, used)):
        # The rules take the types for granted.
        return [why]
    return [why for of, rules in RULES if of is kind for why in rules(body)]


def check(folder):
    files = sorted(folder.rglob("*.json"))
    failed = not files
    used = set()
    for file in files:
        place = file.relative_to(folder)
        for why in complaints(place.parts[0], json.loads(file.read_text(encoding="utf-8")), used):
            print(f"{place}: {why}")
            failed = True
    for vendor, path in ((vendor, path) for vendors, path, _ in EXTENSIONS for vendor in vendors):
        if (vendor, path) not in used:
            print(f"{vendor}: nothing uses the extension {path}")
            failed = True
    print(f"{len(files)} bodies: " + ("not all admitted" if failed else "all admitted"))
    return failed


def self_test():
    failed = False
    for vendor, body in GOOD.items():
        for why in complaints(vendor, body, set()):
            print(f"{vendor}: a good body is refused\n{why}")
            failed = True
    for what, vendor, path, *value in BAD:
        if not complaints(vendor, spoilt(GOOD[vendor], path, *value), set()):
            print(f"{vendor}: {what} is admitted")
            failed = True
    print(f"{len(GOOD)} good bodies, {len(BAD)} bad ones: " + ("not told apart" if failed else "told apart"))
    return failed


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--self-test"]:
            sys.exit(self_test())
        case [folder]:
            sys.exit(check(Path(folder)))
        case _:
            sys.exit("usage: typecheck_requests.py FOLDER | --self-test")
