//! The exact text of the `tools` array.

use serde_json::{Value, json};
use toolwright_schema::{Dialect, Schema};

use super::{Sample, plan, planned};
use crate::call::ToolCall;
use crate::tool::custom_format::CustomToolFormat;
use crate::tool::policy::StrictMode;
use crate::wire::{CandidateTool, Shape, ToolPlanner};

fn weather() -> Sample {
    Sample::closed("get_weather", json!({"city": {"type": "string"}}))
}

/// A tool that strict mode cannot express.
fn open() -> Sample {
    Sample::new("note", json!({"type": "object", "properties": {"text": {"type": "string"}}}))
}

const SCHEMA: &str = r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}"#;

fn text(shape: Shape, dialect: Dialect, tool: Sample) -> String {
    let planner = ToolPlanner::new(dialect).shape(shape);
    planned(&planner, dialect, &[tool]).json().to_owned()
}

#[test]
fn every_shape_is_written_in_the_form_of_its_api() {
    for (shape, dialect, written) in [
        (
            Shape::OpenAiResponses,
            Dialect::OPENAI,
            format!(r#"[{{"type":"function","name":"get_weather","description":"Does it.","parameters":{SCHEMA},"strict":true}}]"#),
        ),
        (
            Shape::OpenAiChat,
            Dialect::OPENAI,
            format!(r#"[{{"type":"function","function":{{"name":"get_weather","description":"Does it.","parameters":{SCHEMA},"strict":true}}}}]"#),
        ),
        (
            Shape::Anthropic,
            Dialect::ANTHROPIC,
            format!(r#"[{{"name":"get_weather","description":"Does it.","input_schema":{SCHEMA},"strict":true}}]"#),
        ),
        (
            Shape::Gemini,
            Dialect::GEMINI,
            r#"[{"functionDeclarations":[{"name":"get_weather","description":"Does it.","parametersJsonSchema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}}]}]"#.to_owned(),
        ),
        (
            Shape::Gemini,
            Dialect::GEMINI_OPENAPI,
            r#"[{"functionDeclarations":[{"name":"get_weather","description":"Does it.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}]}]"#.to_owned(),
        ),
        (
            Shape::Ollama,
            Dialect::OLLAMA,
            r#"[{"type":"function","function":{"name":"get_weather","description":"Does it.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}]"#.to_owned(),
        ),
        (
            Shape::Mcp,
            Dialect::MCP,
            format!(r#"[{{"name":"get_weather","description":"Does it.","inputSchema":{SCHEMA}}}]"#),
        ),
        (
            Shape::Bedrock,
            Dialect::BEDROCK,
            format!(r#"[{{"toolSpec":{{"name":"get_weather","description":"Does it.","inputSchema":{{"json":{SCHEMA}}}}}}}]"#),
        ),
    ] {
        assert_eq!(text(shape, dialect, weather()), written, "{dialect}");
    }
}

#[test]
fn strict_is_written_even_where_it_is_off() {
    for (shape, dialect) in [
        (Shape::OpenAiResponses, Dialect::OPENAI),
        (Shape::OpenAiChat, Dialect::OPENAI),
        (Shape::Anthropic, Dialect::ANTHROPIC),
    ] {
        let written = text(shape, dialect, open());
        assert!(written.contains(r#""strict":false"#), "{written}");
    }
    let written = text(Shape::OpenAiChat, Dialect::GROQ, weather());
    assert!(written.contains(r#""strict":false"#), "{written}");
}

#[test]
fn the_first_valid_examples_of_a_schema_are_examples_for_anthropic() {
    let city = |name: &str| json!({"city": name});
    let mut schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let long = "x".repeat(3_000);
    schema["examples"] = json!([city("Oslo"), 7, {"town": "Rome"}, city(&long), city("Bonn")]);
    let tool = Sample::new("get_weather", schema.clone());
    let sent = |dialect: Dialect| -> Value {
        serde_json::from_str(
            planned(&ToolPlanner::new(dialect), dialect, std::slice::from_ref(&tool)).json(),
        )
        .unwrap()
    };
    assert_eq!(sent(Dialect::ANTHROPIC)[0]["input_examples"], json!([city("Oslo"), city("Bonn")]));
    assert_eq!(sent(Dialect::OPENAI)[0].get("input_examples"), None);
    assert!(!sent(Dialect::ANTHROPIC)[0]["input_schema"].to_string().contains("examples"));
    assert_eq!(sent(Dialect::MCP)[0]["inputSchema"]["examples"], schema["examples"]);

    let deferred = [CandidateTool::from(&tool).deferred()];
    let plan = ToolPlanner::new(Dialect::ANTHROPIC).plan(deferred);
    assert_eq!(plan.deferred_definitions()[0].get("input_examples"), None);
    schema["examples"] = (0..9).map(|number| city(&number.to_string())).collect();
    let many = planned(
        &ToolPlanner::new(Dialect::ANTHROPIC),
        Dialect::ANTHROPIC,
        &[Sample::new("get_weather", schema)],
    );
    assert_eq!(many.definitions()[0]["input_examples"].as_array().unwrap().len(), 5);
}

#[test]
fn an_example_has_the_form_of_the_lowered_schema() {
    let map = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    let schema = json!({"type": "object", "properties": {"counts": map}, "required": ["counts"],
        "additionalProperties": false, "examples": [{"counts": {"a": 1}}]});
    let tool = Sample::new("count", schema).strict(StrictMode::On);
    let plan = plan(Dialect::ANTHROPIC, &[tool]);
    let planned = &plan.tools()[0];
    let example = &plan.definitions()[0]["input_examples"][0];
    let mut lifted = example.clone();
    planned.lowered().unwrap().lift_arguments(&mut lifted);
    assert_eq!(lifted, json!({"counts": {"a": 1}}));
    let lowered = Schema::check(plan.definitions()[0]["input_schema"].clone()).unwrap();
    assert!(lowered.violations(example).is_empty());
}

#[test]
fn a_deferred_tool_is_marked_is_not_strict_and_is_no_part_of_the_array() {
    let (loaded, deferred) = (open(), weather().strict(StrictMode::On));
    for (dialect, written) in [
        (
            Dialect::OPENAI,
            format!(
                r#"{{"type":"function","name":"get_weather","description":"Does it.","parameters":{SCHEMA},"strict":false,"defer_loading":true}}"#
            ),
        ),
        (
            Dialect::ANTHROPIC,
            format!(
                r#"{{"name":"get_weather","description":"Does it.","input_schema":{SCHEMA},"strict":false,"defer_loading":true}}"#
            ),
        ),
    ] {
        let tools = [CandidateTool::from(&loaded), CandidateTool::from(&deferred).deferred()];
        let plan = ToolPlanner::new(dialect).search_tool("note").plan(tools);
        assert_eq!(plan.deferred_definitions(), [serde_json::from_str::<Value>(&written).unwrap()]);
        assert_eq!(plan.definitions().len(), 1);
        assert!(!plan.json().contains("get_weather"), "{}", plan.json());
        assert_eq!(plan.tokens(), plan.tools()[0].tokens);
        assert_eq!(plan.search_tool(), Some("note"));
    }
}

#[test]
fn deferred_tools_do_not_count_towards_the_number_of_tools() {
    let samples: Vec<Sample> =
        (0..300).map(|number| Sample::closed(&format!("tool_{number}"), json!({}))).collect();
    let loaded = samples.iter().take(128).map(CandidateTool::from);
    let deferred = samples.iter().skip(128).map(|tool| CandidateTool::from(tool).deferred());
    let plan = ToolPlanner::new(Dialect::OPENAI).plan(loaded.chain(deferred));
    assert!(plan.omitted().is_empty());
    assert_eq!((plan.definitions().len(), plan.deferred_definitions().len()), (128, 172));
}

#[test]
fn mcp_has_title_output_and_annotations() {
    let sample = weather().destructive();
    let output = Schema::check(json!({"type": "object"})).unwrap();
    let candidate = CandidateTool {
        title: Some("Weather"),
        output: Some(&output),
        ..CandidateTool::from(&sample)
    };
    assert_eq!(
        ToolPlanner::new(Dialect::MCP).plan([candidate]).json(),
        format!(
            r#"[{{"name":"get_weather","title":"Weather","description":"Does it.","inputSchema":{SCHEMA},"outputSchema":{{"type":"object"}},"annotations":{{"destructiveHint":true}}}}]"#
        )
    );
}

#[test]
fn a_custom_tool_is_defined_as_one_only_where_the_model_calls_it() {
    let format = CustomToolFormat::Regex("a+".to_owned());
    let sample = weather();
    let candidate = CandidateTool { custom_format: Some(&format), ..CandidateTool::from(&sample) };
    let planned = |planner: ToolPlanner| planner.plan([candidate]);

    let plan = planned(ToolPlanner::new(Dialect::OPENAI).custom_tools(true));
    assert_eq!(
        plan.json(),
        r#"[{"type":"custom","name":"get_weather","description":"Does it.","format":{"type":"grammar","syntax":"regex","definition":"a+"}}]"#
    );
    assert_eq!(plan.custom_param("get_weather"), Some("city"));
    let call = ToolCall::new("get_weather", r#"{"city": "aa"}"#);
    assert_eq!(plan.custom_input(&call).as_deref(), Some("aa"));

    for planner in
        [ToolPlanner::new(Dialect::OPENAI), ToolPlanner::new(Dialect::ANTHROPIC).custom_tools(true)]
    {
        let plan = planned(planner);
        assert_eq!((plan.custom_param("get_weather"), plan.custom_input(&call)), (None, None));
        assert!(plan.json().contains(SCHEMA), "{}", plan.json());
    }
}

#[test]
fn without_tools_there_is_an_empty_list() {
    for dialect in Dialect::ALL {
        assert_eq!(plan(dialect, &[]).json(), "[]", "{dialect}");
    }
}

#[test]
fn a_tool_without_a_description_is_described_by_its_name() {
    let sample = weather();
    let candidate = CandidateTool { description: "", ..CandidateTool::from(&sample) };
    let plan = ToolPlanner::new(Dialect::ANTHROPIC).plan([candidate]);
    assert!(plan.json().contains(r#""description":"get_weather""#), "{}", plan.json());
}

#[test]
fn constraints_outside_the_schema_are_in_the_description() {
    let tool = Sample::new(
        "pay",
        json!({"type": "object", "properties": {"card": {"type": "string"}, "cash": {"type": "integer"}}, "anyOf": [{"required": ["card"]}, {"required": ["cash"]}]}),
    );
    let plan = plan(Dialect::OLLAMA, &[tool]);
    let sent: Value = serde_json::from_str(plan.json()).unwrap();
    assert_eq!(
        sent[0]["function"]["description"],
        "Does it.\n\nGive one of these groups: card; or cash"
    );
}

/// Plans tools whose parameters are in a definition that the root refers to.
fn keeps_its_parameters(dialect: Dialect) {
    for root in [
        json!({"$ref": "#/$defs/args", "$defs": {"args": {"type": "object", "properties": {"city": {"type": "string"}}}}}),
        json!({"allOf": [{"type": "object", "properties": {"city": {"type": "string"}}}]}),
    ] {
        let plan = plan(dialect, &[Sample::new("get_weather", root)]);
        assert!(plan.json().contains("city"), "{dialect}: {}", plan.json());
    }
}

#[test]
fn a_root_that_is_a_reference_keeps_its_parameters() {
    for dialect in Dialect::ALL {
        if dialect != Dialect::GEMINI_OPENAPI {
            keeps_its_parameters(dialect);
        }
    }
}

#[test]
fn a_root_that_is_a_reference_keeps_its_parameters_in_gemini_s_older_form() {
    keeps_its_parameters(Dialect::GEMINI_OPENAPI);
}

#[test]
fn the_same_tools_give_the_same_bytes() {
    let tools = || {
        let mut tools: Vec<Sample> = (0..40)
            .map(|number| {
                let bounded = json!({"type": "array", "items": {"type": "string"}, "maxItems": 50 + number % 3});
                let optional = json!({"type": "object", "properties": {"a": bounded, "größe": {"type": ["integer", "null"]}, "next": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}, "m": {"$ref": "#/$defs/m"}}}, "m": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}}}});
                Sample::new(&format!("group.tool/{number}"), optional)
            })
            .collect();
        tools.extend((0..30).map(|number| {
            Sample::closed(&format!("t{number}"), json!({"a": {"type": ["string", "integer"]}}))
        }));
        tools.push(weather().strict(StrictMode::On));
        tools
    };
    let (one, other) = (tools(), tools());
    for dialect in Dialect::ALL {
        let first = plan(dialect, &one);
        assert_eq!(first.json(), plan(dialect, &one).json(), "{dialect}");
        assert_eq!(first.json(), plan(dialect, &other).json(), "{dialect}");
        assert_eq!(first.json(), plan(dialect, &tools()).json(), "{dialect}");
    }
}

#[test]
fn tokens_are_a_quarter_of_the_bytes() {
    let plan = plan(Dialect::OPENAI, &[weather(), open()]);
    let each: Vec<usize> = plan.tools().iter().map(|tool| tool.tokens).collect();
    assert_eq!(plan.tokens(), each.iter().sum::<usize>());
    assert!(plan.tokens().abs_diff(plan.json().len() / 4) <= 2);
}
