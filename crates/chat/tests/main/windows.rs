//! The window of history that is sent to the model: whole turns, every call with its result, within the limits.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use toolwright::chat::{
    Entry, EntryBody, HistoryWindow, MemoryStore, Message, history, newest_path, repair_journal,
};
use toolwright::testing::ScriptedModel;

mod journal;

use journal::{Piece, journal, piece, turns};

use crate::support::{builder, constant_tool, store_entries, unpaired};

/// More than what is left of a text or a result that was left out.
const NOTE: usize = 64;

/// The same cases in every run, unless `PROPTEST_RNG_SEED` asks for others.
fn config(cases: u32) -> ProptestConfig {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) };
    match config.rng_seed {
        RngSeed::Random => ProptestConfig { rng_seed: RngSeed::Fixed(7), ..config },
        RngSeed::Fixed(_) => config,
    }
}

fn window() -> impl Strategy<Value = HistoryWindow> {
    let most = |most: usize| proptest::option::of(0..most);
    (most(25), most(6), most(600)).prop_map(|(messages, turns, tokens)| {
        let mut window = HistoryWindow::all();
        (window.messages, window.turns, window.tokens) = (messages, turns, tokens);
        window
    })
}

fn count(messages: &[Message]) -> usize {
    let count = messages.iter().map(|message| match message {
        Message::Results(results) => results.len(),
        _ => 1,
    });
    count.sum()
}

/// Where the window has to begin: as early as all limits allow.
fn begin(window: HistoryWindow, entries: &[Entry]) -> usize {
    let begins = turns(entries);
    let Some(&current) = begins.last() else {
        return 0;
    };
    let mut from = current;
    for (kept, &begin) in begins.iter().rev().enumerate().skip(1) {
        let before = count(&history(&entries[begin..current]));
        let tokens = HistoryWindow::estimate_tokens(&history(&entries[begin..current]))
            + HistoryWindow::estimate_tokens(&history(&entries[current..]));
        let fits = |most: Option<usize>, is| most.is_none_or(|most| is <= most);
        if !fits(window.turns, kept)
            || !fits(window.messages, before)
            || !fits(window.tokens, tokens)
        {
            break;
        }
        from = begin;
    }
    from
}

/// What is left of a turn when nothing more can be left out.
fn least(messages: &[Message]) -> usize {
    let least = messages.iter().map(|message| {
        let whole = HistoryWindow::estimate_tokens(std::slice::from_ref(message));
        match message {
            Message::Step(_) => whole,
            Message::Results(results) => whole.min(results.len() * NOTE / 4 + 5),
            _ => whole.min(NOTE / 4 + 5),
        }
    });
    least.sum()
}

fn left_out(message: &Message) -> bool {
    format!("{message:?}").contains("[left out: ")
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn whatever_the_journal_and_the_window_no_call_is_sent_without_its_result(
        pieces in vec(piece(), 0..30),
        window in window(),
    ) {
        let entries = journal(&pieces);
        let messages = window.select_messages(&entries);
        prop_assert_eq!(unpaired(&messages), None);

        // Whole turns, as many as fit.
        let from = begin(window, &entries);
        let whole = history(&entries[from..]);
        let current = turns(&entries).last().copied().unwrap_or_default();
        let current = history(&entries[current..]);
        prop_assert_eq!(messages.len(), whole.len());
        let earlier = whole.len() - current.len();
        prop_assert_eq!(format!("{:?}", &messages[..earlier]), format!("{:?}", &whole[..earlier]));
        if window.tokens.is_none() {
            prop_assert_eq!(format!("{messages:?}"), format!("{whole:?}"));
        }
        if let Some(most) = window.messages {
            prop_assert!(count(&messages[..earlier]) <= most);
        }
        if let Some(most) = window.tokens {
            let is = HistoryWindow::estimate_tokens(&messages);
            prop_assert!(is <= most.max(least(&current)), "{is} of {most}: {messages:?}");
            // Tool results are left out before messages are truncated.
            let shortened = messages.iter().any(|it| !matches!(it, Message::Results(_)) && left_out(it));
            let mut results = messages[earlier..].iter().filter(|it| matches!(it, Message::Results(_)));
            if shortened {
                prop_assert!(results.all(|it| left_out(it) || HistoryWindow::estimate_tokens(std::slice::from_ref(it)) <= least(std::slice::from_ref(it))));
            }
        }
    }

    #[test]
    fn a_damaged_journal_is_repaired_with_remarks(pieces in vec(piece(), 0..30)) {
        let entries = journal(&pieces);
        let (repaired, remarks) = repair_journal(entries.clone());
        let (again, nothing) = repair_journal(repaired.clone());
        prop_assert_eq!(nothing, Vec::<String>::new());
        prop_assert_eq!(texts(&again), texts(&repaired));
        prop_assert_eq!(remarks.is_empty(), texts(&entries) == texts(&repaired));
        assert_answered(&repaired);
        let path: Vec<Entry> = newest_path(&repaired).into_iter().cloned().collect();
        assert_answered(&path);
        prop_assert_eq!(unpaired(&history(&repaired)), None);
        if pieces.iter().all(Piece::is_whole) {
            prop_assert_eq!(remarks, Vec::<String>::new());
        }
    }
}

