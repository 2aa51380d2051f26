//! What the next request says of what was said before.

use toolwright_chat::{ItemKind, Message};
use toolwright_core::{Content, ToolResult};

use crate::canned_transport::{
    CannedResponse, CannedTransport, ask, follow_up_request, model, result, weather_request,
};
use crate::protocol_fixture::{
    ProtocolFixture, ReplyPart, ScenarioReply, SentCall, SentResult, call,
};

fn sent_call(id: &str, city: &str) -> SentCall {
    SentCall {
        id: id.to_owned(),
        name: "weather".to_owned(),
        arguments: serde_json::json!({"city": city}),
    }
}

fn sent_result(id: &str, text: &str) -> SentResult {
    SentResult {
        id: id.to_owned(),
        text: text.to_owned(),
        failed: false,
    }
}

fn weather_call(id: &str, city: &str) -> ReplyPart {
    call(id, "weather", &format!(r#"{{"city":"{city}"}}"#))
}

/// A line that answers with each of these.
fn transport(speaker: &dyn ProtocolFixture, said: &[ScenarioReply]) -> CannedTransport {
    CannedTransport::new(
        said.iter()
            .map(|said| CannedResponse::ok(speaker.streamed(said))),
    )
}

pub(crate) async fn a_call_and_its_result_are_told_in_the_next_request(
    speaker: &dyn ProtocolFixture,
) {
    let calls = ScenarioReply::new([
        weather_call("call_1", "Rome"),
        weather_call("call_2", "Oslo"),
    ]);
    let line = transport(
        speaker,
        &[calls, ScenarioReply::new([ReplyPart::Text("Both fine.")])],
    );
    let model = model(speaker, &line);
    let told = ask(&model, weather_request()).await;
    let calls = told.calls();
    // Results may come in any order; they are told in that of the calls.
    let results = vec![
        result(&calls[1], ToolResult::success("rainy")),
        result(&calls[0], ToolResult::success("sunny")),
    ];
    ask(&model, follow_up_request(&told, results))
        .await
        .finished();
    let body = line.body(1);
    assert_eq!(
        speaker.calls(&body),
        [sent_call("call_1", "Rome"), sent_call("call_2", "Oslo")]
    );
    assert_eq!(
        speaker.results(&body),
        [
            sent_result("call_1", "sunny"),
            sent_result("call_2", "rainy")
        ]
    );
}

pub(crate) async fn call_after_call_adds_up(speaker: &dyn ProtocolFixture) {
    let line = transport(
        speaker,
        &[
            ScenarioReply::new([weather_call("call_1", "Rome")]),
            ScenarioReply::new([weather_call("call_2", "Oslo")]),
            ScenarioReply::new([ReplyPart::Text("Rome is nicer.")]),
        ],
    );
    let model = model(speaker, &line);
    let first = ask(&model, weather_request()).await;
    let mut request = follow_up_request(
        &first,
        vec![result(&first.calls()[0], ToolResult::success("sunny"))],
    );
    let second = ask(&model, request.clone()).await;
    let step = follow_up_request(
        &second,
        vec![result(&second.calls()[0], ToolResult::success("rainy"))],
    );
    request.messages.extend(step.messages.into_iter().skip(1));
    let third = ask(&model, request).await;
    assert_eq!(third.texts().concat(), "Rome is nicer.");
    let body = line.body(2);
    assert_eq!(
        speaker.calls(&body),
        [sent_call("call_1", "Rome"), sent_call("call_2", "Oslo")]
    );
    assert_eq!(
        speaker.results(&body),
        [
            sent_result("call_1", "sunny"),
            sent_result("call_2", "rainy")
        ]
    );
}

pub(crate) async fn a_failed_result_is_marked_as_one(speaker: &dyn ProtocolFixture) {
    let line = transport(
        speaker,
        &[
            ScenarioReply::new([weather_call("call_1", "Rome")]),
            ScenarioReply::new([]),
        ],
    );
    let model = model(speaker, &line);
    let told = ask(&model, weather_request()).await;
    let failure = result(&told.calls()[0], ToolResult::failure("no such city"));
    ask(&model, follow_up_request(&told, vec![failure])).await;
    let results = speaker.results(&line.body(1));
    assert_eq!(results.len(), 1);
    assert!(
        results[0].failed && results[0].text == "no such city",
        "{results:?}"
    );
}

pub(crate) async fn an_image_in_a_result_is_carried(speaker: &dyn ProtocolFixture) {
    let line = transport(
        speaker,
        &[
            ScenarioReply::new([weather_call("call_1", "Rome")]),
            ScenarioReply::new([]),
        ],
    );
    let model = model(speaker, &line);
    let told = ask(&model, weather_request()).await;
    let content = vec![
        Content::text("The sky:"),
        Content::image("image/png", b"blue as can be"),
    ];
    let results = vec![result(&told.calls()[0], ToolResult::success(content))];
    ask(&model, follow_up_request(&told, results)).await;
    let body = line.body(1);
    assert!(body.to_string().contains("Ymx1ZSBhcyBjYW4gYmU="), "{body}");
    let text = &speaker.results(&body)[0].text;
    assert!(text.contains("The sky:"), "{text}");
}

pub(crate) async fn what_was_thought_goes_back_as_it_came(speaker: &dyn ProtocolFixture) {
    let thought = ("They ask for Rome.", "c2VhbGVk+/==");
    let said = ScenarioReply::new([
        ReplyPart::Reasoning(thought.0, thought.1),
        weather_call("call_1", "Rome"),
    ]);
    let line = CannedTransport::new([
        CannedResponse::ok(speaker.streamed(&said)),
        CannedResponse::ok(speaker.streamed(&ScenarioReply::new([]))),
        CannedResponse::ok(speaker.complete_body(&said)).header("content-type", "application/json"),
        CannedResponse::ok(speaker.streamed(&ScenarioReply::new([]))),
    ]);
    let model = model(speaker, &line);
    for round in 0..2 {
        let told = ask(&model, weather_request()).await;
        let reasoning = ItemKind::Reasoning {
            text: thought.0.to_owned(),
        };
        assert!(told.kinds().contains(&&reasoning));
        let results = vec![result(&told.calls()[0], ToolResult::success("sunny"))];
        ask(&model, follow_up_request(&told, results)).await;
        assert_eq!(
            speaker.reasoning_items(&line.body(2 * round + 1)),
            [speaker.reasoning_item(thought.0, thought.1)]
        );
    }
}

pub(crate) async fn what_nobody_knows_goes_back_or_stays_away(speaker: &dyn ProtocolFixture) {
    let said = ScenarioReply::new([ReplyPart::Unknown, ReplyPart::Text("Hm.")]);
    let line = transport(speaker, &[said, ScenarioReply::new([])]);
    let model = model(speaker, &line);
    let told = ask(&model, weather_request()).await;
    let mut request = follow_up_request(&told, Vec::new());
    request
        .messages
        .push(Message::User(vec![Content::text("And?")]));
    ask(&model, request).await;
    let body = line.body(1).to_string();
    assert_eq!(
        body.contains("1.5"),
        speaker.replays_unknown_items(),
        "{body}"
    );
    assert!(body.contains("Hm.") && body.contains("And?"), "{body}");
}
