//! Times several implementations of the same function, and prints a table of their best times.
//!
//! The rows are timed in turn, round after round: load of the machine affects all rows alike, and the best round of each is
//! its undisturbed time.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use tokio::runtime::{Builder, Runtime};

use crate::Table;

const MIN_BATCH_TIME: Duration = Duration::from_millis(5);
const ROUNDS: usize = 60;
const MAX_TOTAL_TIME: Duration = Duration::from_secs(10);

/// Rows that are timed against each other.
pub struct Comparison<'a> {
    title: String,
    runtime: &'a Runtime,
    rows: Vec<ComparedFunction<'a>>,
}

struct ComparedFunction<'a> {
    name: String,
    run_batch: Box<dyn FnMut(u32) -> BatchResult + 'a>,
    calls_per_batch: u32,
    best_ns: f64,
}

struct BatchResult {
    time: Duration,
    answer: String,
}

/// The one runtime of a benchmark: a single thread, so that nothing is measured but the call.
pub fn single_threaded_runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

impl<'a> Comparison<'a> {
    /// A comparison without rows.
    pub fn new(title: impl Into<String>, runtime: &'a Runtime) -> Self {
        Self { title: title.into(), runtime, rows: Vec::new() }
    }

    /// Adds a plain function.
    #[must_use]
    pub fn add_function<T: AsRef<str>>(self, name: &str, mut f: impl FnMut() -> T + 'a) -> Self {
        self.add_row(name, move |calls| {
            let start = Instant::now();
            for _ in 1..calls {
                black_box(f());
            }
            let last = black_box(f());
            BatchResult::new(start, &last)
        })
    }

    /// Adds an async function; a whole lap runs inside one `block_on`.
    #[must_use]
    pub fn add_async_function<T: AsRef<str>>(
        self,
        name: &str,
        mut f: impl AsyncFnMut() -> T + 'a,
    ) -> Self {
        let runtime = self.runtime;
        self.add_row(name, move |calls| {
            runtime.block_on(async {
                let start = Instant::now();
                for _ in 1..calls {
                    black_box(f().await);
                }
                let last = black_box(f().await);
                BatchResult::new(start, &last)
            })
        })
    }

    /// Adds a function of a value that is created for each call; neither creating nor dropping it is timed.
    #[must_use]
    pub fn add_with_fresh_input<I, T: AsRef<str>>(
        self,
        name: &str,
        mut make: impl FnMut() -> I + 'a,
        mut f: impl FnMut(&mut I) -> T + 'a,
    ) -> Self {
        self.add_row(name, move |calls| {
            let mut last = make();
            let mut others: Vec<I> = (1..calls).map(|_| make()).collect();
            let start = Instant::now();
            for input in &mut others {
                black_box(f(input));
            }
            let answer = black_box(f(&mut last));
            BatchResult::new(start, &answer)
        })
    }

    fn add_row(mut self, name: &str, lap: impl FnMut(u32) -> BatchResult + 'a) -> Self {
        self.rows.push(ComparedFunction {
            name: name.to_owned(),
            run_batch: Box::new(lap),
            calls_per_batch: 1,
            best_ns: f64::INFINITY,
        });
        self
    }

    /// Checks that all rows give the same answer, then times them.
    ///
    /// # Panics
    ///
    /// If a row's answer differs from the first row's.
    pub fn run(mut self) -> Table {
        self.assert_same_answers();
        self.rows.iter_mut().for_each(ComparedFunction::calibrate);
        let start = Instant::now();
        for round in 0..ROUNDS {
            self.rows.iter_mut().for_each(ComparedFunction::run_round);
            if round > 2 && start.elapsed() > MAX_TOTAL_TIME {
                break;
            }
        }
        let table = Table::new(self.title);
        let rows = self.rows.into_iter();
        rows.fold(table, |table, row| table.row(row.name, row.best_ns))
    }

    fn assert_same_answers(&mut self) {
        let mut expected = None;
        for row in &mut self.rows {
            let answer = parse_or_text((row.run_batch)(1).answer);
            let expected = expected.get_or_insert_with(|| answer.clone());
            assert_eq!(&answer, expected, "the answer of «{}»", row.name);
        }
    }
}

impl ComparedFunction<'_> {
    /// Doubles the length of a lap until it is long enough to be measured.
    fn calibrate(&mut self) {
        while (self.run_batch)(self.calls_per_batch).time < MIN_BATCH_TIME {
            self.calls_per_batch *= 2;
        }
    }

    fn run_round(&mut self) {
        let lap = (self.run_batch)(self.calls_per_batch);
        let ns = lap.time.as_nanos() as f64 / f64::from(self.calls_per_batch);
        self.best_ns = self.best_ns.min(ns);
    }
}

impl BatchResult {
    fn new(start: Instant, answer: &impl AsRef<str>) -> Self {
        Self { time: start.elapsed(), answer: answer.as_ref().to_owned() }
    }
}

/// Compares JSON by value, other text exactly.
fn parse_or_text(answer: String) -> serde_json::Value {
    serde_json::from_str(&answer).unwrap_or(answer.into())
}
