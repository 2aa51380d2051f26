//! Tools exported to another framework, and its calls.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolwright::schema::Dialect;
use toolwright::wire::Shape;
use toolwright::{
    Authorise, Bridge, BridgeError, CallEvent, CallScope, Caller, Content, DefineError, Invoker,
    Tool, ToolCall, ToolResult,
};

use crate::fixtures::{invoker, registry, tool_named};

fn greet() -> Tool {
    let greet = Tool::builder("greet", "Greets.")
        .param::<String>("name", "Whom.")
        .param::<Option<u8>>("times", "How often.");
    let times = |args: &toolwright::Args| args.get::<Option<u8>>("times").unwrap();
    greet.run(move |args, _| format!("{:?}", times(&args))).unwrap()
}

#[test]
fn strict_mode_needs_a_framework_that_supports_it() {
    let bridge = Bridge::new(&invoker(greet())).dialect(Dialect::OPENAI_STRICT);
    let plain = bridge.export().unwrap();
    assert!(!plain.tools()[0].strict);
    assert_eq!(plain.tools()[0].schema["required"], json!(["name"]));

    let strict = bridge.export_as(Shape::OpenAiChat).unwrap();
    assert!(strict.tools()[0].strict);
    let both = json!(["name", "times"]);
    assert_eq!(strict.tools()[0].schema["required"], both);
    let text: Value = serde_json::from_str(strict.tools_json()).unwrap();
    assert_eq!(text[0]["function"]["parameters"]["required"], both);
    assert_eq!(text[0]["function"]["parameters"], strict.tools()[0].schema);
}

#[tokio::test]
async fn arguments_are_lifted_from_the_lowered_schema() {
    let bridge = Bridge::from(&invoker(greet())).dialect(Dialect::OPENAI_STRICT);
    let offer = bridge.export_as(Shape::OpenAiResponses).unwrap();
    let call = ToolCall::new("greet", r#"{"name": "Ada", "times": null}"#).with_id("c1");
    let lifted = offer.lift(call.clone());
    assert_eq!(lifted.arguments.as_str(), r#"{"name":"Ada"}"#);
    let result = offer.invoke(call).await;
    assert_eq!((result.call_id.as_str(), &*result.text()), ("c1", "None"));
}

#[test]
fn a_tool_that_the_caller_may_not_see_is_not_exported() {
    let tools = registry(vec![tool_named("open"), tool_named("hidden")]);
    let view = tools.all().layer(Authorise::new(|caller, spec| {
        caller.name() == Some("ada") || spec.name != "hidden"
    }));
    let bridge = Bridge::new(&Invoker::new(view).unwrap());
    assert_eq!(bridge.export().unwrap().tools().len(), 1);
    let ada = bridge.scope(CallScope::new().caller(Caller::new("ada")));
    assert_eq!(ada.export().unwrap().tools().len(), 2);
}

#[test]
fn a_tool_that_does_not_fit_is_an_error_with_its_name() {
    let tools: Vec<Tool> = (0..129).map(|n| tool_named(&format!("tool_{n}"))).collect();
    let bridge = Bridge::new(&invoker(tools)).dialect(Dialect::OPENAI);
    let error = bridge.export().unwrap_err();
    assert!(matches!(&error, BridgeError::Rejected { tool, .. } if tool == "tool_128"));
    let text = error.to_string();
    assert!(text.contains("at most 128 tools"), "{text}");
    assert!(text.contains("leave it out with a view"), "{text}");
}

#[test]
fn an_imported_schema_is_repaired_or_rejected() {
    let sloppy = json!({"properties": {"a": {"type": "int"}}});
    let tool = Tool::import("theirs", "", sloppy).unwrap();
    let tool = tool.run(|_, _| "ran").unwrap();
    assert!(tool.is_imported());
    let input = tool.spec().input.as_value();
    assert_eq!(input["properties"]["a"]["type"], "integer");
    let broken = Tool::import("theirs", "", json!({"type": "string"}));
    assert!(matches!(
        broken.err(),
        Some(DefineError::Schema { .. } | DefineError::NotAnObject { .. })
    ));
}

#[test]
fn content_that_is_not_text_becomes_a_placeholder() {
    let items = vec![
        Content::text("Here:"),
        Content::image("image/png", b"png"),
        Content::blob("file:///a.txt", "text/plain", b"inside"),
        Content::blob("file:///a.zip", "application/zip", b"zip!"),
        Content::link("https://a.example", "A"),
    ];
    let text = "Here:\n[an image, image/png, 3 bytes, which cannot be shown here]\nfile:///a.txt:\ninside\n\
                [file:///a.zip, application/zip, 4 bytes, which cannot be shown here]\n[A](https://a.example)";
    assert_eq!(ToolResult::success(items.clone()).to_text_with_error_prefix(), text);
    let failed = ToolResult::failure(items);
    assert_eq!(failed.to_text(), text);
    assert_eq!(failed.to_text_with_error_prefix(), format!("Error: {text}"));
}

#[tokio::test]
async fn earlier_listeners_still_receive_events() {
    let counting = Tool::builder("count", "Counts.").run(|_, cx| {
        cx.progress().report_message("one");
        "done"
    });
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hear = |who: &'static str| {
        let heard = Arc::clone(&heard);
        move |event: CallEvent| {
            if let CallEvent::Progress { message, .. } = event {
                heard.lock().unwrap().push((who, message.unwrap()));
            }
        }
    };
    let scope = CallScope::new().on_event(hear("user"));
    let offer = Bridge::new(&invoker(counting.unwrap())).scope(scope).export();
    let offer = offer.unwrap();
    let scope = offer.scope().on_event(hear("bridge"));
    offer.invoke_in(&scope, ToolCall::new("count", "{}")).await;
    let both = [("user", "one".to_owned()), ("bridge", "one".to_owned())];
    assert_eq!(*heard.lock().unwrap(), both);
}
