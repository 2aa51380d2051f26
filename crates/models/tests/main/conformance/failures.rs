//! Errors, retries and cancellation.

use futures::{FutureExt as _, StreamExt as _};
use tokio::time::{Duration, Instant};
use toolwright_chat::{ItemKind, ModelErrorKind, ModelEvent, StopReason};
use toolwright_models::{Bytes, Timeouts};

use crate::canned_transport::{
    CannedResponse, CannedTransport, ask, builder, collect_response, model, weather_request,
};
use crate::protocol_fixture::{ProtocolFixture, ReplyPart, ScenarioReply, call};

fn sunny_reply() -> ScenarioReply {
    ScenarioReply::new([ReplyPart::Text("It is sunny there.")])
}

pub(crate) async fn dropping_a_response_ends_it(protocol: &dyn ProtocolFixture) {
    let mut body = protocol.streamed(&sunny_reply()).into_bytes();
    body.truncate(body.len() * 3 / 4);
    let transport = CannedTransport::new([CannedResponse::ok(body).hanging()]);
    let mut answer = model(protocol, &transport).stream(weather_request());
    while !matches!(answer.next().await, Some(Ok(ModelEvent::Text(_)))) {}
    assert_eq!(transport.dropped_count(), 0);
    drop(answer);
    assert_eq!(transport.dropped_count(), 1);
}

pub(crate) async fn dropping_a_request_ends_it(protocol: &dyn ProtocolFixture) {
    let transport = CannedTransport::new([CannedResponse::never()]);
    let mut answer = model(protocol, &transport).stream(weather_request());
    assert!(matches!(answer.next().await, Some(Ok(ModelEvent::RequestSent(_)))));
    assert!(answer.next().now_or_never().is_none());
    drop(answer);
    assert_eq!(transport.dropped_count(), 1);
}

pub(crate) async fn a_busy_vendor_is_retried(protocol: &dyn ProtocolFixture) {
    let busy = || CannedResponse::error(429, protocol.rate_limit_body());
    let transport = CannedTransport::new([
        busy().header("retry-after", "7"),
        busy().header("retry-after-ms", "250"),
        busy(),
        CannedResponse::ok(protocol.streamed(&sunny_reply())),
    ]);
    let begun = Instant::now();
    let collected = ask(&model(protocol, &transport), weather_request()).await;
    assert_eq!(collected.texts().concat(), "It is sunny there.");
    assert!(begun.elapsed() >= Duration::from_secs(7));
    let sent = transport.requests();
    assert_eq!(sent.len(), 4);
    assert!(sent.iter().all(|request| request.body == sent[0].body));
    // After three retries the error is returned.
    let transport = CannedTransport::new([busy(), busy(), busy(), busy()]);
    let collected = ask(&model(protocol, &transport), weather_request()).await;
    assert_eq!(collected.error.unwrap().kind, ModelErrorKind::RateLimit);
}

pub(crate) async fn a_retry_after_hours_is_not_awaited(protocol: &dyn ProtocolFixture) {
    let busy = CannedResponse::error(429, protocol.rate_limit_body()).header("retry-after", "7200");
    let error = collect_response(protocol, busy).await.error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::RateLimit);
    assert_eq!(error.retry_after, Some(Duration::from_secs(7_200)));
}

pub(crate) async fn an_account_without_credit_is_not_retried(protocol: &dyn ProtocolFixture) {
    let (status, body) = protocol.quota_error();
    let transport = CannedTransport::new([
        CannedResponse::error(status, body),
        CannedResponse::ok(protocol.streamed(&sunny_reply())),
    ]);
    let collected = ask(&model(protocol, &transport), weather_request()).await;
    assert_eq!(transport.requests().len(), 1);
    let error = collected.error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Quota, "{error}");
}

pub(crate) async fn a_stream_that_fails_at_once_is_retried(protocol: &dyn ProtocolFixture) {
    let transport = CannedTransport::new([
        CannedResponse::ok(protocol.failing_stream()),
        CannedResponse::ok(protocol.streamed(&sunny_reply())),
    ]);
    let collected = ask(&model(protocol, &transport), weather_request()).await;
    assert_eq!(collected.texts().concat(), "It is sunny there.");
    assert_eq!(collected.finished().0, StopReason::End);
    assert_eq!(transport.requests().len(), 2);
}

pub(crate) async fn an_error_body_with_status_200_is_an_error(protocol: &dyn ProtocolFixture) {
    let refused = || {
        CannedResponse::ok(protocol.rate_limit_body()).header("content-type", "application/json")
    };
    let transport = CannedTransport::new([refused(), refused(), refused(), refused()]);
    let collected = ask(&model(protocol, &transport), weather_request()).await;
    assert_eq!(collected.events.len(), 1);
    let error = collected.error.unwrap();
    assert!(error.is_transient(), "{error:?}");
    let (_, message) = error.message.split_once(": ").unwrap();
    assert!(protocol.rate_limit_body().contains(message), "{error}");
    assert_eq!(transport.requests().len(), 4);
}

pub(crate) async fn an_error_begins_with_the_vendor(protocol: &dyn ProtocolFixture) {
    for status in [401, 500] {
        let answer = || CannedResponse::error(status, "boom");
        let transport = CannedTransport::new([answer(), answer(), answer(), answer()]);
        let model = model(protocol, &transport);
        let error = ask(&model, weather_request()).await.error.unwrap();
        let vendor = format!("{}: ", model.id().vendor);
        assert!(error.message.starts_with(&vendor), "{status}: {error}");
    }
}

