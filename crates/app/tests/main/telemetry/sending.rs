//! Spans reach the collector, and lost ones are reported.

use std::net::TcpListener;
use std::time::Duration;

use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use toolwright::chat::MemoryStore;
use toolwright::telemetry::{
    TelemetryError, TelemetryGuard, TelemetrySettings, install_with, layer,
};
use toolwright::testing::ScriptedModel;
use toolwright::{Registry, tool};
use tracing::{field, info_span};
use tracing_subscriber::layer::SubscriberExt as _;

use super::collector::{Collector, text};

/// Records a span as the invoker does, around one as the chat does.
fn record_spans(error: Option<&str>) {
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

/// Records one span in a subscriber for `settings`, and returns its guard.
fn record_span(settings: TelemetrySettings) -> TelemetryGuard {
    let (spans, telemetry) = layer(settings).expect("the settings are right");
    let subscriber = tracing_subscriber::registry().with(spans);
    tracing::subscriber::with_default(subscriber, || {
        info_span!(target: "toolwright_core", "execute_tool").in_scope(|| ());
    });
    telemetry
}

// The only test that installs a global subscriber; the others use their own.
#[test]
fn spans_arrive_with_their_names_and_attributes_when_the_guard_is_dropped() {
    let collector = Collector::with_status("200 OK");
    let settings = TelemetrySettings::new()
        .endpoint(collector.address())
        .header("x-key", "k-123")
        .service("shop");
    // Within an async runtime, where building a blocking client would panic.
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime starts").block_on(async {
        let telemetry = install_with(settings).expect("nothing is installed yet");
        assert!(telemetry.is_enabled());
        record_spans(Some("timeout"));
        drop(telemetry);
        // Spans after the guard was dropped are ignored.
        record_spans(None);
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
    assert_eq!(text(&chat.attributes, "gen_ai.request.model"), Some("small-1"));
    assert_eq!(text(&tool.attributes, "gen_ai.tool.name"), Some("lookup_order"));
    let keys: Vec<&str> = chat.attributes.iter().map(|it| it.key.as_str()).collect();
    assert_eq!(keys, ["gen_ai.request.model"]);

    assert!(chat.status.as_ref().is_none_or(|it| it.code == 0));
    let status = tool.status.as_ref().expect("it failed");
    assert_eq!(status.code(), StatusCode::Error);
    assert_eq!(status.message, "timeout");

    let again = install_with(TelemetrySettings::new().endpoint(collector.address()));
    assert!(matches!(again, Err(TelemetryError::SubscriberExists)));
}

#[test]
fn the_default_name_of_the_service_is_toolwright() {
    let collector = Collector::with_status("200 OK");
    let telemetry = record_span(TelemetrySettings::new().endpoint(collector.address()));
    telemetry.close().expect("everything arrives");
    let resource = collector.request().resource();
    assert_eq!(text(&resource, "service.name"), Some("toolwright"));
    assert_eq!(text(&resource, "service.version"), None);
}

#[test]
fn spans_carry_the_name_and_version_of_a_program() {
    let collector = Collector::with_status("200 OK");
    let settings = TelemetrySettings::new().endpoint(collector.address());
    let telemetry = record_span(settings.default_service("shop").default_version("1.2.3"));
    telemetry.close().expect("everything arrives");
    let resource = collector.request().resource();
    assert_eq!(text(&resource, "service.name"), Some("shop"));
    assert_eq!(text(&resource, "service.version"), Some("1.2.3"));
}

#[test]
fn the_spans_of_an_app_carry_its_name_and_version() {
    /// Counts the books in stock.
    #[tool(read_only)]
    fn count_books() -> u32 {
        12
    }

    let collector = Collector::with_status("200 OK");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime starts");
    let app = toolwright::app!().registry(Registry::new()).tools(count_books::tool());
    let app = app.name("bookshop").model(ScriptedModel::new()).store(MemoryStore::new());
    let app = runtime.block_on(app.start()).expect("it starts");
    let settings = TelemetrySettings::new().endpoint(collector.address());
    let settings =
        settings.default_service(&*app.info().name).default_version(&*app.info().version);
    let (spans, telemetry) = layer(settings).expect("the settings are right");
    let subscriber = tracing_subscriber::registry().with(spans);
    tracing::subscriber::with_default(subscriber, || {
        let result = runtime.block_on(app.invoker().call("count_books", "{}"));
        assert_eq!(result.text(), "12");
    });
    telemetry.close().expect("everything arrives");
    let request = collector.request();
    assert_eq!(text(&request.resource(), "service.name"), Some("bookshop"));
    let version = Some(env!("CARGO_PKG_VERSION"));
    assert_eq!(text(&request.resource(), "service.version"), version);
    let names: Vec<String> = request.spans().into_iter().map(|span| span.name).collect();
    assert_eq!(names, ["execute_tool count_books"]);
    runtime.block_on(app.shutdown());
}

#[test]
fn an_unreachable_collector_does_not_block_the_program() {
    // Nothing listens on port 1, and the system never assigns it to another test.
    let settings = TelemetrySettings::new().endpoint("http://127.0.0.1:1/v1/traces");
    drop(record_span(settings.clone()));
    let lost = record_span(settings.request_timeout(Duration::from_millis(50))).close();
    assert!(matches!(lost, Err(TelemetryError::Lost { spans: 1, .. })));
}

#[test]
fn closing_does_not_wait_for_a_collector_that_never_responds() {
    // The system accepts the connection, the test never reads from it.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    let wait = Duration::from_millis(50);
    let settings = TelemetrySettings::new()
        .endpoint(format!("http://{address}/v1/traces"))
        .close_timeout(wait);
    let late = record_span(settings).close();
    assert!(matches!(late, Err(TelemetryError::CloseTimeout { wait: waited }) if waited == wait));
}

#[test]
fn spans_that_the_collector_rejects_are_counted() {
    let collector = Collector::with_status("401 Unauthorized");
    let lost = record_span(TelemetrySettings::new().endpoint(collector.address())).close();
    let lost = lost.expect_err("it is refused");
    assert_eq!(lost.to_string(), "spans that did not reach the collector: 1");
    let cause = std::error::Error::source(&lost).expect("there is a reason");
    assert!(cause.to_string().contains("401"));
}

#[test]
fn without_a_collector_nothing_is_installed() {
    let telemetry = install_with(TelemetrySettings::new()).expect("there is nothing to do");
    assert!(!telemetry.is_enabled());
    telemetry.close().expect("there is nothing to lose");
}

#[test]
fn an_invalid_url_is_refused_and_not_shown() {
    for address in ["localhost:4318", "collector", "ftp://key@host/", ""] {
        let refused = install_with(TelemetrySettings::new().endpoint(address));
        let refused = refused.expect_err("the URL is invalid");
        assert!(matches!(refused, TelemetryError::Endpoint), "{address}");
    }
}
