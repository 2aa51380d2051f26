"""A folder of `tools` arrays in, each named by its dialect; what the official SDKs' types say against them out.

The SDKs' own types are lenient: they pass over unknown keys and do not look into what they call an iterable. They
are closed here first; `--self-test` shows that this has teeth.
"""

import collections.abc
import json
import os
import sys
import typing
import warnings
from pathlib import Path

import mcp.types
import typing_extensions
from anthropic.types import ToolParam
from google.genai.types import FunctionDeclaration, Tool
from openai.types.chat import ChatCompletionCustomToolParam, ChatCompletionFunctionToolParam
from openai.types.responses import CustomToolParam, FunctionToolParam
from pydantic import BaseModel, TypeAdapter, ValidationError, create_model
from typing_extensions import NotRequired, Required, TypedDict


def closed(kind):
    """The same type without unknown keys, with lists for iterables, with no way round a typed object."""
    if typing_extensions.is_typeddict(kind):
        hints = typing_extensions.get_type_hints(kind, include_extras=True)
        needs = {key: Required if is_required(kind, key) else NotRequired for key in hints}
        made = TypedDict(kind.__name__, {key: needs[key][closed(bare(hint))] for key, hint in hints.items()})
        # What the SDK itself calls open, as a schema is, stays open; in beta it only forgets to say so.
        given = {"extra": "allow"} if kind.__name__ == "InputSchemaTyped" else {}
        made.__pydantic_config__ = {"extra": "forbid", **given, **getattr(kind, "__pydantic_config__", {})}
        return made
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return closed(arguments[0])
    if origin is typing.Union:
        typed = any(map(typing_extensions.is_typeddict, arguments))
        kept = [arm for arm in arguments if not (is_foreign(arm) or typed and is_open(arm))]
        return typing.Union[tuple(map(closed, kept))]
    if origin in (list, collections.abc.Iterable, collections.abc.Sequence):
        return list[closed(arguments[0])]
    if origin is dict:
        return dict[arguments[0], closed(arguments[1])]
    return typing.Any if kind is object else kind


def bare(hint):
    return typing.get_args(hint)[0] if typing.get_origin(hint) in (Required, NotRequired) else hint


def is_required(kind, key):
    """Whether an object must have a key: as its annotation says, else as the class does that names it first."""
    hint = typing_extensions.get_type_hints(kind, include_extras=True)[key]
    if typing.get_origin(hint) in (Required, NotRequired):
        return typing.get_origin(hint) is Required
    for base in filter(typing_extensions.is_typeddict, typing_extensions.get_original_bases(kind)):
        if key in base.__annotations__:
            return is_required(base, key)
    return kind.__total__


def is_open(arm):
    """A way round a typed object: any dictionary, or a response's model, which takes unknown keys."""
    origin, arguments = typing.get_origin(arm), typing.get_args(arm)
    if origin is typing.Annotated:
        return is_open(arguments[0])
    if origin is typing.Union:
        return all(map(is_open, arguments))
    return origin is dict or isinstance(arm, type) and issubclass(arm, BaseModel)


def is_foreign(arm):
    """What Python can be handed but JSON cannot carry: files."""
    return arm in (bytes, os.PathLike) or typing.get_origin(arm) in (typing.IO, os.PathLike)


CHAT = TypeAdapter(list[closed(ChatCompletionFunctionToolParam)])
OPENAI_CHAT = TypeAdapter(list[closed(typing.Union[ChatCompletionFunctionToolParam, ChatCompletionCustomToolParam])])
RESPONSES = TypeAdapter(list[closed(typing.Union[FunctionToolParam, CustomToolParam])])
ANTHROPIC = TypeAdapter(list[closed(ToolParam)])
# Google's types say nothing is required; the page they come from says a name is.
DECLARATION = create_model("FunctionDeclaration", __base__=FunctionDeclaration, name=(str, ...))
GEMINI = TypeAdapter(list[create_model("Tool", __base__=Tool, function_declarations=(list[DECLARATION], ...))])
MCP = TypeAdapter(list[mcp.types.Tool])
# These two are models, which can be closed as they are used.
MODELS = (GEMINI, MCP)

# The names of the files: a dialect with an official SDK, or whose provider tells people to use OpenAI's.
TYPES = {
    "openai": RESPONSES,
    "openai-strict": RESPONSES,
    "openai.chat": OPENAI_CHAT,
    "openai-strict.chat": OPENAI_CHAT,
    "groq": CHAT,
    "deepseek": CHAT,
    "deepseek-strict": CHAT,
    "xai": CHAT,
    "anthropic": ANTHROPIC,
    "anthropic-strict": ANTHROPIC,
    "gemini": GEMINI,
    "gemini-openapi": GEMINI,
    "mcp": MCP,
}

# Google's enums only warn of an unknown value, and stumble over one that is not text.
warnings.simplefilter("error", UserWarning)
REFUSALS = (ValidationError, UserWarning, AttributeError)


def complaint(name, text):
    """What its type says against an array, or nothing."""
    kind = TYPES[name]
    try:
        # `by_name` would admit names that only Python uses, such as `any_of`.
        extra = "forbid" if kind in MODELS else None
        kind.validate_json(text, strict=True, by_alias=True, by_name=False, extra=extra)
    except REFUSALS as why:
        return str(why)


