//! Entries, names and keys are loaded exactly as they were stored.

use serde_json::value::RawValue;
use toolwright::ToolCall;
use toolwright::chat::{
    Append, ApprovalVerdict, CallMetadata, Entry, EntryBody, Item, ModelId, Step, StopReason,
    TailEnd, Usage, load_unfinished_turn, repair_journal,
};
use toolwright::testing::ScriptedModel;

use crate::Backend;
use crate::fixtures::{acquire, acquire_as, append, chat, encode, ids, user_entry};

/// JSON that parsing and serializing would change.
const UNUSUAL_JSON: &[&str] = &[
    r#"{ "z" :1 ,	"a":[ 1 , 2],"m":{  } }"#,
    "{\"line\":\r\n\t1\n}",
    "12345678901234567890123456789012345678901234567890",
    r#"{"n":0.1000000000000000055511151231257827021181583404541015625,"e":1E400,"minus":-0.0,"plus":1e+2}"#,
    r#"{"same":1,"same":2}"#,
    r#""\u0041\u0000\ud83d\ude00\/é€\u20ac""#,
    r#"["\u2028","'';DROP TABLE entries;--","$1","?1",":name"]"#,
    "null",
];

pub async fn json_is_stored_byte_for_byte(backend: &dyn Backend) {
    let store = backend.open().await;
    let entries: Vec<Entry> =
        UNUSUAL_JSON.iter().enumerate().map(|(n, json)| step(n, json)).collect();
    append(&store, "room", &entries).await;
    for store in [store, backend.open().await] {
        let loaded = store.load("room").await.unwrap();
        assert_eq!(encode(&loaded), encode(&entries));
        for (entry, json) in loaded.iter().zip(UNUSUAL_JSON) {
            let EntryBody::Step { step, .. } = &entry.body else { panic!("{entry:?}") };
            let raw = step.items[0].raw_json("odd").unwrap();
            assert_eq!(raw.get(), *json);
            let call = step.calls().next().unwrap();
            assert_eq!(call.arguments.as_str(), *json);
        }
    }
}

fn step(n: usize, json: &str) -> Entry {
    let raw = RawValue::from_string(json.to_owned()).unwrap();
    let call = ToolCall::new("look", json).with_id("call");
    let items = vec![Item::call(call).with_raw("odd", raw)];
    let step = Step::new(ModelId::new("odd", ""), items, StopReason::Calls, Usage::new(1, 2));
    let what = EntryBody::Step {
        step: step.into(),
        calls: vec![CallMetadata::new("call", "look", "digest")],
        cost: Some(0.1),
    };
    Entry::new(format!("{n}"), 0, what)
}

pub async fn names_and_ids_may_be_anything(backend: &dyn Backend) {
    let names = [
        "",
        " ",
        "\0",
        "a\0b",
        "a",
        "A",
        "ä",
        "a\u{308}",
        "🦀 \u{202e}\n'\"\\;--%_",
        "%",
        "room/1?x=y#z",
        &"long ".repeat(200),
    ];
    let store = backend.open().await;
    for name in names {
        let lease = acquire_as(&store, name, name).await.unwrap();
        let entries = names.map(|id| user_entry(id, 1, name));
        store.append(&lease, Append::new(&entries)).await.unwrap();
    }
    let store = backend.open().await;
    for name in names {
        let loaded = store.load(name).await.unwrap();
        assert_eq!(ids(&loaded), names, "{name:?}");
        assert_eq!(encode(&loaded), encode(&names.map(|id| user_entry(id, 1, name))));
        let before = store.tail(name, TailEnd::Before("a\0b"), 9).await.unwrap();
        assert_eq!(ids(&before), ["", " ", "\0"]);
        assert!(acquire_as(&store, name, "other").await.is_none());
    }
    let mut expected = names.map(str::to_owned);
    expected.sort();
    let listed = store.list(100).await.unwrap();
    let listed: Vec<String> = listed.into_iter().map(|it| it.conversation).collect();
    assert_eq!(listed, expected, "equal times are ordered by name");
}

pub async fn numbers_survive_the_round_trip(backend: &dyn Backend) {
    let store = backend.open().await;
    let room = acquire(&store, "room").await;
    let mut entries = vec![user_entry("a", u64::MAX, ""), user_entry("b", 0, "")];
    // A parser of floats that rounds imprecisely changes every tenth of such numbers.
    for n in 0..100_u32 {
        let cost = f64::from(n).sqrt() / 7.0;
        let arguments = serde_json::json!({"x": cost, "big": u64::MAX, "small": i64::MIN});
        let verdict = ApprovalVerdict::Edit { arguments };
        let call = "call".into();
        let what = EntryBody::ApprovalDecided { call, verdict, mac: None };
        entries.push(Entry::new(format!("{n}"), 0, what));
        let mut step = step(0, "null");
        step.id = format!("step {n}");
        if let EntryBody::Step { cost: paid, .. } = &mut step.body {
            *paid = Some(cost);
        }
        entries.push(step);
    }
    store.append(&room, Append::new(&entries)).await.unwrap();
    let loaded = backend.open().await.load("room").await.unwrap();
    assert_eq!(encode(&loaded), encode(&entries));
    assert_eq!(store.list(usize::MAX).await.unwrap().len(), 1);
}

pub async fn entries_of_a_newer_version_are_kept_and_skipped(backend: &dyn Backend) {
    let unknown = |id: &str| {
        let text =
            format!(r#"{{"id":"{id}","at":1,"what":{{"novel":{{"n":1.50,  "call":"c"}}}}}}"#);
        Entry::from_json(&text).unwrap()
    };
    let store = backend.open().await;
    append(&store, "room", &[unknown("before"), user_entry("first", 2, "Hello")]).await;
    append(&store, "room", &[unknown("between")]).await;
    let model = ScriptedModel::new().replies("Hi.").replies("Again.");
    let chat = chat(model.clone(), Vec::new(), store.clone());
    assert_eq!(chat.resume("room").call().await.unwrap().text(), "Hi.");
    append(&store, "room", &[unknown("after")]).await;
    // The turn is over, although its end is not the last entry.
    assert!(load_unfinished_turn(&store, "room").await.unwrap().is_none());
    chat.message().conversation("room").user("Once more").call().await.unwrap();

    assert_eq!(model.requests()[1].messages.len(), 3);
    let stored = backend.open().await.load("room").await.unwrap();
    let (repaired, remarks) = repair_journal(stored.clone());
    assert_eq!((encode(&repaired), remarks), (encode(&stored), Vec::new()));
    let unknown_ids: Vec<&str> =
        stored.iter().filter(|entry| entry.is_unknown()).map(|entry| entry.id.as_str()).collect();
    assert_eq!(unknown_ids, ["before", "between", "after"]);
    assert!(encode(&stored)[0].contains(r#"{"n":1.50,  "call":"c"}"#), "{stored:?}");
}
