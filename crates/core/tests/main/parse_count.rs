//! How often the arguments of a call are parsed on their way to the tool: once, and not at all if they are a value.

use futures::FutureExt as _;
use serde_json::{Value, json};
use toolwright::schema::{Dialect, InputLimits, Tape};
use toolwright::wire::Shape;
use toolwright::{
    Arguments, BoxFuture, Bridge, CallScope, Invocation, Invoker, Layer, Next, Tool, ToolBuilder,
    ToolCall, ToolResult, tool,
};

use crate::fixtures::{assert_ok, assert_rejected, invoker, registry};

/// Repeats a word.
#[tool(read_only)]
fn repeat(word: String, times: Option<u8>) -> String {
    word.repeat(times.unwrap_or(1).into())
}

/// Adds numbers.
#[tool(read_only)]
fn sum(numbers: Vec<i64>) -> i64 {
    numbers.iter().sum()
}

fn pay() -> ToolBuilder {
    Tool::builder("pay", "Pays a bill.").destructive(true).param::<i64>("amount", "How much.")
}

struct PassThrough;

impl Layer for PassThrough {
    fn handle<'a>(&'a self, _: Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, ToolResult> {
        next.run()
    }
}

/// Runs `calls` on this thread, and counts the texts that were parsed; release builds do not count.
fn assert_parses(expected: usize, calls: impl FnOnce()) {
    let before = Tape::parse_count();
    calls();
    if cfg!(debug_assertions) {
        assert_eq!(Tape::parse_count() - before, expected);
    }
}

fn run(invoker: &Invoker, call: &ToolCall) -> ToolResult {
    invoker.invoke(call).now_or_never().unwrap()
}

#[test]
fn valid_text_is_parsed_once() {
    let invoker = invoker(repeat::tool());
    let call = ToolCall::new("repeat", r#"{"word": "a", "times": 2}"#);
    assert_parses(1, || assert_ok(&run(&invoker, &call), "aa"));
}

#[test]
fn text_that_is_coerced_or_rejected_is_parsed_once() {
    let invoker = invoker(sum::tool());
    let coerced = ToolCall::new("sum", r#"{"numbers": [1, "2"]}"#);
    assert_parses(1, || assert_ok(&run(&invoker, &coerced), "3"));
    let rejected = ToolCall::new("sum", r#"{"numbers": [1, "some"]}"#);
    assert_parses(1, || assert_rejected(&run(&invoker, &rejected), &["/numbers/1"]));
}

#[test]
fn scalars_that_are_coerced_or_rejected_are_parsed_once_more() {
    let invoker = invoker(repeat::tool());
    let coerced = ToolCall::new("repeat", r#"{"word": "a", "times": "2"}"#);
    assert_parses(2, || assert_ok(&run(&invoker, &coerced), "aa"));
    let rejected = ToolCall::new("repeat", r#"{"word": "a", "times": "often"}"#);
    assert_parses(2, || assert_rejected(&run(&invoker, &rejected), &["/times"]));
}

#[test]
fn text_is_parsed_once_for_all_layers() {
    let invoker = Invoker::new(registry(repeat::tool()).all().layer(PassThrough)).unwrap();
    let call = ToolCall::new("repeat", r#"{"word": "a"}"#);
    assert_parses(1, || assert_ok(&run(&invoker, &call), "a"));
}

#[test]
fn text_is_parsed_once_for_the_request_and_the_run_of_an_approved_call() {
    let invoker = invoker(pay().run(|_, _| "paid").unwrap());
    let call = ToolCall::new("pay", r#"{"amount": 5}"#);
    assert_parses(1, || {
        let pending = invoker.pending_call(&CallScope::new(), &call).unwrap();
        let scope = CallScope::new().approval_token(pending.request().issue_token());
        assert_ok(&invoker.invoke_in(&scope, &call).now_or_never().unwrap(), "paid");
    });
}

#[test]
fn lifted_arguments_are_parsed_once() {
    let bridge = Bridge::from(&invoker(repeat::tool())).dialect(Dialect::OPENAI_STRICT);
    let exported = bridge.export_as(Shape::OpenAiResponses).unwrap();
    let call = ToolCall::new("repeat", r#"{"word": "a", "times": null}"#);
    assert_parses(1, || assert_ok(&exported.invoke(call).now_or_never().unwrap(), "a"));
}

#[test]
fn a_value_is_never_parsed() {
    let bridge = Bridge::from(&invoker(repeat::tool())).dialect(Dialect::OPENAI_STRICT);
    let exported = bridge.export_as(Shape::OpenAiResponses).unwrap();
    let calls = [
        (json!({"word": "a", "times": 2}), "aa"),
        (json!({"word": "a", "times": null}), "a"),
        (json!({"word": "a", "times": "3"}), "aaa"),
    ];
    for (arguments, expected) in calls {
        let call = ToolCall::new("repeat", arguments);
        assert_parses(0, || assert_ok(&exported.invoke(call).now_or_never().unwrap(), expected));
    }
}

#[test]
fn a_value_has_the_limits_of_its_text() {
    let limits = InputLimits { bytes: 200, depth: 2 };
    let invoker = Invoker::builder(registry(repeat::tool())).argument_limits(limits);
    let invoker = invoker.build().unwrap();
    let nested = |value: Value| json!({"word": value});
    for arguments in [
        nested(json!("a".repeat(50))),
        nested(json!("a".repeat(187))),
        nested(json!("a".repeat(189))),
        nested(json!([[1]])),
        nested(json!("\u{1}".repeat(40))),
        json!({"$serde_json::private::Number": "1"}),
    ] {
        let from_text = run(&invoker, &ToolCall::new("repeat", arguments.to_string()));
        let from_value = run(&invoker, &ToolCall::new("repeat", &arguments));
        assert_eq!(from_value.outcome, from_text.outcome, "{arguments}");
        assert_eq!(from_value.text(), from_text.text(), "{arguments}");
    }
}

#[test]
fn arguments_are_equal_if_their_text_is() {
    let value = Arguments::from(json!({"a": [1, "x"]}));
    assert_eq!(value, Arguments::from(r#"{"a":[1,"x"]}"#));
    assert_eq!(value.clone().as_str(), value.as_str());
    assert_eq!(Arguments::from("").as_value(), None);
    assert_eq!(Arguments::from(r#"{"a":1,"a":2}"#).as_value(), None);
    assert_eq!(Arguments::from("[1, 2]").as_value(), Some(&json!([1, 2])));
}
