//! Tests of the AG-UI encoder.

use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::Value;
use toolwright_chat::{ChatEvent, StopReason, TurnEnd, Usage};
use toolwright_conversation::ConversationEvent;
use toolwright_conversation::logged_event::EventBody;
use toolwright_core::{Content, ToolCall, ToolResult};

use super::*;

/// Checks the protocol's rules on the order of start and end events.
fn check(events: &[Value]) -> Result<(), TestCaseError> {
    let mut open = HashSet::new();
    let (first, last) = (&events[0], events.last().unwrap());
    prop_assert_eq!(&first["type"], "RUN_STARTED");
    prop_assert!(["RUN_FINISHED", "RUN_ERROR"].contains(&last["type"].as_str().unwrap()));
    for event in events {
        let kind = event["type"].as_str().unwrap();
        let named = ["messageId", "toolCallId", "stepName"].iter();
        let name = named.filter_map(|field| event[field].as_str()).next().unwrap_or_default();
        let Some((of, what)) = kind.rsplit_once('_') else {
            continue;
        };
        let thing = (of.to_owned(), name.to_owned());
        match what {
            "START" | "STARTED" if of != "RUN" => {
                prop_assert!(open.insert(thing), "{kind} {name} twice")
            }
            "CONTENT" | "ARGS" => prop_assert!(open.contains(&thing), "{kind} of nothing: {name}"),
            "END" => prop_assert!(open.remove(&thing), "{kind} of nothing: {name}"),
            "FINISHED" if of == "STEP" => {
                prop_assert!(open.remove(&thing), "{kind} of nothing: {name}")
            }
            "FINISHED" => prop_assert!(open.is_empty(), "left open: {open:?}"),
            _ => {}
        }
    }
    Ok(())
}

fn body(event: ChatEvent) -> EventBody {
    ConversationEvent::from(event).into()
}

fn event(which: usize, at: usize) -> ChatEvent {
    let call = ToolCall::new("f", "{}").with_id(format!("c{at}"));
    match which {
        0 => ChatEvent::Text { delta: "so".to_owned() },
        1 => ChatEvent::Reasoning { delta: "hm".to_owned() },
        2 => ChatEvent::CallBegins { call: call.id, tool: call.name },
        3 => ChatEvent::Call { call },
        4 => {
            let mut result = ToolResult::success("done");
            result.call_id = call.id;
            ChatEvent::Result { result, millis: 1 }
        }
        5 => ChatEvent::HostedCall {
            tool: "web_search".to_owned(),
            input: "whales".to_owned(),
            output: "many".to_owned(),
            failed: false,
        },
        _ => ChatEvent::Step { stop: StopReason::End, usage: Usage::default(), cost: None },
    }
}

proptest! {
    #[test]
    fn everything_that_is_opened_is_closed(happened in prop::collection::vec(0..7_usize, 0..40), end in 0..4) {
        let mut run = AgUiEncoder::new("t".to_owned(), "r".to_owned(), "m".to_owned());
        let mut out = Messages::default();
        run.start(&mut out);
        for (at, which) in happened.into_iter().enumerate() {
            run.on_event(&body(event(which, at)), &mut out);
        }
        let reason = "enough".to_owned();
        let last = match end {
            0 => ChatEvent::TurnPaused { calls: Vec::new() },
            1 => ended(TurnEnd::Answered),
            2 => ended(TurnEnd::Cancelled),
            _ => ended(TurnEnd::Limit { reason }),
        };
        run.on_event(&body(last), &mut out);
        let events: Vec<Value> =
            out.take_json().iter().map(|json| serde_json::from_str(json).unwrap()).collect();
        check(&events)?;
    }
}

fn ended(end: TurnEnd) -> ChatEvent {
    let (content, usage) = (vec![Content::text("so")], Usage::default());
    ChatEvent::TurnEnded { end, content, usage, cost: None }
}
