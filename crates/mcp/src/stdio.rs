//! Lines in, lines out: the server as a child of its client.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::timeout;
use toolwright_core::{Caller, CancellationToken};

use crate::server::rpc::response::RpcResponse;
use crate::server::{
    Dispatch, InFlightRequests, McpServeError, McpServer, MessageKind, RequestContext,
    ResponseStream, RpcError, RpcMessage, Session, StreamItem, SubscriptionFilter,
};

mod lines;
mod standard_streams;

impl McpServer {
    /// Serves the client that started this process, over its standard streams, until it closes them.
    ///
    /// What tools print goes to standard error: standard output belongs to the protocol.
    ///
    /// # Errors
    ///
    /// When a stream fails; a stream that is closed is the usual end.
    pub async fn serve_stdio(&self) -> Result<(), McpServeError> {
        let io = |source| McpServeError::Io {
            action: "take standard output for the protocol",
            source,
        };
        let output = standard_streams::take_stdout().map_err(io)?;
        self.serve_lines(BufReader::new(standard_streams::open_stdin()), output)
            .await
    }

    /// Serves one client over any two streams of lines: a socket, a pipe.
    ///
    /// # Errors
    ///
    /// As [`serve_stdio`](McpServer::serve_stdio).
    pub async fn serve_lines(
        &self,
        input: impl AsyncBufRead + Send + Unpin,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), McpServeError> {
        let (sender, receiver) = mpsc::channel(256);
        let writing = tokio::spawn(write_lines(output, receiver));
        let mut connection = StdioConnection {
            server: self.clone(),
            outgoing: sender,
            session: None,
            in_flight: Arc::default(),
            ended: CancellationToken::new(),
            subscription_token: CancellationToken::new(),
            request_permits: Arc::new(Semaphore::new(self.0.limits.max_requests.max(1))),
            tasks: JoinSet::new(),
        };
        let read = connection.read_lines(input).await;
        // Changes are of no interest any more; what was asked before is answered, if that is soon.
        connection.subscription_token.cancel();
        let all = async { while connection.tasks.join_next().await.is_some() {} };
        if timeout(self.0.limits.shutdown_grace, all).await.is_err() {
            connection.tasks.abort_all();
        }
        drop(connection);
        let written = writing.await.unwrap_or(Ok(()));
        read.and(written).map_err(|source| McpServeError::Io {
            action: "talk to the client",
            source,
        })
    }
}

/// One client at the other end of two streams.
struct StdioConnection {
    server: McpServer,
    outgoing: mpsc::Sender<Vec<u8>>,
    /// The session, once there was a handshake.
    session: Option<Arc<Session>>,
    in_flight: Arc<InFlightRequests>,
    ended: CancellationToken,
    /// Ends the streams of changes.
    subscription_token: CancellationToken,
    request_permits: Arc<Semaphore>,
    tasks: JoinSet<()>,
}

impl StdioConnection {
    async fn read_lines(&mut self, mut input: impl AsyncBufRead + Unpin) -> io::Result<()> {
        let limit = self.server.0.limits.max_message_bytes;
        let ending = self.server.0.shutdown.clone();
        let mut line = Vec::new();
        loop {
            let read = tokio::select! {
                read = lines::read_line(&mut input, &mut line, limit) => read?,
                // Whoever cannot be answered need not be heard.
                () = self.outgoing.closed() => return Ok(()),
                () = ending.cancelled() => return Ok(()),
            };
            match read {
                lines::LineRead::Line => self.handle_line(line.trim_ascii()).await,
                lines::LineRead::TooLong => {
                    let error = format!("a message may have {limit} bytes");
                    self.send_response(RpcResponse::error(
                        "null",
                        &RpcError::invalid_request(error),
                    ))
                    .await;
                }
                lines::LineRead::End => return Ok(()),
            }
            while self.tasks.try_join_next().is_some() {}
        }
    }

    async fn handle_line(&mut self, line: &[u8]) {
        if line.is_empty() {
            return;
        }
        if line.first() == Some(&b'[') {
            return self.handle_batch(line).await;
        }
        match RpcMessage::parse(line) {
            Ok(message) => {
                if let Some(reply) = self.handle_message(&message).await {
                    self.send_response(reply).await;
                }
            }
            Err(it) => {
                self.send_response(RpcResponse::error(it.id(), &it.error))
                    .await
            }
        }
    }

    /// Takes several messages, for the revision that had batches; each answer is a line of its own.
    async fn handle_batch(&mut self, line: &[u8]) {
        let has_batches = self.session.as_ref().map(|it| it.revision.has_batches());
        let parts = serde_json::from_slice::<Vec<&serde_json::value::RawValue>>(line);
        let most = self.server.0.limits.max_batch;
        match parts {
            Ok(parts) if has_batches == Some(true) && (1..=most).contains(&parts.len()) => {
                for part in parts {
                    match RpcMessage::parse(part.get().as_bytes()) {
                        Ok(message) => {
                            if let Some(reply) = self.handle_message(&message).await {
                                self.send_response(reply).await;
                            }
                        }
                        Err(it) => {
                            self.send_response(RpcResponse::error(it.id(), &it.error))
                                .await
                        }
                    }
                }
            }
            _ => {
                let error = RpcError::invalid_request("send one message per line");
                self.send_response(RpcResponse::error("null", &error)).await;
            }
        }
    }

