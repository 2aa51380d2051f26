//! A client that reads the events of a conversation, and reconnects at random moments, to any node.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use test_support::HANG_TIMEOUT;
use test_support::http::{self, EventStream};
use tokio_tungstenite::tungstenite::{self, Message, WebSocket};
use toolwright::testing::SeededRng;

use super::view::View;

/// How long a subscriber waits for events before it looks whether it should end.
const READ_TIMEOUT: Duration = Duration::from_millis(400);

/// How a subscriber reads the events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SubscriberKind {
    /// Server-sent events, after the last number that it has.
    ServerSentEvents,
    /// A WebSocket, after the last number that it has.
    WebSocket,
    /// As the console: a snapshot by a request of its own, then the events after it.
    Console,
}

impl SubscriberKind {
    pub(crate) const ALL: [Self; 3] = [Self::ServerSentEvents, Self::WebSocket, Self::Console];
}

/// The number of connections, snapshots and events.
#[derive(Clone, Copy, Default)]
pub(crate) struct SubscriberTotals {
    pub(crate) connections: usize,
    pub(crate) snapshots: usize,
    pub(crate) events: usize,
    /// Events of a turn whose term is not that of the event before: another node went on with the turn.
    pub(crate) takeovers: usize,
}

/// What a subscriber has received.
#[derive(Default)]
struct Received {
    view: View,
    newest: Option<u64>,
    totals: SubscriberTotals,
    /// The first event whose number did not rise.
    fault: Option<String>,
    is_in_turn: bool,
    /// The numbers and kinds of what was received, for the report of a failure.
    trace: Vec<String>,
}

impl Received {
    fn on_event(&mut self, numbered: &Value) {
        let event = &numbered["event"];
        let Some(kind) = event["type"].as_str() else {
            // The greeting of a WebSocket.
            return;
        };
        let is_snapshot = kind == "snapshot";
        let seq = numbered["seq"].as_u64().map(|seq| format!("{}.{}", seq >> 20, seq % (1 << 20)));
        let text = [&event["delta"], &event["content"][0]["text"], &event["result"]["callId"]];
        let text = text.into_iter().find_map(Value::as_str).unwrap_or_default();
        let entries =
            event["entries"].as_array().map(|entries| format!(" of {} entries", entries.len()));
        let details = format!("{}{}", text, entries.unwrap_or_default());
        self.trace.push(format!("{} {kind} {details}", seq.unwrap_or_default()));
        if let Some(seq) = numbered["seq"].as_u64() {
            let last = self.newest.unwrap_or_default();
            // A snapshot may go back: the events of the running turn follow it.
            if seq <= last && !is_snapshot {
                self.fault.get_or_insert_with(|| format!("{seq} after {last}: {numbered}"));
            }
            let is_other_term = self.newest.is_some() && seq >> 20 != last >> 20;
            self.totals.takeovers +=
                usize::from(is_other_term && self.is_in_turn && kind != "said");
            self.newest = Some(seq);
        }
        match kind {
            "snapshot" => {
                self.totals.snapshots += 1;
                self.is_in_turn = event["running"] == true;
            }
            "said" => self.is_in_turn = true,
            "ended" | "paused" => self.is_in_turn = false,
            _ => {}
        }
        self.totals.events += 1;
        self.view.apply_event(event);
    }
}

/// A subscriber, which reads in a thread of its own until it is ended.
pub(crate) struct Subscriber {
    pub(crate) kind: SubscriberKind,
    received: Arc<Mutex<Received>>,
    thread: JoinHandle<()>,
}

impl Subscriber {
    pub(crate) fn start(
        kind: SubscriberKind,
        address: SocketAddr,
        conversation: &str,
        rng: SeededRng,
        is_over: &Arc<AtomicBool>,
    ) -> Self {
        let received = Arc::<Mutex<Received>>::default();
        let mut reader = Reader {
            kind,
            address,
            path: format!("/api/conversations/{conversation}"),
            rng,
            received: Arc::clone(&received),
            is_over: Arc::clone(is_over),
        };
        let thread = std::thread::spawn(move || reader.run());
        Self { kind, received, thread }
    }

