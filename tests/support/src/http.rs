//! Requests to a server that may be killed at any moment.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

use crate::HANG_TIMEOUT;

/// A response whose head was received.
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The body; `None` if it is not complete.
    pub body: Option<String>,
}

impl Response {
    /// The body, if it is complete, and JSON.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_str(self.body.as_deref()?).ok()
    }
}

/// The head of a response, and the connection that its body comes from.
struct ResponseHead {
    status: u16,
    length: usize,
    stream: BufReader<TcpStream>,
}

fn open(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> io::Result<ResponseHead> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(HANG_TIMEOUT))?;
    // HTTP/1.0: the response is not chunked, and ends with the connection.
    let head = format!("{method} {path} HTTP/1.0\r\nhost: {address}\r\n{headers}");
    let length = body.len();
    let kind = "content-type: application/json";
    stream
        .write_all(format!("{head}{kind}\r\ncontent-length: {length}\r\n\r\n{body}").as_bytes())?;
    let mut stream = BufReader::new(stream);
    let (mut status, mut length) = (0, 0);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let line = match line.strip_suffix("\r\n") {
            None => return Err(io::ErrorKind::UnexpectedEof.into()),
            Some("") => return Ok(ResponseHead { status, length, stream }),
            Some(line) => line.to_lowercase(),
        };
        if status == 0 {
            status = line.split(' ').nth(1).unwrap().parse().unwrap();
        } else if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
    }
}

/// Sends a request; an error if the head of the response was not received.
pub fn send(address: SocketAddr, method: &str, path: &str, body: &str) -> io::Result<Response> {
    send_with_headers(address, method, path, "", body)
}

/// Sends a request with more headers, each a line that ends with `\r\n`.
pub fn send_with_headers(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> io::Result<Response> {
    let ResponseHead { status, length, mut stream } = open(address, method, path, headers, body)?;
    let mut text = Vec::new();
    let read = stream.read_to_end(&mut text);
    let is_complete = read.is_ok() && text.len() == length;
    let body = is_complete.then(|| String::from_utf8(text).unwrap());
    Ok(Response { status, body })
}

/// A stream of server-sent events.
pub struct EventStream {
    stream: BufReader<TcpStream>,
    /// The line that is being read.
    line: Vec<u8>,
    /// The data of the event that is being read.
    data: Option<Value>,
}

impl EventStream {
    /// Subscribes to the events after a number; an error if the response is not a stream.
    pub fn open(address: SocketAddr, path: &str, after: Option<u64>) -> io::Result<Self> {
        let after = after.map(|after| format!("last-event-id: {after}\r\n")).unwrap_or_default();
        let ResponseHead { status, stream, .. } = open(address, "GET", path, &after, "")?;
        match status {
            200 => Ok(Self { stream, line: Vec::new(), data: None }),
            status => Err(io::Error::other(format!("{path}: {status}"))),
        }
    }

    /// Sets the time after which [`next_event`](Self::next_event) fails if nothing was received.
    pub fn set_read_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.stream.get_ref().set_read_timeout(Some(timeout))
    }

    /// Reads the next complete event; `None` at the end of the connection. After a timeout it can be called again.
    pub fn next_event(&mut self) -> io::Result<Option<Value>> {
        loop {
            self.stream.read_until(b'\n', &mut self.line)?;
            let Some(line) = self.line.strip_suffix(b"\n") else {
                return Ok(None);
            };
            if line.is_empty()
                && let Some(data) = self.data.take()
            {
                self.line.clear();
                return Ok(Some(data));
            }
            if let Some(text) = line.strip_prefix(b"data: ") {
                self.data = Some(serde_json::from_slice(text).unwrap());
            }
            self.line.clear();
        }
    }
}
