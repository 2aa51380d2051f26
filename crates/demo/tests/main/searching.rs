//! The demo model in a conversation in which tools have to be searched for.

use toolwright_chat::{Chat, ToolSearchMode};
use toolwright_core::{Invoker, Registry, Tool};
use toolwright_demo::DemoModel;

use assistant_tools::{convert_temperature, get_city_time, get_weather};

/// The tools of the assistant among many others.
fn chat() -> Chat {
    let registry = Registry::new();
    registry
        .add(vec![get_weather::tool(), get_city_time::tool(), convert_temperature::tool()])
        .unwrap();
    for number in 0..300 {
        let tool = Tool::builder(format!("file_form_{number}"), "Files a form of the port.");
        registry.add(tool.run(|_, _| "filed").unwrap()).unwrap();
    }
    Chat::new(&Invoker::new(&registry).unwrap(), DemoModel::new())
}

#[tokio::test]
async fn it_searches_and_then_calls_what_it_found() {
    let response = chat().message().user("What is the weather in Paris?").call().await.unwrap();
    let results = response.results();
    let tools: Vec<&str> = results.iter().map(|result| result.tool.as_str()).collect();
    assert_eq!(tools, ["search_tools", "get_weather"]);
    assert!(response.text().contains("Partly cloudy"), "{}", response.text());
}

#[tokio::test]
async fn it_asks_back_and_goes_on_with_the_tool_it_found() {
    let chat = chat();
    let ask = |text: &str| chat.message().conversation("room").user(text);
    let asked = ask("How is the weather?").call().await.unwrap();
    assert!(asked.text().contains("city"), "{}", asked.text());
    let answered = ask("Paris").call().await.unwrap();
    assert!(answered.text().contains("Partly cloudy"), "{}", answered.text());
    let results = answered.results();
    assert_eq!(results.last().unwrap().tool.as_str(), "get_weather");
}

#[tokio::test]
async fn it_says_that_it_found_nothing() {
    let response = chat().message().user("Sing me a serenade").call().await.unwrap();
    assert!(response.text().contains("found none for this"), "{}", response.text());
}

#[tokio::test]
async fn few_tools_are_called_without_a_search_unless_it_is_on() {
    let registry = Registry::of(get_weather::tool()).unwrap();
    let invoker = Invoker::new(&registry).unwrap();
    for (mode, count) in [(ToolSearchMode::Auto, 1), (ToolSearchMode::On, 2)] {
        let chat = Chat::builder(&invoker, DemoModel::new()).tool_search(mode).build();
        let response = chat.message().user("What is the weather in Paris?").call().await.unwrap();
        assert_eq!(response.results().len(), count);
        assert!(response.text().contains("Partly cloudy"), "{}", response.text());
    }
}
