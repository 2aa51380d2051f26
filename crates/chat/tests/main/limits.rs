//! Models that would never stop, and the limits that stop them.

use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt as _, stream};
use toolwright::chat::{
    ChatEvent, Item, MemoryStore, Model, ModelEvent, ModelId, ModelRequest, ModelStream, Price,
    Prices, Response, TurnEnd, TurnLimits,
};
use toolwright::testing::{FnModel, ModelReply, ScriptedModel};
use toolwright::{Outcome, Tool, ToolCall, ToolError};

use crate::support::{
    Log, assert_complete, builder, ended, events, none, read_tool, stored_entries,
};

/// Asks a model that does not stop, and returns why it was stopped.
async fn stopped_within(
    model: impl Model,
    tools: Vec<Tool>,
    limits: TurnLimits,
) -> (String, Response) {
    let store = Arc::new(MemoryStore::new());
    let chat = builder(model, tools)
        .prices(Prices::default().with("function", Price::new(1.0, 1.0)))
        .store(Arc::clone(&store))
        .limits(limits)
        .build();
    let ask = |room: &str| chat.message().conversation(room).user("Go!");
    let (emitted, error) = events(ask("streamed").stream()).await;
    let (reason, _) = ended(Err(error.unwrap()));
    match emitted.last().unwrap() {
        ChatEvent::TurnEnded { end, .. } => {
            assert_eq!(*end, TurnEnd::Limit { reason: reason.clone() });
        }
        other => panic!("{other:?}"),
    }
    let (same, response) = ended(ask("called").call().await);
    assert_eq!(same, reason);
    for room in ["streamed", "called"] {
        assert_complete(&stored_entries(&store, room).await);
    }
    (reason, response)
}

async fn stopped(model: impl Model, tools: Vec<Tool>) -> (String, Response) {
    stopped_within(model, tools, TurnLimits::default()).await
}

fn calling(call: impl Fn(usize) -> ToolCall + Send + Sync + 'static) -> FnModel {
    FnModel::new(move |request| call(request.messages.len()))
}

