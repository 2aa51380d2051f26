//! `docs/reference/dialects.md` shows what the dialects really do; `UPDATE=1` writes it.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::env;
use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};
use toolwright_schema::{Dialect, Loss, Schema, Severity};

/// The row about objects that reject unknown parameters.
const CLOSED_OBJECT: &str = "unknown parameters are rejected";
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/dialects.md");

#[test]
fn the_page_of_dialects_shows_what_lowering_does() {
    let page = page();
    if env::var_os("UPDATE").is_some() {
        fs::write(PAGE, &page).unwrap();
    }
    let shown = fs::read_to_string(PAGE).unwrap_or_default();
    assert!(
        shown == page,
        "UPDATE=1 cargo test -p toolwright-schema --test main dialect_reference"
    );
}

fn page() -> String {
    let mut page = String::from(HEAD);
    page.push_str("| dialect | API | rules as of | tools in a request | length of a tool's name |\n|---|---|---|--:|--:|\n");
    for dialect in Dialect::ALL {
        let (name, about, as_of) = (dialect.name(), dialect.about(), dialect.as_of());
        let tools = dialect.max_tools().map_or("–".to_owned(), |max| max.to_string());
        let length = dialect.tool_name().max_length;
        writeln!(page, "| `{name}` | {about} | {as_of} | {tools} | {length} |").unwrap();
    }
    page.push_str(BUDGETS);
    for dialect in Dialect::ALL.into_iter().filter(|dialect| dialect.is_strict()) {
        let budget = dialect.strict_budget();
        let cell = |limit: Option<usize>| limit.map_or("–".to_owned(), |max| max.to_string());
        let (tools, optional, unions) = (
            cell(budget.max_strict_tools),
            cell(budget.max_optional_parameters),
            cell(budget.max_union_parameters),
        );
        writeln!(page, "| `{dialect}` | {tools} | {optional} | {unions} |").unwrap();
    }
    page.push_str(KEYWORDS);
    for (what, schema) in parameters() {
        let object = json!({"type": "object", "properties": {"x": schema}, "required": ["x"], "additionalProperties": false});
        write_row(&mut page, what, &object);
    }
    for (what, schema) in whole_schemas() {
        write_row(&mut page, what, &schema);
    }
    page.push_str(TAIL);
    page
}

fn write_row(page: &mut String, what: &str, schema: &Value) {
    let schema = Schema::parse(&schema.to_string()).unwrap();
    let cells: Vec<&str> =
        Dialect::ALL.into_iter().map(|dialect| cell(&schema, what, dialect)).collect();
    writeln!(page, "| {what} | {} |", cells.join(" | ")).unwrap();
}

/// What lowering does to a schema: the worst of its losses. That the whole object cannot be closed is a row of its own.
fn cell(schema: &Schema, what: &str, dialect: Dialect) -> &'static str {
    let counts = |loss: &&Loss| {
        what == CLOSED_OBJECT || !loss.path.is_empty() || loss.keyword != "additionalProperties"
    };
    match schema.lower(dialect) {
        Err(_) => "no",
        Ok(lowered) => match lowered.losses().iter().filter(counts).map(|loss| loss.severity).max()
        {
            None => "yes",
            Some(Severity::Note) => "note",
            Some(Severity::Wider) => "wider",
            Some(Severity::Narrower) => "narrower",
            Some(_) => "lossy",
        },
    }
}

