//! The tools of the requests: those of the sample assistant, and some that no vendor accepts unchanged.

use std::future::ready;
use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};
use toolwright::chat::{ModelRequest, NativeToolSearch};
use toolwright::schema::Dialect;
use toolwright::search::{FoundTool, Gateway};
use toolwright::{
    BoxFuture, CallScope, CustomToolFormat, Invoker, RegisteredTool, Registry, StrictMode, Tool,
    ToolError, ToolResult,
};

use assistant_tools as _;

/// The sample assistant's tools, and the problematic ones.
pub(crate) fn all() -> Arc<[RegisteredTool]> {
    static ALL: LazyLock<Arc<[RegisteredTool]>> = LazyLock::new(|| {
        let registry = Registry::discover().unwrap();
        registry.add(awkward_tools()).unwrap();
        registry.snapshot().iter().cloned().collect()
    });
    Arc::clone(&ALL)
}

/// The name of the tool that searches.
pub(crate) const SEARCH: &str = "search_tools";

/// Lets a request have only the tool that searches, and the vendor load all others once they are found.
pub(crate) fn defer_all(request: &mut ModelRequest) {
    static OFFERED: LazyLock<Arc<[RegisteredTool]>> = LazyLock::new(|| {
        let gateway = Gateway::new(|_| false).with_direct_calls();
        let invoker = Invoker::new(Registry::new()).unwrap();
        let none = || ToolResult::success("none");
        let search = move |_| -> BoxFuture<'static, ToolResult> { Box::pin(ready(none())) };
        let gateway = gateway.invoker(&invoker, search, move |_| none()).unwrap();
        let tools = gateway.list(&CallScope::default()).unwrap().into_iter();
        tools.filter(|tool| tool.spec().name == SEARCH).collect()
    });
    request.tools = Arc::clone(&OFFERED);
    request.native_search = Some(NativeToolSearch::new(SEARCH, all()));
}

/// The result of a search that found these tools.
pub(crate) fn found(names: &[&str]) -> ToolResult {
    let all = all();
    let find = |name: &&str| all.iter().find(|tool| tool.spec().name == **name).unwrap();
    let tools: Vec<&RegisteredTool> = names.iter().map(find).collect();
    FoundTool::result(&tools, Dialect::MCP)
}

fn awkward_tools() -> Vec<Tool> {
    let long = "a_name_of_sixty_four_letters_".repeat(3);
    let tools = [
        ("nothing", StrictMode::Auto, json!({"type": "object"})),
        ("1st_of_all", StrictMode::On, one("city", json!({"type": "string", "minLength": 1}))),
        (
            &long[..64],
            StrictMode::Off,
            one("city", json!({"type": "string", "format": "hostname"})),
        ),
        (
            "web_search",
            StrictMode::Auto,
            one("query", json!({"type": "string", "pattern": "^(?=a)"})),
        ),
        (
            "anything",
            StrictMode::Auto,
            json!({"type": "object", "properties": {"it": true}, "additionalProperties": true}),
        ),
        (
            "map",
            StrictMode::Auto,
            json!({"type": "object", "patternProperties": {"^x-": {"type": "integer"}}}),
        ),
        (
            "tree",
            StrictMode::On,
            json!({
                "type": "object",
                "$defs": {"node": {"type": "object", "properties": {
                    "label": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}
                }, "required": ["label"]}},
                "properties": {"root": {"$ref": "#/$defs/node", "description": "Where it begins."}},
                "required": ["root"]
            }),
        ),
        (
            "choices",
            StrictMode::On,
            json!({
                "type": "object",
                "properties": {
                    "one": {"oneOf": [{"type": "string"}, {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]}]},
                    "any": {"anyOf": [{"type": "null"}, {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]}]},
                    "all": {"allOf": [{"type": "object", "properties": {"b": {"type": "boolean"}}}, {"required": ["b"]}]},
                    "none": {"not": {"type": "string"}},
                    "mixed": {"enum": ["a", 1, null, {"c": true}]},
                    "types": {"type": ["integer", "null"], "minimum": 0, "default": null},
                    "when": {"if": {"const": 1}, "then": {"type": "integer"}, "else": {"type": "string"}},
                    "a key with spaces": {"type": "string"},
                    "numbers": {"type": "array", "items": {"type": "number", "exclusiveMinimum": 0.5}, "minItems": 1, "uniqueItems": true}
                },
                "required": ["one"],
                "dependentRequired": {"any": ["all"]},
                "examples": [{"one": "x"}]
            }),
        ),
        (
            "union",
            StrictMode::Auto,
            json!({"type": "object", "oneOf": [one("a", json!({"type": "string"})), one("b", json!({"type": "number"}))]}),
        ),
    ];
    let built = tools.into_iter().map(|(name, strict, schema)| {
        let tool = Tool::builder(name, "Does what it is called, and more.").strict(strict);
        tool.schema(schema).unwrap().run(|_, _| Ok::<_, ToolError>("done")).unwrap()
    });
    built.chain(custom_tools()).chain(tools_of_programs()).collect()
}

/// One custom tool for each format of its text.
fn custom_tools() -> Vec<Tool> {
    let formats = [
        ("take_note", CustomToolFormat::Text),
        (
            "compute",
            CustomToolFormat::Lark("start: NUMBER (\"+\" NUMBER)*\n%import common.NUMBER".into()),
        ),
        ("dial", CustomToolFormat::Regex("\\+[0-9]{4,15}".into())),
    ];
    let built = formats.map(|(name, format)| {
        let tool = Tool::builder(name, "Takes a text.").custom_input("text", format);
        tool.run(|_, _| Ok::<_, ToolError>("done")).unwrap()
    });
    built.into()
}

/// Tools that programs of Anthropic's models may call.
fn tools_of_programs() -> [Tool; 2] {
    let callers: [(&str, &[&str]); 2] = [
        ("sum_up", &["code_execution_20260120"]),
        ("look_up", &["direct", "code_execution_20260120"]),
    ];
    callers.map(|(name, callers)| {
        let tool = Tool::builder(name, "Adds what it is given.").strict(StrictMode::On);
        let tool = tool.param::<Vec<i64>>("numbers", "What to add.");
        let tool = tool.allowed_callers(callers.iter().copied());
        tool.run(|_, _| Ok::<_, ToolError>("done")).unwrap()
    })
}

/// The schema of an object with one required field.
fn one(name: &str, schema: Value) -> Value {
    json!({"type": "object", "properties": {name: schema}, "required": [name]})
}
