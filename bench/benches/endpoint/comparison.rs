//! The same answer from every server, in one table.
//!
//! All servers run at the same time, but only one gets requests at a time, in rounds. The best round of each counts, since
//! other load on the machine can only slow a round down.

use std::time::{Duration, Instant};

use futures::future::join_all;

use crate::process::Process;
use crate::requests::{self, AnswerTiming, Protocol};
use crate::scripted_model::{self, DELTA_COUNT};
use crate::servers::{BENCHMARKED_SERVERS, BenchmarkedServer, ServerProgram};

const CONCURRENT_STREAMS: usize = 8;
const ROUND_TIME: Duration = Duration::from_millis(500);

struct ServerRun<'a> {
    server: &'a BenchmarkedServer,
    process: Process,
    /// Each stream starts a new conversation.
    conversations_started: usize,
    /// Streams per second, in the best round.
    rate: f64,
    time_to_first_delta: Duration,
    total_time: Duration,
    cpu_time: Duration,
    events: u32,
    /// Streams that ended, and whose events were dropped, before they were read.
    missed_streams: usize,
}

pub(crate) async fn run(short: bool) {
    let rounds = if short { 3 } else { 12 };
    let ui = record_answer(Protocol::Ui).await;
    let native = record_answer(Protocol::Native).await;
    let mut runners = Vec::new();
    for server in &BENCHMARKED_SERVERS {
        if !server.program.is_installed() {
            println!("left out: {}; `cargo xtask test setup` installs it", server.name);
            continue;
        }
        let input = match (server.program, server.protocol) {
            (ServerProgram::Baseline, Protocol::Ui) => &*ui,
            (ServerProgram::Baseline, Protocol::Native) => &*native,
            _ => "",
        };
        let process = Process::start(server.program.command(), input.as_bytes());
        runners.push(ServerRun::new(server, process).await);
    }
    for _ in 0..rounds {
        for runner in &mut runners {
            runner.run_round().await;
        }
    }
    print_table(&runners);
}

/// The response of Toolwright; the baseline server sends the same bytes.
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
    async fn new(server: &'a BenchmarkedServer, process: Process) -> Self {
        let mut runner = Self {
            server,
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

    /// Asserts that the answer is complete.
    async fn assert_answer(&self) {
        let protocol = self.server.protocol;
        let (mut answer, _) = protocol.send_message(&self.process.line, "checked").await;
        let mut text = String::new();
        while let Some(data) = answer.next_event_data().await {
            text += &requests::parse_delta(protocol, &data).unwrap_or_default();
            if protocol.is_last_event(&data) {
                break;
            }
        }
        assert_eq!(text, scripted_model::full_text(), "{}", self.server.name);
    }

    async fn run_round(&mut self) {
        let (start, busy) = (Instant::now(), self.process.cpu_time());
        let timings = self.run_streams(ROUND_TIME).await;
        let rate = timings.len() as f64 / start.elapsed().as_secs_f64();
        self.cpu_time += self.process.cpu_time() - busy;
        let events: usize = timings.iter().map(|timing| timing.events).sum();
        self.events += u32::try_from(events).unwrap();
        self.missed_streams +=
            timings.iter().filter(|timing| timing.time_to_first_delta.is_none()).count();
        if rate > self.rate {
            self.rate = rate;
            self.time_to_first_delta =
                median(timings.iter().filter_map(|timing| timing.time_to_first_delta));
            self.total_time = median(timings.iter().map(|timing| timing.total_time));
        }
    }

    /// Runs [`CONCURRENT_STREAMS`] workers, each with one stream after the other, for this time.
    async fn run_streams(&mut self, time: Duration) -> Vec<AnswerTiming> {
        let end = Instant::now() + time;
        let (addr, protocol) = (&self.process.line, self.server.protocol);
        let begin = self.conversations_started;
        let timings = join_all((0..CONCURRENT_STREAMS).map(|worker| async move {
            let mut timings = Vec::new();
            while Instant::now() < end {
                let number = begin + timings.len() * CONCURRENT_STREAMS + worker;
                timings.push(requests::measure_answer(addr, protocol, &format!("c{number}")).await);
            }
            timings
        }));
        let timings = timings.await;
        self.conversations_started +=
            timings.iter().map(Vec::len).max().unwrap_or_default() * CONCURRENT_STREAMS;
        timings.into_iter().flatten().collect()
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
        let protocol = runner.server.protocol;
        let of_protocol = |it: &&ServerRun<'_>| it.server.protocol == protocol;
        let floor = runners.iter().find(of_protocol).unwrap();
        let each = |it: &ServerRun<'_>| it.cpu_time.as_secs_f64() * 1e6 / f64::from(it.events);
        println!(
            "| {} | {} | {:.0} | {:.3} | {:.2} ms | {:.2} ms | {:.2} µs | {:+.2} µs | {:.1} MB |",
            runner.server.name,
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
        println!("\n{late} answers were read from a snapshot: they ended before they were read.");
    }
}