fn texts(entries: &[Entry]) -> Vec<String> {
    let text = |entry| serde_json::to_string(entry).unwrap();
    entries.iter().map(text).collect()
}

/// Asserts that every call has one result before the next message or step, except the open calls at the end.
fn assert_answered(entries: &[Entry]) {
    let mut open: Vec<String> = Vec::new();
    for entry in entries {
        match &entry.body {
            EntryBody::Step { step, calls, .. } => {
                assert_eq!(open, Vec::<String>::new());
                open = step.calls().map(|call| call.id.to_string()).collect();
                let known: Vec<String> = calls.iter().map(|it| it.call.to_string()).collect();
                assert_eq!(open, known);
            }
            EntryBody::CallFinished { result } => {
                let at = open.iter().position(|id| result.call_id == id.as_str());
                open.remove(at.unwrap());
            }
            EntryBody::CallStarted { call } => assert!(open.contains(&call.to_string())),
            _ => assert_eq!(open, Vec::<String>::new()),
        }
    }
}

#[test]
fn every_repair_has_a_remark() {
    let entries = journal(&[
        Piece::User(1),
        Piece::Step { calls: 2, known: true },
        Piece::Finished { call: 0, size: 3 },
        Piece::Finished { call: 0, size: 4 },
        Piece::User(1),
        Piece::Finished { call: 1, size: 3 },
        Piece::Started(7),
        Piece::Step { calls: 1, known: false },
        Piece::Branch(1),
        Piece::Ended,
        Piece::Step { calls: 1, known: true },
        Piece::Branch(9),
        Piece::Branch(99),
    ]);
    let twice = [entries.clone(), vec![entries[0].clone()]].concat();
    let (repaired, remarks) = repair_journal(twice);
    assert_eq!(
        remarks,
        [
            "entry `3` tells a result of call `call-0`, which is not open: it is left out",
            "entry `1`: call `call-1` has no result; its outcome is told as unknown",
            "entry `5` tells a result of call `call-1`, which is not open: it is left out",
            "entry `6` tells something of call `call-7`, which is not open: it is left out",
            "entry `7`: what is known about its calls was not about these calls; it is now",
            "entry `8` begins a branch after `1`, which ends no turn: it follows the entry before it",
            "entry `7`: call `call-2` has no result; its outcome is told as unknown",
            "entry `10`: call `call-3` has no result; its outcome is told as unknown",
            "entry `12` begins a branch after `99`, which ends no turn: it follows the entry before it",
            "entry `0` is there twice: the second one is left out",
        ]
    );
    let ids: Vec<&str> = repaired.iter().map(|entry| entry.id.as_str()).collect();
    let expected =
        ["0", "1", "2", "1:call-1", "4", "7", "7:call-2", "8", "9", "10", "10:call-3", "11", "12"];
    assert_eq!(ids, expected);
    let branches: Vec<_> = repaired.iter().filter_map(|it| it.after.as_deref()).collect();
    assert_eq!(branches, ["9"]);
}

#[tokio::test]
async fn the_entries_of_a_window_are_read_without_the_rest_of_the_journal() {
    let turn = Piece::Turn { calls: 1, size: 9 };
    let entries = journal(&vec![turn; 500]);
    let store = MemoryStore::new();
    store_entries(&store, "room", &entries).await;
    for window in [HistoryWindow::default(), HistoryWindow::all().turns(100), HistoryWindow::all()]
    {
        let read = window.load_entries(&store, "room").await.unwrap();
        let of_all = format!("{:?}", window.select_messages(&entries));
        assert_eq!(format!("{:?}", window.select_messages(&read)), of_all);
        let is_whole = window == HistoryWindow::all();
        assert_eq!(read.len() == entries.len(), is_whole, "{}", read.len());
    }
}

#[tokio::test]
async fn the_system_prompt_is_kept_however_small_the_window() {
    let model = ScriptedModel::new().calls("temperature", "{}").replies("20 °C.").replies("68 °F.");
    let tools = vec![constant_tool("temperature", "20 °C")];
    let chat = builder(model.clone(), tools).system("Be brief.");
    let chat = chat.window(HistoryWindow::all().messages(0).turns(0).tokens(0)).build();
    for question in ["How warm is it?", "Convert that temperature!"] {
        let ask = chat.message().conversation("room").user(question);
        ask.call().await.unwrap();
    }
    for request in model.requests() {
        assert_eq!(request.system.as_deref(), Some("Be brief."));
        assert!(!request.messages.is_empty());
    }
    assert_eq!(model.requests().last().unwrap().messages.len(), 1);
}

#[tokio::test]
async fn what_a_tool_returned_is_remembered_in_the_next_turn() {
    let model = ScriptedModel::new().calls("temperature", "{}").replies("Warm.").replies("68 °F.");
    let tools = vec![constant_tool("temperature", "20 °C")];
    let chat = builder(model.clone(), tools).build();
    for question in ["How warm is it?", "Convert that temperature!"] {
        let ask = chat.message().conversation("room").user(question);
        ask.call().await.unwrap();
    }
    let messages = model.requests().remove(2).messages;
    let remembered = |message: &Message| matches!(message, Message::Results(results) if results[0].text() == "20 °C");
    assert!(messages.iter().any(remembered), "{messages:?}");
}
