//! The server as a child process of its client: one message per line on standard input and output.

use std::collections::VecDeque;
use std::io;
use std::panic::resume_unwind;
use std::pin::pin;
use std::sync::Arc;

use futures::FutureExt as _;
use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::timeout;
use toolwright_core::{Caller, CancellationToken};

use self::lines::{LineRead, LineReader};
use self::outgoing::OutgoingLines;
use crate::server::{
    Dispatch, InFlightRequests, McpServeError, McpServer, MessageKind, RequestContext,
    ResponseStream, RpcError, RpcMessage, RpcResponse, Session, StreamItem,
};

mod lines;
mod outgoing;
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
        let server = self.clone();
        // In a task, which runs on the thread that input wakes; the main thread would have to be woken by that one for each
        // message. In a set, so that dropping this future ends the task.
        let mut task = JoinSet::new();
        task.spawn(async move {
            let input = BufReader::new(standard_streams::open_stdin());
            server.serve_lines(input, output).await
        });
        match task.join_next().await {
            Some(Ok(served)) => served,
            Some(Err(error)) if error.is_panic() => resume_unwind(error.into_panic()),
            // The runtime is shut down.
            Some(Err(_)) | None => Ok(()),
        }
    }

    /// Serves one client over any two streams, such as those of a socket or a pipe; each line is a message.
    ///
    /// # Errors
    ///
    /// As [`serve_stdio`](McpServer::serve_stdio).
    pub async fn serve_lines(
        &self,
        mut input: impl AsyncBufRead + Send + Unpin,
        mut output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), McpServeError> {
        let (sender, mut messages) = mpsc::channel(256);
        let mut connection = StdioConnection {
            server: self.clone(),
            outgoing: OutgoingLines::default(),
            messages: sender,
            session: None,
            in_flight: Arc::default(),
            ended: CancellationToken::new(),
            subscription_token: CancellationToken::new(),
            request_permits: Arc::new(Semaphore::new(self.0.limits.max_requests.max(1))),
            waiting: VecDeque::new(),
            tasks: JoinSet::new(),
        };
        let served = connection.run(&mut input, &mut output, &mut messages).await;
        let finished = connection.finish(output, messages).await;
        served
            .and(finished)
            .map_err(|source| McpServeError::Io { action: "talk to the client", source })
    }
}

struct StdioConnection {
    server: McpServer,
    outgoing: OutgoingLines,
    /// Sends the messages of requests that take time.
    messages: mpsc::Sender<Vec<u8>>,
    /// `None` before the handshake.
    session: Option<Arc<Session>>,
    in_flight: Arc<InFlightRequests>,
    ended: CancellationToken,
    /// Ends the subscriptions.
    subscription_token: CancellationToken,
    request_permits: Arc<Semaphore>,
    /// The requests that wait for a permit. Meanwhile nothing more is read, so that the client slows down.
    waiting: VecDeque<ResponseStream>,
    tasks: JoinSet<()>,
}

/// What a connection waits for.
enum Incoming {
    Line(io::Result<LineRead>),
    /// A message of a request that takes time.
    Message(Vec<u8>),
    Permit(OwnedSemaphorePermit),
}

