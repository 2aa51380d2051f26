//! Several calls in one step: which run at the same time, and the order of their results.

use std::sync::Arc;

use tokio::sync::{Barrier, Notify};
use toolwright::testing::ScriptedModel;
use toolwright::{CallId, Tool};

use crate::support::{Log, chat, last_result_texts, results};

#[tokio::test]
async fn tools_that_only_read_run_at_the_same_time() {
    let door = Arc::new(Barrier::new(2));
    let meeting = |name: &str| {
        let door = Arc::clone(&door);
        Tool::builder(name, "Waits for the other.")
            .read_only(true)
            .run_async(move |_, _| {
                let door = Arc::clone(&door);
                async move {
                    door.wait().await;
                    "met"
                }
            })
            .unwrap()
    };
    let model = ScriptedModel::new().calls_all([("a", "{}"), ("b", "{}")]).replies("They met.");
    let chat = chat(model.clone(), vec![meeting("a"), meeting("b")]);
    chat.message().user("Meet!").call().await.unwrap();
    assert_eq!(last_result_texts(&model), ["met", "met"]);
}

#[tokio::test]
async fn all_others_run_strictly_in_order() {
    let log = Log::default();
    let slow = |name: &'static str| {
        let log = log.clone();
        Tool::builder(name, "Takes its time.")
            .run_async(move |_, _| {
                let log = log.clone();
                async move {
                    log.write(format!("{name} begins"));
                    for _ in 0..20 {
                        tokio::task::yield_now().await;
                    }
                    log.write(format!("{name} ends"));
                }
            })
            .unwrap()
    };
    let model = ScriptedModel::new().calls_all([("b", "{}"), ("a", "{}")]).replies("Done.");
    let chat = chat(model, vec![slow("a"), slow("b")]);
    chat.message().user("Go!").call().await.unwrap();
    assert_eq!(log.lines(), ["b begins", "b ends", "a begins", "a ends"]);
}

#[tokio::test]
async fn results_are_in_the_order_of_the_calls_whichever_ends_first() {
    let gate = Arc::new(Notify::new());
    let (waiting, opening) = (Arc::clone(&gate), gate);
    let late =
        Tool::builder("late", "Waits for the other.").read_only(true).run_async(move |_, _| {
            let gate = Arc::clone(&waiting);
            async move {
                gate.notified().await;
                "late"
            }
        });
    let early = Tool::builder("early", "Lets the other go on.").read_only(true).run(move |_, _| {
        opening.notify_one();
        "early"
    });
    let model = ScriptedModel::new()
        .calls_all([("late", "{}"), ("nobody", "{}"), ("early", "{}")])
        .replies("Done.");
    let chat = chat(model.clone(), vec![late.unwrap(), early.unwrap()]);
    let response = chat.message().user("Go!").call().await.unwrap();
    let came: Vec<CallId> = response.results().into_iter().map(|it| it.call_id).collect();
    assert_eq!(came.last().unwrap().as_str(), "call_0_0");
    let ids = results(&model.requests()[1]);
    let ids: Vec<&str> = ids.iter().map(|result| result.call_id.as_str()).collect();
    assert_eq!(ids, ["call_0_0", "call_0_1", "call_0_2"]);
}
