//! The AI SDK over a WebSocket: several requests at once on one connection.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::{Utf8Bytes, WebSocket};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use toolwright_core::CancellationToken;

use super::UiChatRequest;
use super::encoder::AiSdkEncoder;
use crate::auth::request_context::RequestContext;
use crate::conversation::access::{OpenConversation, Operation};
use crate::endpoint::EndpointRuntime;
use crate::endpoint::path_template::{ID_PARAM, PathParams};
use crate::http::body::json_error;
use crate::http::error_response::ErrorResponse;
use crate::http::extract::{Path, WebSocketUpgrade};
use crate::protocols::turn_stream::ProtocolStream;
use crate::protocols::websocket::{self, SocketProtocol};

/// The maximum number of open requests per connection.
const MAX_OPEN_REQUESTS: usize = 32;

pub(crate) async fn upgrade(
    State(endpoint): State<Arc<EndpointRuntime>>,
    Extension(context): Extension<RequestContext>,
    params: Option<Path<PathParams>>,
    WebSocketUpgrade(upgrade): WebSocketUpgrade,
) -> Response {
    let params = params.map(|Path(params)| params).unwrap_or_default();
    let upgrade = websocket::with_limits(upgrade, &endpoint.server.limits);
    upgrade.on_upgrade(move |socket| run_connection(endpoint, context, params, socket))
}

/// A frame of a client.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ClientFrame {
    Send {
        #[serde(rename = "requestId")]
        request_id: String,
        #[serde(flatten)]
        body: UiChatRequest,
    },
    Resume {
        #[serde(rename = "requestId")]
        request_id: String,
        id: Option<String>,
    },
    Abort {
        #[serde(rename = "requestId")]
        request_id: String,
    },
}

/// A frame of the server, with the fields of its kind.
fn server_frame(kind: &str, request_id: &str, more: &[(&str, Value)]) -> Utf8Bytes {
    let mut frame = serde_json::Map::new();
    frame.insert("type".to_owned(), kind.into());
    frame.insert("requestId".to_owned(), request_id.into());
    for (name, value) in more {
        frame.insert((*name).to_owned(), value.clone());
    }
    Value::from(frame).to_string().into()
}

/// The frame of a part, whose JSON is not parsed again.
fn chunk_frame(request_id: &str, sequence: u64, part: String) -> Option<Utf8Bytes> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct ChunkFrame<'a> {
        r#type: &'static str,
        request_id: &'a str,
        sequence: u64,
        chunk: Box<RawValue>,
    }
    let chunk = RawValue::from_string(part).ok()?;
    let frame = ChunkFrame { r#type: "chunk", request_id, sequence, chunk };
    serde_json::to_string(&frame).ok().map(Utf8Bytes::from)
}

/// A connection and its open requests.
struct AiSdkSocket {
    endpoint: Arc<EndpointRuntime>,
    params: PathParams,
    outgoing: mpsc::Sender<Utf8Bytes>,
    outgoing_frames: mpsc::Receiver<Utf8Bytes>,
    open_requests: HashMap<String, (OpenConversation, CancellationToken)>,
}

async fn run_connection(
    endpoint: Arc<EndpointRuntime>,
    context: RequestContext,
    params: PathParams,
    socket: WebSocket,
) {
    let (outgoing, outgoing_frames) = mpsc::channel(16);
    let mut connection = AiSdkSocket {
        endpoint: Arc::clone(&endpoint),
        params,
        outgoing,
        outgoing_frames,
        open_requests: HashMap::new(),
    };
    websocket::run_connection(socket, &mut connection, &endpoint, context, None).await;
    // The turns continue: the client may reconnect.
    let open_requests = connection.open_requests.values();
    open_requests.for_each(|(_, open)| open.cancel());
}

impl SocketProtocol for AiSdkSocket {
    async fn next_frame(&mut self) -> Option<Utf8Bytes> {
        tokio::select! {
            frame = self.outgoing_frames.recv() => frame,
            () = self.endpoint.server.shutdown.cancelled() => None,
        }
    }