pub(crate) async fn nothing_is_retried_after_the_first_event(protocol: &dyn ProtocolFixture) {
    let body = protocol.streamed(&sunny_reply());
    let half = &body[..body.find("ere.").unwrap()];
    let whole_frames = half.rfind("\n").unwrap() + 1;
    let broken = half[..whole_frames].to_owned() + &protocol.failing_stream();
    let transport = CannedTransport::new([CannedResponse::ok(broken)]);
    let collected = ask(&model(protocol, &transport), weather_request()).await;
    assert!(!collected.texts().is_empty());
    let error = collected.error.unwrap();
    assert!(error.is_transient(), "{error:?}");
    assert_eq!(transport.requests().len(), 1);
}

pub(crate) async fn a_truncated_response_has_no_calls(protocol: &dyn ProtocolFixture) {
    let reply = ScenarioReply::new([
        ReplyPart::Text("Wait."),
        call("call_1", "weather", r#"{"city": "Rome", "dry": true}"#),
    ]);
    let body = Bytes::from(protocol.streamed(&reply));
    for end in 0..body.len() {
        let collected = collect_response(protocol, CannedResponse::ok(body.slice(..end))).await;
        let Some(error) = collected.error else {
            // The rest is only white space, or a second end marker.
            let (stop, _) = collected.finished();
            assert_eq!(stop, StopReason::Calls, "cut at {end}");
            assert_eq!(collected.calls().len(), 1, "cut at {end}");
            continue;
        };
        assert_eq!(error.kind, ModelErrorKind::Protocol, "cut at {end}");
        let over = |event: &ModelEvent| matches!(event, ModelEvent::Finished { .. });
        assert!(!collected.events.iter().any(over), "cut at {end}");
        // A call is emitted completely or not at all.
        for item in collected.events.iter().filter_map(|event| match event {
            ModelEvent::Item(item) => Some(item),
            _ => None,
        }) {
            if let ItemKind::Call { call } = &item.kind {
                assert!(call.arguments.as_str().ends_with("true}"), "cut at {end}");
            }
        }
    }
}

pub(crate) async fn garbage_is_an_error(protocol: &dyn ProtocolFixture) {
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
        let collected = collect_response(protocol, CannedResponse::ok(body)).await;
        let shown = String::from_utf8_lossy(body);
        let error = collected.error.unwrap_or_else(|| panic!("{shown} is no answer"));
        assert_eq!(error.kind, ModelErrorKind::Protocol, "{shown}");
        assert_eq!(collected.events.len(), 1, "{shown}");
    }
}

pub(crate) async fn a_page_is_an_error_that_shows_it(protocol: &dyn ProtocolFixture) {
    let page = "<!DOCTYPE html>\n<html><head><title>Sign in to the proxy</title></head></html>";
    for status in [200, 502] {
        let canned = CannedResponse::error(status, page).header("content-type", "text/html");
        let transport = CannedTransport::new(vec![canned; 4]);
        let error = ask(&model(protocol, &transport), weather_request()).await.error.unwrap();
        assert!(error.message.contains("Sign in to the proxy"), "{error}");
        let kind = match status {
            200 => ModelErrorKind::Protocol,
            _ => ModelErrorKind::Overloaded,
        };
        assert_eq!(error.kind, kind);
    }
}

pub(crate) async fn a_redirect_is_not_followed(protocol: &dyn ProtocolFixture) {
    let moved = CannedResponse::error(307, "").header("location", "https://elsewhere.example/v1");
    let error = collect_response(protocol, moved).await.error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::BadRequest);
    assert!(error.message.contains("https://elsewhere.example/v1"), "{error}");
}

pub(crate) async fn silence_has_an_end(protocol: &dyn ProtocolFixture) {
    let mut timeouts = Timeouts::default();
    timeouts.retries = 0;
    let mut body = protocol.streamed(&sunny_reply()).into_bytes();
    body.truncate(body.len() / 2);
    let stops = CannedResponse::ok(body).hanging();
    let mut unbegun = stops.clone();
    unbegun.chunks.clear();
    for (canned, message, names_address) in [
        (CannedResponse::never(), "nothing was answered within 120s", true),
        (unbegun, "the answer did not begin within 120s", false),
        (stops, "the answer stopped: nothing more came within 90s", false),
    ] {
        let transport = CannedTransport::new([canned]);
        let model = builder(protocol, &transport).timeouts(timeouts).build().unwrap();
        let error = ask(&model, weather_request()).await.error.unwrap();
        assert_eq!(error.kind, ModelErrorKind::Timeout);
        let vendor = format!(
            "{}{}",
            model.id().vendor,
            if names_address { " does not answer at http" } else { ": " }
        );
        assert!(error.message.starts_with(&vendor), "{error}");
        assert!(error.message.ends_with(&format!(": {message}")), "{error}");
        assert_eq!(transport.dropped_count(), 1);
    }
}

pub(crate) async fn the_connection_is_not_awaited_after_the_last_frame(
    protocol: &dyn ProtocolFixture,
) {
    let canned = CannedResponse::ok(protocol.streamed(&sunny_reply())).hanging();
    let transport = CannedTransport::new([canned]);
    let collected = ask(&model(protocol, &transport), weather_request()).await;
    assert_eq!(collected.texts().concat(), "It is sunny there.");
    match collected.error {
        None => assert_eq!(collected.finished().0, StopReason::End),
        Some(ref error) => assert_eq!(error.kind, ModelErrorKind::Timeout),
    }
    assert_eq!(collected.error.is_none(), protocol.has_end_marker());
    assert_eq!(transport.dropped_count(), 1);
}