    /// How its view differs from that of a journal; `None` if it does not.
    pub(crate) fn difference(&self, expected: &View) -> Option<String> {
        let received = self.received.lock().unwrap();
        let difference = received.view.difference(expected)?;
        Some(format!("{difference}\n{}", received.trace.join("\n")))
    }

    /// Waits for its end, and returns its totals; panics if a number did not rise.
    pub(crate) fn join(self) -> SubscriberTotals {
        self.thread.join().unwrap();
        let received = self.received.lock().unwrap();
        assert_eq!(received.fault, None, "{:?}", self.kind);
        received.totals
    }
}

struct Reader {
    kind: SubscriberKind,
    address: SocketAddr,
    path: String,
    rng: SeededRng,
    received: Arc<Mutex<Received>>,
    is_over: Arc<AtomicBool>,
}

impl Reader {
    fn run(&mut self) {
        while !self.is_over.load(Ordering::Relaxed) {
            let read = match self.kind {
                SubscriberKind::WebSocket => self.read_socket(),
                _ => self.read_stream(),
            };
            if read.is_err() {
                std::thread::park_timeout(Duration::from_millis(100));
            }
        }
    }

    fn on_connected(&self) {
        let mut received = self.received.lock().unwrap();
        received.totals.connections += 1;
        received.trace.push("connected".to_owned());
    }

    fn newest(&self) -> Option<u64> {
        self.received.lock().unwrap().newest
    }

    /// Reads events until the connection ends, or is to be closed.
    fn read_stream(&mut self) -> io::Result<()> {
        if self.kind == SubscriberKind::Console {
            self.load_snapshot()?;
        }
        let path = format!("{}/events", self.path);
        let mut stream = EventStream::open(self.address, &path, self.newest())?;
        stream.set_read_timeout(READ_TIMEOUT)?;
        self.on_connected();
        self.read_until_closed(|| stream.next_event())
    }

    fn load_snapshot(&mut self) -> io::Result<()> {
        let response = http::send(self.address, "GET", &self.path, "")?;
        let snapshot = response.json().filter(|_| response.status == 200);
        let snapshot = snapshot.ok_or_else(|| io::Error::other("no snapshot"))?;
        let mut received = self.received.lock().unwrap();
        received.view = View::from_snapshot(&snapshot);
        received.newest = snapshot["seq"].as_u64();
        received.is_in_turn = snapshot["running"] == true;
        received.totals.snapshots += 1;
        received.trace.push(format!("snapshot at {:?}", snapshot["seq"]));
        Ok(())
    }

    fn read_socket(&mut self) -> io::Result<()> {
        let after = self.newest().map(|after| format!("?after={after}")).unwrap_or_default();
        let url = format!("ws://{}{}{after}", self.address, self.path);
        let stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(HANG_TIMEOUT))?;
        let opened = tungstenite::client(url, stream);
        let (mut socket, _) = opened.map_err(|error| io::Error::other(error.to_string()))?;
        socket.get_ref().set_read_timeout(Some(READ_TIMEOUT))?;
        self.on_connected();
        self.read_until_closed(|| next_frame(&mut socket))
    }

    fn read_until_closed(
        &mut self,
        mut next: impl FnMut() -> io::Result<Option<Value>>,
    ) -> io::Result<()> {
        loop {
            let is_idle = match next() {
                Ok(Some(event)) => {
                    self.received.lock().unwrap().on_event(&event);
                    false
                }
                // The server has closed it.
                Ok(None) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if is_timeout(&error) => true,
                Err(error) => return Err(error),
            };
            let reconnects = self.rng.below(if is_idle { 20 } else { 60 }) == 0;
            if reconnects || self.is_over.load(Ordering::Relaxed) {
                return Ok(());
            }
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn next_frame(socket: &mut WebSocket<TcpStream>) -> io::Result<Option<Value>> {
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => return Ok(Some(serde_json::from_str(&text).unwrap())),
            Ok(Message::Close(_)) => return Ok(None),
            Ok(_) => {}
            Err(tungstenite::Error::Io(error)) => return Err(error),
            Err(error) => return Err(io::Error::other(error.to_string())),
        }
    }
}
