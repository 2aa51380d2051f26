//! Lines in, lines out: the server as a child of its client.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::timeout;
use toolwright_core::{Caller, CancellationToken};

use crate::server::reply::Reply;
use crate::server::{
    Calls, Exchange, Job, Kind, Listen, McpServer, Message, RpcError, Running, ServeError, Session,
    Step,
};

mod lines;
mod streams;

impl McpServer {
    /// Serves the client that started this process, over its standard streams, until it closes them.
    ///
    /// What tools print goes to standard error: standard output belongs to the protocol.
    ///
    /// # Errors
    ///
    /// When a stream fails; a stream that is closed is the usual end.
    pub async fn serve_stdio(&self) -> Result<(), ServeError> {
        let io = |source| ServeError::Io {
            action: "take standard output for the protocol",
            source,
        };
        let output = streams::take().map_err(io)?;
        self.serve_lines(BufReader::new(streams::input()), output)
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
    ) -> Result<(), ServeError> {
        let (sender, receiver) = mpsc::channel(256);
        let writing = tokio::spawn(write(output, receiver));
        let mut connection = Connection {
            server: self.clone(),
            out: sender,
            session: None,
            calls: Arc::default(),
            ended: CancellationToken::new(),
            listening: CancellationToken::new(),
            room: Arc::new(Semaphore::new(self.0.limits.requests.max(1))),
            tasks: JoinSet::new(),
        };
        let read = connection.read(input).await;
        // Changes are of no interest any more; what was asked before is answered, if that is soon.
        connection.listening.cancel();
        let all = async { while connection.tasks.join_next().await.is_some() {} };
        if timeout(self.0.limits.grace, all).await.is_err() {
            connection.tasks.abort_all();
        }
        drop(connection);
        let written = writing.await.unwrap_or(Ok(()));
        read.and(written).map_err(|source| ServeError::Io {
            action: "talk to the client",
            source,
        })
    }
}

/// One client at the other end of two streams.
struct Connection {
    server: McpServer,
    out: mpsc::Sender<Vec<u8>>,
    /// The session, once there was a handshake.
    session: Option<Arc<Session>>,
    calls: Arc<Calls>,
    ended: CancellationToken,
    /// Ends the streams of changes.
    listening: CancellationToken,
    room: Arc<Semaphore>,
    tasks: JoinSet<()>,
}

impl Connection {
    async fn read(&mut self, mut input: impl AsyncBufRead + Unpin) -> io::Result<()> {
        let limit = self.server.0.limits.message;
        let ending = self.server.0.ending.clone();
        let mut line = Vec::new();
        loop {
            let read = tokio::select! {
                read = lines::next(&mut input, &mut line, limit) => read?,
                // Whoever cannot be answered need not be heard.
                () = self.out.closed() => return Ok(()),
                () = ending.cancelled() => return Ok(()),
            };
            match read {
                lines::Read::Line => self.take(line.trim_ascii()).await,
                lines::Read::TooLong => {
                    let error = format!("a message may have {limit} bytes");
                    self.say(Reply::error("null", &RpcError::invalid_request(error)))
                        .await;
                }
                lines::Read::End => return Ok(()),
            }
            while self.tasks.try_join_next().is_some() {}
        }
    }

    async fn take(&mut self, line: &[u8]) {
        if line.is_empty() {
            return;
        }
        if line.first() == Some(&b'[') {
            return self.take_batch(line).await;
        }
        match Message::read(line) {
            Ok(message) => {
                if let Some(reply) = self.take_message(&message).await {
                    self.say(reply).await;
                }
            }
            Err(it) => self.say(Reply::error(it.id(), &it.error)).await,
        }
    }

    /// Takes several messages, for the revision that had batches; each answer is a line of its own.
    async fn take_batch(&mut self, line: &[u8]) {
        let has_batches = self.session.as_ref().map(|it| it.revision.has_batches());
        let parts = serde_json::from_slice::<Vec<&serde_json::value::RawValue>>(line);
        let most = self.server.0.limits.batch;
        match parts {
            Ok(parts) if has_batches == Some(true) && (1..=most).contains(&parts.len()) => {
                for part in parts {
                    match Message::read(part.get().as_bytes()) {
                        Ok(message) => {
                            if let Some(reply) = self.take_message(&message).await {
                                self.say(reply).await;
                            }
                        }
                        Err(it) => self.say(Reply::error(it.id(), &it.error)).await,
                    }
                }
            }
            _ => {
                let error = RpcError::invalid_request("send one message per line");
                self.say(Reply::error("null", &error)).await;
            }
        }
    }

