//! A response and its results in the next request.

use toolwright_chat::{ItemKind, Message};
use toolwright_core::{Content, ToolResult};

use crate::canned_transport::{
    CannedResponse, CannedTransport, ask, follow_up_request, model, result, sent_body,
    weather_request,
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
    SentResult { id: id.to_owned(), text: text.to_owned(), failed: false }
}

fn weather_call(id: &str, city: &str) -> ReplyPart {
    call(id, "weather", &format!(r#"{{"city":"{city}"}}"#))
}

/// A transport with these responses.
fn transport(protocol: &dyn ProtocolFixture, reply: &[ScenarioReply]) -> CannedTransport {
    CannedTransport::new(reply.iter().map(|reply| CannedResponse::ok(protocol.streamed(reply))))
}

pub(crate) async fn a_call_and_its_result_are_in_the_next_request(protocol: &dyn ProtocolFixture) {
    let calls =
        ScenarioReply::new([weather_call("call_1", "Rome"), weather_call("call_2", "Oslo")]);
    let transport =
        transport(protocol, &[calls, ScenarioReply::new([ReplyPart::Text("Both fine.")])]);
    let model = model(protocol, &transport);
    let collected = ask(&model, weather_request()).await;
    let calls = collected.calls();
    // Results may come in any order; they are sent in that of the calls.
    let results = vec![
        result(&calls[1], ToolResult::success("rainy")),
        result(&calls[0], ToolResult::success("sunny")),
    ];
    ask(&model, follow_up_request(&collected, results)).await.finished();
    let body = sent_body(&transport, 1);
    assert_eq!(protocol.calls(&body), [sent_call("call_1", "Rome"), sent_call("call_2", "Oslo")]);
    assert_eq!(
        protocol.results(&body),
        [sent_result("call_1", "sunny"), sent_result("call_2", "rainy")]
    );
}

pub(crate) async fn call_after_call_adds_up(protocol: &dyn ProtocolFixture) {
    let transport = transport(
        protocol,
        &[
            ScenarioReply::new([weather_call("call_1", "Rome")]),
            ScenarioReply::new([weather_call("call_2", "Oslo")]),
            ScenarioReply::new([ReplyPart::Text("Rome is nicer.")]),
        ],
    );
    let model = model(protocol, &transport);
    let first = ask(&model, weather_request()).await;
    let mut request =
        follow_up_request(&first, vec![result(&first.calls()[0], ToolResult::success("sunny"))]);
    let second = ask(&model, request.clone()).await;
    let step =
        follow_up_request(&second, vec![result(&second.calls()[0], ToolResult::success("rainy"))]);
    request.messages.extend(step.messages.into_iter().skip(1));
    let third = ask(&model, request).await;
    assert_eq!(third.texts().concat(), "Rome is nicer.");
    let body = sent_body(&transport, 2);
    assert_eq!(protocol.calls(&body), [sent_call("call_1", "Rome"), sent_call("call_2", "Oslo")]);
    assert_eq!(
        protocol.results(&body),
        [sent_result("call_1", "sunny"), sent_result("call_2", "rainy")]
    );
}

pub(crate) async fn a_failed_result_is_marked_as_one(protocol: &dyn ProtocolFixture) {
    let transport = transport(
        protocol,
        &[ScenarioReply::new([weather_call("call_1", "Rome")]), ScenarioReply::new([])],
    );
    let model = model(protocol, &transport);
    let collected = ask(&model, weather_request()).await;
    let failure = result(&collected.calls()[0], ToolResult::failure("no such city"));
    ask(&model, follow_up_request(&collected, vec![failure])).await;
    let results = protocol.results(&sent_body(&transport, 1));
    assert_eq!(results.len(), 1);
    assert!(results[0].failed && results[0].text == "no such city", "{results:?}");
}

pub(crate) async fn an_image_in_a_result_is_carried(protocol: &dyn ProtocolFixture) {
    let transport = transport(
        protocol,
        &[ScenarioReply::new([weather_call("call_1", "Rome")]), ScenarioReply::new([])],
    );
    let model = model(protocol, &transport);
    let collected = ask(&model, weather_request()).await;
    let content = vec![Content::text("The sky:"), Content::image("image/png", b"blue as can be")];
    let results = vec![result(&collected.calls()[0], ToolResult::success(content))];
    ask(&model, follow_up_request(&collected, results)).await;
    let body = sent_body(&transport, 1);
    assert!(body.to_string().contains("Ymx1ZSBhcyBjYW4gYmU="), "{body}");
    let text = &protocol.results(&body)[0].text;
    assert!(text.contains("The sky:"), "{text}");
}

pub(crate) async fn reasoning_is_replayed_unchanged(protocol: &dyn ProtocolFixture) {
    let thought = ("They ask for Rome.", "c2VhbGVk+/==");
    let reply = ScenarioReply::new([
        ReplyPart::Reasoning(thought.0, thought.1),
        weather_call("call_1", "Rome"),
    ]);
    let transport = CannedTransport::new([
        CannedResponse::ok(protocol.streamed(&reply)),
        CannedResponse::ok(protocol.streamed(&ScenarioReply::new([]))),
        CannedResponse::ok(protocol.complete_body(&reply))
            .header("content-type", "application/json"),
        CannedResponse::ok(protocol.streamed(&ScenarioReply::new([]))),
    ]);
    let model = model(protocol, &transport);
    for round in 0..2 {
        let collected = ask(&model, weather_request()).await;
        let reasoning = ItemKind::Reasoning { text: thought.0.to_owned() };
        assert!(collected.kinds().contains(&&reasoning));
        let results = vec![result(&collected.calls()[0], ToolResult::success("sunny"))];
        ask(&model, follow_up_request(&collected, results)).await;
        assert_eq!(
            protocol.reasoning_items(&sent_body(&transport, 2 * round + 1)),
            [protocol.reasoning_item(thought.0, thought.1)]
        );
    }
}

pub(crate) async fn unknown_items_are_replayed_or_left_out(protocol: &dyn ProtocolFixture) {
    let reply = ScenarioReply::new([ReplyPart::Unknown, ReplyPart::Text("Hm.")]);
    let transport = transport(protocol, &[reply, ScenarioReply::new([])]);
    let model = model(protocol, &transport);
    let collected = ask(&model, weather_request()).await;
    let mut request = follow_up_request(&collected, Vec::new());
    request.messages.push(Message::User(vec![Content::text("And?")]));
    ask(&model, request).await;
    let body = sent_body(&transport, 1).to_string();
    assert_eq!(body.contains("1.5"), protocol.replays_unknown_items(), "{body}");
    assert!(body.contains("Hm.") && body.contains("And?"), "{body}");
}
