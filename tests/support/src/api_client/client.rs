//! A client of one conversation: sends messages, decisions and stops, and records which were acknowledged.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::address::CurrentAddress;
use super::journal::Journal;
use crate::http::{self, EventStream, Response};

/// A conversation that is not settled after this time has lost something.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(600);

/// What all clients share.
pub struct Shared {
    /// Where requests are sent.
    pub address: CurrentAddress,
    /// True if requests go to several nodes: one without a response may be served after later ones.
    pub is_balanced: bool,
    /// How often a journal is read while its turns run.
    pub poll_interval: Duration,
    /// The tools that random messages name; `refund` comes last, because a message that is sent during the pause voids the
    /// approval.
    pub tools: &'static [&'static str],
}

impl Shared {
    /// Clients of one server at a time.
    pub fn of_one_server() -> Self {
        Self {
            address: CurrentAddress::default(),
            is_balanced: false,
            poll_interval: Duration::from_millis(20),
            tools: &["greet", "look", "charge", "charge", "hang"],
        }
    }
}

/// How a message was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Acknowledgement {
    /// It is stored, and will be answered.
    Accepted,
    /// Refused because too many messages wait.
    Refused,
    /// No response, or an error of the server: it may have been stored.
    Unknown,
}

/// Picks a number below another one.
type Pick = Box<dyn FnMut(usize) -> usize + Send>;

/// A client of one conversation.
pub struct Client {
    shared: Arc<Shared>,
    /// The id of the conversation.
    pub name: String,
    pick: Pick,
    /// Reports each observation, so that the server is killed after a number of them.
    observed: Option<Sender<()>>,
    sent_count: usize,
    /// The messages in order.
    pub messages: Vec<(String, Acknowledgement)>,
    /// The accepted decisions: the call, and whether it was approved.
    pub decisions: Vec<(String, &'static str)>,
    /// The messages whose turns were stopped, as the server acknowledged.
    pub stops: Vec<String>,
    /// The messages whose turns waited for a decision when the next message was sent instead.
    pub abandoned: Vec<String>,
    /// The number of stops that were sent, acknowledged or not.
    pub stops_sent: usize,
    /// The entries of the last export.
    exported: Vec<Value>,
}

impl Client {
    /// Creates a client that makes its choices by `pick`.
    pub fn new(
        shared: &Arc<Shared>,
        name: String,
        pick: impl FnMut(usize) -> usize + Send + 'static,
        observed: Option<Sender<()>>,
    ) -> Self {
        Self {
            shared: Arc::clone(shared),
            name,
            pick: Box::new(pick),
            observed,
            sent_count: 0,
            messages: Vec::new(),
            decisions: Vec::new(),
            stops: Vec::new(),
            abandoned: Vec::new(),
            stops_sent: 0,
            exported: Vec::new(),
        }
    }

    /// Sends messages, and lets the conversation settle, until the server is not disturbed any more; then sends some that it
    /// has to answer without this client.
    pub fn run(mut self, is_over: impl Fn() -> bool) -> Self {
        while !is_over() {
            if (self.pick)(12) == 0 {
                self.send_message("hang");
                // More than the inbox takes.
                for _ in 0..20 {
                    self.send_message("greet");
                }
            }
            for _ in 0..=(self.pick)(5) {
                let tools = self.shared.tools;
                let tool = tools[(self.pick)(tools.len())];
                self.send_message(tool);
            }
            if (self.pick)(2) == 0 {
                self.send_message("refund");
            }
            self.settle();
        }
        for _ in 0..8 {
            let tool = ["greet", "look", "charge"][(self.pick)(3)];
            self.send_message(tool);
        }
        self.observed = None;
        self
    }

    /// Returns true if requests go to several nodes.
    pub fn is_balanced(&self) -> bool {
        self.shared.is_balanced
    }

    /// How a message was acknowledged; `None` if it was not sent.
    pub fn acknowledgement(&self, message: &str) -> Option<Acknowledgement> {
        let mut sent = self.messages.iter();
        sent.find(|(sent, _)| sent == message).map(|(_, acknowledged)| *acknowledged)
    }

    fn request(&self, method: &str, action: &str, body: &Value) -> Option<Response> {
        let address = self.shared.address.wait()?;
        let path = format!("/api/conversations/{}{action}", self.name);
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let response = http::send(address, method, &path, &body).ok();
        if let Some(observed) = self.observed.as_ref().filter(|_| action != "/export") {
            let _ = observed.send(());
        }
        response
    }

