//! What goes wrong, and what is made of it.

use futures::{FutureExt as _, StreamExt as _};
use tokio::time::{Duration, Instant};
use toolwright_chat::{ItemKind, ModelErrorKind, ModelEvent, StopReason};
use toolwright_models::Timeouts;

use crate::canned_transport::{
    CannedResponse, CannedTransport, ask, builder, model, told, weather_request,
};
use crate::protocol_fixture::{ProtocolFixture, ReplyPart, ScenarioReply, call};

fn sunny_reply() -> ScenarioReply {
    ScenarioReply::new([ReplyPart::Text("It is sunny there.")])
}

pub(crate) async fn dropping_an_answer_ends_it(speaker: &dyn ProtocolFixture) {
    let body = speaker.streamed(&sunny_reply()).into_bytes();
    let mut canned = CannedResponse::in_chunks(&body, &[body.len() * 3 / 4]);
    canned.pieces.pop();
    canned.hangs = true;
    let line = CannedTransport::new([canned]);
    let mut answer = model(speaker, &line).stream(weather_request());
    while !matches!(answer.next().await, Some(Ok(ModelEvent::Text(_)))) {}
    assert_eq!(line.dropped_count(), 0);
    drop(answer);
    assert_eq!(line.dropped_count(), 1);
}

pub(crate) async fn dropping_a_question_ends_it(speaker: &dyn ProtocolFixture) {
    let canned = CannedResponse {
        silent: true,
        ..CannedResponse::default()
    };
    let line = CannedTransport::new([canned]);
    let mut answer = model(speaker, &line).stream(weather_request());
    assert!(matches!(
        answer.next().await,
        Some(Ok(ModelEvent::RequestSent(_)))
    ));
    assert!(answer.next().now_or_never().is_none());
    drop(answer);
    assert_eq!(line.dropped_count(), 1);
}

pub(crate) async fn a_busy_vendor_is_asked_again(speaker: &dyn ProtocolFixture) {
    let busy = || CannedResponse::error(429, speaker.rate_limit_body());
    let line = CannedTransport::new([
        busy().header("retry-after", "7"),
        busy().header("retry-after-ms", "250"),
        busy(),
        CannedResponse::ok(speaker.streamed(&sunny_reply())),
    ]);
    let begun = Instant::now();
    let told = ask(&model(speaker, &line), weather_request()).await;
    assert_eq!(told.texts().concat(), "It is sunny there.");
    assert!(begun.elapsed() >= Duration::from_secs(7));
    let asked = line.requests();
    assert_eq!(asked.len(), 4);
    assert!(asked.iter().all(|request| request.body == asked[0].body));
    // Who has been refused often enough gives up.
    let line = CannedTransport::new([busy(), busy(), busy(), busy()]);
    let told = ask(&model(speaker, &line), weather_request()).await;
    assert_eq!(told.error.unwrap().kind, ModelErrorKind::RateLimit);
}

pub(crate) async fn a_vendor_that_asks_for_hours_is_not_waited_for(speaker: &dyn ProtocolFixture) {
    let busy = CannedResponse::error(429, speaker.rate_limit_body()).header("retry-after", "7200");
    let error = told(speaker, busy).await.error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::RateLimit);
    assert_eq!(error.retry_after, Some(Duration::from_secs(7_200)));
}

pub(crate) async fn an_account_without_credit_is_not_asked_again(speaker: &dyn ProtocolFixture) {
    let (status, body) = speaker.quota_error();
    let line = CannedTransport::new([
        CannedResponse::error(status, body),
        CannedResponse::ok(speaker.streamed(&sunny_reply())),
    ]);
    let told = ask(&model(speaker, &line), weather_request()).await;
    assert_eq!(line.requests().len(), 1);
    let error = told.error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Quota, "{error}");
}

pub(crate) async fn a_vendor_that_gives_up_at_once_is_asked_again(speaker: &dyn ProtocolFixture) {
    let line = CannedTransport::new([
        CannedResponse::ok(speaker.failing_stream()),
        CannedResponse::ok(speaker.streamed(&sunny_reply())),
    ]);
    let told = ask(&model(speaker, &line), weather_request()).await;
    assert_eq!(told.texts().concat(), "It is sunny there.");
    assert_eq!(told.finished().0, StopReason::End);
    assert_eq!(line.requests().len(), 2);
}

pub(crate) async fn an_error_in_one_piece_is_no_answer(speaker: &dyn ProtocolFixture) {
    let refused =
        || CannedResponse::ok(speaker.rate_limit_body()).header("content-type", "application/json");
    let line = CannedTransport::new([refused(), refused(), refused(), refused()]);
    let told = ask(&model(speaker, &line), weather_request()).await;
    assert_eq!(told.events.len(), 1);
    let error = told.error.unwrap();
    assert!(error.is_transient(), "{error:?}");
    assert!(
        speaker.rate_limit_body().contains(&error.message),
        "{error}"
    );
    assert_eq!(line.requests().len(), 4);
}

pub(crate) async fn nothing_is_asked_again_once_something_was_told(speaker: &dyn ProtocolFixture) {
    let body = speaker.streamed(&sunny_reply());
    let half = &body[..body.find("ere.").unwrap()];
    let whole_frames = half.rfind("\n").unwrap() + 1;
    let broken = half[..whole_frames].to_owned() + &speaker.failing_stream();
    let line = CannedTransport::new([CannedResponse::ok(broken)]);
    let told = ask(&model(speaker, &line), weather_request()).await;
    assert!(!told.texts().is_empty());
    let error = told.error.unwrap();
    assert!(error.is_transient(), "{error:?}");
    assert_eq!(line.requests().len(), 1);
}

