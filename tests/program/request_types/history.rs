//! Histories that no protocol has produced: from programs, scripts, or after a crash.

use serde_json::json;
use toolwright::chat::{Item, ItemKind, Message};
use toolwright::{Content, ErrorKind, Outcome, StructuredContent, ToolResult};

use super::recorded_steps::{call, result, scripted, user};
use super::tools;

/// Content of every kind.
fn all_content() -> Vec<Content> {
    vec![
        Content::text("Look at these."),
        Content::image("image/png", b"png"),
        Content::image("image/svg+xml", b"<svg/>"),
        Content::audio("audio/wav", b"wav"),
        Content::audio("audio/ogg", b"ogg"),
        Content::resource("notes://today", "Tea at four."),
        Content::blob("file:///desk/table.csv", "text/csv; charset=utf-8", b"a,b"),
        Content::blob("file:///desk/paper.pdf", "application/pdf", b"pdf"),
        Content::blob("file:///desk/photo.jpg", "image/jpeg", b"jpeg"),
        Content::blob("file:///desk/thing", "application/octet-stream", b"thing"),
        Content::link("https://shop.example/a", "A page"),
        Content::text(""),
    ]
}

/// Content of every kind, in both roles.
pub(crate) fn contents() -> Vec<Message> {
    vec![
        Message::User(all_content()),
        Message::Assistant(all_content()),
        Message::User(vec![Content::image("image/png", b"png")]),
        Message::Assistant(vec![Content::text("A picture.")]),
        user("And now?"),
    ]
}

