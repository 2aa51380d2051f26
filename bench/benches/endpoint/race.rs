//! The same answer from every server, in one table.
//!
//! All of them run at the same time, but only one is asked at a time: they take turns, round after round, and the best
//! round of each counts, since whatever else the machine does can only slow it down.

use std::time::{Duration, Instant};

use futures::future::join_all;

use crate::ask::{self, Protocol, Told};
use crate::contender::{CONTENDERS, Contender, Program};
use crate::process::Process;
use crate::script::{self, PIECES};

/// How many streams are under way at once.
const AT_ONCE: usize = 8;
const ROUND: Duration = Duration::from_millis(500);

struct Runner<'a> {
    contender: &'a Contender,
    process: Process,
    /// Conversations so far: each stream begins a new one.
    asked: usize,
    /// Streams per second, in the best round.
    rate: f64,
    first: Duration,
    whole: Duration,
    busy: Duration,
    events: u32,
    /// Streams that were over, and forgotten, before they were read.
    late: usize,
}

pub(crate) async fn run(short: bool) {
    let rounds = if short { 3 } else { 12 };
    let ui = recorded(Protocol::Ui).await;
    let native = recorded(Protocol::Native).await;
    let mut runners = Vec::new();
    for contender in &CONTENDERS {
        if !contender.program.is_there() {
            println!(
                "left out: {}; `cargo xtask test setup` installs it",
                contender.name
            );
            continue;
        }
        let input = match (contender.program, contender.protocol) {
            (Program::Floor, Protocol::Ui) => &*ui,
            (Program::Floor, Protocol::Native) => &*native,
            _ => "",
        };
        let process = Process::start(contender.program.command(), input.as_bytes());
        runners.push(Runner::new(contender, process).await);
    }
    for _ in 0..rounds {
        for runner in &mut runners {
            runner.round().await;
        }
    }
    print(&runners);
}

/// What Toolwright sends, for the floor to send the same bytes.
async fn recorded(protocol: Protocol) -> String {
    let process = Process::start(Program::Toolwright.command(), b"");
    let (mut answer, _) = protocol.ask(&process.line, "recorded").await;
    let mut text = String::new();
    while let Some(data) = answer.data().await {
        let event = String::from_utf8(data.clone()).unwrap();
        let number = serde_json::from_str::<serde_json::Value>(&event).unwrap_or_default();
        if let Some(seq) = number["seq"].as_u64() {
            text += &format!("id: {seq}\n");
        }
        text += &format!("data: {event}\n\n");
        if protocol.is_last(&data) {
            break;
        }
    }
    text
}

impl<'a> Runner<'a> {
    async fn new(contender: &'a Contender, process: Process) -> Self {
        let mut runner = Self {
            contender,
            process,
            asked: 0,
            rate: 0.0,
            first: Duration::ZERO,
            whole: Duration::ZERO,
            busy: Duration::ZERO,
            events: 0,
            late: 0,
        };
        runner.check().await;
        runner.streams(ROUND).await;
        runner
    }

    /// Sees that the answer is the whole answer.
    async fn check(&self) {
        let protocol = self.contender.protocol;
        let (mut answer, _) = protocol.ask(&self.process.line, "checked").await;
        let mut text = String::new();
        while let Some(data) = answer.data().await {
            text += &ask::delta(protocol, &data).unwrap_or_default();
            if protocol.is_last(&data) {
                break;
            }
        }
        assert_eq!(text, script::text(), "{}", self.contender.name);
    }

    async fn round(&mut self) {
        let (start, busy) = (Instant::now(), self.process.busy());
        let told = self.streams(ROUND).await;
        let rate = told.len() as f64 / start.elapsed().as_secs_f64();
        self.busy += self.process.busy() - busy;
        self.events += u32::try_from(told.iter().map(|told| told.events).sum::<usize>()).unwrap();
        self.late += told.iter().filter(|told| told.first.is_none()).count();
        if rate > self.rate {
            self.rate = rate;
            self.first = median(told.iter().filter_map(|told| told.first));
            self.whole = median(told.iter().map(|told| told.whole));
        }
    }

    /// Streams one after the other, several at once, for a while.
    async fn streams(&mut self, time: Duration) -> Vec<Told> {
        let end = Instant::now() + time;
        let (addr, protocol) = (&self.process.line, self.contender.protocol);
        let begin = self.asked;
        let told = join_all((0..AT_ONCE).map(|worker| async move {
            let mut told = Vec::new();
            while Instant::now() < end {
                let number = begin + told.len() * AT_ONCE + worker;
                told.push(ask::told(addr, protocol, &format!("c{number}")).await);
            }
            told
        }));
        let told = told.await;
        self.asked += told.iter().map(Vec::len).max().unwrap_or_default() * AT_ONCE;
        told.into_iter().flatten().collect()
    }
}

fn median(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    times[times.len() / 2]
}

fn print(runners: &[Runner<'_>]) {
    println!("**One answer of {PIECES} pieces, {AT_ONCE} streams at once**\n");
    println!(
        "| | | streams / s | × floor | first event | whole | CPU per event | over the floor | memory |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|");
    for runner in runners {
        let protocol = runner.contender.protocol;
        let of_protocol = |it: &&Runner<'_>| it.contender.protocol == protocol;
        let floor = runners.iter().find(of_protocol).unwrap();
        let each = |it: &Runner<'_>| it.busy.as_secs_f64() * 1e6 / f64::from(it.events);
        println!(
            "| {} | {} | {:.0} | {:.3} | {:.2} ms | {:.2} ms | {:.2} µs | {:+.2} µs | {:.1} MB |",
            runner.contender.name,
            protocol.name(),
            runner.rate,
            runner.rate / floor.rate,
            runner.first.as_secs_f64() * 1e3,
            runner.whole.as_secs_f64() * 1e3,
            each(runner),
            each(runner) - each(floor),
            runner.process.memory() as f64 / 1e6,
        );
    }
    let late: usize = runners.iter().map(|runner| runner.late).sum();
    if late > 0 {
        println!("\n{late} answers were read from a snapshot: they were over before anybody came.");
    }
}