    /// Takes one message, and returns what can be answered at once.
    async fn handle_message(&mut self, message: &RpcMessage<'_>) -> Option<RpcResponse> {
        match message.kind() {
            MessageKind::Notification => {
                if let ("notifications/cancelled", Some(id)) =
                    (message.method(), message.params.request_id)
                {
                    self.in_flight.cancel(id.get());
                }
                None
            }
            MessageKind::Response => {
                if let Some(session) = &self.session {
                    session.handle_response(message);
                }
                None
            }
            MessageKind::Request => match self.handle_request(message).await {
                Ok(reply) => reply,
                Err(error) => Some(RpcResponse::error(message.id(), &error)),
            },
        }
    }

    async fn handle_request(
        &mut self,
        message: &RpcMessage<'_>,
    ) -> Result<Option<RpcResponse>, RpcError> {
        let context = if message.params.meta.protocol_version.is_some() {
            self.server.stateless_context(message, Caller::default())?
        } else if message.method() == "initialize" {
            return self.initialize_session(message).map(Some);
        } else {
            match &self.session {
                Some(session) => self.server.session_context(session, message),
                // Whoever only asks what is spoken here is told so in the words of the newest revision.
                None => {
                    return Err(RpcError::invalid_params(
                        "send `initialize` first, or the `_meta` of 2026-07-28",
                    ));
                }
            }
        };
        let context = Arc::new(context);
        let work = match self.server.dispatch(message, &context) {
            Dispatch::Response(reply) => return Ok(Some(reply)),
            Dispatch::Operation(work) => work,
        };
        let until = match message.method() {
            "subscriptions/listen" => &self.subscription_token,
            _ => &self.ended,
        };
        let taken = || RpcError::invalid_request("another request with this id is under way");
        let underway = self
            .in_flight
            .start(message.id(), until)
            .ok_or_else(taken)?;
        let work = work.run(self.server.clone(), Arc::clone(&context));
        let running = ResponseStream::new(work, context, Some(underway));
        // Reading stops while there is no room: the client feels it, and nothing piles up here.
        let room = Arc::clone(&self.request_permits).acquire_owned().await.ok();
        let out = self.outgoing.clone();
        self.tasks.spawn(async move {
            forward_stream(running, out).await;
            drop(room);
        });
        Ok(None)
    }

    /// Opens the session, and begins to tell the client of changes.
    fn initialize_session(&mut self, message: &RpcMessage<'_>) -> Result<RpcResponse, RpcError> {
        let (reply, session) = self.server.initialize(message, Caller::default())?;
        let session = Arc::new(session);
        let caller = session.caller.clone();
        let mut context = RequestContext::new(session.revision, session.capabilities, caller);
        context.session = Some(Arc::clone(&session));
        self.session = Some(session);
        self.subscription_token.cancel();
        self.subscription_token = CancellationToken::new();
        let (server, context) = (self.server.clone(), Arc::new(context));
        let listening = SubscriptionFilter::list_changes().subscribe(&server, &context);
        let within = Arc::clone(&context);
        let work = async move { listening.run("null", &server, &within).await };
        let mut running = ResponseStream::new(work, context, None);
        let (out, ended) = (self.outgoing.clone(), self.subscription_token.clone());
        self.tasks.spawn(async move {
            let telling = async {
                // A session has not asked for changes, so their end is no response.
                while let StreamItem::Message(message) = running.next().await {
                    if out.send(message.into()).await.is_err() {
                        break;
                    }
                }
            };
            tokio::select! {
                () = telling => {}
                () = ended.cancelled() => {}
            }
        });
        Ok(reply)
    }

    async fn send_response(&self, reply: RpcResponse) {
        // Nobody left to read it: the next round of reading ends.
        let _ = self.outgoing.send(reply.body).await;
    }
}

async fn forward_stream(mut running: ResponseStream, out: mpsc::Sender<Vec<u8>>) {
    loop {
        let (line, last) = match running.next().await {
            StreamItem::Message(message) => (message.into_bytes(), false),
            StreamItem::Response(reply) => (reply.body, true),
            StreamItem::Cancelled => return,
        };
        if out.send(line).await.is_err() || last {
            return;
        }
    }
}

/// As many bytes as a pipe takes at once.
const WRITE_BATCH_BYTES: usize = 64 << 10;

/// Makes one line of what comes from here on: a line break inside JSON is only ever white space.
fn end_line(batch: &mut Vec<u8>, start: usize) {
    for byte in batch.iter_mut().skip(start) {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    batch.push(b'\n');
}

async fn write_lines(
    mut output: impl AsyncWrite + Unpin,
    mut lines: mpsc::Receiver<Vec<u8>>,
) -> io::Result<()> {
    while let Some(mut batch) = lines.recv().await {
        end_line(&mut batch, 0);
        // What is ready goes along: a write costs more than most lines.
        while batch.len() < WRITE_BATCH_BYTES
            && let Ok(line) = lines.try_recv()
        {
            let start = batch.len();
            batch.extend_from_slice(&line);
            end_line(&mut batch, start);
        }
        output.write_all(&batch).await?;
        output.flush().await?;
    }
    output.shutdown().await
}
