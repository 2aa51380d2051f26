//! Interceptors, metering and guardrails.

use std::sync::{Arc, Mutex};

use serde_json::json;
use toolwright::BoxFuture;
use toolwright::chat::{EntryBody, MemoryStore, ModelId, Price, Prices, Store as _, TurnStatus};
use toolwright::testing::{FnModel, ScriptedModel};
use toolwright_chat::load_turn_status;
use toolwright_server::{
    Endpoint, GuardrailVerdict, Interceptor, Metering, ServerBuilder, TurnContext, TurnRejection,
};

use crate::support::{event_types, find_event, joined_text, no_tools, serve};

type Heard = Arc<Mutex<Vec<String>>>;

struct Named(&'static str, Heard);

impl Named {
    fn hear(&self, what: &str) {
        self.1.lock().unwrap().push(format!("{} {what}", self.0));
    }
}

impl Interceptor for Named {
    fn before<'a>(&'a self, turn: &'a mut TurnContext) -> BoxFuture<'a, Result<(), TurnRejection>> {
        Box::pin(async move {
            self.hear("before");
            let text = format!("{} {}", turn.message.text(), self.0);
            turn.message.set_text(text);
            Ok(())
        })
    }

    fn before_completion<'a>(&'a self, turn: &'a mut TurnContext) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            self.hear("before_completion");
            let text = turn.outcome.as_ref().map(|outcome| outcome.text.clone());
            turn.metadata.insert(self.0.to_owned(), json!(text));
        })
    }

    fn after<'a>(&'a self, _: &'a TurnContext) -> BoxFuture<'a, ()> {
        Box::pin(async move { self.hear("after") })
    }
}

#[tokio::test]
async fn the_first_one_sees_the_prompt_first_and_the_answer_last() {
    let heard = Heard::default();
    let endpoint = Endpoint::new("/chat/{r}")
        .interceptor(Named("one", Arc::clone(&heard)))
        .interceptor(Named("two", Arc::clone(&heard)));
    let server = ServerBuilder::new(no_tools(), FnModel::echo()).endpoint(endpoint);
    let server = serve(server).await;
    let events = server.post_and_collect("/chat/x", "zero").await;
    assert_eq!(joined_text(&events), "zero one two");
    assert_eq!(event_types(&events), ["said", "began", "text", "step", "metadata", "ended"]);
    let metadata = &find_event(&events, "metadata")["metadata"];
    assert_eq!(metadata, &json!({ "two": "zero one two", "one": "zero one two" }));
    // The hooks after the last event have run when the next turn begins.
    server.post_and_collect("/chat/x", "again").await;
    let heard = heard.lock().unwrap();
    let first = [
        "one before",
        "two before",
        "two before_completion",
        "one before_completion",
        "two after",
        "one after",
    ];
    assert_eq!(heard[..6], first);
}

struct Closed;

impl Interceptor for Closed {
    fn before<'a>(&'a self, turn: &'a mut TurnContext) -> BoxFuture<'a, Result<(), TurnRejection>> {
        Box::pin(async move {
            match turn.message.text().contains("please") {
                true => Ok(()),
                false => Err(TurnRejection::new("Say please.")),
            }
        })
    }
}

#[tokio::test]
async fn a_refusal_is_an_answer_and_no_model_reads_the_prompt() {
    let model = ScriptedModel::new().replies("Here you are.");
    let endpoint = Endpoint::new("/chat/{r}").memory(true).interceptor(Closed);
    let server = ServerBuilder::new(no_tools(), model.clone()).endpoint(endpoint);
    let server = serve(server).await;
    let events = server.post_and_collect("/chat/x", "Give me that.").await;
    assert_eq!(event_types(&events), ["said", "text", "metadata", "ended"]);
    assert_eq!(joined_text(&events), "Say please.");
    assert_eq!(find_event(&events, "metadata")["metadata"]["refused"], true);
    let events = server.post_and_collect("/chat/x", "Give me that, please.").await;
    assert_eq!(joined_text(&events), "Here you are.");
    // The model reads a note, the reason, and the message that was accepted.
    let read = format!("{:?}", model.requests()[0].messages);
    assert_eq!(model.requests()[0].messages.len(), 3, "{read}");
    assert!(read.contains("[a message that was rejected]") && read.contains("Say please."));
    assert!(!read.contains("Give me that."), "{read}");
}

