"""A server's URL in, `all well` out: its OpenAPI document is valid, and its tools are as it says."""

import json
import sys
from urllib.request import Request, urlopen

from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

URL = sys.argv[1]


def get(path):
    with urlopen(URL + path, timeout=300) as answer:
        return json.load(answer)


def post(path, body):
    request = Request(URL + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urlopen(request, timeout=300) as answer:
        return json.load(answer)


document = get("/api/openapi.json")
OpenAPIV31SpecValidator(document).validate()

tools = get("/api/tools")
assert len(tools) >= 5, tools
registry = Registry().with_resource("urn:document", DRAFT202012.create_resource(document))


def meets(pointer, value):
    Draft202012Validator({"$ref": f"urn:document#{pointer}"}, registry=registry).validate(value)


for tool in tools:
    assert f"/api/tools/{tool['name']}" in document["paths"], tool["name"]
    meets("/components/schemas/Tool", tool)

path = "/api/tools/get_city_time"
place = "/paths/~1api~1tools~1get_city_time/post"
wanted = {"arguments": {"city": "Tokyo"}}
meets(f"{place}/requestBody/content/application~1json/schema", wanted)
meets(f"{place}/responses/200/content/application~1json/schema", post(path, wanted))
meets("/components/schemas/ToolResult", post(path, {"arguments": {"town": "Tokyo"}}))
print("all well")