/// A required parameter with one construct each.
fn parameters() -> Vec<(&'static str, Value)> {
    vec![
        ("`string`, `integer`, `boolean`", json!({"type": "integer"})),
        ("`minLength`, `maxLength`", json!({"type": "string", "minLength": 1, "maxLength": 9})),
        ("`pattern`", json!({"type": "string", "pattern": "^[a-z]+$"})),
        ("`format: date`", json!({"type": "string", "format": "date"})),
        ("`format: email`", json!({"type": "string", "format": "email"})),
        ("`format: uri`", json!({"type": "string", "format": "uri"})),
        ("`minimum`, `maximum`", json!({"type": "integer", "minimum": 1, "maximum": 9})),
        ("`exclusiveMinimum`", json!({"type": "number", "exclusiveMinimum": 0})),
        ("`multipleOf`", json!({"type": "integer", "multipleOf": 5})),
        ("`enum` of texts", json!({"type": "string", "enum": ["a", "b"]})),
        ("`enum` of numbers", json!({"enum": [1, 2]})),
        ("`const`", json!({"const": "a"})),
        ("`default`", json!({"type": "integer", "default": 1})),
        ("nullable", json!({"type": ["string", "null"]})),
        ("`anyOf`", json!({"anyOf": [{"type": "string"}, {"type": "integer"}]})),
        ("`oneOf`, disjoint", json!({"oneOf": [{"type": "string"}, {"type": "integer"}]})),
        (
            "`oneOf`, overlapping",
            json!({"oneOf": [{"type": "integer", "minimum": 1}, {"type": "integer", "maximum": 5}]}),
        ),
        ("`allOf`", json!({"allOf": [{"type": "integer", "minimum": 1}, {"maximum": 5}]})),
        ("`not`", json!({"type": "string", "not": {"enum": ["a"]}})),
        ("array", json!({"type": "array", "items": {"type": "string"}})),
        ("`minItems: 1`", json!({"type": "array", "items": {"type": "string"}, "minItems": 1})),
        (
            "`minItems: 2`, `maxItems`",
            json!({"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 5}),
        ),
        (
            "`uniqueItems`",
            json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true}),
        ),
        (
            "tuple (`prefixItems`)",
            json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false, "minItems": 2}),
        ),
        (
            "map (`additionalProperties`)",
            json!({"type": "object", "additionalProperties": {"type": "integer"}}),
        ),
        (
            "`patternProperties`",
            json!({"type": "object", "patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": false}),
        ),
        ("object of any content", json!({"type": "object"})),
        ("any value", json!({})),
    ]
}

/// Constructs that need the whole schema.
fn whole_schemas() -> Vec<(&'static str, Value)> {
    let node = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "additionalProperties": false});
    vec![
        (
            "optional parameter",
            json!({"type": "object", "properties": {"x": {"type": "string"}}, "additionalProperties": false}),
        ),
        (
            "`$ref`",
            json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/id"}}, "required": ["x"], "additionalProperties": false, "$defs": {"id": {"type": "integer"}}}),
        ),
        (
            "recursive `$ref`",
            json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/node"}}, "required": ["x"], "additionalProperties": false, "$defs": {"node": node}}),
        ),
        (
            "`dependentRequired`",
            json!({"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "string"}}, "dependentRequired": {"x": ["y"]}, "additionalProperties": false}),
        ),
        (
            "`if`, `then`",
            json!({"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"], "if": {"properties": {"x": {"const": 1}}}, "then": {"maxProperties": 1}, "additionalProperties": false}),
        ),
        (
            CLOSED_OBJECT,
            json!({"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"], "additionalProperties": false}),
        ),
        (
            "no parameters",
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
        ),
    ]
}

const HEAD: &str = "\
# Dialects

Every provider accepts other schemas. A tool has one schema, which is never changed; a *dialect* is what a provider accepts, and *lowering* rewrites the schema
into it. What cannot be said in a dialect is a *loss*: it is moved into the description, and calls are still validated against the tool's own schema.

`toolwright check --for DIALECT` shows it for your tools, `toolwright tools schema NAME --for DIALECT` the schema itself, and in CI `check --deny lossy` fails. This
page is written by the code: `UPDATE=1 cargo test -p toolwright-schema --test main dialect_reference`.

";

const BUDGETS: &str = "
`–`: no limit is known. A name that does not fit is replaced in requests, and put back in calls.

In strict mode a provider makes its model write valid arguments only. It is used where it loses nothing and these budgets of a request allow it; `strict = on` or
`off` of a tool decides otherwise.

| strict dialect | tools | optional parameters | parameters with a union |
|---|--:|--:|--:|
";

const KEYWORDS: &str = "
## What becomes of a construct

| | |
|---|---|
| yes | kept, or written in another way that means the same |
| note | nothing is lost for the call: an annotation is left out, or an object cannot be closed |
| wider | the model may send more than is valid; such a call is rejected, and the description says what is valid |
| narrower | some valid arguments cannot be sent |
| no | the tool cannot be sent to this provider; `check` says why |

| construct | openai | openai-strict | anthropic | anthropic-strict | gemini | gemini-openapi | ollama | mistral | groq | deepseek | deepseek-strict | xai | bedrock | mcp | portable |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
";

const TAIL: &str = "
The rules of each dialect are a table in `crates/schema/src/dialect`, and are written once more, from the provider's own words, in
`crates/schema/src/provider_rules`: property tests compare the two. `tests/real/losses.md` has the losses of the tools of real MCP servers.
";
