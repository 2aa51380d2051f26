//! Two nodes compete for what may be used once: an approval, a place in a queue, the last call of a limit.

use std::sync::Arc;

use toolwright::chat::{ApprovalResponse, Chat, ChatError, Entry, EntryBody, Store};
use toolwright::testing::ScriptedModel;
use toolwright::{Invoker, Outcome, RateLimit, Registry, ToolCall};

use crate::Backend;
use crate::fixtures::{LONG, Log, chat, inbox_message, pay_tool, race_count};

/// Two nodes, each with a store of its own.
async fn nodes(backend: &dyn Backend) -> [Arc<dyn Store>; 2] {
    [backend.open().await, backend.open().await]
}

/// The decision at one node: true if it was applied.
async fn decide(chat: Chat, conversation: String, decision: ApprovalResponse) -> bool {
    match chat.submit_approvals(&*conversation, vec![decision]).call().await {
        Ok(_) => true,
        Err(ChatError::Rejected { .. }) => false,
        Err(error) => panic!("{error}"),
    }
}

pub async fn an_approval_that_two_nodes_receive_is_used_once(backend: &dyn Backend) {
    let [one, two] = nodes(backend).await;
    let log = Log::default();
    let new_chat = |store: &Arc<dyn Store>, model: ScriptedModel| {
        chat(model, vec![pay_tool(&log)], Arc::clone(store))
    };
    for round in 0..race_count() {
        let conversation = format!("room {round}");
        let asking = ScriptedModel::new().calls("pay", format!(r#"{{"amount": {round}}}"#));
        let paused = new_chat(&one, asking).message().conversation(&*conversation).user("Pay!");
        let paused = paused.call().await.unwrap();
        let pending = &paused.pending_approvals()[0];
        // Both nodes receive it, and every other time they disagree.
        let second = if round % 2 == 0 { pending.approve() } else { pending.deny("no") };
        let decisions = [(&one, pending.approve()), (&two, second)];
        let attempts = decisions.map(|(store, decision)| {
            let chat = new_chat(store, ScriptedModel::new().replies("Done."));
            tokio::spawn(decide(chat, conversation.clone(), decision))
        });
        let mut applied = 0;
        for attempt in attempts {
            applied += usize::from(attempt.await.unwrap());
        }
        assert_eq!(applied, 1, "{round}");
        let entries = two.load(&conversation).await.unwrap();
        let count = |is: fn(&EntryBody) -> bool| {
            entries.iter().filter(|entry: &&Entry| is(&entry.body)).count()
        };
        assert_eq!(count(|body| matches!(body, EntryBody::ApprovalDecided { .. })), 1, "{round}");
        assert_eq!(count(|body| matches!(body, EntryBody::TurnEnded { .. })), 1, "{round}");
        let paid = log.lines().iter().filter(|line| **line == format!("paid {round}")).count();
        assert!(paid == 1 || (paid == 0 && round % 2 == 1), "{round}: {paid}");
    }
}

pub async fn the_last_place_of_an_inbox_is_taken_by_one_of_two_nodes(backend: &dyn Backend) {
    let nodes = nodes(backend).await;
    for round in 0..race_count() {
        let conversation = format!("room {round}");
        let limit = 1 + round % 3;
        for n in 1..limit {
            let item = inbox_message(&format!("waiting {n}"), "Hello");
            nodes[0].push_inbox(&conversation, &item, limit).await.unwrap().unwrap();
        }
        let attempts = [0, 1].map(|n| {
            let (store, conversation) = (Arc::clone(&nodes[n]), conversation.clone());
            let item = inbox_message(&format!("last {n}"), "Hello");
            tokio::spawn(async move {
                store.push_inbox(&conversation, &item, limit).await.unwrap().is_some()
            })
        });
        let mut accepted = 0;
        for attempt in attempts {
            accepted += usize::from(attempt.await.unwrap());
        }
        assert_eq!(accepted, 1, "{round}");
        assert_eq!(nodes[1].inbox(&conversation).await.unwrap().len(), limit, "{round}");
    }
}

pub async fn the_last_call_of_a_rate_limit_is_made_by_one_of_two_nodes(backend: &dyn Backend) {
    let log = Log::default();
    let nodes = nodes(backend).await;
    for round in 0..race_count() {
        // Each round has a counter of its own.
        let calls = 1 + u32::try_from(round % 3).unwrap();
        let period = LONG + std::time::Duration::from_millis(round as u64);
        let invokers = nodes.each_ref().map(|store| {
            let registry = Registry::new();
            registry.add(tool(&log)).unwrap();
            let view = registry.all().layer(RateLimit::new(calls, period));
            Invoker::builder(view).shared_state(store.shared_state()).build().unwrap()
        });
        for _ in 1..calls {
            let result = invokers[0].invoke(&ToolCall::new("look", "{}")).await;
            assert_eq!(result.outcome, Outcome::Ok);
        }
        let before = log.lines().len();
        let attempts = invokers.map(|invoker| {
            tokio::spawn(async move { invoker.invoke(&ToolCall::new("look", "{}")).await.outcome })
        });
        let mut outcomes = Vec::new();
        for attempt in attempts {
            outcomes.push(attempt.await.unwrap());
        }
        let made = outcomes.iter().filter(|outcome| **outcome == Outcome::Ok).count();
        assert_eq!(made, 1, "{round}: {outcomes:?}");
        assert!(outcomes.contains(&Outcome::Denied), "{round}: {outcomes:?}");
        assert_eq!(log.lines().len(), before + 1, "{round}");
    }
}

fn tool(log: &Log) -> toolwright::Tool {
    let log = log.clone();
    let look = toolwright::Tool::builder("look", "Looks.").read_only(true);
    look.run(move |_, _| {
        log.write("looked".to_owned());
        Ok::<_, toolwright::ToolError>("seen")
    })
    .unwrap()
}
