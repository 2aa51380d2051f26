//! A rig agent's stream as events of a conversation.

use futures::StreamExt as _;
use rig::AgentBuilder;
use serde_json::{Value, json};
use toolwright::{Invoker, Json, Registry, ToolCall, ToolError, tool};
use toolwright_rig::{EndOnFatal, events, tools};

use super::script::{ScriptedClient, call_delta, text_delta};

/// Doubles a number.
#[tool(read_only)]
fn double(number: i64) -> Result<Json<i64>, ToolError> {
    match number {
        0 => Err(ToolError::fatal("nothing to double")),
        13 => Err(ToolError::failed("not that one")),
        number => Ok(Json(number * 2)),
    }
}

/// Runs a script to its end, and returns its events without the times.
async fn collect_events(script: &ScriptedClient, turns: usize) -> Vec<Value> {
    let registry = Registry::new();
    let _ = registry.add(double::tool());
    let tools = Invoker::new(&registry).ok().and_then(|invoker| tools(&invoker).ok());
    let agent = AgentBuilder::new(script.model())
        .dynamic_tools(tools.unwrap_or_default())
        .add_hook(EndOnFatal)
        .build();
    let run = agent.prompt("Go on.").max_turns(turns).stream();
    let received = events(run).map(|event| {
        let mut event = serde_json::to_value(event).unwrap_or_default();
        if let Some(fields) = event.as_object_mut() {
            fields.remove("millis");
        }
        event
    });
    received.collect().await
}

fn doubles(index: usize, arguments: &str) -> Value {
    call_delta(index, &ToolCall::new("double", arguments))
}

fn usage(steps: u64) -> Value {
    json!({"input": 10 * steps, "output": 5 * steps, "cached": 0, "cache_written": 0, "reasoning": 0, "estimated": false})
}

#[tokio::test]
async fn a_run_is_told_as_a_conversation() {
    let script = ScriptedClient::new([
        vec![
            json!({"reasoning_content": "Two of them."}),
            text_delta("I "),
            text_delta("count."),
            doubles(0, r#"{"number":4}"#),
            doubles(1, r#"{"number":13}"#),
            doubles(2, r#"{"number":"#),
        ],
        vec![text_delta("Eight.")],
    ]);
    let received = collect_events(&script, 2).await;
    let types: Vec<&str> = received.iter().filter_map(|event| event["type"].as_str()).collect();
    let expected = [
        "reasoning",
        "text",
        "text",
        "call",
        "call",
        "call",
        "step",
        "result",
        "result",
        "result",
        "text",
        "step",
        "ended",
    ];
    assert_eq!(types, expected);
    assert_eq!(received[0]["delta"], "Two of them.");
    assert_eq!(
        received[3]["call"],
        json!({"id": "call_0", "name": "double", "arguments": r#"{"number":4}"#})
    );
    assert_eq!(received[5]["call"]["arguments"], r#"{"number":"#);
    assert_eq!(
        received[6],
        json!({"type": "step", "stop": "calls", "usage": usage(1), "cost": null})
    );
    for (index, failed) in [(0, false), (1, true), (2, true)] {
        let (call, result) = (&received[3 + index]["call"], &received[7 + index]["result"]);
        assert_eq!(result["callId"], call["id"]);
        assert_eq!(result["tool"], "double");
        assert_eq!(result["isError"], failed, "{result}");
    }
    assert_eq!(received[7]["result"]["content"][0]["text"], "8");
    assert_eq!(received[7]["result"]["structuredContent"], 8);
    assert_eq!(received[8]["result"]["content"][0]["text"], "not that one");
    let ended = json!({
        "type": "ended", "end": "answered", "content": [{"type": "text", "text": "Eight."}],
        "usage": usage(2), "cost": null,
    });
    assert_eq!(received[12], ended);
}

#[tokio::test]
async fn a_run_that_fails_ends_all_the_same() {
    let call = |number: i64| vec![doubles(0, &json!({ "number": number }).to_string())];
    let [limited, failed, fatal] = [(call(4), 1), (call(4), 2), (call(0), 2)];
    for ((answer, turns), end, reason) in [
        (limited, "limit", "max turns limit of 1"),
        (failed, "failed", "Stream ended"),
        (fatal, "failed", "nothing to double"),
    ] {
        let received = collect_events(&ScriptedClient::new([answer]), turns).await;
        let ended = received.last().unwrap();
        assert_eq!((&ended["type"], &ended["end"]), (&json!("ended"), &json!(end)));
        assert!(ended["reason"].as_str().unwrap().contains(reason), "{ended}");
        assert_eq!(ended["usage"], usage(1));
        assert_eq!(received.iter().filter(|event| event["type"] == "ended").count(), 1);
    }
}