#[tokio::test]
async fn the_same_call_for_ever() {
    let log = Log::default();
    let model = calling(|_| ToolCall::new("look", r#"{"n": 1}"#));
    let (reason, response) = stopped(model, vec![read_tool(&log)]).await;
    assert_eq!(reason, "the same call was asked for 7 times");
    assert_eq!(log.lines().len(), 2 * 3, "three times in each of two turns");
    let results = response.results();
    assert!(results[3].text().contains("do something else"), "it was warned");
}

#[tokio::test]
async fn the_same_call_written_in_other_ways_is_the_same() {
    let log = Log::default();
    let written = [r#"{"n": 1}"#, r#"{"n":1}"#, r#" {"n" : 1 } "#];
    let model = calling(move |at| ToolCall::new("look", written[at % 3]));
    let (reason, _) = stopped(model, vec![read_tool(&log)]).await;
    assert_eq!(reason, "the same call was asked for 7 times");
}

#[tokio::test]
async fn another_call_for_ever() {
    let log = Log::default();
    let model = calling(|at| ToolCall::new("look", format!(r#"{{"n": {at}}}"#)));
    let (reason, response) = stopped(model, vec![read_tool(&log)]).await;
    assert_eq!(reason, "the model was asked 60 times");
    assert_eq!(log.lines().len(), 2 * 40, "the limit of one tool");
    assert_eq!(response.results().len(), 60);
}

#[tokio::test]
async fn a_tool_that_does_not_exist_for_ever() {
    let same = calling(|_| ToolCall::new("nobody", "{}"));
    let (reason, _) = stopped(same, none()).await;
    assert_eq!(reason, "the same call was asked for 7 times");
    let another = calling(|at| ToolCall::new(format!("nobody_{at}"), "{}"));
    let (reason, response) = stopped(another, none()).await;
    assert_eq!(reason, "the model was asked 60 times");
    assert_eq!(response.results()[0].outcome, Outcome::UnknownTool);
}

#[tokio::test]
async fn ten_megabytes_of_arguments_never_run() {
    let log = Log::default();
    let model = ScriptedModel::new()
        .calls("look", format!(r#"{{"n": "{}"}}"#, "9".repeat(10_000_000)))
        .calls("look", "[".repeat(10_000_000))
        .replies("Too much?");
    let chat = builder(model, read_tool(&log)).build();
    let response = chat.message().user("Go!").call().await.unwrap();
    assert!(log.is_empty());
    for result in response.results() {
        assert_eq!(result.outcome, Outcome::InvalidArguments);
        assert!(result.text().len() < 2_000, "{}", result.text().len());
    }
}

fn thousand() -> FnModel {
    FnModel::new(|_| {
        let call = |n| ToolCall::new("look", format!(r#"{{"n": {n}}}"#));
        ModelReply::from_items((0..1_000).map(|n| Item::call(call(n))).collect())
    })
}

#[tokio::test]
async fn a_thousand_calls_in_one_step() {
    let log = Log::default();
    let (reason, response) = stopped(thousand(), vec![read_tool(&log)]).await;
    assert_eq!(reason, "it asked for 1000 calls where 150 are allowed");
    assert!(log.is_empty());
    let results = response.results();
    assert_eq!(results.len(), 1_000);
    assert!(results[999].text().contains(&reason));
}

#[tokio::test]
async fn a_few_calls_too_many_in_one_step_are_refused_and_the_others_run() {
    let log = Log::default();
    let model = ScriptedModel::new()
        .calls_all((0..5).map(|n| ("look", format!(r#"{{"n": {n}}}"#))))
        .replies("Enough.");
    let mut limits = TurnLimits::default();
    limits.calls = 3;
    let chat = builder(model, read_tool(&log)).limits(limits).build();
    let response = chat.message().user("Go!").call().await.unwrap();
    assert_eq!(log.lines().len(), 3);
    assert_eq!(response.text(), "Enough.");
    assert_complete(response.entries());
}

#[tokio::test]
async fn tokens() {
    let log = Log::default();
    let model = calling(|at| ToolCall::new("look", format!(r#"{{"n": {at}}}"#)));
    let mut limits = TurnLimits::default();
    limits.tokens = Some(45);
    let (reason, response) = stopped_within(model, vec![read_tool(&log)], limits).await;
    assert_eq!(reason, "it took 45 tokens");
    assert_eq!(response.usage().total(), 45);
}

#[tokio::test]
async fn money() {
    let log = Log::default();
    let model = calling(|at| ToolCall::new("look", format!(r#"{{"n": {at}}}"#)));
    let mut limits = TurnLimits::default();
    limits.cost = Some(0.00003);
    let (reason, response) = stopped_within(model, vec![read_tool(&log)], limits).await;
    assert_eq!(reason, "it cost 0.0000");
    assert_eq!(response.steps().count(), 2);
}

#[tokio::test]
async fn no_time_at_all() {
    let mut limits = TurnLimits::default();
    limits.time = Duration::ZERO;
    let (reason, response) = stopped_within(FnModel::echo(), none(), limits).await;
    assert_eq!(reason, "it took 0 seconds");
    assert_eq!(response.steps().count(), 0);
}

/// A tool that sleeps for ten minutes.
fn nap() -> Tool {
    let minutes = Duration::from_secs(10 * 60);
    let nap = Tool::builder("nap", "Sleeps.").timeout(2 * minutes);
    let nap = nap.param::<Option<i64>>("n", "A number.");
    let nap = nap.run_async(move |_, _| async move {
        tokio::time::sleep(minutes).await;
        Ok::<_, ToolError>("rested")
    });
    nap.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_call_that_runs_when_the_time_is_up_is_cut_off_and_the_next_does_not_start() {
    let calls = ScriptedModel::new().calls("nap", "{}");
    let calls = calls.calls_all([("nap", r#"{"n": 1}"#), ("nap", r#"{"n": 2}"#)]);
    let store = Arc::new(MemoryStore::new());
    let chat = builder(calls, nap()).store(Arc::clone(&store)).build();
    // A quarter of an hour passes by the clock that counts, and no time at all by the one on the wall.
    let ask = chat.message().conversation("night").user("Go!");
    let (reason, response) = ended(ask.call().await);
    assert_eq!(reason, "it took 900 seconds");
    let results = response.results();
    assert_eq!(results[0].text(), "rested");
    assert_eq!(results[1].outcome, Outcome::Cancelled);
    assert_eq!(results[2].outcome, Outcome::Denied);
    assert!(results[2].text().contains(&reason), "{}", results[2].text());
    assert_complete(&stored_entries(&store, "night").await);
}

/// A model that streams one word a second, or nothing at all, and never ends.
struct Endless(ModelId, bool);

impl Model for Endless {
    fn id(&self) -> &ModelId {
        &self.0
    }

    fn stream(&self, _: ModelRequest) -> ModelStream {
        if self.1 {
            return stream::pending().boxed();
        }
        let words = stream::repeat(()).then(|()| async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(ModelEvent::Text("and ".to_owned()))
        });
        words.boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_streams_for_ever_and_one_that_sends_nothing() {
    for (silent, text) in [(false, "and and and and "), (true, "")] {
        let mut limits = TurnLimits::default();
        // Between two words.
        limits.time = Duration::from_millis(4_900);
        let model = Endless(ModelId::new("endless", ""), silent);
        let (reason, response) = stopped_within(model, none(), limits).await;
        assert_eq!(reason, "it took 4 seconds");
        assert_eq!(response.text(), text, "the text so far is stored");
    }
    let (reason, response) = stopped(Endless(ModelId::new("endless", ""), false), none()).await;
    assert_eq!(reason, "it took 900 seconds");
    assert_eq!(response.text().len(), 899 * "and ".len());
}
