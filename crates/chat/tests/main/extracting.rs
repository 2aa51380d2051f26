//! Structured output.

use serde::Deserialize;
use toolwright::chat::{ChatError, ToolChoice};
use toolwright::testing::ScriptedModel;
use toolwright::{CancellationToken, JsonSchema, schemars};

use crate::support::{Log, chat, constant_tool, none, pay, read_tool};

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct City {
    name: String,
    people: u32,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mood {
    Good,
    Bad { because: String },
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Country {
    capital: City,
    others: Vec<City>,
    mood: Option<Mood>,
}

fn bern() -> City {
    City { name: "Bern".to_owned(), people: 134_000 }
}

const BERN: &str = r#"{"name": "Bern", "people": 134000}"#;

async fn extracted<T>(answer: impl Into<String>) -> T
where
    T: serde::de::DeserializeOwned + JsonSchema,
{
    let model = ScriptedModel::new().replies(answer);
    let chat = chat(model.clone(), none());
    let extracted = chat.message().user("?").extract::<T>().await.unwrap();
    let requests = model.requests();
    let form = requests[0].response_format.as_ref().unwrap();
    assert_eq!(form.schema.as_value()["type"], "object");
    extracted
}

#[tokio::test]
async fn an_answer_can_be_of_any_type() {
    assert_eq!(extracted::<City>(BERN).await, bern());
    let list = extracted::<Vec<City>>(format!(r#"{{"answer": [{BERN}, {BERN}]}}"#)).await;
    assert_eq!(list, [bern(), bern()]);
    assert_eq!(extracted::<Mood>(r#"{"answer": "good"}"#).await, Mood::Good);
    let bad = extracted::<Mood>(r#"{"answer": {"bad": {"because": "rain"}}}"#).await;
    let because = "rain".to_owned();
    assert_eq!(bad, Mood::Bad { because });
    let nested = format!(r#"{{"capital": {BERN}, "others": [{BERN}], "mood": "good"}}"#);
    let country = extracted::<Country>(nested).await;
    assert_eq!(country.others, [bern()]);
    assert_eq!(country.mood, Some(Mood::Good));
    assert_eq!(extracted::<u8>(r#"{"answer": 7}"#).await, 7);
    assert_eq!(extracted::<Option<String>>(r#"{"answer": null}"#).await, None);
}

#[tokio::test]
async fn an_invalid_answer_is_mended() {
    let model = ScriptedModel::new()
        .replies("Bern, I think.")
        .replies(r#"{"name": "Bern", "people": "many"}"#)
        .replies(BERN);
    let chat = chat(model.clone(), none());
    let city = chat.message().user("?").extract::<City>().await.unwrap();
    assert_eq!(city, bern());
    let requests = model.requests();
    let message = |at: usize| match requests[at].messages.last() {
        Some(toolwright::chat::Message::User(content)) => {
            toolwright::ToolResult::success(content.clone()).text().into_owned()
        }
        other => panic!("{other:?}"),
    };
    assert!(message(1).starts_with("That is not valid: "), "{}", message(1));
    assert!(message(2).contains("/people"), "{}", message(2));
    assert_eq!(requests[2].messages.len(), 5, "it sees its own answers");
}

#[tokio::test]
async fn a_model_that_cannot_is_given_up_after_three_tries() {
    let model = ScriptedModel::new().replies("A").replies("B").replies("C").replies("D");
    let chat = chat(model.clone(), none());
    let error = chat.message().user("?").extract::<City>().await.unwrap_err();
    match error {
        ChatError::InvalidStructuredOutput { text, message } => {
            assert_eq!(text, "C");
            assert!(!message.is_empty());
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(model.remaining(), 1);
}

#[tokio::test]
async fn tools_can_be_called_on_the_way() {
    let model = ScriptedModel::new().calls("look", "{}").replies("Bern").replies(BERN);
    let log = Log::default();
    let chat = chat(model.clone(), read_tool(&log));
    let ask = chat.message().tool_choice(ToolChoice::Required).user("?");
    assert_eq!(ask.extract::<City>().await.unwrap(), bern());
    assert_eq!(log.lines().len(), 1);
    let requests = model.requests();
    assert!(requests.iter().all(|request| request.response_format.is_some()));
    let choices: Vec<&ToolChoice> = requests.iter().map(|it| &it.tool_choice).collect();
    assert_eq!(choices, [&ToolChoice::Required, &ToolChoice::Auto, &ToolChoice::Auto]);
}

#[tokio::test]
async fn a_turn_that_waits_cannot_be_an_answer() {
    let log = Log::default();
    let chat = chat(ScriptedModel::new().calls("pay", "{}"), pay(&log));
    let error = chat.message().user("?").extract::<City>().await.unwrap_err();
    assert!(matches!(error, ChatError::TurnPaused { .. }), "{error}");
}

#[tokio::test]
async fn a_cancelled_turn_is_not_asked_again() {
    let model = ScriptedModel::new().calls("stop", "{}");
    let token = CancellationToken::new();
    let cancel = token.clone();
    let stop = toolwright::Tool::builder("stop", "Stops.").run(move |_, _| cancel.cancel());
    let chat = chat(model.clone(), vec![stop.unwrap(), constant_tool("look", "")]);
    let ask = chat.message().cancel_on(token).user("?");
    let error = ask.extract::<City>().await.unwrap_err();
    let (reason, response) = crate::support::ended(Err(error));
    assert_eq!(reason, "it was cancelled");
    assert_eq!(response.steps().count(), 1);
}
