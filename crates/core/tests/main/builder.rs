//! Tools defined with the builder.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolwright::{
    Args, CustomToolFormat, DefineError, HandlerContext, Hints, JsonSchema, Tool, ToolError,
    ToolName, ToolResult, ToolSpec,
};

use crate::fixtures::{assert_ok, assert_rejected, call};

#[tokio::test]
async fn typed_parameters_are_published_in_order_with_descriptions_and_defaults() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Tree(Vec<Tree>);
    let tool = Tool::builder("paint", "Paints.")
        .param::<f64>("width", "In metres.")
        .param::<Option<String>>("colour", "Any name.")
        .param::<Vec<u8>>("layers", "")
        .default([1, 2])
        .param_of_type("options", "Anything.", "object", false)
        .param::<Value>("any", "Whatever.")
        .param::<Tree>("tree", "Contains itself.")
        .run(|_, _| "painted")
        .unwrap();
    let params: Vec<_> = tool
        .params()
        .into_iter()
        .map(|it| (it.name, it.json_type, it.required, it.description, it.default))
        .collect();
    let row = |name: &str, kind: &str, required, description: Option<&str>, default| {
        let description = description.map(str::to_owned);
        (name.to_owned(), kind.to_owned(), required, description, default)
    };
    assert_eq!(
        params,
        [
            row("width", "number", true, Some("In metres."), None),
            row("colour", "string", false, Some("Any name."), None),
            row("layers", "array of integer", false, None, Some(json!([1, 2]))),
            row("options", "object", false, Some("Anything."), None),
            row("any", "any", true, Some("Whatever."), None),
            row("tree", "array of any", true, Some("Contains itself."), None),
        ]
    );
}

#[test]
fn the_kind_of_a_parameter_is_named_for_people() {
    let tool = Tool::from_schema(
        "f",
        "Does f.",
        r##"{"properties": {
            "a": {"enum": ["x", "y"]}, "b": {"const": 5}, "c": {"type": ["integer", "null"]},
            "d": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/N"}}, {"type": "null"}]},
            "e": true, "f": {"$ref": "#/$defs/Loop"}, "g": {"type": "null"}, "h": {"type": ["null"]},
            "i": {"enum": [1, "x", null]}, "j": {"$ref": "#/$defs/Deep"}
        }, "$defs": {
            "N": {"type": "number"}, "Loop": {"anyOf": [{"$ref": "#/$defs/Loop"}, {"type": "string"}]},
            "Deep": {"type": "array", "items": {"$ref": "#/$defs/Deep"}}
        }}"##,
    )
    .unwrap()
    .run(|_, _| "")
    .unwrap();
    let kinds: Vec<String> = tool.params().into_iter().map(|it| it.json_type).collect();
    assert_eq!(
        kinds,
        [
            "string",
            "integer",
            "integer",
            "string or array of number",
            "any",
            "any or string",
            "null",
            "null",
            "integer or string",
            "array of any"
        ]
    );
}

