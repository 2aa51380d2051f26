//! A WebSocket in our own form: the events of one conversation out, prompts and decisions in.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{self, Utf8Bytes, WebSocket};
use serde::Deserialize;
use serde_json::json;

use super::conversation::{Decision, Prompted};
use super::sse;
use crate::event::PeerId;
use crate::guest::Guest;
use crate::problem::Problem;
use crate::reader::{Line, Reader};
use crate::room::Room;
use crate::visit::Visit;

/// How many signs of life may go unanswered before the other side counts as gone.
pub(super) const PATIENCE: u32 = 3;

/// What a client sends.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Frame {
    Prompt(Prompted),
    Decide(Decision),
    Stop,
}

/// Talks, until one side leaves.
pub(super) async fn talk(
    mut socket: WebSocket,
    room: Arc<Room>,
    mut guest: Guest,
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
    let visit = Visit::begin(&room, guest.clone(), Some(PeerId::clone(&peer)));
    let mut reader = Reader::new(Arc::clone(&room), after, Some(PeerId::clone(&peer)));
    let (heartbeat, idle) = (room.live.heartbeat, room.live.idle);
    let mut quiet = Duration::ZERO;
    let mut unanswered = 0;
    while idle.is_none_or(|idle| quiet < idle) {
        let sent = tokio::select! {
            line = reader.next() => {
                quiet = Duration::ZERO;
                let Some(line) = line else { break };
                let over = matches!(line, Line::Goodbye);
                let sent = socket.send(ws::Message::Text(text(&line))).await;
                if over {
                    break;
                }
                sent
            }
            message = socket.recv() => match message.inspect(|_| unanswered = 0) {
                Some(Ok(ws::Message::Text(text))) => {
                    quiet = Duration::ZERO;
                    // Rights are those of this moment, not of when the connection was opened.
                    let (done, ends) = match guest.renewed(&room.live.app).await {
                        Ok(renewed) => {
                            guest = renewed;
                            (hear(&text, &room, &guest, &peer).await, false)
                        }
                        Err(problem) => {
                            let ends = !problem.is_passing();
                            (Err(problem), ends)
                        }
                    };
                    let sent = match done {
                        Ok(()) => Ok(()),
                        Err(problem) => socket.send(refused(&problem)).await,
                    };
                    if ends {
                        break;
                    }
                    sent
                }
                Some(Ok(ws::Message::Close(_)) | Err(_)) | None => break,
                Some(Ok(_)) => Ok(()),
            },
            () = guest.ended() => break,
            () = tokio::time::sleep(heartbeat) => {
                quiet += heartbeat;
                unanswered += 1;
                if unanswered > PATIENCE {
                    break;
                }
                // A token that was revoked has no end that could be waited for.
                if guest.is_revoked(&room.live.app).await {
                    break;
                }
                socket.send(ws::Message::Ping("".into())).await
            }
        };
        if sent.is_err() {
            break;
        }
    }
    drop(reader);
    drop(visit);
}

fn refused(problem: &Problem) -> ws::Message {
    let refused = json!({ "type": "refused", "error": problem.json() });
    ws::Message::text(refused.to_string())
}

fn text(line: &Line) -> Utf8Bytes {
    match line {
        // JSON is UTF-8.
        Line::Event(event) => Utf8Bytes::try_from(event.json()).unwrap_or_default(),
        Line::Snapshot(snapshot) => sse::snapshot_json(snapshot).into(),
        Line::Goodbye => sse::goodbye_json().into(),
    }
}

async fn hear(text: &str, room: &Arc<Room>, guest: &Guest, peer: &PeerId) -> Result<(), Problem> {
    let frame = serde_json::from_str(text);
    let frame: Frame = frame.map_err(|error| Problem::invalid(format!("the frame: {error}")))?;
    let peer = Some(PeerId::clone(peer));
    match frame {
        Frame::Prompt(prompted) => prompted.submit(room, guest.clone(), peer).await.map(drop),
        Frame::Decide(decision) => decision.submit(room, guest.clone(), peer).await.map(drop),
        Frame::Stop => {
            room.stop().await?;
            Ok(())
        }
    }
}