    // Must not wait for `outgoing`, which only the caller drains.
    async fn on_frame(&mut self, text: &str, context: &RequestContext) -> Option<Utf8Bytes> {
        self.open_requests.retain(|_, (_, open)| !open.is_cancelled());
        let (request_id, result) = match serde_json::from_str(text) {
            Ok(ClientFrame::Send { request_id, body }) => {
                let result = self.start_turn(context, &request_id, body).await;
                (request_id, result.map(|()| None))
            }
            Ok(ClientFrame::Resume { request_id, id }) => {
                let result = self.resume_turn(context, &request_id, id).await;
                (request_id, result)
            }
            Ok(ClientFrame::Abort { request_id }) => {
                if let Some((conversation, open)) = self.open_requests.remove(&request_id) {
                    open.cancel();
                    let stopped = stop_turn(&conversation, context).await;
                    return stopped.err().map(|error| error_frame(&request_id, &error));
                }
                return None;
            }
            Err(error) => (String::new(), Err(json_error("frame", &error))),
        };
        result.unwrap_or_else(|error| Some(error_frame(&request_id, &error)))
    }

    fn error_frame(error: &ErrorResponse) -> Utf8Bytes {
        error_frame("", error)
    }
}

impl AiSdkSocket {
    async fn start_turn(
        &mut self,
        context: &RequestContext,
        request_id: &str,
        body: UiChatRequest,
    ) -> Result<(), ErrorResponse> {
        if self.open_requests.len() >= MAX_OPEN_REQUESTS {
            return Err(ErrorResponse::too_many_requests("too many requests at once"));
        }
        let (ended_context, params) = (context.clone(), self.params.clone());
        let context = context.clone();
        let submitted =
            super::submit_chat(&self.endpoint, context, params, body, super::random_peer_id()?)
                .await?;
        let (request_id, sender) = (request_id.to_owned(), self.outgoing.clone());
        let open = self.track_request(&request_id, &submitted.conversation);
        let ended = submitted.conversation.wait_ended(&ended_context);
        tokio::spawn(async move {
            let stream = tokio::select! {
                stream = submitted.into_stream() => stream,
                () = open.cancelled() => return,
            };
            match stream {
                Ok(stream) => forward_stream(stream, request_id, sender, open, ended).await,
                Err(error) => {
                    // The connection may be closed.
                    let _ = sender.send(error_frame(&request_id, &error)).await;
                    open.cancel();
                }
            }
        });
        Ok(())
    }

    async fn resume_turn(
        &mut self,
        context: &RequestContext,
        request_id: &str,
        id: Option<String>,
    ) -> Result<Option<Utf8Bytes>, ErrorResponse> {
        let mut params = self.params.clone();
        if params.is_empty() {
            params.push((ID_PARAM.to_owned(), id.unwrap_or_default()));
        }
        let conversation =
            self.endpoint.open_conversation(params, context, Operation::Read).await?;
        conversation.room.recover_unfinished_turn(context).await?;
        let Some(stream) = super::running_turn_stream(&conversation.room) else {
            return Ok(Some(server_frame("no-active", request_id, &[])));
        };
        let open = self.track_request(request_id, &conversation);
        let ended = conversation.wait_ended(context);
        let (request_id, sender) = (request_id.to_owned(), self.outgoing.clone());
        tokio::spawn(forward_stream(stream, request_id, sender, open, ended));
        Ok(None)
    }

    /// Adds an open request.
    fn track_request(
        &mut self,
        request_id: &str,
        conversation: &OpenConversation,
    ) -> CancellationToken {
        let open = CancellationToken::new();
        let entry = (conversation.clone(), open.clone());
        self.open_requests.insert(request_id.to_owned(), entry);
        open
    }
}

/// Stops the turn of a conversation, if the client may take part in it.
async fn stop_turn(
    conversation: &OpenConversation,
    context: &RequestContext,
) -> Result<(), ErrorResponse> {
    conversation.check_again(context, Operation::Participate).await?;
    conversation.room.stop_turn().await?;
    Ok(())
}

fn error_frame(request_id: &str, error: &ErrorResponse) -> Utf8Bytes {
    server_frame("error", request_id, &[("errorText", error.message().into())])
}

/// Sends the parts of a turn until it ends or the request is cancelled.
async fn forward_stream(
    mut stream: ProtocolStream<AiSdkEncoder>,
    request_id: String,
    sender: mpsc::Sender<Utf8Bytes>,
    open: CancellationToken,
    ended: impl Future<Output = ()> + Send,
) {
    let forwarding = async {
        sender.send(server_frame("start", &request_id, &[])).await.ok()?;
        let mut sequence = 0_u64;
        while let Some(part) = stream.next().await {
            sender.send(chunk_frame(&request_id, sequence, part)?).await.ok()?;
            sequence += 1;
        }
        sender.send(server_frame("end", &request_id, &[])).await.ok()
    };
    tokio::select! {
        _ = forwarding => {}
        () = open.cancelled() => {}
        () = ended => {}
    }
    open.cancel();
}
