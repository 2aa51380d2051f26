//! Conversations: what was said before counts, and nothing is made up.

use serde_json::json;
use toolwright_chat::{Message, ToolChoice};
use toolwright_core::{Outcome, Tool, ToolCall, ToolError};

use crate::bundles::{assistant, house, library};
use crate::driver::{Talk, Turn};

fn called(turn: &Turn, name: &str, arguments: serde_json::Value) {
    assert_eq!(turn.calls(), [(name.to_owned(), arguments)], "{}", turn.text);
}

#[tokio::test]
async fn a_conversation_about_tokyo_ends_with_a_denied_refund() {
    let mut talk = assistant();
    let turn = talk.ask("What time is it in Tokyo?").await;
    called(&turn, "get_city_time", json!({"city": "Tokyo"}));
    assert!(turn.text.starts_with("Tokyo: "), "{}", turn.text);

    let turn = talk.ask("And the weather there?").await;
    called(&turn, "get_weather", json!({"city": "Tokyo"}));
    assert_eq!(turn.text, "Tokyo: Rainy, 22C / 72F, 90% humidity");

    let turn = talk.ask("Convert that temperature to Fahrenheit").await;
    let expected = json!({"value": 22, "from_unit": "C"});
    called(&turn, "convert_temperature", expected);
    assert_eq!(turn.text, "22.0C = 71.6F");

    let turn = talk.ask("Refund order 1234, 20 euros").await;
    called(&turn, "issue_refund", json!({"order": "1234", "amount": 20}));
    assert_eq!(turn.results[0].outcome, Outcome::Denied);
    let denied = "Issue refund was denied, so nothing was done: ";
    assert!(turn.text.starts_with(denied), "{}", turn.text);
}

#[tokio::test]
async fn what_is_converted_can_be_converted_back() {
    let mut talk = assistant();
    talk.ask("Convert 100 C to F").await;
    let turn = talk.ask("And convert that back to Celsius").await;
    let expected = json!({"value": 212, "from_unit": "F"});
    called(&turn, "convert_temperature", expected);
}

#[tokio::test]
async fn a_missing_city_is_asked_for_and_the_reply_is_used() {
    let mut talk = assistant();
    let turn = talk.ask("What's the weather like?").await;
    assert_eq!(turn.text, "Which city? (The city's English name.)");
    let turn = talk.ask("Paris").await;
    called(&turn, "get_weather", json!({"city": "Paris"}));
    assert!(turn.text.contains("Partly cloudy"), "{}", turn.text);
}

#[tokio::test]
async fn several_missing_values_may_come_one_by_one() {
    let mut talk = assistant();
    let turn = talk.ask("I want a refund").await;
    assert!(turn.text.contains("Which order?"), "{}", turn.text);
    assert!(turn.text.contains("What amount?"), "{}", turn.text);
    let turn = talk.ask("it's A-1042").await;
    assert!(turn.text.starts_with("What amount?"), "{}", turn.text);
    let turn = talk.ask("twenty euros please").await;
    called(&turn, "issue_refund", json!({"order": "A-1042", "amount": 20}));

    let mut talk = assistant();
    talk.ask("I want a refund").await;
    let turn = talk.ask("A-1042, 20 euros").await;
    called(&turn, "issue_refund", json!({"order": "A-1042", "amount": 20}));
}

#[tokio::test]
async fn who_was_asked_may_ask_something_else_or_give_up() {
    let mut talk = assistant();
    talk.ask("What is the weather?").await;
    let turn = talk.ask("What time is it in London?").await;
    called(&turn, "get_city_time", json!({"city": "London"}));

    let mut talk = assistant();
    talk.ask("What is the weather?").await;
    let turn = talk.ask("I don't know").await;
    assert_eq!(turn.text, "All right, nothing was done.");

    let mut talk = assistant();
    talk.ask("What is the weather?").await;
    let turn = talk.ask("hello?").await;
    assert!(turn.text.starts_with("Which city?"), "{turn:?}");
}

#[tokio::test]
async fn options_are_asked_for_and_chosen() {
    let mut talk = house();
    let turn = talk.ask("Set the thermostat to 20 degrees").await;
    assert!(turn.text.contains("kitchen"), "{}", turn.text);
    let turn = talk.ask("the living room").await;
    let expected = json!({"room": "living_room", "celsius": 20});
    called(&turn, "set_thermostat", expected);

    let mut talk = assistant();
    talk.ask("Convert 30 degrees").await;
    let turn = talk.ask("celsius").await;
    let expected = json!({"value": 30, "from_unit": "C"});
    called(&turn, "convert_temperature", expected);
}

#[tokio::test]
async fn a_result_goes_into_the_next_call() {
    let mut talk = assistant();
    let question = "What is the weather in Paris and convert it to Fahrenheit";
    let turn = talk.ask(question).await;
    let weather = ("get_weather".to_owned(), json!({"city": "Paris"}));
    let expected = json!({"value": 20, "from_unit": "C"});
    let convert = ("convert_temperature".to_owned(), expected);
    assert_eq!(turn.steps, [vec![weather], vec![convert]]);
    assert!(turn.text.ends_with("20.0C = 68.0F"), "{}", turn.text);
}

#[tokio::test]
async fn calls_that_do_not_wait_for_each_other_go_together() {
    let mut talk = assistant();
    let turn = talk.ask("the time in Tokyo and the weather in London").await;
    assert_eq!(turn.steps.len(), 1);
    assert_eq!(turn.calls().len(), 2);
    assert_eq!(turn.text.lines().count(), 2, "{}", turn.text);
}