    /// Sends a message that names a tool, and records how it was acknowledged.
    pub fn send_message(&mut self, tool: &str) -> Acknowledgement {
        self.sent_count += 1;
        let text = format!("{tool} {}.{}", self.name, self.sent_count);
        let response = self.request("POST", "/prompt", &json!({ "text": text }));
        let acknowledged = match response.map(|response| response.status) {
            Some(202) => Acknowledgement::Accepted,
            Some(429) => Acknowledgement::Refused,
            None | Some(500..) => Acknowledgement::Unknown,
            Some(other) => panic!("{text}: {other}"),
        };
        self.messages.push((text, acknowledged));
        acknowledged
    }

    /// Reads the journal without opening the conversation; `None` if that is not possible now.
    pub fn export(&mut self) -> Option<Journal> {
        let response = self.request("GET", "/export", &Value::Null)?;
        let journal = match response.status {
            200 => Journal::parse(response.body.as_deref()?),
            404 => Journal::parse(""),
            500.. => return None,
            other => panic!("{}: {other}", self.name),
        };
        let before = std::mem::replace(&mut self.exported, journal.entries.clone());
        assert!(
            journal.entries.starts_with(&before),
            "{}: entries are lost or changed:\n{before:#?}\n{:#?}",
            self.name,
            journal.entries
        );
        Some(journal)
    }

    /// Waits until every accepted message was answered; decides and stops what waits for it.
    pub fn settle(&mut self) -> Journal {
        let began = Instant::now();
        loop {
            if let Some(journal) = self.export() {
                self.attend_to_open_turn(&journal);
                let is_over = |message: &str| {
                    journal.turn_of(message).is_some_and(|turn| turn.end().is_some())
                };
                let mut accepted = self.messages.iter();
                let settled = accepted.all(|(message, acknowledged)| {
                    *acknowledged != Acknowledgement::Accepted || is_over(message)
                });
                if settled && journal.open_turn().is_none() {
                    return journal;
                }
            }
            assert!(
                began.elapsed() < SETTLE_TIMEOUT,
                "{} does not settle: sent {:#?}, stopped {:?}, decided {:?}, and has {:#?}",
                self.name,
                self.messages,
                self.stops,
                self.decisions,
                self.exported
            );
            self.shared.address.pause(self.shared.poll_interval);
        }
    }

    /// Stops a turn that hangs, and decides about a call that waits, or sends another message instead.
    fn attend_to_open_turn(&mut self, journal: &Journal) {
        let Some(turn) = journal.open_turn() else {
            return;
        };
        if turn.tool() == "hang"
            && turn.entries_of("started").next().is_some()
            && !self.stops.contains(&turn.message)
        {
            self.stops_sent += 1;
            let response = self.request("POST", "/stop", &Value::Null);
            let response = response.filter(|response| response.status == 202);
            if response
                .and_then(|response| response.json())
                .is_some_and(|body| body["stopped"] == true)
            {
                self.stops.push(turn.message.clone());
            }
        }
        if let Some(asked) = turn.entries_of("asked").last()
            && turn.entries_of("decided").next().is_none()
        {
            let call = asked["call"].as_str().unwrap();
            if self.decisions.iter().any(|(decided, _)| decided == call) {
                return;
            }
            if (self.pick)(5) == 0 {
                self.abandoned.push(turn.message.clone());
                self.send_message("greet");
                return;
            }
            // The same verdict, however often it is sent.
            let verdict =
                if call.len() % 3 == 0 || call.ends_with('7') { "deny" } else { "approve" };
            let decision = json!({ "call": call, "token": asked["token"], "verdict": verdict });
            let response = self.request("POST", "/decide", &decision);
            if response.is_some_and(|response| response.status == 202) {
                self.decisions.push((call.to_owned(), verdict));
            }
        }
    }
}

/// Reads the events of a conversation, across processes, until no other one follows.
pub fn subscribe(shared: &Shared, conversation: &str, observed: &Sender<()>) -> Vec<Value> {
    let path = format!("/api/conversations/{conversation}/events");
    let mut events: Vec<Value> = Vec::new();
    while let Some(address) = shared.address.wait() {
        let last = events.iter().rev().find_map(|event| event["seq"].as_u64());
        let Ok(mut stream) = EventStream::open(address, &path, last) else {
            shared.address.pause(shared.poll_interval);
            continue;
        };
        while let Ok(Some(event)) = stream.next_event() {
            events.push(event);
            let _ = observed.send(());
        }
    }
    events
}
