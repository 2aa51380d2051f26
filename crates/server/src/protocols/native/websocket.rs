//! The native protocol over a WebSocket: sends the events of one conversation, receives messages and decisions.

use std::sync::Arc;

use axum::extract::ws::{self, Utf8Bytes, WebSocket};
use axum::response::Response;
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;
use toolwright_conversation::PeerId;

use super::events::delivery_json;
use super::{DecisionRequest, EventsQuery, MessageRequest};
use crate::auth::request_context::RequestContext;
use crate::conversation::access::{OpenConversation, Operation};
use crate::conversation::presence::Presence;
use crate::conversation::subscriber::Subscriber;
use crate::endpoint::random_id;
use crate::http::body::json_error;
use crate::http::error_response::ErrorResponse;
use crate::http::extract::WebSocketUpgrade;
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
    conversation: OpenConversation,
    peer: PeerId,
    subscriber: Subscriber,
    /// Resolves when the client may not read the conversation any more.
    ended: BoxFuture<'static, ()>,
    #[expect(dead_code, reason = "dropped when the client disconnects")]
    presence: Presence,
}

/// Upgrades a connection to a WebSocket for one conversation.
pub(super) fn upgrade(
    WebSocketUpgrade(upgrade): WebSocketUpgrade,
    conversation: OpenConversation,
    context: RequestContext,
    from: EventsQuery,
) -> Result<Response, ErrorResponse> {
    let peer = match from.peer {
        Some(peer) => peer.into(),
        None => random_id()?.into(),
    };
    let upgrade = websocket::with_limits(upgrade, &conversation.room.endpoint.server.limits);
    Ok(upgrade
        .on_upgrade(move |socket| run_connection(socket, conversation, context, from.after, peer)))
}

/// Runs a connection until one side closes it.
async fn run_connection(
    mut socket: WebSocket,
    conversation: OpenConversation,
    context: RequestContext,
    after: Option<u64>,
    peer: PeerId,
) {
    let (room, id) = (Arc::clone(&conversation.room), conversation.client_id());
    let hello = json!({ "type": "hello", "peer": &*peer, "conversation": id });
    let hello = ws::Message::text(hello.to_string());
    if socket.send(hello).await.is_err() {
        return;
    }
    let presence = Presence::join(&room, context.clone(), Some(PeerId::clone(&peer)));
    let mut native = NativeSocket {
        subscriber: Subscriber::new(Arc::clone(&room), after, Some(PeerId::clone(&peer)))
            .client_id(id),
        ended: conversation.wait_ended(&context),
        conversation,
        peer,
        presence,
    };
    let endpoint = &room.endpoint;
    let idle_timeout = endpoint.idle_timeout;
    websocket::run_connection(socket, &mut native, endpoint, context, idle_timeout).await;
}

impl SocketProtocol for NativeSocket {
    async fn next_frame(&mut self) -> Option<Utf8Bytes> {
        tokio::select! {
            delivery = self.subscriber.next() => Some(delivery_json(&delivery?)),
            () = &mut self.ended => None,
        }
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
    async fn submit_frame(
        &mut self,
        text: &str,
        context: RequestContext,
    ) -> Result<(), ErrorResponse> {
        let frame = serde_json::from_str(text);
        let frame: ClientFrame = frame.map_err(|error| json_error("frame", &error))?;
        self.conversation.check_again(&context, Operation::Participate).await?;
        let (peer, room) = (Some(PeerId::clone(&self.peer)), &self.conversation.room);
        match frame {
            ClientFrame::Message(message) => message.submit(room, context, peer).await.map(drop),
            ClientFrame::Decide(decision) => decision.submit(room, context, peer).await.map(drop),
            ClientFrame::Stop => Ok(room.stop_turn().await.map(drop)?),
        }
    }
}
