//! The spans of a turn, which contain no messages.
//!
//! The test runs in a process of its own: `tracing` caches whether anything listens to a span when the span is first
//! reached, and a test beside this one could reach it in the moment before the recorder is there.

use std::collections::HashMap;
use std::fmt::Debug;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use toolwright::chat::{Chat, ModelErrorKind, ModelId};
use toolwright::testing::ScriptedModel;
use toolwright::{Invoker, Registry, Tool, ToolError};
use tracing::field::{Field, Visit};
use tracing::instrument::WithSubscriber as _;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps the fields of every span, and of every event.
#[derive(Clone, Default)]
struct Recorder(Arc<Recorded>);

#[derive(Default)]
struct Recorded {
    next: AtomicU64,
    spans: Mutex<Vec<Span>>,
    events: Mutex<Vec<Fields>>,
}

#[derive(Clone, Default)]
struct Fields(HashMap<String, String>);

struct Span {
    id: u64,
    name: &'static str,
    fields: Fields,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.0.next.fetch_add(1, Ordering::SeqCst) + 1;
        let mut fields = Fields::default();
        span.record(&mut fields);
        let name = span.metadata().name();
        self.0.spans.lock().unwrap().push(Span { id, name, fields });
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut spans = self.0.spans.lock().unwrap();
        let span = spans.iter_mut().find(|it| it.id == span.into_u64());
        values.record(&mut span.unwrap().fields);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.0.events.lock().unwrap().push(fields);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl Recorder {
    fn spans(&self, name: &str) -> Vec<HashMap<String, String>> {
        let spans = self.0.spans.lock().unwrap();
        let named = spans.iter().filter(|span| span.name == name);
        named.map(|span| span.fields.0.clone()).collect()
    }

    fn everything(&self) -> String {
        let spans = self.0.spans.lock().unwrap();
        let events = self.0.events.lock().unwrap();
        let fields = spans.iter().map(|span| &span.fields).chain(&*events);
        fields.map(|fields| format!("{:?}\n", fields.0)).collect()
    }
}

/// Set in the process of the test.
const IN_OWN_PROCESS: &str = "CHAT_TELEMETRY_PROCESS";

#[test]
fn a_turn_has_spans_with_the_conventional_names_and_no_messages() {
    if std::env::var_os(IN_OWN_PROCESS).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        return runtime.unwrap().block_on(record_a_turn());
    }
    let this = "telemetry::a_turn_has_spans_with_the_conventional_names_and_no_messages";
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", this])
        .env(IN_OWN_PROCESS, "1")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains(" 1 passed;"), "{stdout}");
}

async fn record_a_turn() {
    let model = ScriptedModel::new()
        .with_id(ModelId::new("vendor", "big"))
        .calls_all([("write", r#"{"n": 8675309}"#), ("guarded", r#"{"surprise": 8675309}"#)])
        .replies("The answer is 8675309.")
        .fails(ModelErrorKind::Auth, "sk-secret-8675309");
    let write = Tool::builder("write", "Writes.").param::<i64>("n", "Which.");
    let write = write.run(|args, _| args.get::<i64>("n")).unwrap();
    let guarded = Tool::builder("guarded", "Fails.");
    let guarded = guarded.run(|_, _| Err::<(), _>(ToolError::failed("password=8675309"))).unwrap();
    let invoker = Invoker::new(Registry::of([write, guarded]).unwrap()).unwrap();
    let chat = Chat::builder(&invoker, model).build();
    let recorder = Recorder::default();
    let turn = async {
        let ask = || chat.message().conversation("room").system("Keep 8675309 to yourself.");
        ask().user("Is it 8675309?").call().await.unwrap();
        ask().user("Really?").call().await.unwrap_err();
    };
    turn.with_subscriber(recorder.clone()).await;

    let asked = recorder.spans("chat");
    assert_eq!(asked.len(), 3);
    for (field, value) in [
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "vendor"),
        ("gen_ai.request.model", "big"),
        ("gen_ai.conversation.id", "room"),
        ("gen_ai.usage.input_tokens", "10"),
        ("gen_ai.usage.output_tokens", "5"),
        ("otel.name", "chat big"),
    ] {
        assert_eq!(asked[0].get(field).map(String::as_str), Some(value), "{field}");
    }
    assert_eq!(asked[2]["error.type"], "auth");
    assert!(!asked[1].contains_key("error.type"));

    let ran = recorder.spans("execute_tool");
    assert_eq!(ran.len(), 2);
    let write = ran.iter().find(|span| span["gen_ai.tool.name"] == "write");
    let write = write.unwrap();
    assert_eq!(write["gen_ai.operation.name"], "execute_tool");
    assert_eq!(write["gen_ai.tool.call.id"], "call_0_0");
    assert_eq!(write["outcome"], "ok");

    let everything = recorder.everything();
    assert!(!everything.contains("8675309"), "{everything}");
}
