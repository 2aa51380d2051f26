//! An HTTP client for server-sent events, with a new connection for each request.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// A response as it is received; dropping it closes the connection.
pub(crate) struct EventStream {
    pub(crate) status: StatusCode,
    body: Incoming,
    /// Dropping it would close the connection.
    _sender: SendRequest<Full<Bytes>>,
    buffer: Vec<u8>,
    /// How many bytes of `buffer` have been returned.
    consumed: usize,
}

pub(crate) async fn send_request(
    addr: &str,
    method: &str,
    path: &str,
    body: String,
) -> EventStream {
    let stream = TcpStream::connect(addr).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", addr)
        .header("content-type", "application/json")
        .body(Full::from(body))
        .unwrap();
    let (head, body) = sender.send_request(request).await.unwrap().into_parts();
    EventStream { status: head.status, body, _sender: sender, buffer: Vec::new(), consumed: 0 }
}

impl EventStream {
    /// The data of the next event; `None` at the end of the stream.
    pub(crate) async fn next_event_data(&mut self) -> Option<Vec<u8>> {
        loop {
            let rest = &self.buffer[self.consumed..];
            if let Some(end) = rest.windows(2).position(|pair| pair == b"\n\n") {
                let event = &rest[..end];
                self.consumed += end + 2;
                let mut lines = event.split(|byte| *byte == b'\n');
                if let Some(data) = lines.find_map(|line| line.strip_prefix(b"data: ")) {
                    return Some(data.to_vec());
                }
                continue;
            }
            self.buffer.drain(..self.consumed);
            self.consumed = 0;
            self.read_chunk().await?;
        }
    }

    /// The rest of the body.
    pub(crate) async fn read_to_end(mut self) -> Vec<u8> {
        while self.read_chunk().await.is_some() {}
        self.buffer
    }

    async fn read_chunk(&mut self) -> Option<()> {
        let bytes = self.body.frame().await?.ok()?.into_data();
        self.buffer.extend_from_slice(&bytes.unwrap_or_default());
        Some(())
    }
}
