//! A WebSocket of the AI SDK: several requests at once, each with its answers.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Extension;
use axum::extract::ws::{self, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, State};
use axum::response::Response;
use tokio::sync::mpsc;
use toolwright_core::CancellationToken;

use super::chat::{self, Frame, Sent, reply};
use super::socket::PATIENCE;
use super::turn::Told;
use crate::endpoint::Live;
use crate::guest::Guest;
use crate::problem::Problem;
use crate::room::Room;
use crate::template::{ID, Params};
use crate::ui::ai_sdk::AiSdk;

/// How many requests of one connection are answered at once.
const MOST: usize = 32;

pub(super) async fn open(
    State(live): State<Arc<Live>>,
    Extension(guest): Extension<Guest>,
    params: Option<Path<Params>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let params = params.map(|Path(params)| params).unwrap_or_default();
    let most = live.app.limits.message;
    let upgrade = upgrade.max_message_size(most).max_frame_size(most);
    upgrade.on_upgrade(move |socket| talk(live, guest, params, socket))
}

/// What is under way on one connection.
struct Talk {
    live: Arc<Live>,
    guest: Guest,
    params: Params,
    out: mpsc::Sender<String>,
    open: HashMap<String, (Arc<Room>, CancellationToken)>,
}

async fn talk(live: Arc<Live>, guest: Guest, params: Params, mut socket: WebSocket) {
    let (out, mut outgoing) = mpsc::channel(16);
    let ending = live.app.ending.clone();
    let heartbeat = live.heartbeat;
    let mut talk = Talk {
        live,
        guest,
        params,
        out,
        open: HashMap::new(),
    };
    let mut unanswered = 0;
    while unanswered <= PATIENCE {
        let sent = tokio::select! {
            Some(frame) = outgoing.recv() => socket.send(ws::Message::text(frame)).await,
            () = ending.cancelled() => break,
            () = talk.guest.ended() => break,
            () = tokio::time::sleep(heartbeat) => {
                unanswered += 1;
                // A token that was revoked has no end that could be waited for.
                if talk.guest.is_revoked(&talk.live.app).await {
                    break;
                }
                socket.send(ws::Message::Ping("".into())).await
            }
            message = socket.recv() => match message.inspect(|_| unanswered = 0) {
                Some(Ok(ws::Message::Text(text))) => {
                    // Rights are those of this moment, not of when the connection was opened.
                    let (reply, ends) = match talk.guest.renewed(&talk.live.app).await {
                        Ok(renewed) => {
                            talk.guest = renewed;
                            (talk.hear(&text).await, false)
                        }
                        Err(problem) => (Some(refusal("", &problem)), !problem.is_passing()),
                    };
                    let sent = match reply {
                        Some(reply) => socket.send(ws::Message::text(reply)).await,
                        None => Ok(()),
                    };
                    if ends {
                        break;
                    }
                    sent
                }
                Some(Ok(ws::Message::Close(_)) | Err(_)) | None => break,
                Some(Ok(_)) => Ok(()),
            },
        };
        if sent.is_err() {
            break;
        }
    }
    // The turns go on: whoever left may come back.
    talk.open.values().for_each(|(_, open)| open.cancel());
    drop(socket);
}

impl Talk {
    /// Does what a frame asks for; returns what is said at once.
    ///
    /// Nothing is sent from here through the channel that the one who calls this empties.
    async fn hear(&mut self, text: &str) -> Option<String> {
        self.open.retain(|_, (_, open)| !open.is_cancelled());
        let (request, done) = match serde_json::from_str(text) {
            Ok(Frame::Send { request, sent }) => {
                let done = self.send(&request, sent).await;
                (request, done.map(|()| None))
            }
            Ok(Frame::Resume { request, id }) => {
                let done = self.resume(&request, id).await;
                (request, done)
            }
            Ok(Frame::Abort { request }) => {
                if let Some((room, open)) = self.open.remove(&request) {
                    open.cancel();
                    let stopped = room.stop().await.map_err(Problem::from);
                    return stopped.err().map(|problem| refusal(&request, &problem));
                }
                return None;
            }
            Err(error) => {
                let wrong = Problem::invalid(format!("the frame: {error}"));
                (String::new(), Err(wrong))
            }
        };
        done.unwrap_or_else(|problem| Some(refusal(&request, &problem)))
    }

    async fn send(&mut self, request: &str, sent: Sent) -> Result<(), Problem> {
        if self.open.len() >= MOST {
            return Err(Problem::busy("too many requests at once"));
        }
        let (guest, params) = (self.guest.clone(), self.params.clone());
        let begun = chat::begin(&self.live, guest, params, sent, chat::peer()?).await?;
        let (request, out) = (request.to_owned(), self.out.clone());
        let open = self.enter(&request, begun.room());
        tokio::spawn(async move {
            let told = tokio::select! {
                told = begun.told() => told,
                () = open.cancelled() => return,
            };
            match told {
                Ok(told) => tell(told, request, out, open).await,
                Err(problem) => {
                    // Whoever asked may have gone.
                    let _ = out.send(refusal(&request, &problem)).await;
                    open.cancel();
                }
            }
        });
        Ok(())
    }

    async fn resume(
        &mut self,
        request: &str,
        id: Option<String>,
    ) -> Result<Option<String>, Problem> {
        let mut params = self.params.clone();
        if params.is_empty() {
            params.push((ID.to_owned(), id.unwrap_or_default()));
        }
        let room = self.live.room(params, &self.guest.owner())?;
        room.wake(&self.guest).await?;
        let Some(told) = chat::resumed(&room) else {
            return Ok(Some(reply("no-active", request, &[])));
        };
        let open = self.enter(request, &room);
        tokio::spawn(tell(told, request.to_owned(), self.out.clone(), open));
        Ok(None)
    }

    /// Remembers what is under way.
    fn enter(&mut self, request: &str, room: &Arc<Room>) -> CancellationToken {
        let open = CancellationToken::new();
        let entry = (Arc::clone(room), open.clone());
        self.open.insert(request.to_owned(), entry);
        open
    }
}

fn refusal(request: &str, problem: &Problem) -> String {
    reply("error", request, &[("errorText", problem.message().into())])
}

/// Tells a turn, until it is over or nobody listens.
async fn tell(
    mut told: Told<AiSdk>,
    request: String,
    out: mpsc::Sender<String>,
    open: CancellationToken,
) {
    let telling = async {
        out.send(reply("start", &request, &[])).await.ok()?;
        let mut sequence = 0_u64;
        while let Some(part) = told.next().await {
            let more = [("sequence", sequence.into()), ("chunk", part)];
            out.send(reply("chunk", &request, &more)).await.ok()?;
            sequence += 1;
        }
        out.send(reply("end", &request, &[])).await.ok()
    };
    tokio::select! {
        _ = telling => {}
        () = open.cancelled() => {}
    }
    open.cancel();
}
