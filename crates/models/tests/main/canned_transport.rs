//! A transport without a network: it answers what it is told to, and keeps what it was asked.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use futures::{FutureExt as _, Stream, StreamExt as _};
use serde_json::Value;
use toolwright_chat::{Message, Model, ModelError, ModelRequest};
use toolwright_core::{Content, RegisteredTool, Registry, Secret, Tool, ToolCall, ToolResult};
use toolwright_models::{Bytes, ModelBuilder, Transport, Vendor, WireRequest, WireResponse};

use crate::collected_events::CollectedEvents;
use crate::protocol_fixture::{ProtocolFixture, body};

/// One answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct CannedResponse {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) pieces: Vec<Vec<u8>>,
    /// Whether nothing comes after the pieces, not even the end.
    pub(crate) hangs: bool,
    /// Whether nobody answers at all.
    pub(crate) silent: bool,
}

impl CannedResponse {
    pub(crate) fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            pieces: vec![body.into()],
            ..Self::default()
        }
    }

    pub(crate) fn in_chunks(body: &[u8], at: &[usize]) -> Self {
        let mut at: Vec<usize> = at.to_vec();
        at.extend([0, body.len()]);
        at.sort_unstable();
        let pieces = at.windows(2).map(|cut| body[cut[0]..cut[1]].to_vec());
        Self {
            status: 200,
            pieces: pieces.collect(),
            ..Self::default()
        }
    }

    pub(crate) fn error(status: u16, body: &str) -> Self {
        Self {
            status,
            ..Self::ok(body)
        }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.push((name, value));
        self
    }
}

/// Answers in order; clones share everything.
#[derive(Clone, Default)]
pub(crate) struct CannedTransport(Arc<Inner>);

#[derive(Default)]
struct Inner {
    responses: Mutex<VecDeque<CannedResponse>>,
    requests: Mutex<Vec<WireRequest>>,
    dropped: AtomicUsize,
}

impl CannedTransport {
    pub(crate) fn new(answers: impl IntoIterator<Item = CannedResponse>) -> Self {
        let line = Self::default();
        line.0.responses.lock().unwrap().extend(answers);
        line
    }

    pub(crate) fn requests(&self) -> Vec<WireRequest> {
        self.0.requests.lock().unwrap().clone()
    }

    /// The body of one request.
    pub(crate) fn body(&self, place: usize) -> Value {
        body(&self.requests()[place])
    }

    /// How many answers, or questions without one, were dropped before their end.
    pub(crate) fn dropped_count(&self) -> usize {
        self.0.dropped.load(Ordering::SeqCst)
    }

    fn drop_counter(&self) -> DropCounter {
        DropCounter {
            transport: self.clone(),
            is_ended: false,
        }
    }
}

impl Transport for CannedTransport {
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, ModelError>> {
        self.0.requests.lock().unwrap().push(request);
        let next = self.0.responses.lock().unwrap().pop_front();
        let asked = self.drop_counter();
        async move {
            let mut asked = asked;
            let Some(canned) = next else {
                panic!("nobody should ask more often");
            };
            if canned.silent {
                std::future::pending::<()>().await;
            }
            asked.is_ended = true;
            drop(asked);
            let body = CannedBody {
                pieces: canned.pieces.into(),
                hangs: canned.hangs,
                watch: self.drop_counter(),
            };
            let mut response = WireResponse::streamed(canned.status, body);
            for (name, value) in canned.headers {
                response = response.with_header(name, value);
            }
            Ok(response)
        }
        .boxed()
    }
}

struct DropCounter {
    transport: CannedTransport,
    is_ended: bool,
}

impl Drop for DropCounter {
    fn drop(&mut self) {
        if !self.is_ended {
            self.transport.0.dropped.fetch_add(1, Ordering::SeqCst);
        }
    }
}

struct CannedBody {
    pieces: VecDeque<Vec<u8>>,
    hangs: bool,
    watch: DropCounter,
}

impl Stream for CannedBody {
    type Item = Result<Bytes, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.pieces.pop_front() {
            Some(piece) => Poll::Ready(Some(Ok(piece.into()))),
            None if self.hangs => Poll::Pending,
            None => {
                self.watch.is_ended = true;
                Poll::Ready(None)
            }
        }
    }
}

/// A model of a protocol, at the end of a line.
pub(crate) fn builder(speaker: &dyn ProtocolFixture, line: &CannedTransport) -> ModelBuilder {
    let (vendor, name) = speaker.model();
    let connect = Vendor::by_name(vendor).unwrap().model(name);
    connect
        .api_key(Secret::new("a key"))
        .transport(line.clone())
}

pub(crate) fn model(speaker: &dyn ProtocolFixture, line: &CannedTransport) -> Arc<dyn Model> {
    builder(speaker, line).build().unwrap()
}

/// Tools to ask with.
static TOOLS: LazyLock<Arc<[RegisteredTool]>> = LazyLock::new(|| {
    let registry = Registry::new();
    let weather = Tool::builder("weather", "Tells the weather.")
        .param::<String>("city", "Where.")
        .run(|_, _| "sunny")
        .unwrap();
    let clock = Tool::builder("clock", "Tells the time.")
        .run(|_, _| "noon")
        .unwrap();
    registry.add(vec![weather, clock]).unwrap();
    registry.snapshot().iter().cloned().collect()
});

/// A question, with tools.
pub(crate) fn weather_request() -> ModelRequest {
    let mut request = ModelRequest::default();
    request.messages = vec![Message::User(vec![Content::text("How is it there?")])];
    request.tools = Arc::clone(&TOOLS);
    request
}

/// The question again, after a step and the results of its calls.
pub(crate) fn follow_up_request(told: &CollectedEvents, results: Vec<ToolResult>) -> ModelRequest {
    let mut request = weather_request();
    request.messages.push(Message::Step(Arc::new(told.step())));
    request.messages.push(Message::Results(results));
    request
}

pub(crate) fn result(call: &ToolCall, mut result: ToolResult) -> ToolResult {
    result.call_id = call.id.clone();
    result.tool = call.name.clone();
    result
}

pub(crate) async fn ask(model: &Arc<dyn Model>, request: ModelRequest) -> CollectedEvents {
    let mut told = CollectedEvents {
        model: model.id().clone(),
        events: Vec::new(),
        error: None,
    };
    let mut answer = model.stream(request);
    while let Some(event) = answer.next().await {
        assert!(told.error.is_none(), "nothing comes after an error");
        match event {
            Ok(event) => told.events.push(event),
            Err(error) => told.error = Some(error),
        }
    }
    told
}

/// Asks once, with one answer.
pub(crate) async fn told(speaker: &dyn ProtocolFixture, canned: CannedResponse) -> CollectedEvents {
    let line = CannedTransport::new([canned]);
    ask(&model(speaker, &line), weather_request()).await
}