impl StdioConnection {
    /// Reads requests and writes responses until the client closes its end, or the server is shut down.
    async fn run(
        &mut self,
        input: &mut (impl AsyncBufRead + Unpin),
        output: &mut (impl AsyncWrite + Unpin),
        messages: &mut mpsc::Receiver<Vec<u8>>,
    ) -> io::Result<()> {
        let limit = self.server.0.limits.max_message_bytes;
        let shutdown = self.server.0.shutdown.clone();
        let mut shutdown = pin!(shutdown.cancelled());
        let mut lines = LineReader::new(limit);
        loop {
            let Self { outgoing, request_permits, .. } = self;
            let is_waiting = !self.waiting.is_empty();
            let incoming = async {
                tokio::select! {
                    read = lines.read(input), if !is_waiting => Incoming::Line(read),
                    Some(message) = messages.recv() => Incoming::Message(message),
                    Ok(permit) = Arc::clone(request_permits).acquire_owned(), if is_waiting => {
                        Incoming::Permit(permit)
                    }
                }
            };
            let incoming = tokio::select! {
                biased;
                () = &mut shutdown => return Ok(()),
                // Before the output, so that responses are written together, a few at a time.
                incoming = incoming, if !outgoing.is_full() => incoming,
                written = outgoing.write_to(output), if !outgoing.is_empty() => {
                    written?;
                    continue;
                }
            };
            match incoming {
                Incoming::Line(read) => match read? {
                    LineRead::Line => self.handle_line(lines.line().trim_ascii()).await,
                    LineRead::TooLong => {
                        let error = format!("a message may have {limit} bytes");
                        let error = RpcError::invalid_request(error);
                        self.send_response(RpcResponse::error("null", &error));
                    }
                    LineRead::End => return Ok(()),
                },
                Incoming::Message(message) => self.outgoing.push(message),
                Incoming::Permit(permit) => {
                    if let Some(stream) = self.waiting.pop_front() {
                        self.spawn_request(stream, permit);
                    }
                }
            }
            while self.tasks.try_join_next().is_some() {}
        }
    }

    /// Gives requests in flight some time to finish, and writes their responses. Subscriptions end at once.
    async fn finish(
        self,
        mut output: impl AsyncWrite + Unpin,
        mut messages: mpsc::Receiver<Vec<u8>>,
    ) -> io::Result<()> {
        let Self { server, mut outgoing, messages: sender, mut tasks, .. } = self;
        self.subscription_token.cancel();
        // The requests have the other senders.
        drop(sender);
        let grace = server.0.limits.shutdown_grace;
        let written = timeout(grace, outgoing.write_all(&mut messages, &mut output)).await;
        match written {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                // The client reads no more. Requests may have effects, which are completed.
                drop(messages);
                let finish = async { while tasks.join_next().await.is_some() {} };
                let _ = timeout(grace, finish).await;
                return Err(error);
            }
            Err(_) => {
                tasks.abort_all();
                outgoing.write_all(&mut messages, &mut output).await?;
            }
        }
        output.shutdown().await
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
            self.send_response(response);
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
                self.send_response(RpcResponse::error("null", &error));
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
        if self.in_flight.contains(message.id()) {
            return Err(RpcError::id_in_use());
        }
        let permit = Arc::clone(&self.request_permits).try_acquire_owned();
        let mut stream = ResponseStream::new(operation, context, None);
        // Most calls are done at once, and need neither a task nor a way to cancel them.
        let first = permit.as_ref().ok().and_then(|_| stream.next().now_or_never());
        match first {
            Some(StreamItem::Response(response)) => return Ok(Some(response)),
            Some(StreamItem::Message(message)) => self.outgoing.push(message.into_bytes()),
            Some(StreamItem::Cancelled) | None => {}
        }
        let parent = match message.method() {
            "subscriptions/listen" => &self.subscription_token,
            _ => &self.ended,
        };
        let in_flight = self.in_flight.start(message.id(), parent);
        stream.cancel_with(in_flight.ok_or_else(RpcError::id_in_use)?);
        match permit {
            Ok(permit) => self.spawn_request(stream, permit),
            Err(_) => self.waiting.push_back(stream),
        }
        Ok(None)
    }

    fn spawn_request(&mut self, stream: ResponseStream, permit: OwnedSemaphorePermit) {
        let messages = self.messages.clone();
        self.tasks.spawn(async move {
            forward_stream(stream, messages, true).await;
            drop(permit);
        });
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
        self.tasks.spawn(forward_stream(stream, self.messages.clone(), false));
        Ok(response)
    }

    fn send_response(&mut self, response: RpcResponse) {
        self.outgoing.push(response.body);
    }
}

async fn forward_stream(
    mut stream: ResponseStream,
    messages: mpsc::Sender<Vec<u8>>,
    with_response: bool,
) {
    loop {
        let (line, is_last) = match stream.next().await {
            StreamItem::Message(message) => (message.into_bytes(), false),
            StreamItem::Response(response) if with_response => (response.body, true),
            StreamItem::Response(_) | StreamItem::Cancelled => return,
        };
        if messages.send(line).await.is_err() || is_last {
            return;
        }
    }
}
