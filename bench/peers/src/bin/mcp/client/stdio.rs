//! One pipe in, one pipe out, and several lines under way at once.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdin, ChildStdout},
};

use super::{assert_similar_length, parse_result};
use crate::{
    protocol_generation::{
        INITIALIZED_NOTIFICATION, NumberedMessage, ProtocolGeneration, initialize_request,
    },
    servers::BenchmarkedServer,
    workload::Workload,
};

const BUFFER: usize = 256 * 1024;

pub struct StdioClient {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// One request per page, and how long its answer is.
    messages: Vec<(NumberedMessage, usize)>,
    asked: u32,
    line: Vec<u8>,
}

impl StdioClient {
    pub fn new(child: &mut Child) -> Self {
        let output = child.stdout.take().unwrap();
        Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::with_capacity(BUFFER, output),
            messages: Vec::new(),
            asked: 0,
            line: Vec::new(),
        }
    }

    /// Shakes hands where that is usual, asks for everything once, and returns when the first answer came.
    pub async fn prepare(&mut self, contender: &BenchmarkedServer, load: &Workload) -> Instant {
        let (who, era) = (contender.name, contender.era);
        if era == ProtocolGeneration::Session && who != "floor" {
            self.write_line(initialize_request().as_bytes()).await;
            self.read_line().await;
            self.write_line(INITIALIZED_NOTIFICATION.as_bytes()).await;
        }
        let (mut results, mut cursor, mut answered) = (Vec::new(), None, None);
        loop {
            let params = load.params(cursor.as_deref());
            let mut message = NumberedMessage::new(era.request(load.method(), params));
            self.asked += 1;
            message.set_id(self.asked);
            self.write_line(&message.bytes).await;
            self.read_line().await;
            answered.get_or_insert_with(Instant::now);
            let (page, next) = parse_result(who, &self.line);
            results.push(page);
            self.messages.push((message, self.line.len()));
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        load.assert_results(who, &results);
        answered.unwrap()
    }

    /// Keeps so many requests under way until the end; answers are counted in the order they come.
    pub async fn run(&mut self, end: Instant, at_once: usize) -> Vec<Duration> {
        let (mut times, mut started) = (Vec::new(), VecDeque::new());
        let mut messages = std::mem::take(&mut self.messages);
        loop {
            while started.len() < at_once && Instant::now() < end {
                started.push_back(Instant::now());
                for (message, _) in &mut messages {
                    self.asked += 1;
                    message.set_id(self.asked);
                    self.write_line(&message.bytes).await;
                }
            }
            let Some(start) = started.pop_front() else {
                break;
            };
            let mut length = 0;
            for _ in &messages {
                self.read_line().await;
                length += self.line.len();
            }
            // Pages may overtake each other; only all of them together have a length.
            assert_similar_length(length, messages.iter().map(|(_, length)| length).sum());
            times.push(start.elapsed());
        }
        self.messages = messages;
        times
    }

    async fn write_line(&mut self, message: &[u8]) {
        self.line.clear();
        self.line.extend_from_slice(message);
        self.line.push(b'\n');
        self.input.write_all(&self.line).await.unwrap();
    }

    async fn read_line(&mut self) {
        self.line.clear();
        let read = self.output.read_until(b'\n', &mut self.line).await.unwrap();
        assert!(read > 0, "the server closed its output");
    }
}
