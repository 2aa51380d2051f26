//! The server as a child process of its client: one message per line on standard input and output.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::timeout;
use toolwright_core::{Caller, CancellationToken};

use crate::server::{
    Dispatch, InFlightRequests, McpServeError, McpServer, MessageKind, RequestContext,
    ResponseStream, RpcError, RpcMessage, RpcResponse, Session, StreamItem,
};

mod lines;
mod standard_streams;

impl McpServer {
    /// Serves the client that started this process over standard input and output, until the client closes them.
    ///
    /// Output of tools is redirected to standard error: standard output is reserved for the protocol.
    ///
    /// # Errors
    ///
    /// When reading or writing fails; a closed stream is the normal end.
    pub async fn serve_stdio(&self) -> Result<(), McpServeError> {
        let io =
            |source| McpServeError::Io { action: "take standard output for the protocol", source };
        let output = standard_streams::take_stdout().map_err(io)?;
        self.serve_lines(BufReader::new(standard_streams::open_stdin()), output).await
    }

    /// Serves one client over any two streams, such as those of a socket or a pipe; each line is a message.
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
        let writer = tokio::spawn(write_lines(output, receiver));
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
        // Subscriptions end now; requests in flight have some time to finish.
        connection.subscription_token.cancel();
        let finish = async { while connection.tasks.join_next().await.is_some() {} };
        if timeout(self.0.limits.shutdown_grace, finish).await.is_err() {
            connection.tasks.abort_all();
        }
        drop(connection);
        let written = writer.await.unwrap_or(Ok(()));
        read.and(written)
            .map_err(|source| McpServeError::Io { action: "talk to the client", source })
    }
}

struct StdioConnection {
    server: McpServer,
    outgoing: mpsc::Sender<Vec<u8>>,
    /// `None` before the handshake.
    session: Option<Arc<Session>>,
    in_flight: Arc<InFlightRequests>,
    ended: CancellationToken,
    /// Ends the subscriptions.
    subscription_token: CancellationToken,
    request_permits: Arc<Semaphore>,
    tasks: JoinSet<()>,
}

impl StdioConnection {
    async fn read_lines(&mut self, mut input: impl AsyncBufRead + Unpin) -> io::Result<()> {
        let limit = self.server.0.limits.max_message_bytes;
        let shutdown = self.server.0.shutdown.clone();
        let mut line = Vec::new();
        loop {
            let read = tokio::select! {
                read = lines::read_line(&mut input, &mut line, limit) => read?,
                // The client reads no more responses.
                () = self.outgoing.closed() => return Ok(()),
                () = shutdown.cancelled() => return Ok(()),
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
        self.handle_json(line).await;
    }

    async fn handle_json(&mut self, json: &[u8]) {
        let response = match RpcMessage::parse(json) {
            Ok(message) => self.handle_message(&message).await,
            Err(invalid) => Some(RpcResponse::error(invalid.id(), &invalid.error)),
        };
        if let Some(response) = response {
            self.send_response(response).await;
        }
    }

    /// Handles a batch, in the one revision that has them; each response is a line of its own.
    async fn handle_batch(&mut self, line: &[u8]) {
        let session = self.session.as_ref();
        let has_batches = session.is_some_and(|session| session.revision.has_batches());
        let parts = serde_json::from_slice::<Vec<&serde_json::value::RawValue>>(line);
        let max_batch = self.server.0.limits.max_batch;
        match parts {
            Ok(parts) if has_batches && (1..=max_batch).contains(&parts.len()) => {
                for part in parts {
                    self.handle_json(part.get().as_bytes()).await;
                }
            }
            _ => {
                let error = RpcError::invalid_request("send one message per line");
                self.send_response(RpcResponse::error("null", &error)).await;
            }
        }
    }

    /// Handles a message; returns the response if there is one at once.
    async fn handle_message(&mut self, message: &RpcMessage<'_>) -> Option<RpcResponse> {
        match message.kind() {
            MessageKind::Notification => {
                self.in_flight.handle_notification(message);
                None
            }
            MessageKind::Response => {
                if let Some(session) = &self.session {
                    session.handle_response(message);
                }
                None
            }
            MessageKind::Request => match self.handle_request(message).await {
                Ok(response) => response,
                Err(error) => Some(RpcResponse::error(message.id(), &error)),
            },
        }
    }

    async fn handle_request(
        &mut self,
        message: &RpcMessage<'_>,
    ) -> Result<Option<RpcResponse>, RpcError> {
        let context = if message.params.meta.protocol_version.is_some() {
            if message.params.request_state.is_some() {
                self.server.prepare_request_state().await?;
            }
            self.server.stateless_context(message)?
        } else if message.method() == "initialize" {
            return self.initialize_session(message).map(Some);
        } else {
            match &self.session {
                Some(session) => RequestContext::in_session(session).with_progress(message),
                None => {
                    return Err(RpcError::invalid_params(
                        "send `initialize` first, or the `_meta` of 2026-07-28",
                    ));
                }
            }
        };
        let context = Arc::new(context);
        let operation = match self.server.dispatch(message, &context) {
            Dispatch::Response(response) => return Ok(Some(response)),
            Dispatch::Operation(operation) => operation,
        };
        let parent = match message.method() {
            "subscriptions/listen" => &self.subscription_token,
            _ => &self.ended,
        };
        let in_flight = self.in_flight.start(message.id(), parent);
        let in_flight = in_flight.ok_or_else(RpcError::id_in_use)?;
        let stream = ResponseStream::new(operation, context, Some(in_flight));
        // Without a permit nothing more is read, so that the client slows down.
        let permit = Arc::clone(&self.request_permits).acquire_owned().await.ok();
        let outgoing = self.outgoing.clone();
        self.tasks.spawn(async move {
            forward_stream(stream, outgoing, true).await;
            drop(permit);
        });
        Ok(None)
    }

    /// Opens the session, and starts to notify the client of changed lists.
    fn initialize_session(&mut self, message: &RpcMessage<'_>) -> Result<RpcResponse, RpcError> {
        let (response, session) = self.server.initialize(message, Caller::default())?;
        let session = Arc::new(session);
        self.subscription_token.cancel();
        self.subscription_token = CancellationToken::new();
        let stream = self.server.session_notifications(&session, None, &self.subscription_token);
        self.session = Some(session);
        // The session has sent no request for these notifications, so they end without a response.
        self.tasks.spawn(forward_stream(stream, self.outgoing.clone(), false));
        Ok(response)
    }

    async fn send_response(&self, response: RpcResponse) {
        // Fails if the client reads no more, which ends `read_lines`.
        let _ = self.outgoing.send(response.body).await;
    }
}

async fn forward_stream(
    mut stream: ResponseStream,
    outgoing: mpsc::Sender<Vec<u8>>,
    with_response: bool,
) {
    loop {
        let (line, is_last) = match stream.next().await {
            StreamItem::Message(message) => (message.into_bytes(), false),
            StreamItem::Response(response) if with_response => (response.body, true),
            StreamItem::Response(_) | StreamItem::Cancelled => return,
        };
        if outgoing.send(line).await.is_err() || is_last {
            return;
        }
    }
}

/// The usual capacity of a pipe.
const WRITE_BATCH_BYTES: usize = 64 << 10;

/// Ends the line that begins at `start`. Line breaks become blanks: in JSON they are only white space.
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
        // Lines that are ready are written together: a system call costs more than most lines.
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