pub(crate) async fn an_answer_that_is_cut_off_runs_nothing(speaker: &dyn ProtocolFixture) {
    let said = ScenarioReply::new([
        ReplyPart::Text("Wait."),
        call("call_1", "weather", r#"{"city": "Rome", "dry": true}"#),
    ]);
    let body = speaker.streamed(&said).into_bytes();
    for end in 0..body.len() {
        let told = told(speaker, CannedResponse::ok(&body[..end])).await;
        let Some(error) = told.error else {
            // The rest is only white space, or says once more that it is over.
            let (stop, _) = told.finished();
            assert_eq!(stop, StopReason::Calls, "cut at {end}");
            assert_eq!(told.calls().len(), 1, "cut at {end}");
            continue;
        };
        assert_eq!(error.kind, ModelErrorKind::Protocol, "cut at {end}");
        let over = |event: &ModelEvent| matches!(event, ModelEvent::Finished { .. });
        assert!(!told.events.iter().any(over), "cut at {end}");
        // A call is told whole or not at all.
        for item in told.events.iter().filter_map(|event| match event {
            ModelEvent::Item(item) => Some(item),
            _ => None,
        }) {
            if let ItemKind::Call { call } = &item.kind {
                assert!(call.arguments.as_str().ends_with("true}"), "cut at {end}");
            }
        }
    }
}

pub(crate) async fn garbage_is_an_error_and_not_an_answer(speaker: &dyn ProtocolFixture) {
    for body in [
        &b""[..],
        b"\xff\xfe\x00",
        b"upstream connect error",
        b"data: {not json\n\n",
        b"{\"a\":",
        b"{}",
        b"[]",
        b"null\n",
        b"data: null\n\n",
        b"data: []\n\ndata: 7\n\n",
        b"event: message\ndata: \xc3\x28\n\n",
    ] {
        let told = told(speaker, CannedResponse::ok(body)).await;
        let shown = String::from_utf8_lossy(body);
        let error = told.error.unwrap_or_else(|| panic!("{shown} is no answer"));
        assert_eq!(error.kind, ModelErrorKind::Protocol, "{shown}");
        assert_eq!(told.events.len(), 1, "{shown}");
    }
}

pub(crate) async fn a_page_is_an_error_that_shows_it(speaker: &dyn ProtocolFixture) {
    let page = "<!DOCTYPE html>\n<html><head><title>Sign in to the proxy</title></head></html>";
    for status in [200, 502] {
        let canned = CannedResponse::error(status, page).header("content-type", "text/html");
        let line = CannedTransport::new(vec![canned; 4]);
        let error = ask(&model(speaker, &line), weather_request())
            .await
            .error
            .unwrap();
        assert!(error.message.contains("Sign in to the proxy"), "{error}");
        let kind = match status {
            200 => ModelErrorKind::Protocol,
            _ => ModelErrorKind::Overloaded,
        };
        assert_eq!(error.kind, kind);
    }
}

pub(crate) async fn a_redirect_is_not_followed(speaker: &dyn ProtocolFixture) {
    let moved = CannedResponse::error(307, "").header("location", "https://elsewhere.example/v1");
    let error = told(speaker, moved).await.error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::BadRequest);
    assert!(
        error.message.contains("https://elsewhere.example/v1"),
        "{error}"
    );
}

pub(crate) async fn silence_has_an_end(speaker: &dyn ProtocolFixture) {
    let mut patience = Timeouts::default();
    patience.retries = 0;
    let body = speaker.streamed(&sunny_reply()).into_bytes();
    let mut stops = CannedResponse::in_chunks(&body, &[body.len() / 2]);
    stops.pieces.pop();
    stops.hangs = true;
    let unanswered = CannedResponse {
        silent: true,
        ..CannedResponse::default()
    };
    let unbegun = CannedResponse {
        pieces: Vec::new(),
        ..stops.clone()
    };
    for (canned, told) in [
        (unanswered, "nothing was answered within 120s"),
        (unbegun, "the answer did not begin within 120s"),
        (stops, "the answer stopped: nothing more came within 90s"),
    ] {
        let line = CannedTransport::new([canned]);
        let model = builder(speaker, &line).timeouts(patience).build().unwrap();
        let error = ask(&model, weather_request()).await.error.unwrap();
        assert_eq!(error.kind, ModelErrorKind::Timeout);
        assert_eq!(error.message, told);
        assert_eq!(line.dropped_count(), 1);
    }
}

pub(crate) async fn nobody_is_waited_for_who_has_said_all(speaker: &dyn ProtocolFixture) {
    let mut canned = CannedResponse::ok(speaker.streamed(&sunny_reply()));
    canned.hangs = true;
    let line = CannedTransport::new([canned]);
    let told = ask(&model(speaker, &line), weather_request()).await;
    assert_eq!(told.texts().concat(), "It is sunny there.");
    match told.error {
        None => assert_eq!(told.finished().0, StopReason::End),
        Some(ref error) => assert_eq!(error.kind, ModelErrorKind::Timeout),
    }
    assert_eq!(told.error.is_none(), speaker.has_end_marker());
    assert_eq!(line.dropped_count(), 1);
}
