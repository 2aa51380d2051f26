//! The entries of a journal, and their JSON.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolwright::chat::{
    ApprovalVerdict, CallMetadata, Entry, EntryBody, Item, ItemKind, Message, ModelId, Step,
    StopReason, TurnEnd, Usage, history,
};
use toolwright::{Content, ToolCall, ToolResult};

const RAW: &str = r#"{"b":  1.50, "a": [1e2, "\u00e9"], "big": 12345678901234567890123}"#;

fn every_kind() -> Vec<EntryBody> {
    let raw = || RawValue::from_string(RAW.to_owned()).unwrap();
    let call = || ToolCall::new("look", r#"{"n": 1"#).with_id("a");
    let items = vec![
        Item::text("Hm.").with_raw("wire", raw()),
        Item::call(call()).with_raw("wire", raw()),
        Item::new(ItemKind::Other).with_raw("wire", raw()),
        Item::new(ItemKind::HostedCall {
            tool: "web_search".to_owned(),
            input: String::new(),
            output: String::new(),
            failed: true,
        }),
        Item::new(ItemKind::HostedApproval {
            id: "h".to_owned(),
            server: "s".to_owned(),
            tool: "t".to_owned(),
            arguments: "{}".to_owned(),
        }),
    ];
    let stop = StopReason::Other("odd".to_owned());
    let step = Step::new(ModelId::new("v", "m"), items, stop, Usage::new(3, 4));
    let mut result = ToolResult::success("1").with_structured(json!({"result": 1.0}));
    result.call_id = "a".into();
    let token = json!({"id": "1", "digest": "2", "expires": u64::MAX, "signature": "3"});
    let content = || vec![Content::text("Hello.")];
    let verdicts = [
        ApprovalVerdict::Approve,
        ApprovalVerdict::Edit { arguments: json!({"n": [1, null]}) },
        ApprovalVerdict::Deny { reason: "no".to_owned() },
        ApprovalVerdict::Answer { content: content() },
    ];
    let mut bodies = vec![
        EntryBody::User { content: content() },
        EntryBody::Assistant { content: content() },
        EntryBody::Step {
            step: Arc::new(step),
            calls: vec![CallMetadata::new("a", "look", "d")],
            cost: Some(0.25),
        },
        EntryBody::CallStarted { call: "a".into() },
        EntryBody::ApprovalRequested {
            call: "a".into(),
            arguments: json!({"n": 1}),
            token: serde_json::from_value(token).unwrap(),
        },
        EntryBody::CallFinished { result },
    ];
    bodies.extend(verdicts.map(|verdict| {
        let mac = Some("4".to_owned());
        EntryBody::ApprovalDecided { call: "a".into(), verdict, mac }
    }));
    let reason = || "because".to_owned();
    let ends = [
        TurnEnd::Answered,
        TurnEnd::Direct,
        TurnEnd::Length,
        TurnEnd::Limit { reason: reason() },
        TurnEnd::Failed { reason: reason() },
        TurnEnd::Cancelled,
    ];
    bodies.extend(ends.map(|end| EntryBody::TurnEnded { end }));
    bodies
}

#[test]
fn every_entry_survives_json() {
    for (at, what) in every_kind().into_iter().enumerate() {
        let entry = Entry::new(at.to_string(), u64::MAX, what);
        let json = serde_json::to_string(&entry).unwrap();
        let read: Entry = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{e}: {json}"));
        assert_eq!(serde_json::to_string(&read).unwrap(), json);
        assert_eq!((read.id, read.at), (entry.id, entry.at));
        // A database may hand it out as a value.
        let value: Value = serde_json::from_str(&json).unwrap();
        let read: Entry = serde_json::from_value(value).unwrap();
        assert_eq!(
            serde_json::to_value(&read).unwrap(),
            serde_json::to_value(serde_json::from_str::<Entry>(&json).unwrap()).unwrap()
        );
    }
}

#[test]
fn the_providers_json_survives_byte_for_byte() {
    let entry = Entry::new("1", 0, every_kind().remove(2));
    let json = serde_json::to_string(&entry).unwrap();
    let read: Entry = serde_json::from_str(&json).unwrap();
    let EntryBody::Step { step, .. } = read.body else { panic!("a step is a step") };
    for item in &step.items[..3] {
        assert_eq!(item.raw_json("wire").unwrap().get(), RAW);
        assert!(item.raw_json("another").is_none());
    }
}

fn entries_of(bodies: Vec<EntryBody>) -> Vec<Entry> {
    let numbered = bodies.into_iter().enumerate();
    numbered.map(|(at, body)| Entry::new(at.to_string(), 0, body)).collect()
}

fn step(ids: &[&str]) -> EntryBody {
    let call = |id: &&str| Item::call(ToolCall::new("look", "{}").with_id(*id));
    let items = ids.iter().map(call).collect();
    EntryBody::Step {
        step: Arc::new(Step::new(
            ModelId::new("v", ""),
            items,
            StopReason::Calls,
            Usage::default(),
        )),
        calls: ids.iter().map(|id| CallMetadata::new(*id, "look", "")).collect(),
        cost: None,
    }
}

fn finished(id: &str, text: &str) -> EntryBody {
    let mut result = ToolResult::success(text);
    result.call_id = id.into();
    EntryBody::CallFinished { result }
}

#[test]
fn results_follow_their_step_in_the_order_of_its_calls() {
    let entries = entries_of(vec![
        step(&["a", "b", "c"]),
        finished("c", "3"),
        finished("stray", "?"),
        finished("a", "1"),
        step(&["a"]),
        finished("a", "again"),
    ]);
    let messages = history(&entries);
    let [Message::Step(_), Message::Results(first), Message::Step(_), Message::Results(second)] =
        messages.as_slice()
    else {
        panic!("{messages:?}")
    };
    let texts: Vec<_> = first.iter().map(|result| result.text()).collect();
    assert_eq!((&*texts[0], &*texts[2]), ("1", "3"));
    assert!(texts[1].contains("the outcome is unknown"));
    assert_eq!(second[0].text(), "again");
}
