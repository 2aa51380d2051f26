//! The native protocol over a WebSocket: sends the events of one conversation, receives messages and decisions.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{self, Utf8Bytes, WebSocket};
use serde::Deserialize;
use serde_json::json;

use super::{DecisionRequest, MessageRequest};
use crate::auth::request_context::RequestContext;
use crate::conversation::event::PeerId;
use crate::conversation::presence::Presence;
use crate::conversation::room::Room;
use crate::conversation::subscriber::{Delivery, Subscriber};
use crate::http::error_response::ErrorResponse;
use crate::protocols::sse;

/// The number of pings without any frame from the client after which the connection is closed.
pub(crate) const MAX_UNANSWERED_PINGS: u32 = 3;

/// A frame of a client.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ClientFrame {
    #[serde(rename = "prompt")]
    Message(MessageRequest),
    Decide(DecisionRequest),
    Stop,
}

/// Runs a connection until one side closes it.
pub(crate) async fn run_connection(
    mut socket: WebSocket,
    room: Arc<Room>,
    mut context: RequestContext,
    after: Option<u64>,
    peer: PeerId,
) {
    let hello = json!({ "type": "hello", "peer": &*peer, "conversation": room.name });
    if socket
        .send(ws::Message::text(hello.to_string()))
        .await
        .is_err()
    {
        return;
    }
    let presence = Presence::join(&room, context.clone(), Some(PeerId::clone(&peer)));
    let mut subscriber = Subscriber::new(Arc::clone(&room), after, Some(PeerId::clone(&peer)));
    let (heartbeat, idle) = (room.endpoint.heartbeat, room.endpoint.idle_timeout);
    let mut quiet = Duration::ZERO;
    let mut unanswered = 0;
    while idle.is_none_or(|idle| quiet < idle) {
        let sent = tokio::select! {
            delivery = subscriber.next() => {
                quiet = Duration::ZERO;
                let Some(delivery) = delivery else { break };
                let over = matches!(delivery, Delivery::Shutdown);
                let sent = socket.send(ws::Message::Text(delivery_json(&delivery))).await;
                if over {
                    break;
                }
                sent
            }
            message = socket.recv() => match message.inspect(|_| unanswered = 0) {
                Some(Ok(ws::Message::Text(text))) => {
                    quiet = Duration::ZERO;
                    // Each frame runs with the scopes that the credential has now.
                    let (done, ends) = match context.reauthenticate(&room.endpoint.server).await {
                        Ok(renewed) => {
                            context = renewed;
                            (on_frame(&text, &room, &context, &peer).await, false)
                        }
                        Err(error) => {
                            let ends = !error.is_transient();
                            (Err(error), ends)
                        }
                    };
                    let sent = match done {
                        Ok(()) => Ok(()),
                        Err(error) => socket.send(error_frame(&error)).await,
                    };
                    if ends {
                        break;
                    }
                    sent
                }
                Some(Ok(ws::Message::Close(_)) | Err(_)) | None => break,
                Some(Ok(_)) => Ok(()),
            },
            () = context.wait_expired() => break,
            () = tokio::time::sleep(heartbeat) => {
                quiet += heartbeat;
                unanswered += 1;
                if unanswered > MAX_UNANSWERED_PINGS {
                    break;
                }
                // The revocation of a token is not signalled, so it is polled.
                if context.is_revoked(&room.endpoint.server).await {
                    break;
                }
                socket.send(ws::Message::Ping("".into())).await
            }
        };
        if sent.is_err() {
            break;
        }
    }
    drop(subscriber);
    drop(presence);
}

fn error_frame(error: &ErrorResponse) -> ws::Message {
    let refused = json!({ "type": "refused", "error": error.to_json() });
    ws::Message::text(refused.to_string())
}

fn delivery_json(delivery: &Delivery) -> Utf8Bytes {
    match delivery {
        // JSON is valid UTF-8.
        Delivery::Event(event) => Utf8Bytes::try_from(event.json()).unwrap_or_default(),
        Delivery::Snapshot(snapshot) => sse::snapshot_json(snapshot).into(),
        Delivery::Shutdown => sse::shutdown_json().into(),
    }
}

async fn on_frame(
    text: &str,
    room: &Arc<Room>,
    context: &RequestContext,
    peer: &PeerId,
) -> Result<(), ErrorResponse> {
    let frame = serde_json::from_str(text);
    let frame: ClientFrame =
        frame.map_err(|error| ErrorResponse::bad_request(format!("the frame: {error}")))?;
    let peer = Some(PeerId::clone(peer));
    match frame {
        ClientFrame::Message(request) => {
            request.submit(room, context.clone(), peer).await.map(drop)
        }
        ClientFrame::Decide(decision) => {
            decision.submit(room, context.clone(), peer).await.map(drop)
        }
        ClientFrame::Stop => {
            room.stop_turn().await?;
            Ok(())
        }
    }
}
