//! Compares the store with plain sqlx for the same bytes, a long conversation with a short one, and a turn from the inbox with one
//! without it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use tokio::runtime::Runtime;
use toolwright::chat::{
    Append, Attended, Chat, Entry, HeldLease, HistoryWindow, InboxBody, InboxHandler, InboxItem,
    MessagePart, Store, TurnStatus, attend, load_path,
};
use toolwright::{Content, Role};
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

/// Has a chat answer the messages of an inbox.
struct InboxTurns(Chat);

impl InboxHandler for InboxTurns {
    fn on_acquired(&self, _: &Arc<HeldLease>) {}

    fn resume<'a>(&'a self, _: &'a Arc<HeldLease>) -> BoxFuture<'a, Option<TurnStatus>> {
        Box::pin(async { None })
    }

    fn handle<'a>(
        &'a self,
        item: InboxItem,
        lease: &'a Arc<HeldLease>,
    ) -> BoxFuture<'a, Option<TurnStatus>> {
        Box::pin(async move {
            let mut request = self.0.message().conversation(&*lease.lease().conversation);
            if let InboxBody::Message { parts, .. } = item.body.clone() {
                for part in parts {
                    request = request.message_in_role(part.role, part.content);
                }
            }
            let request = request.held_lease(Arc::clone(lease)).inbox_item(item);
            request.call().await.unwrap();
            Some(TurnStatus::Over)
        })
    }
}

/// A turn with a call whose message is pushed into the inbox and attended to, as a server does, and one without an inbox.
pub(crate) fn compare_inbox(runtime: &Runtime, name: &str, store: &Arc<dyn Store>) -> Table {
    let chat = sample_conversation::build_chat(store);
    let (handler, mut n) = (InboxTurns(sample_conversation::build_chat(store)), 0_usize);
    Comparison::new(format!("{name}: a turn with one call, and its message"), runtime)
        .add_async_function("asked directly", async move || {
            chat.message().conversation("direct").user("And now?").call().await.unwrap();
            "ok"
        })
        .add_async_function("pushed, attended to and ended", async move || {
            n += 1;
            let content = vec![Content::text("And now?")];
            let parts = vec![MessagePart { role: Role::User, content }];
            let (model, after, client_tools) = (None, None, Vec::new());
            let body = InboxBody::Message { parts, model, after, client_tools };
            let item = InboxItem::new(format!("{n:016x}"), n as u64, body);
            store.push_inbox("attended", &item, usize::MAX).await.unwrap().unwrap();
            let duration = Duration::from_secs(600);
            let attended = attend(store, "attended", "bench", duration, &handler).await.unwrap();
            assert_eq!(attended, Attended::Done);
            "ok"
        })
        .run()
}

/// Conversations of 10,000 entries, one of them with a branch after its first turn: the window that the next turn reads, and the
/// whole path that a client is shown.
pub(crate) fn compare_branch(
    runtime: &Runtime,
    name: &str,
    store: &Arc<dyn Store>,
) -> (Table, Table) {
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
    let title = |what: &str| format!("{name}: {what} of a conversation of 10,000 entries");
    let windows = Comparison::new(title("the window"), runtime)
        .add_async_function("linear", load("linear"))
        .add_async_function("on a branch after the first turn", load("branched"))
        .run();
    let last = turns * sample_conversation::ENTRIES_PER_TURN - 1;
    let last = sample_conversation::sample_entry(last).id;
    let path = |room: &'static str, at: Option<String>| {
        async move || {
            let entries = load_path(store, room, at.as_deref()).await.unwrap();
            assert_eq!(entries.len() < 100, room == "branched" && at.is_none());
            "ok"
        }
    };
    // Not the same number of entries: a branch is opened without those beside it.
    let paths = Comparison::new(title("the path"), runtime)
        .add_async_function("all entries, without a path", async || {
            store.load("branched").await.unwrap();
            "ok"
        })
        .add_async_function("linear", path("linear", None))
        .add_async_function("beside the branch", path("branched", Some(last)))
        .add_async_function("on the branch", path("branched", None))
        .run();
    (windows, paths)
}
