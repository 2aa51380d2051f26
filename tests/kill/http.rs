//! Requests to a server that may be killed at any moment.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

/// Without a response for this time, the test fails.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(120);

/// A response whose head was received.
pub(crate) struct Response {
    pub(crate) status: u16,
    /// The body; `None` if it is not complete.
    pub(crate) body: Option<String>,
}

impl Response {
    pub(crate) fn json(&self) -> Option<Value> {
        serde_json::from_str(self.body.as_deref()?).ok()
    }
}

fn open(
    address: SocketAddr,
    method: &str,
    path: &str,
    more: &str,
    body: &str,
) -> io::Result<(BufReader<TcpStream>, Vec<String>)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    // HTTP/1.0: the response is not chunked, and ends with the connection.
    let head = format!("{method} {path} HTTP/1.0\r\nhost: {address}\r\n{more}");
    let length = body.len();
    let kind = "content-type: application/json";
    stream
        .write_all(format!("{head}{kind}\r\ncontent-length: {length}\r\n\r\n{body}").as_bytes())?;
    let mut stream = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        match line.strip_suffix("\r\n") {
            None => return Err(io::ErrorKind::UnexpectedEof.into()),
            Some("") => return Ok((stream, lines)),
            Some(line) => lines.push(line.to_lowercase()),
        }
    }
}

/// Sends a request; an error if the head of the response was not received.
pub(crate) fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    body: &str,
) -> io::Result<Response> {
    let (mut stream, head) = open(address, method, path, "", body)?;
    let status = head[0].split(' ').nth(1).unwrap().parse().unwrap();
    let length = head.iter().find_map(|line| line.strip_prefix("content-length: "));
    let length = length.map_or(0, |length| length.parse().unwrap());
    let mut text = Vec::new();
    let read = stream.read_to_end(&mut text);
    let is_complete = read.is_ok() && text.len() == length;
    let body = is_complete.then(|| String::from_utf8(text).unwrap());
    Ok(Response { status, body })
}

/// Reads the events after a number until the connection ends, and passes each complete one on.
pub(crate) fn read_events(
    address: SocketAddr,
    path: &str,
    after: Option<u64>,
    mut on_event: impl FnMut(Value),
) -> io::Result<()> {
    let after = after.map(|after| format!("last-event-id: {after}\r\n")).unwrap_or_default();
    let (mut stream, _) = open(address, "GET", path, &after, "")?;
    let mut data = None;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        match line.strip_suffix('\n') {
            None => return Ok(()),
            Some("") => {
                if let Some(data) = data.take() {
                    on_event(data);
                }
            }
            Some(line) => {
                if let Some(text) = line.strip_prefix("data: ") {
                    data = Some(serde_json::from_str(text).unwrap());
                }
            }
        }
    }
}
