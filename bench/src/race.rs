//! Ways of doing the same thing in, a table of their best times out.
//!
//! The rows take turns, round after round: on a busy machine the noise hits all of them alike, and the best round of
//! each says what it costs undisturbed.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use tokio::runtime::{Builder, Runtime};

use crate::Table;

const LAP: Duration = Duration::from_millis(5);
const ROUNDS: usize = 60;
const ENOUGH: Duration = Duration::from_secs(10);

/// Rows that are timed against each other.
pub struct Race<'a> {
    title: String,
    runtime: &'a Runtime,
    rows: Vec<Row<'a>>,
}

struct Row<'a> {
    name: String,
    lap: Box<dyn FnMut(u32) -> Lap + 'a>,
    calls: u32,
    best: f64,
}

struct Lap {
    time: Duration,
    answer: String,
}

/// The one runtime of a benchmark: a single thread, so that nothing is measured but the call.
pub fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

impl<'a> Race<'a> {
    /// Starts a race without rows.
    pub fn new(title: impl Into<String>, runtime: &'a Runtime) -> Self {
        Self {
            title: title.into(),
            runtime,
            rows: Vec::new(),
        }
    }

    /// Adds a plain function.
    #[must_use]
    pub fn call<T: AsRef<str>>(self, name: &str, mut f: impl FnMut() -> T + 'a) -> Self {
        self.row(name, move |calls| {
            let start = Instant::now();
            for _ in 1..calls {
                black_box(f());
            }
            let last = black_box(f());
            Lap::new(start, &last)
        })
    }

    /// Adds an async function; a whole lap runs inside one `block_on`.
    #[must_use]
    pub fn future<T: AsRef<str>>(self, name: &str, mut f: impl AsyncFnMut() -> T + 'a) -> Self {
        let runtime = self.runtime;
        self.row(name, move |calls| {
            runtime.block_on(async {
                let start = Instant::now();
                for _ in 1..calls {
                    black_box(f().await);
                }
                let last = black_box(f().await);
                Lap::new(start, &last)
            })
        })
    }

    /// Adds a function of something that is made anew for each call; neither making nor dropping it is timed.
    #[must_use]
    pub fn fresh<I, T: AsRef<str>>(
        self,
        name: &str,
        mut make: impl FnMut() -> I + 'a,
        mut f: impl FnMut(&mut I) -> T + 'a,
    ) -> Self {
        self.row(name, move |calls| {
            let mut last = make();
            let mut others: Vec<I> = (1..calls).map(|_| make()).collect();
            let start = Instant::now();
            for input in &mut others {
                black_box(f(input));
            }
            let answer = black_box(f(&mut last));
            Lap::new(start, &answer)
        })
    }

    fn row(mut self, name: &str, lap: impl FnMut(u32) -> Lap + 'a) -> Self {
        self.rows.push(Row {
            name: name.to_owned(),
            lap: Box::new(lap),
            calls: 1,
            best: f64::INFINITY,
        });
        self
    }

    /// Checks that all rows give the same answer, then times them.
    ///
    /// # Panics
    ///
    /// If a row's answer differs from the first row's.
    pub fn run(mut self) -> Table {
        self.check();
        self.rows.iter_mut().for_each(Row::warm_up);
        let start = Instant::now();
        for round in 0..ROUNDS {
            self.rows.iter_mut().for_each(Row::round);
            if round > 2 && start.elapsed() > ENOUGH {
                break;
            }
        }
        let table = Table::new(self.title);
        let rows = self.rows.into_iter();
        rows.fold(table, |table, row| table.row(row.name, row.best))
    }

    fn check(&mut self) {
        let mut expected = None;
        for row in &mut self.rows {
            let answer = meaning((row.lap)(1).answer);
            let expected = expected.get_or_insert_with(|| answer.clone());
            assert_eq!(&answer, expected, "the answer of «{}»", row.name);
        }
    }
}

impl Row<'_> {
    /// Runs longer and longer laps until one is long enough to be measured well.
    fn warm_up(&mut self) {
        while (self.lap)(self.calls).time < LAP {
            self.calls *= 2;
        }
    }

    fn round(&mut self) {
        let lap = (self.lap)(self.calls);
        let ns = lap.time.as_nanos() as f64 / f64::from(self.calls);
        self.best = self.best.min(ns);
    }
}

impl Lap {
    fn new(start: Instant, answer: &impl AsRef<str>) -> Self {
        Self {
            time: start.elapsed(),
            answer: answer.as_ref().to_owned(),
        }
    }
}

/// JSON is compared by value, anything else by letter.
fn meaning(answer: String) -> serde_json::Value {
    serde_json::from_str(&answer).unwrap_or(answer.into())
}