struct Chooses(Arc<FnModel>);

impl Interceptor for Chooses {
    fn before<'a>(&'a self, turn: &'a mut TurnContext) -> BoxFuture<'a, Result<(), TurnRejection>> {
        Box::pin(async move {
            turn.message.model = Some(Arc::clone(&self.0) as _);
            Ok(())
        })
    }
}

#[tokio::test]
async fn an_interceptor_may_choose_the_model() {
    let other = Arc::new(FnModel::new(|_| "It is me."));
    let endpoint = Endpoint::new("/chat/{r}").interceptor(Chooses(other));
    let server = ServerBuilder::new(no_tools(), ScriptedModel::new()).endpoint(endpoint);
    let server = serve(server).await;
    assert_eq!(joined_text(&server.post_and_collect("/chat/x", "Who?").await), "It is me.");
}

fn metered(budget: f64, model: ScriptedModel) -> ServerBuilder {
    metered_by(Metering::new().budget(budget), model)
}

fn metered_by(metering: Metering, model: ScriptedModel) -> ServerBuilder {
    let endpoint = Endpoint::new("/chat/{r}").memory(true).interceptor(metering);
    // Ten tokens in and five out for each answer.
    let prices = Prices::default().with("lab:one", Price::new(100_000.0, 0.0));
    ServerBuilder::new(no_tools(), model)
        .configure_chat(move |chat| chat.prices(prices.clone()))
        .endpoint(endpoint)
}

#[tokio::test]
async fn metering_publishes_the_cost_of_a_turn_and_of_its_conversation() {
    let model = ScriptedModel::new().with_id(ModelId::new("lab", "one"));
    let server = serve(metered(10.0, model.replies("A").replies("B"))).await;
    let events = server.post_and_collect("/chat/x", "Hi").await;
    let metadata = &find_event(&events, "metadata")["metadata"];
    assert_eq!(metadata["cost"], 1.0);
    assert_eq!(metadata["model"], "lab:one");
    assert!(metadata["latency"].is_u64());
    assert_eq!(metadata["usage"]["input"], 10);
    let events = server.post_and_collect("/chat/x", "Hi").await;
    let metadata = &find_event(&events, "metadata")["metadata"];
    assert_eq!((&metadata["cost"], &metadata["conversation"]["cost"]), (&json!(1.0), &json!(2.0)));
    assert_eq!(metadata["conversation"]["turns"], 2);
}

#[tokio::test]
async fn an_unknown_price_is_null() {
    let model = ScriptedModel::new().with_id(ModelId::new("lab", "two"));
    let model = model.replies("A").replies("B");
    let server = serve(metered_by(Metering::new(), model)).await;
    for _ in 0..2 {
        let events = server.post_and_collect("/chat/x", "Hi").await;
        let metadata = &find_event(&events, "metadata")["metadata"];
        assert!(metadata["cost"].is_null() && metadata["conversation"]["cost"].is_null());
    }
}

