//! A server's side of the talk: messages in, answers out, over HTTP or over lines.

pub mod http;
pub mod stdio;

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{
    process::Process,
    servers::{BenchmarkedServer, Transport},
    workload::Workload,
};

/// How much one answer may be longer or shorter than the first: ids of events differ.
const MAX_LENGTH_DIFFERENCE: usize = 64;

/// What is connected with a server.
pub enum McpClient {
    Http(Vec<http::HttpClient>),
    Stdio(Box<stdio::StdioClient>),
}

impl McpClient {
    /// Connects, checks the first answer, and returns as well when it came.
    pub async fn open(
        process: &mut Process,
        contender: &BenchmarkedServer,
        way: Transport,
        load: &Workload,
    ) -> (Self, Instant) {
        match way {
            Transport::Http => {
                let url = http::read_url(&mut process.child).await;
                let mut first = http::HttpClient::open(&url, contender.era).await;
                let answered = first.prepare(contender, load).await;
                let mut all = vec![first];
                while all.len() < load.concurrency {
                    let mut next = http::HttpClient::open(&url, contender.era).await;
                    next.prepare(contender, load).await;
                    all.push(next);
                }
                (Self::Http(all), answered)
            }
            Transport::Stdio => {
                let mut pipe = stdio::StdioClient::new(&mut process.child);
                let answered = pipe.prepare(contender, load).await;
                (Self::Stdio(Box::new(pipe)), answered)
            }
        }
    }

    /// Sends requests for the given time, and returns the latency of each.
    pub async fn run(&mut self, load: &Workload, time: Duration) -> Vec<Duration> {
        let end = Instant::now() + time;
        match self {
            Self::Http(connections) => {
                let asking = connections.iter_mut().map(|it| it.run(end));
                futures::future::join_all(asking).await.concat()
            }
            Self::Stdio(pipe) => pipe.run(end, load.concurrency).await,
        }
    }
}

/// Reads the result of an answer, and where its list goes on.
fn parse_result(who: &str, answer: &[u8]) -> (Value, Option<String>) {
    let mut answer: Value = serde_json::from_slice(answer)
        .unwrap_or_else(|_| panic!("{who}: {}", String::from_utf8_lossy(answer)));
    let result = answer["result"].take();
    assert!(result.is_object(), "{who}: {answer}");
    let cursor = result["nextCursor"].as_str().map(str::to_owned);
    (result, cursor)
}

/// Sees that an answer is like the one that was checked.
fn assert_similar_length(length: usize, expected: usize) {
    assert!(
        length.abs_diff(expected) <= MAX_LENGTH_DIFFERENCE,
        "an answer of {length} bytes where {expected} are right"
    );
}
