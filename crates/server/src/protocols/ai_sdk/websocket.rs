//! A WebSocket of the AI SDK: several requests at once, each with its answers.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Extension;
use axum::extract::ws::{self, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, State};
use axum::response::Response;
use tokio::sync::mpsc;
use toolwright_core::CancellationToken;

use super::encoder::AiSdkEncoder;
use super::{ClientFrame, UiChatRequest, server_frame};
use crate::auth::request_context::RequestContext;
use crate::conversation::room::Room;
use crate::endpoint::EndpointRuntime;
use crate::endpoint::path_template::{ID_PARAM, PathParams};
use crate::http::error_response::ErrorResponse;
use crate::protocols::native::websocket::MAX_UNANSWERED_PINGS;
use crate::protocols::turn_stream::ProtocolStream;

/// How many requests of one connection are answered at once.
const MAX_OPEN_REQUESTS: usize = 32;

pub(crate) async fn upgrade(
    State(live): State<Arc<EndpointRuntime>>,
    Extension(guest): Extension<RequestContext>,
    params: Option<Path<PathParams>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let params = params.map(|Path(params)| params).unwrap_or_default();
    let most = live.server.limits.max_socket_message_bytes;
    let upgrade = upgrade.max_message_size(most).max_frame_size(most);
    upgrade.on_upgrade(move |socket| run_connection(live, guest, params, socket))
}

/// What is under way on one connection.
struct SocketConnection {
    live: Arc<EndpointRuntime>,
    guest: RequestContext,
    params: PathParams,
    outgoing: mpsc::Sender<String>,
    open_requests: HashMap<String, (Arc<Room>, CancellationToken)>,
}

async fn run_connection(
    live: Arc<EndpointRuntime>,
    guest: RequestContext,
    params: PathParams,
    mut socket: WebSocket,
) {
    let (out, mut outgoing) = mpsc::channel(16);
    let ending = live.server.shutdown.clone();
    let heartbeat = live.heartbeat;
    let mut talk = SocketConnection {
        live,
        guest,
        params,
        outgoing: out,
        open_requests: HashMap::new(),
    };
    let mut unanswered = 0;
    while unanswered <= MAX_UNANSWERED_PINGS {
        let sent = tokio::select! {
            Some(frame) = outgoing.recv() => socket.send(ws::Message::text(frame)).await,
            () = ending.cancelled() => break,
            () = talk.guest.wait_expired() => break,
            () = tokio::time::sleep(heartbeat) => {
                unanswered += 1;
                // A token that was revoked has no end that could be waited for.
                if talk.guest.is_revoked(&talk.live.server).await {
                    break;
                }
                socket.send(ws::Message::Ping("".into())).await
            }
            message = socket.recv() => match message.inspect(|_| unanswered = 0) {
                Some(Ok(ws::Message::Text(text))) => {
                    // Rights are those of this moment, not of when the connection was opened.
                    let (reply, ends) = match talk.guest.reauthenticate(&talk.live.server).await {
                        Ok(renewed) => {
                            talk.guest = renewed;
                            (talk.on_frame(&text).await, false)
                        }
                        Err(problem) => (Some(error_frame("", &problem)), !problem.is_transient()),
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
    talk.open_requests
        .values()
        .for_each(|(_, open)| open.cancel());
    drop(socket);
}

impl SocketConnection {
    /// Does what a frame asks for; returns what is said at once.
    ///
    /// Nothing is sent from here through the channel that the one who calls this empties.
    async fn on_frame(&mut self, text: &str) -> Option<String> {
        self.open_requests
            .retain(|_, (_, open)| !open.is_cancelled());
        let (request, done) = match serde_json::from_str(text) {
            Ok(ClientFrame::Send { request, sent }) => {
                let done = self.start_turn(&request, sent).await;
                (request, done.map(|()| None))
            }
            Ok(ClientFrame::Resume { request, id }) => {
                let done = self.resume_turn(&request, id).await;
                (request, done)
            }
            Ok(ClientFrame::Abort { request }) => {
                if let Some((room, open)) = self.open_requests.remove(&request) {
                    open.cancel();
                    let stopped = room.stop_turn().await.map_err(ErrorResponse::from);
                    return stopped.err().map(|problem| error_frame(&request, &problem));
                }
                return None;
            }
            Err(error) => {
                let wrong = ErrorResponse::bad_request(format!("the frame: {error}"));
                (String::new(), Err(wrong))
            }
        };
        done.unwrap_or_else(|problem| Some(error_frame(&request, &problem)))
    }

    async fn start_turn(
        &mut self,
        request: &str,
        sent: UiChatRequest,
    ) -> Result<(), ErrorResponse> {
        if self.open_requests.len() >= MAX_OPEN_REQUESTS {
            return Err(ErrorResponse::too_many_requests(
                "too many requests at once",
            ));
        }
        let (guest, params) = (self.guest.clone(), self.params.clone());
        let begun =
            super::submit_chat(&self.live, guest, params, sent, super::random_peer_id()?).await?;
        let (request, out) = (request.to_owned(), self.outgoing.clone());
        let open = self.track_request(&request, begun.room());
        tokio::spawn(async move {
            let told = tokio::select! {
                told = begun.into_stream() => told,
                () = open.cancelled() => return,
            };
            match told {
                Ok(told) => forward_stream(told, request, out, open).await,
                Err(problem) => {
                    // Whoever asked may have gone.
                    let _ = out.send(error_frame(&request, &problem)).await;
                    open.cancel();
                }
            }
        });
        Ok(())
    }

    async fn resume_turn(
        &mut self,
        request: &str,
        id: Option<String>,
    ) -> Result<Option<String>, ErrorResponse> {
        let mut params = self.params.clone();
        if params.is_empty() {
            params.push((ID_PARAM.to_owned(), id.unwrap_or_default()));
        }
        let room = self.live.open_room(params, &self.guest.owner())?;
        room.recover_unfinished_turn(&self.guest).await?;
        let Some(told) = super::running_turn_stream(&room) else {
            return Ok(Some(server_frame("no-active", request, &[])));
        };
        let open = self.track_request(request, &room);
        tokio::spawn(forward_stream(
            told,
            request.to_owned(),
            self.outgoing.clone(),
            open,
        ));
        Ok(None)
    }

    /// Remembers what is under way.
    fn track_request(&mut self, request: &str, room: &Arc<Room>) -> CancellationToken {
        let open = CancellationToken::new();
        let entry = (Arc::clone(room), open.clone());
        self.open_requests.insert(request.to_owned(), entry);
        open
    }
}

fn error_frame(request: &str, problem: &ErrorResponse) -> String {
    server_frame("error", request, &[("errorText", problem.message().into())])
}

/// Tells a turn, until it is over or nobody listens.
async fn forward_stream(
    mut told: ProtocolStream<AiSdkEncoder>,
    request: String,
    out: mpsc::Sender<String>,
    open: CancellationToken,
) {
    let telling = async {
        out.send(server_frame("start", &request, &[])).await.ok()?;
        let mut sequence = 0_u64;
        while let Some(part) = told.next().await {
            let more = [("sequence", sequence.into()), ("chunk", part)];
            out.send(server_frame("chunk", &request, &more))
                .await
                .ok()?;
            sequence += 1;
        }
        out.send(server_frame("end", &request, &[])).await.ok()
    };
    tokio::select! {
        _ = telling => {}
        () = open.cancelled() => {}
    }
    open.cancel();
}