#[tokio::test]
async fn with_a_budget_a_model_without_a_price_is_not_called() {
    let model = ScriptedModel::new().with_id(ModelId::new("lab", "two")).replies("Free?");
    let server = serve(metered(0.5, model.clone())).await;
    let events = server.post_and_collect("/chat/x", "Hi").await;
    let error = find_event(&events, "error").to_string();
    assert!(error.contains("the price of `lab:two` is not known"), "{error}");
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn a_conversation_that_has_used_up_its_budget_ends_politely_and_others_go_on() {
    let model = ScriptedModel::new().with_id(ModelId::new("lab", "one"));
    let server = serve(metered(1.0, model.replies("A").replies("B"))).await;
    server.post_and_collect("/chat/x", "Hi").await;
    let events = server.post_and_collect("/chat/x", "Hi").await;
    assert!(joined_text(&events).contains("budget"), "{events:?}");
    assert_eq!(find_event(&events, "ended")["end"], "answered");
    assert_eq!(joined_text(&server.post_and_collect("/chat/y", "Hi").await), "B");
}

#[tokio::test]
async fn turns_of_other_nodes_count_toward_the_budget() {
    let store = Arc::new(MemoryStore::new());
    let node = async || {
        let model = ScriptedModel::new().with_id(ModelId::new("lab", "one"));
        let model = model.replies("A").replies("B");
        serve(metered(3.0, model).store(Arc::clone(&store), "memory")).await
    };
    // Without a bus: the nodes learn of each other's turns from the store.
    let (one, two) = (node().await, node().await);
    for (n, node) in [&one, &two, &one, &one, &two].into_iter().enumerate() {
        node.post_message("/chat/x", "Hi").await;
        // Not its events: after a turn of another node, a node without a bus shows a snapshot in place of them.
        while !store.inbox("/chat/x").await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        let entries = store.load("/chat/x").await.unwrap();
        let count = |is_counted: fn(&EntryBody) -> bool| {
            entries.iter().filter(|entry| is_counted(&entry.body)).count()
        };
        assert_eq!(count(|body| matches!(body, EntryBody::User { .. })), n + 1);
        assert_eq!(count(|body| matches!(body, EntryBody::Step { .. })), 3.min(n + 1));
        let reasons = count(|body| matches!(body, EntryBody::Assistant { .. }));
        assert_eq!(reasons, n.saturating_sub(2), "the journal has the reasons of rejections");
        while load_turn_status(&*store, "/chat/x").await.unwrap() != TurnStatus::Over {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn guardrails_refuse_and_rewrite_what_goes_in_and_what_comes_out() {
    let input = |text: &str| match text {
        "bomb" => GuardrailVerdict::Reject("Not that.".to_owned()),
        text => GuardrailVerdict::Replace(text.replace("4711", "[number]")),
    };
    let output = |text: &str| match text.contains("secret") {
        true => GuardrailVerdict::Reject("I had better not say.".to_owned()),
        false => GuardrailVerdict::Replace(text.replace("damn", "d**n")),
    };
    let endpoint = Endpoint::new("/chat/{r}").memory(true).guard_input(input).guard_output(output);
    let server = ServerBuilder::new(no_tools(), FnModel::echo()).endpoint(endpoint);
    let server = serve(server).await;
    for (message, answered) in [
        ("bomb", "Not that."),
        ("My code is 4711", "My code is [number]"),
        ("damn", "d**n"),
        ("the secret word", "I had better not say."),
    ] {
        assert_eq!(joined_text(&server.post_and_collect("/chat/x", message).await), answered);
    }
    let shown = server.get("/chat/x").await.text().to_owned();
    // Text that a guardrail has removed is not stored either.
    assert!(shown.contains("d**n") && shown.contains("I had better not say."));
    assert_eq!(shown.matches("the secret word").count(), 1, "{shown}");
    // The journal has the reason, and a note in place of the message that was rejected.
    assert!(shown.contains("Not that.") && shown.contains("[a message that was rejected]"));
    assert!(!shown.contains("bomb") && !shown.contains("4711"), "{shown}");
}

#[tokio::test]
async fn a_message_that_a_broken_guardrail_has_not_passed_is_not_stored() {
    let input = |text: &str| match text {
        "Hi" => GuardrailVerdict::Pass,
        text => panic!("no rule for {text}"),
    };
    // The budget is used up before the guardrail sees the message.
    let broke = Metering::new().budget(0.0);
    for (endpoint, answer) in [
        (Endpoint::new("/chat/{r}").guard_input(input), "error"),
        (Endpoint::new("/chat/{r}").interceptor(broke).guard_input(input), "ended"),
    ] {
        let server =
            ServerBuilder::new(no_tools(), FnModel::echo()).endpoint(endpoint.memory(true));
        let server = serve(server).await;
        find_event(&server.post_and_collect("/chat/x", "my password").await, answer);
        let shown = server.get("/chat/x").await.text().to_owned();
        assert!(shown.contains("[a message that was rejected]"), "{shown}");
        assert!(!shown.contains("password"), "{shown}");
    }
}
