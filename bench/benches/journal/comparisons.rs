//! Compares the store with plain sqlx for the same bytes, and a long conversation with a short one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use toolwright::chat::{Append, Entry, HistoryWindow, Store};
use toolwright_bench::{Comparison, Table};

use crate::plain_sqlx::PlainSqlx;
use crate::sample_conversation;

/// Appends one entry durably.
pub(crate) fn compare_append(
    runtime: &Runtime,
    name: &str,
    floor: Option<&PlainSqlx>,
    store: &Arc<dyn Store>,
) -> Table {
    let held = store.acquire("appending", "bench", Duration::from_secs(6_000));
    let lease = runtime.block_on(held).unwrap().unwrap();
    let mut race = Comparison::new(format!("{name}: one entry appended"), runtime);
    if let Some(floor) = floor {
        let text = sample_conversation::user_text(0);
        race = race.add_async_function("plain sqlx insert", async move || {
            floor.insert(0, &text).await;
            "ok"
        });
    }
    let (kind, mut n) = (sample_conversation::sample_entry(4).body, 0_usize);
    race.add_async_function("append", async move || {
        n += 1;
        let entry = Entry::new(format!("{n:016x}"), n as u64, kind.clone());
        store.append(&lease, Append::new(&[entry])).await.unwrap();
        "ok"
    })
    .run()
}

/// A conversation of 1,000 turns, read as a whole.
pub(crate) fn compare_load(
    runtime: &Runtime,
    name: &str,
    floor: Option<&PlainSqlx>,
    store: &Arc<dyn Store>,
) -> Table {
    let turns = 1_000;
    runtime.block_on(sample_conversation::append_turns(store, "loading", turns));
    let title = format!(
        "{name}: {} entries of {turns} turns read",
        turns * sample_conversation::ENTRIES_PER_TURN
    );
    let mut race = Comparison::new(title, runtime);
    if let Some(floor) = floor {
        let texts = (0..turns * sample_conversation::ENTRIES_PER_TURN)
            .map(sample_conversation::sample_entry);
        let texts: Vec<String> =
            texts.map(|entry| serde_json::to_string(&entry).unwrap()).collect();
        runtime.block_on(floor.fill(&texts));
        race = race.add_async_function("plain sqlx select, serde_json", async move || {
            let texts = floor.select().await;
            let entries = texts.iter().map(|text| serde_json::from_str(text).unwrap());
            entries.collect::<Vec<Entry>>().len().to_string()
        });
    }
    race.add_async_function("load", async move || {
        store.load("loading").await.unwrap().len().to_string()
    })
    .run()
}

/// How often a turn is timed; low, so that a short conversation stays short.
const ROUNDS: usize = 20;

/// A whole turn with a call, after so many others; the best of some.
pub(crate) fn compare_by_length(runtime: &Runtime, name: &str, store: &Arc<dyn Store>) -> Table {
    let chat = sample_conversation::build_chat(store);
    let mut rows = [10, 100, 1_000, 10_000].map(|turns| {
        let room = format!("after {turns}");
        runtime.block_on(sample_conversation::append_turns(store, &room, turns));
        (turns, room, f64::INFINITY)
    });
    for _ in 0..ROUNDS {
        for (_, room, best) in &mut rows {
            let turn = async {
                let start = Instant::now();
                let ask = chat.message().conversation(room.as_str());
                ask.user("And now?").call().await.unwrap();
                start.elapsed().as_nanos() as f64
            };
            *best = best.min(runtime.block_on(turn));
        }
    }
    let table = Table::new(format!("{name}: one more turn, with a call"));
    rows.iter()
        .fold(table, |table, (turns, _, best)| table.row(format!("after {turns} turns"), *best))
}

/// A turn whose call has an effect, and one whose call has none: how many appends wait for the disk.
pub(crate) fn compare_calls(runtime: &Runtime, name: &str, store: &Arc<dyn Store>) -> Table {
    let race = Comparison::new(format!("{name}: a turn with one call"), runtime);
    let turn = |room: &'static str, read_only: bool| {
        let chat = sample_conversation::build_chat_with(store, read_only);
        async move || {
            let ask = chat.message().conversation(room);
            ask.user("And now?").call().await.unwrap();
            "ok"
        }
    };
    race.add_async_function("a call without an effect", turn("without effect", true))
        .add_async_function("a call with an effect", turn("with effect", false))
        .run()
}

/// The window of a conversation of 10,000 entries, and the same with a branch after its first turn.
pub(crate) fn compare_branch(runtime: &Runtime, name: &str, store: &Arc<dyn Store>) -> Table {
    let turns = 10_000 / sample_conversation::ENTRIES_PER_TURN;
    for room in ["linear", "branched"] {
        runtime.block_on(sample_conversation::append_turns(store, room, turns));
    }
    let chat = sample_conversation::build_chat(store);
    let first_end = sample_conversation::sample_entry(sample_conversation::ENTRIES_PER_TURN - 1).id;
    let branch = chat.message().conversation("branched").after(first_end).user("And now?");
    runtime.block_on(branch.call()).unwrap();
    let window = HistoryWindow::default();
    let load = |room: &'static str| {
        async move || {
            let entries = window.load_entries(store, room).await.unwrap();
            assert!(!window.select_messages(&entries).is_empty());
            "ok"
        }
    };
    Comparison::new(format!("{name}: the window of a conversation of 10,000 entries"), runtime)
        .add_async_function("linear", load("linear"))
        .add_async_function("on a branch after the first turn", load("branched"))
        .run()
}
