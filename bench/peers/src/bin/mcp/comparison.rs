//! Contenders and a load in, a row for each out.
//!
//! All of them run at the same time, but only one is asked at a time: they take turns, round after round, and the best
//! round of each counts, since whatever else the machine does can only slow it down.

use std::time::{Duration, Instant};

use crate::{
    client::McpClient,
    process::Process,
    protocol_generation::ProtocolGeneration,
    servers::{BenchmarkedServer, Transport},
    workload::Workload,
};

const ROUNDS: u32 = 12;
const ROUND_TIME: Duration = Duration::from_millis(200);
const WARM_UP: Duration = Duration::from_millis(200);

/// What was measured of one server.
pub struct Measurement {
    pub name: &'static str,
    pub generation: ProtocolGeneration,
    /// Per second, in the best round.
    pub rate: f64,
    pub median: Duration,
    pub p99: Duration,
    /// What one request keeps cores busy, over all rounds.
    pub cpu_time_per_request: Duration,
    pub memory: u64,
    /// From the start of the process.
    pub first_answer: Duration,
}

struct ServerRun {
    process: Process,
    wire: McpClient,
    row: Measurement,
    /// For how long; one answer may take longer than a round.
    load_time: Duration,
    requests: u32,
    cpu_time: Duration,
}

pub async fn run(
    contenders: &[&BenchmarkedServer],
    way: Transport,
    load: &Workload,
) -> Vec<Measurement> {
    let mut runners = Vec::new();
    for contender in contenders.iter().filter(|it| it.supports(way, load)) {
        runners.push(ServerRun::start(contender, way, load).await);
    }
    for _ in 0..ROUNDS {
        for runner in &mut runners {
            runner.round(load).await;
        }
    }
    runners.into_iter().map(ServerRun::finish).collect()
}

impl ServerRun {
    async fn start(contender: &BenchmarkedServer, way: Transport, load: &Workload) -> Self {
        let start = Instant::now();
        let mut process = Process::start(contender.command(way, load));
        let (mut wire, answered) = McpClient::open(&mut process, contender, way, load).await;
        wire.run(load, WARM_UP).await;
        let row = Measurement {
            name: contender.name,
            generation: contender.era,
            rate: 0.0,
            median: Duration::ZERO,
            p99: Duration::ZERO,
            cpu_time_per_request: Duration::ZERO,
            memory: 0,
            first_answer: answered - start,
        };
        Self {
            process,
            wire,
            row,
            load_time: Duration::ZERO,
            requests: 0,
            cpu_time: Duration::ZERO,
        }
    }

    async fn round(&mut self, load: &Workload) {
        if self.load_time >= ROUND_TIME * ROUNDS {
            return;
        }
        let (start, busy) = (Instant::now(), self.process.cpu_time());
        let mut times = self.wire.run(load, ROUND_TIME).await;
        let time = start.elapsed();
        let rate = times.len() as f64 / time.as_secs_f64();
        self.load_time += time;
        self.cpu_time += self.process.cpu_time() - busy;
        self.requests += u32::try_from(times.len()).unwrap();
        if rate > self.row.rate {
            times.sort_unstable();
            self.row.rate = rate;
            self.row.median = times[times.len() / 2];
            self.row.p99 = times[times.len() * 99 / 100];
        }
    }

    fn finish(mut self) -> Measurement {
        self.row.cpu_time_per_request = self.cpu_time / self.requests;
        self.row.memory = self.process.resident_bytes();
        self.row
    }
}