    /// Takes one message, and returns what can be answered at once.
    async fn take_message(&mut self, message: &Message<'_>) -> Option<Reply> {
        match message.kind() {
            Kind::Notification => {
                if let ("notifications/cancelled", Some(id)) =
                    (message.method(), message.params.request_id)
                {
                    self.calls.cancel(id.get());
                }
                None
            }
            Kind::Response => {
                if let Some(session) = &self.session {
                    session.answered(message);
                }
                None
            }
            Kind::Request => match self.request(message).await {
                Ok(reply) => reply,
                Err(error) => Some(Reply::error(message.id(), &error)),
            },
        }
    }

    async fn request(&mut self, message: &Message<'_>) -> Result<Option<Reply>, RpcError> {
        let exchange = if message.params.meta.version.is_some() {
            self.server.stateless(message, Caller::default())?
        } else if message.method() == "initialize" {
            return self.open(message).map(Some);
        } else {
            match &self.session {
                Some(session) => self.server.within(session, message),
                // Whoever only asks what is spoken here is told so in the words of the newest revision.
                None => {
                    return Err(RpcError::invalid_params(
                        "send `initialize` first, or the `_meta` of 2026-07-28",
                    ));
                }
            }
        };
        let exchange = Arc::new(exchange);
        let work = match self.server.job(message, &exchange) {
            Job::Done(reply) => return Ok(Some(reply)),
            Job::Work(work) => work,
        };
        let until = match message.method() {
            "subscriptions/listen" => &self.listening,
            _ => &self.ended,
        };
        let taken = || RpcError::invalid_request("another request with this id is under way");
        let underway = self.calls.start(message.id(), until).ok_or_else(taken)?;
        let work = work.run(self.server.clone(), Arc::clone(&exchange));
        let running = Running::new(work, exchange, Some(underway));
        // Reading stops while there is no room: the client feels it, and nothing piles up here.
        let room = Arc::clone(&self.room).acquire_owned().await.ok();
        let out = self.out.clone();
        self.tasks.spawn(async move {
            drive(running, out).await;
            drop(room);
        });
        Ok(None)
    }

    /// Opens the session, and begins to tell the client of changes.
    fn open(&mut self, message: &Message<'_>) -> Result<Reply, RpcError> {
        let (reply, session) = self.server.initialize(message, Caller::default())?;
        let session = Arc::new(session);
        let caller = session.caller.clone();
        let mut exchange = Exchange::new(session.revision, session.capabilities, caller);
        exchange.session = Some(Arc::clone(&session));
        self.session = Some(session);
        self.listening.cancel();
        self.listening = CancellationToken::new();
        let (server, exchange) = (self.server.clone(), Arc::new(exchange));
        let listening = Listen::all().open(&server, &exchange);
        let within = Arc::clone(&exchange);
        let work = async move { listening.run("null", &server, &within).await };
        let mut running = Running::new(work, exchange, None);
        let (out, ended) = (self.out.clone(), self.listening.clone());
        self.tasks.spawn(async move {
            let telling = async {
                // A session has not asked for changes, so their end is no response.
                while let Step::Message(message) = running.next().await {
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

    async fn say(&self, reply: Reply) {
        // Nobody left to read it: the next round of reading ends.
        let _ = self.out.send(reply.body).await;
    }
}

async fn drive(mut running: Running, out: mpsc::Sender<Vec<u8>>) {
    loop {
        let (line, last) = match running.next().await {
            Step::Message(message) => (message.into_bytes(), false),
            Step::Done(reply) => (reply.body, true),
            Step::Cancelled => return,
        };
        if out.send(line).await.is_err() || last {
            return;
        }
    }
}

/// As many bytes as a pipe takes at once.
const BATCH: usize = 64 << 10;

/// Makes one line of what comes from here on: a line break inside JSON is only ever white space.
fn finish(batch: &mut Vec<u8>, start: usize) {
    for byte in batch.iter_mut().skip(start) {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    batch.push(b'\n');
}

async fn write(
    mut output: impl AsyncWrite + Unpin,
    mut lines: mpsc::Receiver<Vec<u8>>,
) -> io::Result<()> {
    while let Some(mut batch) = lines.recv().await {
        finish(&mut batch, 0);
        // What is ready goes along: a write costs more than most lines.
        while batch.len() < BATCH
            && let Ok(line) = lines.try_recv()
        {
            let start = batch.len();
            batch.extend_from_slice(&line);
            finish(&mut batch, start);
        }
        output.write_all(&batch).await?;
        output.flush().await?;
    }
    output.shutdown().await
}
