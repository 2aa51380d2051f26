//! Hints and policies of tools.

use std::time::Duration;

use serde_json::{Value, json};
use toolwright::{Invoker, Outcome, Registry, StrictMode, Tool, ToolCaller, tool};

use crate::call::{call, text};

/// Declares nothing.
#[tool]
fn declares_nothing() {}

/// Declares everything.
#[tool(read_only, destructive = false, idempotent = true, open_world)]
fn declares_everything() {}

/// Destroys something.
#[tool(destructive)]
fn destroys() {}

/// Destroys something that nobody misses.
#[tool(destructive, approval = never)]
fn destroys_rubbish() {}

/// Is always asked about.
#[tool(approval = always)]
fn always_asked() {}

/// Is asked about when it destroys, which it does not.
#[tool(approval = auto)]
fn never_asked() {}

/// Sleeps for too long.
#[tool(timeout = "5ms")]
async fn sleeps() {
    tokio::time::sleep(Duration::from_secs(3600)).await;
}

/// Takes more than it knows.
#[tool(extra = ignore, errors = generic, strict = off, on_malformed = error, return_direct, concurrency = 3)]
fn takes_anything(word: String) -> Result<String, String> {
    match word.as_str() {
        "" => Err("a secret reason".to_owned()),
        _ => Ok(word),
    }
}

/// Calls other tools.
#[tool(replayable)]
async fn calls_others(tools: ToolCaller) -> String {
    tools.call("declares_nothing", json!({})).await.text().into_owned()
}

/// Fills in its result.
#[tool(expand_result)]
fn fills_in(word: String) -> String {
    drop(word);
    "${word} and ${other}".to_owned()
}

/// Is found by more than its description.
#[tool(tags("shop", "till"), questions("Who owes us money?"))]
fn is_found() {}

fn hints(tool: &Tool) -> Value {
    serde_json::to_value(tool.spec().hints).unwrap()
}

#[test]
fn hints_are_published_only_where_declared() {
    assert_eq!(hints(&declares_nothing::tool()), json!({}));
    assert_eq!(
        hints(&declares_everything::tool()),
        json!({
            "readOnlyHint": true,
            "destructiveHint": false,
            "idempotentHint": true,
            "openWorldHint": true,
        })
    );
    assert_eq!(hints(&destroys::tool()), json!({"destructiveHint": true}));
}

#[test]
fn a_destructive_tool_needs_approval_by_default() {
    for (tool, asked) in [
        (declares_nothing::tool(), false),
        (destroys::tool(), true),
        (destroys_rubbish::tool(), false),
        (always_asked::tool(), true),
        (never_asked::tool(), false),
    ] {
        assert_eq!(tool.needs_approval(), asked, "{tool:?}");
    }
}

#[tokio::test]
async fn without_an_approver_the_call_is_denied() {
    let result = call(destroys::tool(), "destroys", json!({})).await;
    assert_eq!(result.outcome, Outcome::Denied);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_ends_the_call() {
    let result = call(sleeps::tool(), "sleeps", json!({})).await;
    assert_eq!(result.outcome, Outcome::TimedOut);
}

#[tokio::test]
async fn the_other_keys_reach_the_library() {
    let tool = takes_anything::tool();
    assert_eq!(tool.strict(), StrictMode::Off);
    assert!(tool.returns_direct());
    let extra = json!({"word": "hi", "more": 1});
    assert_eq!(text(tool, "takes_anything", extra).await, "hi");
    let failed = call(takes_anything::tool(), "takes_anything", json!({"word": ""})).await;
    assert!(failed.is_error());
    assert!(!failed.text().contains("secret"), "{}", failed.text());
}

#[tokio::test]
async fn a_result_is_expanded_only_with_expand_result() {
    let text = text(fills_in::tool(), "fills_in", json!({"word": "hi"})).await;
    assert_eq!(text, "hi and ${other}");
}

#[test]
fn a_replayable_tool_is_declared_as_such() {
    let registry = Registry::new();
    registry.add(vec![calls_others::tool(), declares_nothing::tool()]).unwrap();
    let snapshot = Invoker::new(&registry).unwrap().snapshot().unwrap();
    assert!(snapshot.find("calls_others").unwrap().policy().replayable);
    assert!(!snapshot.find("declares_nothing").unwrap().policy().replayable);
}

#[test]
fn tags_and_questions_are_part_of_the_spec_and_of_nothing_that_a_model_or_a_client_gets() {
    let spec = is_found::tool().spec().clone();
    assert_eq!(
        (&*spec.tags, &*spec.questions),
        (&["shop", "till"].map(str::to_owned)[..], &["Who owes us money?".to_owned()][..])
    );
    let built = Tool::builder("is_found", "Is found by more than its description.")
        .tag("shop")
        .tag("till")
        .question("Who owes us money?");
    let built = built.bundle(&*spec.bundle).run(|_, _| "").unwrap();
    assert_eq!((&built.spec().tags, &built.spec().questions), (&spec.tags, &spec.questions));
    let json = serde_json::to_string(&spec).unwrap();
    assert!(!json.contains("till") && !json.contains("owes"), "{json}");
    let mut plain = spec.clone();
    (plain.tags, plain.questions) = Default::default();
    assert_eq!(serde_json::to_string(&plain).unwrap(), json, "nor does a fingerprint change");
}