def check(folder):
    files = sorted(folder.rglob("*.json"))
    failed = not files
    for file in files:
        if why := complaint(file.stem, file.read_text(encoding="utf-8")):
            print(f"{file.relative_to(folder)}: {why}")
            failed = True
    print(f"{len(files)} arrays: " + ("not all admitted" if failed else "all admitted"))
    return failed


SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
GRAMMAR = {"syntax": "lark", "definition": "start: \"a\"+"}
# One good tool per type, and custom ones of OpenAI; then mistakes: what, in which tool, where, and the value put there
# (none: it is taken away).
GOOD = {
    "openai": {"type": "function", "name": "t", "parameters": SCHEMA, "strict": True, "defer_loading": True},
    "openai-strict": {"type": "custom", "name": "t", "format": {"type": "grammar", **GRAMMAR}, "defer_loading": True},
    "openai.chat": {"type": "custom", "custom": {"name": "t", "format": {"type": "grammar", "grammar": GRAMMAR}}},
    "groq": {"type": "function", "function": {"name": "t", "description": "d", "parameters": SCHEMA}},
    "anthropic": {"name": "t", "input_schema": {"$defs": {}, **SCHEMA}, "strict": True, "defer_loading": True, "input_examples": [{}], "allowed_callers": ["direct"]},
    "gemini": {"functionDeclarations": [{"name": "t", "parametersJsonSchema": {"type": ["object", "null"]}}]},
    "gemini-openapi": {"functionDeclarations": [{"name": "t", "parameters": {"anyOf": [SCHEMA], "nullable": True}}]},
    "mcp": {"name": "t", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}},
}
BAD = [
    ("an unknown key", "openai", ["extra"], 1),
    ("no name", "openai", ["name"]),
    ("no word on strictness", "openai", ["strict"]),
    ("strict as text", "openai", ["strict"], "true"),
    ("a schema as text", "openai", ["parameters"], "{}"),
    ("a deferral as text", "openai", ["defer_loading"], "true"),
    ("an unknown key", "openai-strict", ["strict"], True),
    ("no name", "openai-strict", ["name"]),
    ("a grammar of the other API", "openai-strict", ["format"], {"type": "grammar", "grammar": GRAMMAR}),
    ("a syntax there is not", "openai-strict", ["format", "syntax"], "peg"),
    ("no definition", "openai-strict", ["format", "definition"]),
    ("an unknown key inside", "openai.chat", ["custom", "strict"], True),
    ("no name", "openai.chat", ["custom", "name"]),
    ("a grammar of the other API", "openai.chat", ["custom", "format"], {"type": "grammar", **GRAMMAR}),
    ("a custom tool", "groq", ["type"], "custom"),
    ("an unknown key inside", "groq", ["function", "extra"], 1),
    ("no name", "groq", ["function", "name"]),
    ("strict as text", "groq", ["function", "strict"], "true"),
    ("another kind of tool", "groq", ["type"], "tool"),
    ("an unknown key", "anthropic", ["parameters"], SCHEMA),
    ("no name", "anthropic", ["name"]),
    ("strict as text", "anthropic", ["strict"], "true"),
    ("a deferral as text", "anthropic", ["defer_loading"], "true"),
    ("a schema of something else", "anthropic", ["input_schema", "type"], "string"),
    ("a caller there is not", "anthropic", ["allowed_callers"], ["programmatic"]),
    ("an example that is no object", "anthropic", ["input_examples"], [1]),
    ("an unknown key", "gemini", ["functionDeclarations", 0, "strict"], True),
    ("no name", "gemini", ["functionDeclarations", 0, "name"]),
    ("a list of types", "gemini-openapi", ["functionDeclarations", 0, "parameters", "type"], ["object", "null"]),
    ("a type there is not", "gemini-openapi", ["functionDeclarations", 0, "parameters", "type"], "dict"),
    ("an unknown keyword", "gemini-openapi", ["functionDeclarations", 0, "parameters", "anyOf", 0, "const"], 1),
    ("a name only Python uses", "gemini-openapi", ["functionDeclarations", 0, "parameters", "any_of"], []),
    ("a number as text", "gemini-openapi", ["functionDeclarations", 0, "parameters", "minItems"], "1"),
    ("an enum of numbers", "gemini-openapi", ["functionDeclarations", 0, "parameters", "enum"], [1]),
    ("an unknown key", "mcp", ["extra"], 1),
    ("an unknown key inside", "mcp", ["annotations", "extra"], 1),
    ("no schema", "mcp", ["inputSchema"]),
]


def spoilt(good, path, *value):
    """A copy with one value put somewhere, or taken away if there is none."""
    made = place = json.loads(json.dumps(good))
    *path, key = path
    for step in path:
        place = place[step]
    if value:
        place[key] = value[0]
    else:
        del place[key]
    return made


def self_test():
    failed = False
    for dialect, tool in GOOD.items():
        if why := complaint(dialect, json.dumps([tool])):
            print(f"{dialect}: a good tool is refused\n{why}")
            failed = True
    for what, dialect, path, *value in BAD:
        if not complaint(dialect, json.dumps([spoilt(GOOD[dialect], path, *value)])):
            print(f"{dialect}: {what} is admitted")
            failed = True
    print(f"{len(GOOD)} good tools, {len(BAD)} bad ones: " + ("not told apart" if failed else "told apart"))
    return failed


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--self-test"]:
            sys.exit(self_test())
        case [folder]:
            sys.exit(check(Path(folder)))
        case _:
            sys.exit("usage: typecheck.py FOLDER | --self-test")
