//! What must hold in every conversation: no call without its result, nothing done twice, nothing before its decision.
//!
//! One conversation is taken through whatever can happen to it: answers of every kind, errors in the middle of one, decisions
//! early, late and twice, cancellations and processes that die at any point where a turn can wait.

use std::sync::Arc;

use futures::FutureExt as _;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use toolwright::CancellationToken;
use toolwright::chat::{ApprovalResponse, ChatError, Entry, Response, TurnEnd, TurnRequest};

mod faulty;
mod monitor;
mod random_choices;

use crate::support::YieldingStore;
use faulty::FaultyModel;
use monitor::{Monitor, tools};
use random_choices::RandomChoices;

use crate::support::{assert_paired, builder};

const ROOM: &str = "room";

/// The same cases in every run, unless `PROPTEST_RNG_SEED` asks for others.
fn config(cases: u32) -> ProptestConfig {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) };
    match config.rng_seed {
        RngSeed::Random => ProptestConfig { rng_seed: RngSeed::Fixed(7), ..config },
        RngSeed::Fixed(_) => config,
    }
}

/// A conversation, and the process that continues it.
struct Scene {
    dice: RandomChoices,
    watch: Monitor,
    store: Arc<YieldingStore>,
    /// The last known response, perhaps outdated.
    paused: Option<Response>,
    /// Approval responses that were sent before.
    old: Vec<ApprovalResponse>,
}

impl Scene {
    fn new(bytes: Vec<u8>) -> Self {
        let store = Arc::new(YieldingStore::default());
        Self {
            dice: RandomChoices::new(bytes),
            watch: Monitor::new(Arc::clone(&store), ROOM),
            store,
            paused: None,
            old: Vec::new(),
        }
    }

    /// A process that has just started.
    fn chat(&self) -> toolwright::chat::Chat {
        let model = FaultyModel::new(self.dice.clone(), self.watch.clone());
        builder(model, tools(&self.watch)).store(Arc::clone(&self.store)).build()
    }

    /// Decides about some of the pending approvals.
    fn decisions(&mut self) -> Vec<ApprovalResponse> {
        let asked = self.paused.iter().flat_map(|paused| paused.pending_approvals());
        let mut decided = Vec::new();
        for asked in asked {
            decided.extend(match self.dice.below(6) {
                0 => None,
                1 => Some(asked.deny("no")),
                2 => Some(asked.answer("by hand")),
                3 => Some(asked.edit(serde_json::json!({"n": 1_000_000}))),
                4 => Some(asked.edit(serde_json::json!({"n": "none"}))),
                _ => Some(asked.approve()),
            });
        }
        if self.dice.below(4) == 0 {
            decided.extend(self.old.last().cloned());
        }
        self.old.extend(decided.iter().cloned());
        decided
    }

    fn next(&mut self) -> TurnRequest {
        match self.dice.below(5) {
            0 | 1 => self.chat().message().conversation(ROOM).user("Go!"),
            2 => self.chat().resume(ROOM),
            3 => {
                let decided = self.decisions();
                self.chat().submit_approvals(ROOM, decided)
            }
            _ => {
                let decided = self.decisions();
                match self.paused.clone() {
                    Some(paused) => paused.submit_approvals(decided),
                    None => self.chat().submit_approvals(ROOM, decided),
                }
            }
        }
    }

    /// Runs the conversation as far as the random choices take it: to its end, or until a request is dropped.
    async fn take(&mut self, request: TurnRequest) -> Option<Result<Response, ChatError>> {
        let polls = match self.dice.below(3) {
            0 => usize::MAX,
            _ => usize::from(self.dice.byte()) / 2,
        };
        let token = CancellationToken::new();
        let cancels = self.dice.below(2) == 0;
        let mut turn = Box::pin(request.cancel_on(token.clone()).call());
        for poll in 0.. {
            if poll == polls {
                if !cancels {
                    return None;
                }
                token.cancel();
            }
            if let Some(result) = turn.as_mut().now_or_never() {
                return Some(result);
            }
            tokio::task::yield_now().await;
        }
        None
    }

    async fn act(&mut self) {
        let request = self.next();
        match self.take(request).await {
            Some(Ok(response)) => {
                let going_on = response.end().is_none();
                assert_eq!(going_on, !response.pending_approvals().is_empty());
                let entries = self.store.entries(ROOM);
                assert_closed(&entries, going_on);
                if response.end() == Some(&TurnEnd::Answered) {
                    self.paused = None;
                } else {
                    self.paused = Some(response);
                }
            }
            Some(Err(ChatError::Ended { .. } | ChatError::Model(_))) => {
                assert_closed(&self.store.entries(ROOM), false);
            }
            Some(Err(ChatError::Rejected { .. } | ChatError::NoInput)) => {}
            Some(Err(error)) => panic!("{error}"),
            None => {}
        }
        let entries = self.store.entries(ROOM);
        assert_paired(&toolwright::chat::history(&entries));
        assert_eq!(self.watch.wrong(), Vec::<String>::new());
    }
}

/// Asserts that every call has exactly one result, except the open calls of the last turn.
fn assert_closed(entries: &[Entry], going_on: bool) {
    use toolwright::chat::EntryBody;
    let mut open: Vec<String> = Vec::new();
    for entry in entries {
        match &entry.body {
            EntryBody::User { .. } | EntryBody::TurnEnded { .. } => {
                assert_eq!(open, Vec::<String>::new())
            }
            EntryBody::Step { step, .. } => {
                assert_eq!(open, Vec::<String>::new());
                open = step.calls().map(|call| call.id.to_string()).collect();
            }
            EntryBody::ChildCall { call, .. } => open.push(call.id.to_string()),
            EntryBody::CallFinished { result } => {
                let at = open.iter().position(|id| result.call_id == id.as_str());
                open.remove(at.unwrap_or_else(|| panic!("{} has two results", result.call_id)));
            }
            _ => {}
        }
    }
    assert!(going_on || open.is_empty(), "{open:?}");
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn whatever_happens_to_a_conversation_it_stays_whole(
        bytes in vec(any::<u8>(), 0..300),
        actions in 1_usize..12,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.unwrap().block_on(async {
            let mut scene = Scene::new(bytes);
            for _ in 0..actions {
                scene.act().await;
            }
            // Whatever its state, the next message is answered or rejected with a reason.
            let request = scene.chat().message().conversation(ROOM).user("Well?");
            match request.call().await {
                Ok(response) => assert_closed(&scene.store.entries(ROOM), response.end().is_none()),
                Err(_) => assert_closed(&scene.store.entries(ROOM), false),
            }
            assert_eq!(scene.watch.wrong(), Vec::<String>::new());
        });
    }
}
