//! A connection that sends what was written before, and reads no more of the answer than where it ends.
//!
//! A client library would take as long as the servers that are measured.

use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    process::Child,
};

use super::{assert_similar_length, parse_result};
use crate::{
    protocol_generation::{
        INITIALIZED_NOTIFICATION, NumberedMessage, ProtocolGeneration, initialize_request,
    },
    servers::BenchmarkedServer,
    workload::Workload,
};

/// Reads the address that a server prints.
pub async fn read_url(child: &mut Child) -> String {
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut line).await.unwrap();
    // Kept open: a server may print more.
    child.stdout = Some(output.into_inner());
    match serde_json::from_str::<Value>(&line) {
        // The address of a whole server, as the command line prints it for programs.
        Ok(printed) => format!("{}mcp", printed["url"].as_str().unwrap()),
        Err(_) => line.trim().to_owned(),
    }
}

pub struct HttpClient {
    stream: TcpStream,
    host: String,
    era: ProtocolGeneration,
    session: Option<String>,
    /// One request per page, and how long its answer is.
    messages: Vec<(NumberedMessage, usize)>,
    asked: u32,
    read: Vec<u8>,
}

struct ResponseBounds {
    head: String,
    /// Where the body begins and ends in what was read.
    from: usize,
    to: usize,
    chunked: bool,
}

impl HttpClient {
    pub async fn open(url: &str, era: ProtocolGeneration) -> Self {
        let host = url.strip_prefix("http://").unwrap();
        let host = host.split('/').next().unwrap();
        Self {
            stream: connect(host).await,
            host: host.to_owned(),
            era,
            session: None,
            messages: Vec::new(),
            asked: 0,
            read: Vec::new(),
        }
    }

    /// Shakes hands where that is usual, asks for everything once, and returns when the first answer came.
    pub async fn prepare(&mut self, contender: &BenchmarkedServer, load: &Workload) -> Instant {
        let who = contender.name;
        if self.era == ProtocolGeneration::Session && who != "floor" {
            let hello = self.build_request("", &initialize_request());
            let answer = self.send_request(hello.as_bytes()).await;
            self.session = answer.header("mcp-session-id").map(str::to_owned);
            let thanks = self.build_request("", INITIALIZED_NOTIFICATION);
            self.send_request(thanks.as_bytes()).await;
        }
        let (mut results, mut cursor, mut answered) = (Vec::new(), None, None);
        loop {
            let body = self.era.request(load.method(), load.params(cursor.as_deref()));
            let extra = match (self.era, load.tool) {
                (ProtocolGeneration::Session, _) => String::new(),
                (ProtocolGeneration::Stateless, None) => {
                    format!("Mcp-Method: {}\r\n", load.method())
                }
                (ProtocolGeneration::Stateless, Some(tool)) => {
                    format!("Mcp-Method: {}\r\nMcp-Name: {tool}\r\n", load.method())
                }
            };
            let message = NumberedMessage::new(self.build_request(&extra, &body));
            let answer = self.send_request(&message.bytes).await;
            answered.get_or_insert_with(Instant::now);
            let (page, next) = parse_result(who, &self.json_body(&answer));
            results.push(page);
            self.messages.push((message, answer.to - answer.from));
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        load.assert_results(who, &results);
        answered.unwrap()
    }

    /// Asks one after the other until the end, over a new connection: a server hangs up on who is silent for long.
    pub async fn run(&mut self, end: Instant) -> Vec<Duration> {
        self.stream = connect(&self.host).await;
        let mut times = Vec::new();
        let mut messages = std::mem::take(&mut self.messages);
        loop {
            let start = Instant::now();
            if start >= end {
                break;
            }
            for (message, length) in &mut messages {
                self.asked += 1;
                message.set_id(self.asked);
                let answer = self.send_request(&message.bytes).await;
                assert_similar_length(answer.to - answer.from, *length);
            }
            times.push(start.elapsed());
        }
        self.messages = messages;
        times
    }

    fn build_request(&self, extra: &str, body: &str) -> String {
        let (host, revision) = (&self.host, self.era.revision());
        let session = self.session.as_ref();
        let session = session.map_or(String::new(), |id| format!("Mcp-Session-Id: {id}\r\n"));
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {revision}\r\n\
             {session}{extra}Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
    }

    async fn send_request(&mut self, request: &[u8]) -> ResponseBounds {
        self.stream.write_all(request).await.unwrap();
        self.read.clear();
        let from = loop {
            self.fill_buffer().await;
            if let Some(at) = find_bytes(&self.read, b"\r\n\r\n") {
                break at + 4;
            }
        };
        let head = String::from_utf8_lossy(&self.read[..from]).into_owned();
        let mut answer = ResponseBounds { head, from, to: from, chunked: false };
        assert!(answer.head.starts_with("HTTP/1.1 20"), "{}", self.response_text());
        answer.chunked = answer.header("transfer-encoding") == Some("chunked");
        if answer.chunked {
            while let Some(size) = self.read_chunk_size(&mut answer.to).await {
                answer.to += size;
            }
        } else {
            let length = answer.header("content-length");
            answer.to += length.map_or(0, |length| length.parse().unwrap());
        }
        while self.read.len() < answer.to {
            self.fill_buffer().await;
        }
        answer
    }

    /// Reads the line of a chunk, moves behind it, and returns how much follows; nothing does after the last.
    async fn read_chunk_size(&mut self, at: &mut usize) -> Option<usize> {
        loop {
            let rest = self.read.get(*at..).unwrap_or_default();
            if let Some(end) = find_bytes(rest, b"\r\n") {
                let size = std::str::from_utf8(&rest[..end]).unwrap();
                let size = usize::from_str_radix(size, 16).unwrap();
                *at += end + 2;
                if size == 0 {
                    *at += 2;
                    return None;
                }
                return Some(size + 2);
            }
            self.fill_buffer().await;
        }
    }

    async fn fill_buffer(&mut self) {
        self.read.reserve(16 * 1024);
        let more = self.stream.read_buf(&mut self.read).await.unwrap();
        assert!(more > 0, "the server hung up after: {}", self.response_text());
    }

    fn response_text(&self) -> String {
        String::from_utf8_lossy(&self.read).into_owned()
    }

    /// Takes the JSON out of an answer, whatever it is wrapped in.
    fn json_body(&self, answer: &ResponseBounds) -> Vec<u8> {
        let body = &self.read[answer.from..answer.to];
        let mut plain = Vec::new();
        if answer.chunked {
            let mut rest = body;
            while let Some(end) = find_bytes(rest, b"\r\n") {
                let size = std::str::from_utf8(&rest[..end]).unwrap();
                let size = usize::from_str_radix(size, 16).unwrap();
                plain.extend_from_slice(&rest[end + 2..end + 2 + size]);
                rest = &rest[end + 4 + size..];
            }
        } else {
            plain.extend_from_slice(body);
        }
        if answer.header("content-type").unwrap().starts_with("text/event-stream") {
            let text = String::from_utf8(plain).unwrap();
            let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
            let mut data = data.map(str::trim).filter(|data| !data.is_empty());
            return data.next_back().unwrap().as_bytes().to_vec();
        }
        plain
    }
}

impl ResponseBounds {
    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        let mut found = lines.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.trim())
    }
}

async fn connect(host: &str) -> TcpStream {
    let stream = TcpStream::connect(host).await.unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

fn find_bytes(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|it| it == what)
}
