//! The native protocol over a WebSocket: sends the events of one conversation, receives messages and decisions.

use std::sync::Arc;

use axum::extract::ws::{self, Utf8Bytes, WebSocket};
use serde::Deserialize;
use serde_json::json;

use super::events::delivery_json;
use super::{DecisionRequest, MessageRequest};
use crate::auth::request_context::RequestContext;
use crate::conversation::event::PeerId;
use crate::conversation::presence::Presence;
use crate::conversation::room::Room;
use crate::conversation::subscriber::Subscriber;
use crate::http::error_response::ErrorResponse;
use crate::protocols::websocket::{self, SocketProtocol};

/// A frame of a client.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ClientFrame {
    #[serde(rename = "prompt")]
    Message(MessageRequest),
    Decide(DecisionRequest),
    Stop,
}

struct NativeSocket {
    room: Arc<Room>,
    peer: PeerId,
    subscriber: Subscriber,
    #[expect(dead_code, reason = "dropped when the client disconnects")]
    presence: Presence,
}

/// Runs a connection until one side closes it.
pub(super) async fn run_connection(
    mut socket: WebSocket,
    room: Arc<Room>,
    context: RequestContext,
    after: Option<u64>,
    peer: PeerId,
) {
    let hello = json!({ "type": "hello", "peer": &*peer, "conversation": room.name });
    let hello = ws::Message::text(hello.to_string());
    if socket.send(hello).await.is_err() {
        return;
    }
    let presence = Presence::join(&room, context.clone(), Some(PeerId::clone(&peer)));
    let mut native = NativeSocket {
        subscriber: Subscriber::new(Arc::clone(&room), after, Some(PeerId::clone(&peer))),
        room: Arc::clone(&room),
        peer,
        presence,
    };
    let endpoint = &room.endpoint;
    let idle_timeout = endpoint.idle_timeout;
    websocket::run_connection(socket, &mut native, endpoint, context, idle_timeout).await;
}

impl SocketProtocol for NativeSocket {
    async fn next_frame(&mut self) -> Option<Utf8Bytes> {
        let delivery = self.subscriber.next().await?;
        Some(delivery_json(&delivery))
    }

    async fn on_frame(&mut self, text: &str, context: &RequestContext) -> Option<Utf8Bytes> {
        let result = self.submit_frame(text, context.clone()).await;
        result.err().map(|error| Self::error_frame(&error))
    }

    fn error_frame(error: &ErrorResponse) -> Utf8Bytes {
        let refused = json!({ "type": "refused", "error": error.to_json() });
        refused.to_string().into()
    }
}

impl NativeSocket {
    async fn submit_frame(&self, text: &str, context: RequestContext) -> Result<(), ErrorResponse> {
        let frame = serde_json::from_str(text);
        let frame: ClientFrame =
            frame.map_err(|error| ErrorResponse::bad_request(format!("the frame: {error}")))?;
        let peer = Some(PeerId::clone(&self.peer));
        match frame {
            ClientFrame::Message(message) => {
                message.submit(&self.room, context, peer).await.map(drop)
            }
            ClientFrame::Decide(decision) => {
                decision.submit(&self.room, context, peer).await.map(drop)
            }
            ClientFrame::Stop => Ok(self.room.stop_turn().await.map(drop)?),
        }
    }
}
