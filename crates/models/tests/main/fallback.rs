//! A model of several: which one answers, and what the chat records of it.

use std::sync::Arc;

use serde_json::json;
use toolwright::chat::{
    Chat, ChatError, ChatEvent, Model, ModelErrorKind, ModelId, Price, Prices, Response,
};
use toolwright::models::{self, fallback};
use toolwright::testing::{CannedResponse, CannedTransport, ModelReply, ScriptedModel};
use toolwright::{Invoker, Registry, Tool, ToolError};

fn named(name: &str) -> ScriptedModel {
    ScriptedModel::new().with_id(ModelId::new("script", name))
}

fn chat(first: &ScriptedModel, second: &ScriptedModel) -> Chat {
    let models: [Arc<dyn Model>; 2] = [Arc::new(first.clone()), Arc::new(second.clone())];
    let registry = Registry::new();
    let look = Tool::builder("look", "Looks.").read_only(true);
    registry.add(look.run(|_, _| Ok::<_, ToolError>("nothing")).unwrap()).unwrap();
    let prices = Prices::default().with("script:second", Price::new(100_000.0, 0.0));
    let invoker = Invoker::new(&registry).unwrap();
    Chat::builder(&invoker, fallback(models).unwrap()).prices(prices).build()
}

/// Returns the models of the `Fallback` events, and the response.
async fn run(chat: &Chat) -> (Vec<String>, Result<Response, ChatError>) {
    let mut events = chat.message().user("Hi").stream();
    let mut models = Vec::new();
    while let Some(event) = events.next().await {
        match event {
            Ok(ChatEvent::Fallback { model, .. }) => models.push(model.name),
            Ok(_) => {}
            Err(error) => return (models, Err(error)),
        }
    }
    (models, Ok(events.into_response().unwrap()))
}

#[tokio::test]
async fn the_next_model_answers_where_one_is_not_available() {
    for kind in [
        ModelErrorKind::Overloaded,
        ModelErrorKind::RateLimit,
        ModelErrorKind::Network,
        ModelErrorKind::Timeout,
        ModelErrorKind::Quota,
    ] {
        let (first, second) =
            (named("first").fails(kind, "busy"), named("second").replies("Hello."));
        let (models, response) = run(&chat(&first, &second)).await;
        let response = response.unwrap();
        assert_eq!((models, response.text()), (vec!["second".to_owned()], "Hello.".to_owned()));
        assert_eq!(response.steps().next().unwrap().model.name, "second");
        assert_eq!(response.cost(), Some(1.0));
    }
}

#[tokio::test]
async fn the_model_that_began_a_turn_continues_it() {
    let first = named("first").fails(ModelErrorKind::Overloaded, "busy").replies("From the first.");
    let second = named("second").calls("look", "{}").replies("Nothing there.");
    let chat = chat(&first, &second);
    let (models, response) = run(&chat).await;
    assert_eq!((models.len(), response.unwrap().text()), (2, "Nothing there.".to_owned()));
    assert_eq!(first.remaining(), 1);
    // The next turn begins with the first model again.
    let (models, response) = run(&chat).await;
    assert_eq!((models.len(), response.unwrap().text()), (0, "From the first.".to_owned()));
}

#[tokio::test]
async fn an_answer_that_has_begun_and_a_refused_request_are_not_given_to_another_model() {
    let broken = |_: &_| ModelReply::text("Hel").then_error(ModelErrorKind::Network, "lost");
    for first in [
        named("first").replies_with(broken),
        named("first").fails(ModelErrorKind::BadRequest, "no"),
        named("first").fails(ModelErrorKind::Auth, "no"),
    ] {
        let second = named("second").replies("Hello.");
        let (models, response) = run(&chat(&first, &second)).await;
        assert!(models.is_empty() && response.is_err());
        assert_eq!(second.remaining(), 1);
    }
}

#[tokio::test]
async fn where_the_cost_is_limited_no_model_without_a_price_takes_over() {
    let busy = named("second").fails(ModelErrorKind::Overloaded, "busy");
    let spare = named("third").replies("Free?");
    let turn = chat(&busy, &spare).message().require_price().user("Hi");
    let error = turn.call().await.unwrap_err().to_string();
    assert!(error.contains("the price of `script:third` is not known"), "{error}");
    assert!(spare.requests().is_empty());
}

#[tokio::test]
async fn the_error_of_the_last_model_is_the_error_of_all() {
    let first = named("first").fails(ModelErrorKind::Overloaded, "busy");
    let second = named("second").fails(ModelErrorKind::Network, "away");
    let (models, response) = run(&chat(&first, &second)).await;
    assert_eq!((models.len(), response.unwrap_err().to_string()), (1, "away".to_owned()));
    assert!(fallback([]).is_err());
}

#[tokio::test]
async fn a_vendor_that_is_overloaded_is_followed_by_another_protocol() {
    let busy = CannedTransport::new([CannedResponse::error(529, "{}")]);
    let done = json!({"message": {"role": "assistant", "content": "Hello."}, "done": true});
    let local = CannedTransport::new([CannedResponse::ok(done.to_string())]);
    let anthropic = models::anthropic("claude").api_key("k").retries(0).transport(busy.clone());
    let ollama = models::ollama("qwen3").base_url("http://127.0.0.1:1").transport(local.clone());
    let model = fallback([anthropic.build().unwrap(), ollama.build().unwrap()]).unwrap();
    let chat = Chat::new(&Invoker::new(Registry::new()).unwrap(), model);
    let response = chat.message().user("Hi").call().await.unwrap();
    assert_eq!(response.text(), "Hello.");
    assert_eq!(response.steps().next().unwrap().model.to_string(), "ollama:qwen3");
    assert_eq!((busy.requests().len(), local.requests().len()), (1, 1));
    // It has reported no usage.
    assert!(response.usage().estimated && response.usage().output == 2, "{:?}", response.usage());
}
