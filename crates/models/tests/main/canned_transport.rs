//! A transport with canned responses, which keeps the requests.

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

/// One response.
#[derive(Clone, Debug, Default)]
pub(crate) struct CannedResponse {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) chunks: Vec<Vec<u8>>,
    /// Whether the body does not end after its chunks.
    pub(crate) hangs: bool,
    /// Whether there is no response at all.
    pub(crate) silent: bool,
}

impl CannedResponse {
    pub(crate) fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, chunks: vec![body.into()], ..Self::default() }
    }

    pub(crate) fn in_chunks(body: &[u8], at: &[usize]) -> Self {
        let mut at: Vec<usize> = at.to_vec();
        at.extend([0, body.len()]);
        at.sort_unstable();
        let chunks = at.windows(2).map(|cut| body[cut[0]..cut[1]].to_vec());
        Self { status: 200, chunks: chunks.collect(), ..Self::default() }
    }

    pub(crate) fn error(status: u16, body: &str) -> Self {
        Self { status, ..Self::ok(body) }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.push((name, value));
        self
    }
}

/// Responds in order; clones share everything.
#[derive(Clone, Default)]
pub(crate) struct CannedTransport(Arc<Inner>);

#[derive(Default)]
struct Inner {
    responses: Mutex<VecDeque<CannedResponse>>,
    requests: Mutex<Vec<WireRequest>>,
    dropped: AtomicUsize,
}

impl CannedTransport {
    pub(crate) fn new(responses: impl IntoIterator<Item = CannedResponse>) -> Self {
        let transport = Self::default();
        transport.0.responses.lock().unwrap().extend(responses);
        transport
    }

    pub(crate) fn requests(&self) -> Vec<WireRequest> {
        self.0.requests.lock().unwrap().clone()
    }

    /// The body of one request.
    pub(crate) fn body(&self, index: usize) -> Value {
        body(&self.requests()[index])
    }

    /// How many responses, or requests without one, were dropped before their end.
    pub(crate) fn dropped_count(&self) -> usize {
        self.0.dropped.load(Ordering::SeqCst)
    }

    fn drop_counter(&self) -> DropCounter {
        DropCounter { transport: self.clone(), is_ended: false }
    }
}

impl Transport for CannedTransport {
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, ModelError>> {
        self.0.requests.lock().unwrap().push(request);
        let next = self.0.responses.lock().unwrap().pop_front();
        let request_guard = self.drop_counter();
        async move {
            let mut request_guard = request_guard;
            let Some(canned) = next else {
                panic!("there are more requests than responses");
            };
            if canned.silent {
                std::future::pending::<()>().await;
            }
            request_guard.is_ended = true;
            drop(request_guard);
            let body = CannedBody {
                chunks: canned.chunks.into(),
                hangs: canned.hangs,
                drop_counter: self.drop_counter(),
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
    chunks: VecDeque<Vec<u8>>,
    hangs: bool,
    drop_counter: DropCounter,
}

impl Stream for CannedBody {
    type Item = Result<Bytes, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.chunks.pop_front() {
            Some(chunk) => Poll::Ready(Some(Ok(chunk.into()))),
            None if self.hangs => Poll::Pending,
            None => {
                self.drop_counter.is_ended = true;
                Poll::Ready(None)
            }
        }
    }
}

/// A builder for a model of a protocol over a transport.
pub(crate) fn builder(protocol: &dyn ProtocolFixture, transport: &CannedTransport) -> ModelBuilder {
    let (vendor, name) = protocol.model();
    let builder = Vendor::by_name(vendor).unwrap().model(name);
    builder.api_key(Secret::new("a key")).transport(transport.clone())
}

pub(crate) fn model(protocol: &dyn ProtocolFixture, transport: &CannedTransport) -> Arc<dyn Model> {
    builder(protocol, transport).build().unwrap()
}

/// The tools of requests.
static TOOLS: LazyLock<Arc<[RegisteredTool]>> = LazyLock::new(|| {
    let registry = Registry::new();
    let weather = Tool::builder("weather", "Tells the weather.")
        .param::<String>("city", "Where.")
        .run(|_, _| "sunny")
        .unwrap();
    let clock = Tool::builder("clock", "Tells the time.").run(|_, _| "noon").unwrap();
    registry.add(vec![weather, clock]).unwrap();
    registry.snapshot().iter().cloned().collect()
});

/// A request with a message and tools.
pub(crate) fn weather_request() -> ModelRequest {
    let mut request = ModelRequest::default();
    request.messages = vec![Message::User(vec![Content::text("How is it there?")])];
    request.tools = Arc::clone(&TOOLS);
    request
}

/// The request after a step and the results of its calls.
pub(crate) fn follow_up_request(
    collected: &CollectedEvents,
    results: Vec<ToolResult>,
) -> ModelRequest {
    let mut request = weather_request();
    request.messages.push(Message::Step(Arc::new(collected.step())));
    request.messages.push(Message::Results(results));
    request
}

pub(crate) fn result(call: &ToolCall, mut result: ToolResult) -> ToolResult {
    result.call_id = call.id.clone();
    result.tool = call.name.clone();
    result
}

pub(crate) async fn ask(model: &Arc<dyn Model>, request: ModelRequest) -> CollectedEvents {
    let mut collected =
        CollectedEvents { model: model.id().clone(), events: Vec::new(), error: None };
    let mut stream = model.stream(request);
    while let Some(event) = stream.next().await {
        assert!(collected.error.is_none(), "nothing comes after an error");
        match event {
            Ok(event) => collected.events.push(event),
            Err(error) => collected.error = Some(error),
        }
    }
    collected
}

/// Sends one request, and collects its response.
pub(crate) async fn collect_response(
    protocol: &dyn ProtocolFixture,
    canned: CannedResponse,
) -> CollectedEvents {
    let transport = CannedTransport::new([canned]);
    ask(&model(protocol, &transport), weather_request()).await
}
