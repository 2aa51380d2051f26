//! One message to each of many new conversations at once, on the default store: all accepted messages are answered.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use toolwright::chat::{EntryBody, Store, TurnEnd};
use toolwright::server::{Mount, ServerBuilder};
use toolwright::store::SqliteStore;
use toolwright::testing::FnModel;
use toolwright::{Invoker, Registry};

/// The default of `TOOLWRIGHT_LOAD_CONVERSATIONS`.
const CONVERSATIONS: usize = 2_000;

/// Connections; each waits for a response before it sends the next request.
const CONNECTIONS: usize = 64;

/// Longer than all turns together.
const TIMEOUT: Duration = Duration::from_secs(30 * 60);

#[derive(Debug)]
struct Response {
    status: u16,
    retry_after: Option<u64>,
}

/// Sends one message over a kept-alive connection.
async fn send(stream: &mut BufReader<TcpStream>, addr: SocketAddr, n: usize) -> Response {
    let body = r#"{"text":"Hello"}"#;
    let request = format!(
        "POST /api/conversations/c{n}/prompt HTTP/1.1\r\nhost: {addr}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut line = String::new();
    stream.read_line(&mut line).await.unwrap();
    let status = line.split(' ').nth(1).unwrap().parse().unwrap();
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await.unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").unwrap().parse().unwrap();
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    let retry_after = headers.get("retry-after");
    Response { status, retry_after: retry_after.map(|wait| wait.parse().unwrap()) }
}

/// Whether the one message of a conversation was stored, and whether it was answered.
async fn outcome(store: &dyn Store, n: usize) -> (bool, bool) {
    let entries = store.load(&format!("c{n}")).await.unwrap();
    let last = entries.last().map(|entry| &entry.body);
    let answered = matches!(last, Some(EntryBody::TurnEnded { end: TurnEnd::Answered }));
    (!entries.is_empty(), answered && entries.len() == 3)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_accepted_message_is_answered_and_the_others_get_retry_after() {
    let count = std::env::var("TOOLWRIGHT_LOAD_CONVERSATIONS");
    let count = count.map_or(CONVERSATIONS, |count| count.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("conversations.sqlite");
    let store = SqliteStore::open(&file).await.unwrap();
    let invoker = Invoker::new(Registry::new()).unwrap();
    let server = ServerBuilder::new(invoker, FnModel::echo()).store(store, "SQLite");
    let site = server.mount(Mount::api()).build().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let (end, ended) = oneshot::channel::<()>();
    let served = tokio::spawn(async move {
        let ended = async { drop(ended.await) };
        site.serve(listener, ended).await.unwrap();
    });
    let began = Instant::now();
    let next = Arc::new(AtomicUsize::new(0));
    let connections = (0..CONNECTIONS).map(|_| {
        let next = Arc::clone(&next);
        tokio::spawn(async move {
            let stream = TcpStream::connect(addr).await.unwrap();
            let mut stream = BufReader::new(stream);
            let mut responses = Vec::new();
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= count {
                    return responses;
                }
                responses.push((n, send(&mut stream, addr, n).await));
            }
        })
    });
    let mut responses = Vec::new();
    for connection in connections.collect::<Vec<_>>() {
        responses.extend(connection.await.unwrap());
    }
    let sent = began.elapsed();
    let store = SqliteStore::open(&file).await.unwrap();
    let accepted = responses.iter().filter(|(_, response)| response.status == 202);
    for (n, _) in accepted {
        // A server that shuts down begins no new turn.
        while !outcome(&store, *n).await.1 {
            assert!(began.elapsed() < TIMEOUT, "c{n} is not answered");
            tokio::task::yield_now().await;
        }
    }
    let done = began.elapsed();
    drop(end);
    served.await.unwrap();
    let (mut accepted, mut refused, mut answered) = (0, 0, 0);
    for (n, response) in &responses {
        let (stored, has_answer) = outcome(&store, *n).await;
        match response.status {
            202 => accepted += 1,
            503 => {
                assert!(response.retry_after >= Some(1), "{response:?}");
                assert!(!stored, "c{n} was refused and is kept");
                refused += 1;
            }
            _ => panic!("c{n}: {response:?}"),
        }
        answered += usize::from(has_answer);
    }
    println!(
        "{count} conversations: {accepted} accepted and {refused} refused in {sent:.1?}, {answered} answered after {done:.1?}"
    );
    assert_eq!(accepted + refused, count);
    assert_eq!(answered, accepted);
    assert!(accepted > 0);
}
