//! Bytes in, the address out of a server that answers every request with them.

use std::{
    net::{SocketAddr, TcpListener as Bound},
    thread,
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    runtime::Builder,
};

const RESPONSE_HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const CHUNK_BYTES: usize = 4096;

/// Starts the server, on a thread of its own so that no row pays for it, and returns its base address.
pub fn start_server(body: &[u8]) -> String {
    let bound = Bound::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    bound.set_nonblocking(true).unwrap();
    let base = format!("http://{}/v1", bound.local_addr().unwrap());
    let answer = chunked_response(body);
    thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::from_std(bound).unwrap();
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(serve_connection(connection, answer.clone()));
            }
        });
    });
    base
}

fn chunked_response(body: &[u8]) -> Vec<u8> {
    let mut answer = RESPONSE_HEAD.as_bytes().to_vec();
    for piece in body.chunks(CHUNK_BYTES) {
        answer.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        answer.extend_from_slice(piece);
        answer.extend_from_slice(b"\r\n");
    }
    answer.extend_from_slice(b"0\r\n\r\n");
    answer
}

/// Answers one request after the other, until the client hangs up.
async fn serve_connection(connection: TcpStream, answer: Vec<u8>) {
    connection.set_nodelay(true).unwrap();
    let mut connection = BufReader::new(connection);
    while let Some(length) = read_request_head(&mut connection).await {
        let mut asked = vec![0; length];
        connection.read_exact(&mut asked).await.unwrap();
        connection.get_mut().write_all(&answer).await.unwrap();
    }
}

/// Reads the head of a request, and how long its body is.
async fn read_request_head(connection: &mut BufReader<TcpStream>) -> Option<usize> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if connection.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            return Some(length);
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
}
