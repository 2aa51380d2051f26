//! Contenders and a load in, a row for each out.
//!
//! All of them run at the same time, but only one is asked at a time: they take turns, round after round, and the best
//! round of each counts, since whatever else the machine does can only slow it down.

use std::time::{Duration, Instant};

use crate::{
    contender::{Contender, Way},
    era::Era,
    load::Load,
    process::Process,
    wire::Wire,
};

const ROUNDS: u32 = 12;
const ROUND: Duration = Duration::from_millis(200);
const WARM_UP: Duration = Duration::from_millis(200);

/// What was measured of one server.
pub struct Row {
    pub name: &'static str,
    pub era: Era,
    /// Per second, in the best round.
    pub rate: f64,
    pub median: Duration,
    pub slowest_of_a_hundred: Duration,
    /// What one request keeps cores busy, over all rounds.
    pub busy: Duration,
    pub memory: u64,
    /// From the start of the process.
    pub first_answer: Duration,
}

struct Runner {
    process: Process,
    wire: Wire,
    row: Row,
    /// For how long; one answer may take longer than a round.
    asked: Duration,
    requests: u32,
    busy: Duration,
}

pub async fn run(contenders: &[&Contender], way: Way, load: &Load) -> Vec<Row> {
    let mut runners = Vec::new();
    for contender in contenders.iter().filter(|it| it.has(way)) {
        runners.push(Runner::start(contender, way, load).await);
    }
    for _ in 0..ROUNDS {
        for runner in &mut runners {
            runner.round(load).await;
        }
    }
    runners.into_iter().map(Runner::finish).collect()
}

impl Runner {
    async fn start(contender: &Contender, way: Way, load: &Load) -> Self {
        let start = Instant::now();
        let mut process = Process::start(contender.command(way, load));
        let (mut wire, answered) = Wire::open(&mut process, contender, way, load).await;
        wire.run(load, WARM_UP).await;
        let row = Row {
            name: contender.name,
            era: contender.era,
            rate: 0.0,
            median: Duration::ZERO,
            slowest_of_a_hundred: Duration::ZERO,
            busy: Duration::ZERO,
            memory: 0,
            first_answer: answered - start,
        };
        Self {
            process,
            wire,
            row,
            asked: Duration::ZERO,
            requests: 0,
            busy: Duration::ZERO,
        }
    }

    async fn round(&mut self, load: &Load) {
        if self.asked >= ROUND * ROUNDS {
            return;
        }
        let (start, busy) = (Instant::now(), self.process.busy());
        let mut times = self.wire.run(load, ROUND).await;
        let time = start.elapsed();
        let rate = times.len() as f64 / time.as_secs_f64();
        self.asked += time;
        self.busy += self.process.busy() - busy;
        self.requests += u32::try_from(times.len()).unwrap();
        if rate > self.row.rate {
            times.sort_unstable();
            self.row.rate = rate;
            self.row.median = times[times.len() / 2];
            self.row.slowest_of_a_hundred = times[times.len() * 99 / 100];
        }
    }

    fn finish(mut self) -> Row {
        self.row.busy = self.busy / self.requests;
        self.row.memory = self.process.memory();
        self.row
    }
}