/// Several turns, with every kind of result.
pub(crate) fn results() -> Vec<Message> {
    let calls: Vec<_> = (0..9)
        .map(|number| call(&format!("call_{number}"), "get_weather", r#"{"city":"Oslo"}"#))
        .collect();
    let refused = |outcome| ToolResult::from_outcome(outcome, ErrorKind::Failed, "not now");
    let structured = json!({"sky": "grey", "wind": [1, 2.5, null], "$ref": "x", "big": u64::MAX});
    let came_to = [
        ToolResult::success("Rainy, 22C"),
        ToolResult::success(""),
        ToolResult::success(Vec::<Content>::new()),
        ToolResult::success(all_content()),
        ToolResult::success(vec![Content::image("image/png", b"png")]),
        ToolResult::failure(vec![Content::image("image/png", b"png"), Content::text("blurred")]),
        ToolResult::success("grey")
            .with_structured(StructuredContent::from_serializable(&structured).unwrap()),
        refused(Outcome::Denied),
        refused(Outcome::OutcomeUnknown),
    ];
    let parallel: Vec<Item> = calls.iter().cloned().map(Item::call).collect();
    let came_to: Vec<_> = calls.iter().zip(came_to).map(|(call, it)| result(call, it)).collect();
    let alone = call("alone", "get_city_time", r#"{"city":"Oslo"}"#);
    vec![
        user("What is the weather like?"),
        scripted(parallel),
        Message::Results(came_to),
        scripted(vec![Item::text("One more."), Item::call(alone.clone())]),
        Message::Results(vec![result(&alone, ToolResult::failure(""))]),
        scripted(vec![Item::text("It rains.")]),
        user("And tomorrow?"),
    ]
}

/// Searches for tools: with matches, twice in one step, without a match, with an error, of tools that have gone since, and
/// calls of what was found.
pub(crate) fn searches() -> Vec<Message> {
    let search = |id: &str| call(id, tools::SEARCH, r#"{"query":"the weather in a city"}"#);
    let gone = r#"{"tools":[{"name":"gone","description":"","input_schema":{},"version":"0"}]}"#;
    let searches = [
        tools::found(&["get_weather", "tree", "1st_of_all", "get_weather"]),
        tools::found(&["web_search", "choices"]),
        tools::found(&[]),
        ToolResult::failure("the query is missing"),
        ToolResult::success(gone),
    ];
    let calls: Vec<_> = (0..5).map(|number| search(&format!("search_{number}"))).collect();
    let results: Vec<_> = calls.iter().zip(searches).map(|(call, it)| result(call, it)).collect();
    let found = call("found", "get_weather", r#"{"city":"Oslo"}"#);
    let mut messages = vec![user("What is the weather like?")];
    // One search alone, then several in one step.
    let (first_call, later_calls) = calls.split_at(1);
    let (first_result, later_results) = results.split_at(1);
    for (calls, results) in [(first_call, first_result), (later_calls, later_results)] {
        messages.push(scripted(calls.iter().cloned().map(Item::call).collect()));
        messages.push(Message::Results(results.to_vec()));
    }
    messages.push(scripted(vec![Item::call(found.clone())]));
    messages.push(Message::Results(vec![result(&found, ToolResult::success("wet"))]));
    messages
}

/// Call IDs in the formats of other vendors, and in no format.
pub(crate) fn ids() -> Vec<Message> {
    let long = "call_".repeat(30);
    let mut messages = vec![user("Go.")];
    for id in ["", "call_1", "call_1", &long, "functions.get_weather:0", "überall", "a b", "call_1"]
    {
        let call = call(id, "get_weather", r#"{"city":"Oslo"}"#);
        messages.push(scripted(vec![Item::call(call.clone())]));
        messages.push(Message::Results(vec![result(&call, ToolResult::success("wet"))]));
    }
    messages
}

/// Arguments that are not a JSON object.
pub(crate) fn arguments() -> Vec<Message> {
    let texts = ["", "{}", "{\"city\": ", "[1]", "null", "\"Oslo\"", "{'city': 'Oslo',}"];
    let calls = texts.iter().enumerate();
    let calls = calls.map(|(place, text)| call(&format!("call_{place}"), "get_weather", text));
    vec![user("Go."), scripted(calls.map(Item::call).collect())]
}

/// Calls of unknown tools: hallucinated or removed ones.
pub(crate) fn missing_tool_messages() -> Vec<Message> {
    let long = "longer_than_names_may_be_".repeat(6);
    let names = ["vanished", "no such tool!", "ns.tool:1", "wetter_für", "", "1st_of_all", &long];
    let calls = names.iter().enumerate();
    let calls: Vec<_> =
        calls.map(|(place, name)| call(&format!("call_{place}"), name, "{}")).collect();
    let unknown = |call| {
        let kind = ErrorKind::Failed;
        result(call, ToolResult::from_outcome(Outcome::UnknownTool, kind, "there is no such tool"))
    };
    let results = calls.iter().map(unknown).collect();
    vec![
        user("Go."),
        scripted(calls.into_iter().map(Item::call).collect()),
        Message::Results(results),
        user("Go on."),
    ]
}

/// Invalid histories.
pub(crate) fn edges() -> Vec<Message> {
    let late = call("late", "get_weather", "{}");
    let orphan = call("orphan", "get_weather", "{}");
    let never = call("never", "get_weather", "{}");
    let thought = Item::new(ItemKind::Reasoning { text: "Hm.".to_owned() });
    let hosted = Item::new(ItemKind::HostedCall {
        tool: "web_search".to_owned(),
        input: "tea".to_owned(),
        output: "leaves".to_owned(),
        failed: false,
    });
    vec![
        Message::Results(vec![result(&orphan, ToolResult::success("whose?"))]),
        Message::Assistant(vec![Content::text("Good day.")]),
        Message::User(Vec::new()),
        Message::User(vec![Content::text(" \n")]),
        user("One."),
        user("Two."),
        Message::Assistant(Vec::new()),
        Message::Assistant(vec![Content::text("Yes?")]),
        scripted(Vec::new()),
        scripted(vec![thought.clone()]),
        scripted(vec![Item::text(" "), hosted, Item::new(ItemKind::Other)]),
        scripted(vec![Item::text("I begin,")]),
        scripted(vec![thought, Item::call(never)]),
        scripted(vec![Item::call(late.clone())]),
        user("Wait!"),
        Message::Results(vec![result(&late, ToolResult::success("here"))]),
        scripted(vec![Item::new(ItemKind::Refusal { text: "No.".to_owned() })]),
        user("Why?"),
    ]
}
