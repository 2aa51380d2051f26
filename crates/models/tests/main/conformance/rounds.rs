//! What the next request says of what was said before.

use toolwright_chat::{ItemKind, Message};
use toolwright_core::{Content, ToolResult};

use crate::canned::{Canned, Line, after, ask, model, question, result};
use crate::said::{Called, Part, Resulted, Said, Speaks, call};

fn called(id: &str, city: &str) -> Called {
    Called {
        id: id.to_owned(),
        name: "weather".to_owned(),
        arguments: serde_json::json!({"city": city}),
    }
}

fn resulted(id: &str, text: &str) -> Resulted {
    Resulted {
        id: id.to_owned(),
        text: text.to_owned(),
        failed: false,
    }
}

fn weather(id: &str, city: &str) -> Part {
    call(id, "weather", &format!(r#"{{"city":"{city}"}}"#))
}

/// A line that answers with each of these.
fn line(speaker: &dyn Speaks, said: &[Said]) -> Line {
    Line::new(said.iter().map(|said| Canned::ok(speaker.streamed(said))))
}

pub(crate) async fn a_call_and_its_result_are_told_in_the_next_request(speaker: &dyn Speaks) {
    let calls = Said::new([weather("call_1", "Rome"), weather("call_2", "Oslo")]);
    let line = line(speaker, &[calls, Said::new([Part::Text("Both fine.")])]);
    let model = model(speaker, &line);
    let told = ask(&model, question()).await;
    let calls = told.calls();
    // Results may come in any order; they are told in that of the calls.
    let results = vec![
        result(&calls[1], ToolResult::success("rainy")),
        result(&calls[0], ToolResult::success("sunny")),
    ];
    ask(&model, after(&told, results)).await.end();
    let body = line.body(1);
    assert_eq!(
        speaker.calls(&body),
        [called("call_1", "Rome"), called("call_2", "Oslo")]
    );
    assert_eq!(
        speaker.results(&body),
        [resulted("call_1", "sunny"), resulted("call_2", "rainy")]
    );
}

pub(crate) async fn call_after_call_adds_up(speaker: &dyn Speaks) {
    let line = line(
        speaker,
        &[
            Said::new([weather("call_1", "Rome")]),
            Said::new([weather("call_2", "Oslo")]),
            Said::new([Part::Text("Rome is nicer.")]),
        ],
    );
    let model = model(speaker, &line);
    let first = ask(&model, question()).await;
    let mut request = after(
        &first,
        vec![result(&first.calls()[0], ToolResult::success("sunny"))],
    );
    let second = ask(&model, request.clone()).await;
    let step = after(
        &second,
        vec![result(&second.calls()[0], ToolResult::success("rainy"))],
    );
    request.messages.extend(step.messages.into_iter().skip(1));
    let third = ask(&model, request).await;
    assert_eq!(third.texts().concat(), "Rome is nicer.");
    let body = line.body(2);
    assert_eq!(
        speaker.calls(&body),
        [called("call_1", "Rome"), called("call_2", "Oslo")]
    );
    assert_eq!(
        speaker.results(&body),
        [resulted("call_1", "sunny"), resulted("call_2", "rainy")]
    );
}

pub(crate) async fn a_failed_result_is_marked_as_one(speaker: &dyn Speaks) {
    let line = line(
        speaker,
        &[Said::new([weather("call_1", "Rome")]), Said::new([])],
    );
    let model = model(speaker, &line);
    let told = ask(&model, question()).await;
    let failure = result(&told.calls()[0], ToolResult::failure("no such city"));
    ask(&model, after(&told, vec![failure])).await;
    let results = speaker.results(&line.body(1));
    assert_eq!(results.len(), 1);
    assert!(
        results[0].failed && results[0].text == "no such city",
        "{results:?}"
    );
}

pub(crate) async fn an_image_in_a_result_is_carried(speaker: &dyn Speaks) {
    let line = line(
        speaker,
        &[Said::new([weather("call_1", "Rome")]), Said::new([])],
    );
    let model = model(speaker, &line);
    let told = ask(&model, question()).await;
    let content = vec![
        Content::text("The sky:"),
        Content::image("image/png", b"blue as can be"),
    ];
    let results = vec![result(&told.calls()[0], ToolResult::success(content))];
    ask(&model, after(&told, results)).await;
    let body = line.body(1);
    assert!(body.to_string().contains("Ymx1ZSBhcyBjYW4gYmU="), "{body}");
    let text = &speaker.results(&body)[0].text;
    assert!(text.contains("The sky:"), "{text}");
}

pub(crate) async fn what_was_thought_goes_back_as_it_came(speaker: &dyn Speaks) {
    let thought = ("They ask for Rome.", "c2VhbGVk+/==");
    let said = Said::new([
        Part::Thought(thought.0, thought.1),
        weather("call_1", "Rome"),
    ]);
    let line = Line::new([
        Canned::ok(speaker.streamed(&said)),
        Canned::ok(speaker.streamed(&Said::new([]))),
        Canned::ok(speaker.whole(&said)).header("content-type", "application/json"),
        Canned::ok(speaker.streamed(&Said::new([]))),
    ]);
    let model = model(speaker, &line);
    for round in 0..2 {
        let told = ask(&model, question()).await;
        let reasoning = ItemKind::Reasoning {
            text: thought.0.to_owned(),
        };
        assert!(told.kinds().contains(&&reasoning));
        let results = vec![result(&told.calls()[0], ToolResult::success("sunny"))];
        ask(&model, after(&told, results)).await;
        assert_eq!(
            speaker.thoughts(&line.body(2 * round + 1)),
            [speaker.thought(thought.0, thought.1)]
        );
    }
}

pub(crate) async fn what_nobody_knows_goes_back_or_stays_away(speaker: &dyn Speaks) {
    let said = Said::new([Part::Unknown, Part::Text("Hm.")]);
    let line = line(speaker, &[said, Said::new([])]);
    let model = model(speaker, &line);
    let told = ask(&model, question()).await;
    let mut request = after(&told, Vec::new());
    request
        .messages
        .push(Message::User(vec![Content::text("And?")]));
    ask(&model, request).await;
    let body = line.body(1).to_string();
    assert_eq!(body.contains("1.5"), speaker.returns_unknown(), "{body}");
    assert!(body.contains("Hm.") && body.contains("And?"), "{body}");
}
