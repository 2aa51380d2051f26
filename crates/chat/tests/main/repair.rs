//! Interrupted turns: calls that had started or not, and how the turn resumes.

use std::sync::Arc;

use futures::FutureExt as _;
use toolwright::chat::{ApprovalResponse, Chat, MemoryStore};
use toolwright::testing::ScriptedModel;
use toolwright::{Outcome, Tool, ToolBuilder};

use crate::support::{Log, assert_complete, builder, last_result_texts, stored_entries, write};

/// A tool that begins, and ends only the second time.
fn halting_tool(tool: ToolBuilder, log: &Log) -> Tool {
    let log = log.clone();
    let run = move |_, _| {
        let log = log.clone();
        async move {
            log.write("begins");
            if log.lines().len() == 1 {
                std::future::pending::<()>().await;
            }
            "ended"
        }
    };
    tool.run_async(run).unwrap()
}

fn once() -> ToolBuilder {
    Tool::builder("act", "Acts.")
}

struct Scene {
    store: Arc<MemoryStore>,
    log: Log,
    tool: Tool,
}

impl Scene {
    /// A process that dies while the call of a tool runs, and another one is still to come.
    async fn interrupted(tool: ToolBuilder, decide: bool) -> Self {
        let log = Log::default();
        let tool = halting_tool(tool, &log);
        let scene = Self { store: Arc::default(), log, tool };
        let model = ScriptedModel::new().calls_all([("act", "{}"), ("write", r#"{"n": 1}"#)]);
        let chat = scene.chat(model);
        let request = chat.message().conversation("room").user("Act!");
        if decide {
            let paused = request.call().await.unwrap();
            let decided: Vec<ApprovalResponse> =
                paused.pending_approvals().iter().map(|it| it.approve()).collect();
            let going = chat.submit_approvals("room", decided).call();
            assert!(going.now_or_never().is_none());
        } else {
            assert!(request.call().now_or_never().is_none());
        }
        assert_eq!(scene.log.lines()[0], "begins");
        scene
    }

    fn chat(&self, model: ScriptedModel) -> Chat {
        let tools = vec![self.tool.clone(), write(&self.log)];
        let chat = builder(model, tools).store(Arc::clone(&self.store));
        chat.build()
    }
}

#[tokio::test]
async fn what_had_started_and_cannot_be_repeated_has_an_unknown_outcome() {
    let scene = Scene::interrupted(once(), false).await;
    let model = ScriptedModel::new().replies("I will check.");
    let response = scene.chat(model.clone()).resume("room").call().await.unwrap();
    assert_eq!(response.text(), "I will check.");
    assert!(last_result_texts(&model)[0].contains("the outcome is unknown"));
    assert_eq!(scene.log.lines(), ["begins", "write 1"], "the other one had not started");
    assert_eq!(response.results()[0].outcome, Outcome::OutcomeUnknown);
    assert_complete(&stored_entries(&scene.store, "room").await);
}

#[tokio::test]
async fn what_can_be_repeated_runs_again() {
    for tool in [once().idempotent(true), once().read_only(true)] {
        let scene = Scene::interrupted(tool, false).await;
        let model = ScriptedModel::new().replies("Done.");
        scene.chat(model.clone()).resume("room").call().await.unwrap();
        assert_eq!(last_result_texts(&model), ["ended", "write 1"]);
        let lines = scene.log.lines();
        let times = |line: &str| lines.iter().filter(|it| *it == line).count();
        assert_eq!((times("begins"), times("write 1")), (2, 1));
        assert_complete(&stored_entries(&scene.store, "room").await);
    }
}

#[tokio::test]
async fn what_was_approved_and_can_be_repeated_runs_again() {
    let tool = once().idempotent(true).destructive(true);
    let scene = Scene::interrupted(tool, true).await;
    let model = ScriptedModel::new().replies("Done.");
    scene.chat(model.clone()).resume("room").call().await.unwrap();
    assert_eq!(last_result_texts(&model), ["ended", "write 1"]);
}

#[tokio::test]
async fn a_new_question_repairs_too() {
    for tool in [once(), once().idempotent(true)] {
        let scene = Scene::interrupted(tool, false).await;
        let model = ScriptedModel::new().replies("Hello.");
        let request = scene.chat(model.clone()).message().conversation("room");
        request.user("Hello?").call().await.unwrap();
        assert_eq!(scene.log.lines(), ["begins"]);
        let entries = stored_entries(&scene.store, "room").await;
        assert_complete(&entries);
        let outcomes: Vec<Outcome> = entries
            .iter()
            .filter_map(|entry| match &entry.body {
                toolwright::chat::EntryBody::CallFinished { result } => Some(result.outcome),
                _ => None,
            })
            .collect();
        assert_eq!(outcomes, [Outcome::OutcomeUnknown, Outcome::Cancelled]);
    }
}

#[tokio::test]
async fn a_cancellation_does_not_claim_to_know_what_had_started() {
    let scene = Scene::interrupted(once(), false).await;
    let token = toolwright::CancellationToken::new();
    token.cancel();
    let request = scene.chat(ScriptedModel::new()).resume("room").cancel_on(token);
    let response = request.call().await.unwrap();
    let outcomes: Vec<Outcome> = response.results().iter().map(|it| it.outcome).collect();
    assert_eq!(outcomes, [Outcome::OutcomeUnknown, Outcome::Cancelled]);
}

#[tokio::test]
async fn a_turn_that_is_over_is_not_begun_again() {
    let store = Arc::new(MemoryStore::new());
    let model = ScriptedModel::new().replies("Done.");
    let chat = builder(model.clone(), Vec::<Tool>::new()).store(Arc::clone(&store)).build();
    chat.message().conversation("room").user("?").call().await.unwrap();
    let before = stored_entries(&store, "room").await.len();
    let response = chat.resume("room").call().await.unwrap();
    assert_eq!(response.text(), "Done.");
    assert_eq!(stored_entries(&store, "room").await.len(), before);
    assert_eq!(model.requests().len(), 1);
}