#[tokio::test]
async fn what_about_asks_the_same_again() {
    let mut talk = assistant();
    talk.ask("How is the weather in Tokyo?").await;
    for (question, city) in [("What about London?", "London"), ("and in Paris?", "Paris")] {
        let turn = talk.ask(question).await;
        called(&turn, "get_weather", json!({"city": city}));
    }
    let turn = talk.ask("and in Fahrenheit?").await;
    let expected = json!({"value": 20, "from_unit": "C"});
    called(&turn, "convert_temperature", expected);
}

#[tokio::test]
async fn what_a_result_names_can_be_pointed_to() {
    let mut talk = house();
    talk.ask("Create a ticket called Leaking tap").await;
    let turn = talk.ask("Close it again").await;
    called(&turn, "close_ticket", json!({"ticket_id": "T-17"}));

    let mut talk = library();
    talk.ask("Search for books about deserts").await;
    let turn = talk.ask("Reserve that for Anna").await;
    let expected = json!({"title": "Dune", "member": "Anna"});
    called(&turn, "reserve_book", expected);
}

#[tokio::test]
async fn a_dangerous_call_takes_nothing_from_before_that_nobody_points_to() {
    let mut talk = assistant();
    talk.ask("Refund order A-1, 20 euros").await;
    let turn = talk.ask("Refund an order").await;
    assert!(turn.calls().is_empty(), "{turn:?}");
    assert!(turn.text.contains("Which order?"), "{}", turn.text);
}

#[tokio::test]
async fn an_error_is_told_and_not_tried_again() {
    let mut talk = assistant();
    let turn = talk.ask("What time is it in Atlantis?").await;
    called(&turn, "get_city_time", json!({"city": "Atlantis"}));
    let failed = "City time failed: unknown city `Atlantis`";
    assert!(turn.text.starts_with(failed), "{}", turn.text);
}

#[tokio::test]
async fn what_leans_on_a_failure_is_not_tried() {
    let weather = Tool::builder("get_weather", "Returns the weather in a city.")
        .param::<String>("city", "The city.")
        .run(|_, _| Err::<String, _>(ToolError::failed("the station is down")))
        .unwrap();
    let tools = vec![weather, assistant_tools::convert_temperature::tool()];
    let mut talk = Talk::new(tools);
    let question = "What is the weather in Paris, then convert it to Fahrenheit";
    let turn = talk.ask(question).await;
    called(&turn, "get_weather", json!({"city": "Paris"}));
    assert!(turn.text.contains("the station is down"), "{}", turn.text);
    assert!(turn.text.contains("was not tried"), "{}", turn.text);
}

#[tokio::test]
async fn it_says_what_it_is() {
    for question in ["Hello", "hi there!", "what can you do?", "help", ""] {
        let turn = assistant().ask(question).await;
        assert!(turn.calls().is_empty(), "{question}: {turn:?}");
        for part in ["rule-based", "City time", "--model openai:", "OPENAI_API_KEY"] {
            assert!(turn.text.contains(part), "{question}: {}", turn.text);
        }
    }
}

#[tokio::test]
async fn without_tools_it_can_nothing_and_says_so() {
    let mut talk = Talk::new(Vec::<Tool>::new());
    let turn = talk.ask("What time is it?").await;
    assert!(turn.text.contains("no tools"), "{}", turn.text);
    assert!(turn.text.contains("rule-based"), "{}", turn.text);
}

#[tokio::test]
async fn a_choice_of_no_tool_is_kept() {
    let mut talk = assistant();
    talk.choice = ToolChoice::None;
    let turn = talk.ask("What time is it?").await;
    assert!(turn.calls().is_empty(), "{turn:?}");
    assert!(turn.text.starts_with("I cannot"), "{}", turn.text);
}

#[tokio::test]
async fn a_named_tool_is_called_or_asked_about() {
    let mut talk = assistant();
    talk.choice = ToolChoice::Named("get_weather".to_owned());
    let turn = talk.ask("Tell me about Paris").await;
    called(&turn, "get_weather", json!({"city": "Paris"}));
    let mut talk = assistant();
    talk.choice = ToolChoice::Named("get_weather".to_owned());
    let turn = talk.ask("What time is it?").await;
    assert!(turn.text.starts_with("Which city?"), "{turn:?}");
    let mut talk = assistant();
    talk.choice = ToolChoice::Named("get_lunch".to_owned());
    let turn = talk.ask("What time is it?").await;
    assert!(turn.text.contains("no such tool"), "{turn:?}");
}

#[tokio::test]
async fn a_required_call_is_made_once() {
    let mut talk = assistant();
    talk.choice = ToolChoice::Required;
    let turn = talk.ask("Is it late already? The time!").await;
    called(&turn, "get_current_time", json!({}));
}

#[tokio::test]
async fn no_two_calls_of_a_conversation_have_one_id() {
    let mut talk = assistant();
    talk.ask("weather in Paris and London").await;
    talk.ask("weather in Oslo").await;
    // An older part of the conversation is told no more.
    talk.messages.drain(..4);
    talk.ask("weather in Rome").await;
    let ids = talk.messages.iter().filter_map(|message| match message {
        Message::Step(step) => Some(step.calls().map(|call: &ToolCall| call.id.clone())),
        _ => None,
    });
    let mut ids: Vec<_> = ids.flatten().collect();
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!((all, ids.len()), (2, 2), "{ids:?}");
}
