//! The same answer from every server, in one table.
//!
//! All of them run at the same time, but only one is asked at a time: they take turns, round after round, and the best
//! round of each counts, since whatever else the machine does can only slow it down.

use std::time::{Duration, Instant};

use futures::future::join_all;

use crate::process::Process;
use crate::requests::{self, AnswerTiming, Protocol};
use crate::scripted_model::{self, DELTA_COUNT};
use crate::servers::{BENCHMARKED_SERVERS, BenchmarkedServer, ServerProgram};

/// How many streams are under way at once.
const CONCURRENT_STREAMS: usize = 8;
const ROUND_TIME: Duration = Duration::from_millis(500);

struct ServerRun<'a> {
    contender: &'a BenchmarkedServer,
    process: Process,
    /// Conversations so far: each stream begins a new one.
    conversations_started: usize,
    /// Streams per second, in the best round.
    rate: f64,
    time_to_first_delta: Duration,
    total_time: Duration,
    cpu_time: Duration,
    events: u32,
    /// Streams that were over, and forgotten, before they were read.
    missed_streams: usize,
}

pub(crate) async fn run(short: bool) {
    let rounds = if short { 3 } else { 12 };
    let ui = record_answer(Protocol::Ui).await;
    let native = record_answer(Protocol::Native).await;
    let mut runners = Vec::new();
    for contender in &BENCHMARKED_SERVERS {
        if !contender.program.is_there() {
            println!(
                "left out: {}; `cargo xtask test setup` installs it",
                contender.name
            );
            continue;
        }
        let input = match (contender.program, contender.protocol) {
            (ServerProgram::Baseline, Protocol::Ui) => &*ui,
            (ServerProgram::Baseline, Protocol::Native) => &*native,
            _ => "",
        };
        let process = Process::start(contender.program.command(), input.as_bytes());
        runners.push(ServerRun::new(contender, process).await);
    }
    for _ in 0..rounds {
        for runner in &mut runners {
            runner.run_round().await;
        }
    }
    print_table(&runners);
}

/// What Toolwright sends, for the floor to send the same bytes.
async fn record_answer(protocol: Protocol) -> String {
    let process = Process::start(ServerProgram::Toolwright.command(), b"");
    let (mut answer, _) = protocol.send_message(&process.line, "recorded").await;
    let mut text = String::new();
    while let Some(data) = answer.next_event_data().await {
        let event = String::from_utf8(data.clone()).unwrap();
        let number = serde_json::from_str::<serde_json::Value>(&event).unwrap_or_default();
        if let Some(seq) = number["seq"].as_u64() {
            text += &format!("id: {seq}\n");
        }
        text += &format!("data: {event}\n\n");
        if protocol.is_last_event(&data) {
            break;
        }
    }
    text
}

impl<'a> ServerRun<'a> {
    async fn new(contender: &'a BenchmarkedServer, process: Process) -> Self {
        let mut runner = Self {
            contender,
            process,
            conversations_started: 0,
            rate: 0.0,
            time_to_first_delta: Duration::ZERO,
            total_time: Duration::ZERO,
            cpu_time: Duration::ZERO,
            events: 0,
            missed_streams: 0,
        };
        runner.assert_answer().await;
        runner.run_streams(ROUND_TIME).await;
        runner
    }

    /// Sees that the answer is the whole answer.
    async fn assert_answer(&self) {
        let protocol = self.contender.protocol;
        let (mut answer, _) = protocol.send_message(&self.process.line, "checked").await;
        let mut text = String::new();
        while let Some(data) = answer.next_event_data().await {
            text += &requests::parse_delta(protocol, &data).unwrap_or_default();
            if protocol.is_last_event(&data) {
                break;
            }
        }
        assert_eq!(text, scripted_model::full_text(), "{}", self.contender.name);
    }

    async fn run_round(&mut self) {
        let (start, busy) = (Instant::now(), self.process.cpu_time());
        let told = self.run_streams(ROUND_TIME).await;
        let rate = told.len() as f64 / start.elapsed().as_secs_f64();
        self.cpu_time += self.process.cpu_time() - busy;
        self.events += u32::try_from(told.iter().map(|told| told.events).sum::<usize>()).unwrap();
        self.missed_streams += told
            .iter()
            .filter(|told| told.time_to_first_delta.is_none())
            .count();
        if rate > self.rate {
            self.rate = rate;
            self.time_to_first_delta =
                median(told.iter().filter_map(|told| told.time_to_first_delta));
            self.total_time = median(told.iter().map(|told| told.total_time));
        }
    }

    /// Streams one after the other, several at once, for a while.
    async fn run_streams(&mut self, time: Duration) -> Vec<AnswerTiming> {
        let end = Instant::now() + time;
        let (addr, protocol) = (&self.process.line, self.contender.protocol);
        let begin = self.conversations_started;
        let told = join_all((0..CONCURRENT_STREAMS).map(|worker| async move {
            let mut told = Vec::new();
            while Instant::now() < end {
                let number = begin + told.len() * CONCURRENT_STREAMS + worker;
                told.push(requests::measure_answer(addr, protocol, &format!("c{number}")).await);
            }
            told
        }));
        let told = told.await;
        self.conversations_started +=
            told.iter().map(Vec::len).max().unwrap_or_default() * CONCURRENT_STREAMS;
        told.into_iter().flatten().collect()
    }
}

fn median(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    times[times.len() / 2]
}

fn print_table(runners: &[ServerRun<'_>]) {
    println!("**One answer of {DELTA_COUNT} pieces, {CONCURRENT_STREAMS} streams at once**\n");
    println!(
        "| | | streams / s | × floor | first event | whole | CPU per event | over the floor | memory |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|");
    for runner in runners {
        let protocol = runner.contender.protocol;
        let of_protocol = |it: &&ServerRun<'_>| it.contender.protocol == protocol;
        let floor = runners.iter().find(of_protocol).unwrap();
        let each = |it: &ServerRun<'_>| it.cpu_time.as_secs_f64() * 1e6 / f64::from(it.events);
        println!(
            "| {} | {} | {:.0} | {:.3} | {:.2} ms | {:.2} ms | {:.2} µs | {:+.2} µs | {:.1} MB |",
            runner.contender.name,
            protocol.name(),
            runner.rate,
            runner.rate / floor.rate,
            runner.time_to_first_delta.as_secs_f64() * 1e3,
            runner.total_time.as_secs_f64() * 1e3,
            each(runner),
            each(runner) - each(floor),
            runner.process.resident_bytes() as f64 / 1e6,
        );
    }
    let late: usize = runners.iter().map(|runner| runner.missed_streams).sum();
    if late > 0 {
        println!("\n{late} answers were read from a snapshot: they were over before anybody came.");
    }
}