#[tokio::test]
async fn a_tool_without_parameters_accepts_an_empty_object_only() {
    let tool = Tool::builder("ping", "Answers.").run(|_, _| "pong").unwrap();
    assert!(tool.params().is_empty());
    assert_eq!(tool.spec().input.as_value()["type"], "object");
    assert_ok(&call(tool.clone(), "{}").await, "pong");
    assert_rejected(&call(tool, r#"{"x": 1}"#).await, &["/x: unknown argument"]);
}

#[tokio::test]
async fn parameters_by_the_name_of_their_type() {
    let tool = Tool::builder("area", "Area of a rectangle.")
        .param_of_type("width", "In metres.", "number", true)
        .param_of_type("height", "In metres.", "number", true)
        .param_of_type("unit", "Of the result.", "string", false)
        .output_of_type("number")
        .run(|args, _| {
            let (width, height): (f64, f64) = (args.get("width")?, args.get("height")?);
            Ok::<_, ToolError>(width * height)
        })
        .unwrap();
    let result = call(tool.clone(), r#"{"width": 2, "height": "1.5"}"#).await;
    assert_ok(&result, "3.0");
    assert_eq!(result.structured.unwrap().to_value(), 3.0);
    assert_eq!(tool.spec().output.as_ref().unwrap().as_value(), &json!({"type": "number"}));
    assert_rejected(&call(tool, r#"{"width": 2}"#).await, &["/height: missing"]);
}

#[track_caller]
fn assert_parameter(built: Result<Tool, DefineError>, parameter: &str, expected: &str) {
    let refused = built.unwrap_err();
    assert!(
        matches!(&refused, DefineError::Parameter { parameter: named, .. } if named == parameter),
        "{refused}"
    );
    assert!(refused.to_string().contains(expected), "{refused}");
}

#[test]
fn errors_are_returned_with_the_handler() {
    let builder = || Tool::builder("f", "Does f.");
    assert_parameter(
        builder().param_of_type("a", "A.", "float", true).run(|_, _| ""),
        "a",
        "`float` is no JSON type; use string, integer",
    );
    assert_parameter(
        builder().param::<u8>("a", "A.").default("x").run(|_, _| ""),
        "a",
        "expected an integer",
    );
    assert_parameter(
        builder().param::<u8>("a", "A.").default(300).run(|_, _| ""),
        "a",
        "at most 255",
    );
    assert_parameter(
        builder().param::<u8>("a", "A.").param::<u8>("a", "A.").run(|_, _| ""),
        "a",
        "defined twice",
    );
    assert_parameter(builder().default(5).run(|_, _| ""), "default", "follows no parameter");
    let unwritable: BTreeMap<(u8, u8), u8> = BTreeMap::from([((1, 2), 3)]);
    assert_parameter(
        builder().param::<Value>("a", "A.").default(unwritable).run(|_, _| ""),
        "a",
        "cannot be JSON",
    );
    assert_parameter(
        builder().output_of_type("float").run(|_, _| ""),
        "output",
        "`float` is no JSON type",
    );
}

#[test]
fn parameters_and_a_whole_schema_do_not_mix() {
    let schema = || json!({"type": "object"});
    let before = Tool::builder("f", "Does f.").param::<u8>("a", "A.");
    assert_parameter(before.schema(schema()).unwrap().run(|_, _| ""), "a", "whole schema");
    let before = Tool::builder("f", "Does f.").param::<u8>("a", "A.");
    assert_parameter(before.input::<Author>().run(|_, _| ""), "a", "whole schema");
    let after = Tool::builder("f", "Does f.").schema(schema()).unwrap();
    assert_parameter(after.param::<u8>("a", "A.").run(|_, _| ""), "a", "whole schema");
    let after = Tool::builder("f", "Does f.").schema(schema()).unwrap();
    assert_parameter(
        after.param_of_type("a", "A.", "string", true).run(|_, _| ""),
        "a",
        "whole schema",
    );
}

#[test]
fn a_default_that_is_text_is_converted() {
    let tool = Tool::builder("f", "Does f.")
        .param::<u8>("a", "A.")
        .default("7")
        .param::<bool>("b", "B.")
        .default("true")
        .run(|_, _| "")
        .unwrap();
    let defaults: Vec<_> = tool.params().into_iter().map(|it| it.default).collect();
    assert_eq!(defaults, [Some(json!(7)), Some(json!(true))]);
}

#[test]
fn a_tool_needs_a_good_name_and_a_description() {
    for name in ["", "two words", "dot.ted", "é", &"x".repeat(65)] {
        let refused = Tool::builder(name, "Does f.").run(|_, _| "").unwrap_err();
        assert_eq!(refused, DefineError::Name { name: name.to_owned() });
        assert!(!ToolName::is_valid(name));
    }
    assert!(Tool::builder("x".repeat(64), "Does f.").run(|_, _| "").is_ok());
    for description in ["", "  \n"] {
        let refused = Tool::builder("f", description).run(|_, _| "").unwrap_err();
        assert!(matches!(refused, DefineError::Description { tool } if tool == "f"));
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Author {
    /// As printed.
    name: String,
    #[serde(default)]
    books: Vec<String>,
    #[serde(default = "one")]
    rank: u8,
    born: Option<i32>,
}

fn one() -> u8 {
    1
}

#[test]
fn tools_with_the_same_input_type_share_its_schema() {
    let define =
        |name: &str| Tool::builder(name, "Does it.").input::<Author>().run(|_, _| "").unwrap();
    let (one, other) = (define("one"), define("other"));
    assert!(std::ptr::eq(one.spec().input.as_value(), other.spec().input.as_value()));
    let example = serde_json::json!({"name": "Ada"});
    let with_example = Tool::builder("third", "Does it.").input::<Author>().input_example(example);
    let with_example = with_example.run(|_, _| "").unwrap();
    assert_ne!(with_example.spec().input, one.spec().input);
}

#[tokio::test]
async fn a_whole_type_can_be_the_input() {
    let tool = Tool::builder("add_author", "Adds an author.")
        .input::<Author>()
        .output::<Author>()
        .run(|author, _| Ok::<_, ToolError>(author))
        .unwrap();
    let names: Vec<(String, bool)> =
        tool.params().into_iter().map(|it| (it.name, it.required)).collect();
    let expected = [("name", true), ("books", false), ("rank", false), ("born", false)];
    assert_eq!(names, expected.map(|(name, required)| (name.to_owned(), required)));
    let result = call(tool.clone(), r#"{"name": "Ada", "rank": null}"#).await;
    assert_ok(&result, r#"{"name":"Ada","books":[],"rank":1,"born":null}"#);
    assert_eq!(result.structured.as_ref().unwrap().as_str(), result.text());
    assert_rejected(
        &call(tool, r#"{"name": "Ada", "boks": []}"#).await,
        &["/boks: unknown argument; did you mean `books`?"],
    );
}

#[test]
fn an_input_type_that_is_no_object_is_refused() {
    #[derive(Deserialize, JsonSchema)]
    enum Unit {
        C,
        F,
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Shape {
        Circle { radius: f64 },
        Point,
    }
    fn built<T: serde::de::DeserializeOwned + JsonSchema + Send + 'static>() -> DefineError {
        let tool = Tool::builder("f", "Does f.").input::<T>();
        tool.run(|_, _| "").unwrap_err()
    }
    for refused in [
        built::<u8>(),
        built::<Vec<u8>>(),
        built::<Unit>(),
        built::<Shape>(),
        built::<Option<Author>>(),
        built::<Value>(),
        built::<()>(),
    ] {
        assert!(matches!(refused, DefineError::NotAnObject { .. }), "{refused}");
    }
}

#[tokio::test]
async fn maps_and_enums_can_be_the_input() {
    let count = Tool::builder("count", "Counts.")
        .input::<BTreeMap<String, u8>>()
        .run(|map, _| map.len().to_string())
        .unwrap();
    assert_ok(&call(count.clone(), r#"{"a": 1, "b": 2}"#).await, "2");
    assert_rejected(&call(count, r#"{"a": "x"}"#).await, &["/a: expected an integer"]);

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(tag = "shape", rename_all = "lowercase")]
    #[expect(dead_code, reason = "only printed")]
    enum Shape {
        Circle { radius: f64 },
        Square { side: f64 },
    }
    let draw = Tool::builder("draw", "Draws.")
        .input::<Shape>()
        .run(|shape, _| format!("{shape:?}"))
        .unwrap();
    let result = call(draw.clone(), r#"{"shape": "circle", "radius": 2}"#).await;
    assert_ok(&result, "Circle { radius: 2.0 }");
    let result = call(draw, r#"{"shape": "circle", "radius": 2, "side": 1}"#).await;
    assert!(result.is_error(), "{}", result.text());
}

#[tokio::test]
async fn a_raw_schema_is_held_to() {
    let tool = Tool::from_schema(
        "book",
        "Books a table.",
        r#"{
            "type": "object",
            "properties": {
                "guests": {"type": "integer", "minimum": 1, "maximum": 8},
                "day": {"type": "string", "format": "date"},
                "name": {"type": "string", "pattern": "^[A-Z]", "default": "Ada"}
            },
            "required": ["guests"],
            "dependentRequired": {"day": ["name"]}
        }"#,
    )
    .unwrap()
    .run(|args, _| Value::Object(args.into_map()))
    .unwrap();
    assert_ok(&call(tool.clone(), r#"{"guests": 2}"#).await, r#"{"guests":2,"name":"Ada"}"#);
    assert_ok(
        &call(tool.clone(), r#"{"guests": "2", "day": "2025-01-31", "open": [1]}"#).await,
        r#"{"guests":2,"day":"2025-01-31","open":[1],"name":"Ada"}"#,
    );
    for (sent, expected) in [
        (r#"{"guests": 9}"#, "/guests: expected at most 8"),
        (r#"{"guests": 2, "day": "tomorrow"}"#, "/day: expected a date"),
        (r#"{"guests": 2, "name": "ada"}"#, "/name: expected text that matches"),
        ("{}", "/guests: missing"),
    ] {
        assert_rejected(&call(tool.clone(), sent).await, &[expected]);
    }
}

#[test]
fn a_raw_schema_that_is_none_is_an_error_and_never_an_empty_one() {
    let refused = |schema: &str| Tool::from_schema("f", "Does f.", schema).err().unwrap();
    for (schema, expected) in [
        ("", "EOF"),
        ("{", "EOF"),
        ("nonsense", "expected"),
        (r#"{"type": "object", "type": "object"}"#, "twice"),
        (r#"{"type": "objekt"}"#, "objekt"),
        (r#"{"type": "object", "required": "name"}"#, "array"),
        (r##"{"properties": {"a": {"$ref": "#/$defs/Nobody"}}}"##, "#/$defs/Nobody"),
        (r#"{"properties": {"a": {"$ref": "https://example.com/"}}}"#, "example.com"),
        (r#"{"properties": {"a": {"type": "string", "pattern": "("}}}"#, "("),
        ("5", "object or a boolean"),
    ] {
        let error = refused(schema);
        let DefineError::Schema { tool, part, source } = &error else {
            panic!("{schema}: {error}");
        };
        assert_eq!((tool.as_str(), *part), ("f", "input"));
        assert!(source.to_string().contains(expected), "{schema}: {source}");
        assert!(!error.to_string().contains(&source.to_string()));
    }
    for schema in [r#"{"type": "array"}"#, r#"{"type": ["string", "object"]}"#, "true", "false"] {
        assert!(matches!(refused(schema), DefineError::NotAnObject { .. }), "{schema}");
    }
}

#[test]
fn a_raw_schema_whose_default_does_not_fit_is_an_error() {
    let tool = Tool::from_schema(
        "f",
        "Does f.",
        r##"{"properties": {"ok": {"$ref": "#/definitions/N", "default": 5}, "bad": {"type": "string", "default": [1]}},
            "definitions": {"N": {"type": "integer"}}}"##,
    );
    assert_parameter(tool.unwrap().run(|_, _| ""), "bad", "its default: expected a string");
}

#[test]
fn examples_of_the_arguments_are_part_of_the_schema_and_must_satisfy_it() {
    let remind = || {
        Tool::builder("remind", "Reminds.")
            .param::<String>("at", "When.")
            .param::<Option<u8>>("times", "How often.")
    };
    let tool = remind()
        .input_example(json!({"at": "2026-05-01T09:00"}))
        .input_example(json!({"at": "2026-05-02T09:00", "times": 2}))
        .run(|_, _| "noted")
        .unwrap();
    assert_eq!(
        tool.spec().input.as_value()["examples"],
        json!([{"at": "2026-05-01T09:00"}, {"at": "2026-05-02T09:00", "times": 2}])
    );
    let wrong = remind().input_example(json!({"times": 2})).run(|_, _| "noted");
    assert_parameter(wrong, "input_example", "does not satisfy the schema");
    let wrong = remind().input_example("tomorrow").run(|_, _| "noted");
    assert_parameter(wrong, "input_example", "does not satisfy the schema");
}

#[tokio::test]
async fn a_custom_tool_has_one_parameter_for_its_text() {
    let format = CustomToolFormat::Lark("start: \"a\"+".to_owned());
    let shout = || Tool::builder("shout", "Shouts.").custom_input("text", format.clone());
    let tool = shout().run(|args, _| args.get::<String>("text").map(|text| text.to_uppercase()));
    let tool = tool.unwrap();
    assert_eq!(tool.spec().custom_format, Some(format.clone()));
    let param = &tool.params()[0];
    assert_eq!(param.description.as_deref(), Some("Text in this grammar (lark):\nstart: \"a\"+"));
    assert!(param.required);
    let read: ToolSpec =
        serde_json::from_str(&serde_json::to_string(tool.spec()).unwrap()).unwrap();
    assert_eq!(&read, tool.spec());
    assert_eq!(call(tool, r#"{"text": "aa"}"#).await.text(), "AA");

    let two = shout().param::<u8>("times", "How often.").run(|_, _| "");
    assert_parameter(two, "custom_input", "the only parameter");
}

#[test]
fn an_output_schema_that_is_none_is_an_error() {
    let refused = Tool::builder("f", "Does f.")
        .output_schema(json!({"type": "nonsense"}))
        .run(|_, _| "")
        .unwrap_err();
    assert!(matches!(refused, DefineError::Schema { part: "output", .. }), "{refused}");
}

#[tokio::test]
async fn an_output_schema_is_published_and_its_content_structured() {
    let schema = json!({"type": "object", "properties": {"sum": {"type": "integer"}}});
    let tool = Tool::builder("add", "Adds.")
        .output_schema(schema.clone())
        .run(|_, _| json!({"sum": 5}))
        .unwrap();
    assert_eq!(tool.spec().output.as_ref().unwrap().as_value(), &schema);
    let result = call(tool, "").await;
    assert_eq!(result.structured.unwrap().to_value(), json!({"sum": 5}));
}

#[tokio::test]
async fn handlers_come_in_three_kinds() {
    let builder = || Tool::builder("double", "Doubles.").param::<i64>("n", "What.");
    let double = |args: &Args| Ok::<_, ToolError>(args.get::<i64>("n")? * 2);
    let plain = builder().run(move |args, _| double(&args)).unwrap();
    let later = builder()
        .run_async(move |args, _| async move {
            tokio::task::yield_now().await;
            double(&args)
        })
        .unwrap();
    let thread = std::thread::current().id();
    let blocking = builder()
        .run_blocking(move |args, _| {
            assert_ne!(std::thread::current().id(), thread);
            double(&args)
        })
        .unwrap();
    for tool in [plain, later, blocking] {
        assert_ok(&call(tool, r#"{"n": 21}"#).await, "42");
    }
}

#[tokio::test]
async fn a_handler_sees_the_call_it_serves() {
    let tool = Tool::builder("who", "Says who asks.")
        .run(|_, cx: HandlerContext| {
            let state = cx.state::<u8>().map_err(|error| error.message().to_owned());
            format!(
                "{} {:?} {} {:?} {}",
                cx.info().tool,
                cx.caller().name(),
                cx.session(),
                cx.project_dir(),
                state.is_err()
            )
        })
        .unwrap();
    let invoker = toolwright::Invoker::builder(crate::fixtures::registry(tool))
        .project_dir("/p")
        .build()
        .unwrap();
    let scope = toolwright::CallScope::new().caller(toolwright::Caller::new("ada")).session("s");
    let call = toolwright::ToolCall::new("who", "");
    assert_ok(&invoker.invoke_in(&scope, &call).await, r#"who Some("ada") s Some("/p") true"#);
}

#[test]
fn an_argument_of_another_type_is_an_error_for_the_model() {
    let args: Args = serde_json::from_value(json!({"n": "x"})).unwrap();
    let error = args.get::<u8>("n").unwrap_err();
    assert_eq!(error.kind(), toolwright::ErrorKind::Retry);
    assert!(error.message().starts_with("/n: "), "{}", error.message());
    assert!(args.get::<u8>("missing").is_err());
    assert_eq!(args.as_map().len(), 1);
}

#[test]
fn published_fields_are_in_the_spec_and_the_fingerprint() {
    let builder = || Tool::builder("f", "Does f.");
    let plain = builder().run(|_, _| "").unwrap();
    assert_eq!(plain.spec().display_name(), "f");
    assert_eq!(plain.spec().hints, Hints::default());
    let titled = builder().title("The F").read_only(true).run(|_, _| "").unwrap();
    assert_eq!(titled.spec().display_name(), "The F");
    assert_eq!(titled.spec().hints.read_only, Some(true));
    assert_eq!(plain.fingerprint(), builder().run(|_, _| "other").unwrap().fingerprint());
    assert_ne!(plain.fingerprint(), titled.fingerprint());
    assert_eq!(plain.fingerprint().len(), 64);
    let spec = serde_json::to_value(titled.spec()).unwrap();
    assert_eq!(spec["annotations"], json!({"readOnlyHint": true}));
    assert_eq!(spec["inputSchema"]["type"], "object");
}

#[tokio::test]
async fn a_handler_may_return_whatever_a_function_may() {
    let built = |tool: Result<Tool, DefineError>| call(tool.unwrap(), "{}");
    let builder = || Tool::builder("f", "Does f.");
    assert_ok(&built(builder().run(|_, _| ())).await, "Done");
    assert_ok(&built(builder().run(|_, _| 5_u64)).await, "5");
    assert_ok(&built(builder().run(|_, _| true)).await, "true");
    assert_ok(&built(builder().run(|_, _| json!([1]))).await, "[1]");
    assert_ok(&built(builder().run(|_, _| ToolResult::success("as it is"))).await, "as it is");
    let failed = builder().run(|_, _| "x".parse::<u8>());
    assert_eq!(built(failed).await.text(), "invalid digit found in string");
}
