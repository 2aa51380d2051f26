//! Models over a canned transport, and requests to them.

use std::sync::{Arc, LazyLock};

use futures::StreamExt as _;
use serde_json::Value;
use toolwright_chat::{Message, Model, ModelRequest};
use toolwright_core::{Content, RegisteredTool, Registry, Secret, Tool, ToolCall, ToolResult};
use toolwright_models::{ModelBuilder, Vendor};
pub(crate) use toolwright_testing::{CannedResponse, CannedTransport};

use crate::collected_events::CollectedEvents;
use crate::protocol_fixture::{ProtocolFixture, body};

/// A builder for a model of a protocol over a transport.
pub(crate) fn builder(protocol: &dyn ProtocolFixture, transport: &CannedTransport) -> ModelBuilder {
    let (vendor, name) = protocol.model();
    let builder = Vendor::by_name(vendor).unwrap().model(name);
    builder.api_key(Secret::new("a key")).transport(transport.clone())
}

pub(crate) fn model(protocol: &dyn ProtocolFixture, transport: &CannedTransport) -> Arc<dyn Model> {
    builder(protocol, transport).build().unwrap()
}

/// The body of one of the requests so far.
pub(crate) fn sent_body(transport: &CannedTransport, index: usize) -> Value {
    body(&transport.requests()[index])
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
