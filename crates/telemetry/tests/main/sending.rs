//! What arrives, and what happens when nothing can.

use std::net::TcpListener;
use std::time::Duration;

use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use toolwright_telemetry::{Error, Settings, Telemetry, install_with, layer};
use tracing::{field, info_span};
use tracing_subscriber::layer::SubscriberExt as _;

use crate::collector::{Collector, text};

/// A span as the invoker makes it, around one as the chat makes it.
fn work(error: Option<&str>) {
    let tool = info_span!(
        target: "toolwright_core::layer::trace",
        "execute_tool",
        otel.name = "execute_tool lookup_order",
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = "lookup_order",
        error.r#type = field::Empty,
    );
    if let Some(error) = error {
        tool.record("error.type", error);
    }
    tool.in_scope(|| {
        let chat = info_span!(
            target: "toolwright_chat::telemetry",
            "chat",
            otel.name = "chat small-1",
            otel.kind = "client",
            gen_ai.request.model = "small-1",
        );
        chat.in_scope(|| {
            let _foreign = info_span!(target: "hyper", "connect").entered();
            let _detail = tracing::debug_span!(target: "toolwright_core", "detail").entered();
        });
    });
}

/// The guard after one span was recorded for `settings`, in a subscriber of the test's own.
fn after_work(settings: Settings) -> Telemetry {
    let (spans, telemetry) = layer(settings).expect("the settings are right");
    let subscriber = tracing_subscriber::registry().with(spans);
    tracing::subscriber::with_default(subscriber, || {
        info_span!(target: "toolwright_core", "execute_tool").in_scope(|| ());
    });
    telemetry
}

// The one test that installs for the whole program: the others have subscribers of their own.
#[test]
fn spans_arrive_with_their_names_and_attributes_when_the_guard_is_dropped() {
    let collector = Collector::answering("200 OK");
    let settings = Settings::new()
        .endpoint(collector.address())
        .header("x-key", "k-123")
        .service("shop");
    // As in a program that is async all over: nothing may block or panic for that.
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime starts").block_on(async {
        let telemetry = install_with(settings).expect("nothing is installed yet");
        assert!(telemetry.is_on());
        work(Some("timeout"));
        drop(telemetry);
        // Too late, and harmless.
        work(None);
    });

    let request = collector.request();
    assert_eq!(request.head[0], "post /v1/traces http/1.1");
    let has = |line: &str| request.head.iter().any(|it| it == line);
    assert!(has("content-type: application/x-protobuf"));
    assert!(has("x-key: k-123"));
    assert_eq!(text(&request.resource(), "service.name"), Some("shop"));

    let spans = request.spans();
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["chat small-1", "execute_tool lookup_order"]);
    let (chat, tool) = (&spans[0], &spans[1]);
    assert_eq!(chat.parent_span_id, tool.span_id);
    assert_eq!(chat.kind(), SpanKind::Client);
    assert_eq!(
        text(&chat.attributes, "gen_ai.request.model"),
        Some("small-1")
    );
    assert_eq!(
        text(&tool.attributes, "gen_ai.tool.name"),
        Some("lookup_order")
    );
    let keys: Vec<&str> = chat.attributes.iter().map(|it| it.key.as_str()).collect();
    assert_eq!(keys, ["gen_ai.request.model"]);

    assert!(chat.status.as_ref().is_none_or(|it| it.code == 0));
    let status = tool.status.as_ref().expect("it failed");
    assert_eq!(status.code(), StatusCode::Error);
    assert_eq!(status.message, "timeout");

    let again = install_with(Settings::new().endpoint(collector.address()));
    assert!(matches!(again, Err(Error::Occupied)));
}

#[test]
fn a_service_without_a_name_is_called_toolwright() {
    let collector = Collector::answering("200 OK");
    let telemetry = after_work(Settings::new().endpoint(collector.address()));
    telemetry.close().expect("everything arrives");
    let resource = collector.request().resource();
    assert_eq!(text(&resource, "service.name"), Some("toolwright"));
}

#[test]
fn a_collector_that_is_down_holds_nobody_up() {
    // Nobody listens there, and no test that runs meanwhile is given that port.
    let settings = Settings::new().endpoint("http://127.0.0.1:1/v1/traces");
    drop(after_work(settings.clone()));
    let lost = after_work(settings.timeout(Duration::from_millis(50))).close();
    assert!(matches!(lost, Err(Error::Lost { spans: 1, .. })));
}

#[test]
fn a_collector_that_never_answers_is_not_waited_for() {
    // The system accepts for a listener that never does.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    let wait = Duration::from_millis(50);
    let settings = Settings::new()
        .endpoint(format!("http://{address}/v1/traces"))
        .wait(wait);
    let late = after_work(settings).close();
    assert!(matches!(late, Err(Error::Late { wait: waited }) if waited == wait));
}

#[test]
fn what_a_collector_refuses_is_counted() {
    let collector = Collector::answering("401 Unauthorized");
    let lost = after_work(Settings::new().endpoint(collector.address())).close();
    let lost = lost.expect_err("it is refused");
    assert_eq!(
        lost.to_string(),
        "spans that did not reach the collector: 1"
    );
    let cause = std::error::Error::source(&lost).expect("there is a reason");
    assert!(cause.to_string().contains("401"));
}

#[test]
fn without_a_collector_nothing_is_installed() {
    let telemetry = install_with(Settings::new()).expect("there is nothing to do");
    assert!(!telemetry.is_on());
    telemetry.close().expect("there is nothing to lose");
}

#[test]
fn an_address_that_is_none_is_refused_without_being_shown() {
    for address in ["localhost:4318", "collector", "ftp://key@host/", ""] {
        let refused = install_with(Settings::new().endpoint(address));
        let refused = refused.expect_err("it is no address");
        assert!(matches!(refused, Error::Endpoint), "{address}");
    }
}
