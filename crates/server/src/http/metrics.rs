//! Metrics, and their text form for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use toolwright_chat::{ChatEvent, TurnEnd};
use toolwright_core::ToolResult;

/// The upper bounds of the histogram buckets, in seconds.
const BUCKET_BOUNDS: [f64; 12] =
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0, 120.0];

/// The metrics of a server.
#[derive(Default)]
pub(crate) struct Metrics {
    /// Open event streams.
    pub(crate) subscribers: Gauge,
    /// Open TCP connections.
    pub(crate) open_connections: Gauge,
    pub(crate) rejected_messages: Counter,
    requests: LabelledCounter,
    turns: LabelledCounter,
    turn_seconds: Histogram,
    calls: LabelledCounter,
    call_seconds: Histogram,
    errors: LabelledCounter,
    tokens_in: Counter,
    tokens_out: Counter,
    /// In millionths of the currency of the prices.
    cost: Counter,
}

impl Metrics {
    /// Records the tokens, cost and calls of a chat event.
    pub(crate) fn on_chat_event(&self, event: &ChatEvent) {
        match event {
            ChatEvent::Step { usage, cost, .. } => {
                self.tokens_in.add(usage.input);
                self.tokens_out.add(usage.output);
                let millionths = cost.unwrap_or_default() * 1e6;
                // A cast of NaN or a negative number gives 0.
                self.cost.add(millionths as u64);
            }
            ChatEvent::Result { result, millis } => {
                self.record_call(result, Duration::from_millis(*millis));
            }
            _ => {}
        }
    }

    /// Records a tool call.
    pub(crate) fn record_call(&self, result: &ToolResult, took: Duration) {
        self.calls.add(&result.outcome.to_string());
        self.call_seconds.observe(took);
    }

    /// Records a turn that has ended.
    pub(crate) fn record_turn(&self, end: &TurnEnd, took: Duration) {
        let end = match end {
            TurnEnd::Answered => "answered",
            TurnEnd::Direct => "direct",
            TurnEnd::Length => "length",
            TurnEnd::Limit { .. } => "limit",
            TurnEnd::Failed { .. } => "failed",
            TurnEnd::Cancelled => "cancelled",
            _ => "other",
        };
        self.turns.add(end);
        self.turn_seconds.observe(took);
    }

    /// Records a turn that failed with an error instead of an end.
    pub(crate) fn record_turn_error(&self, kind: &str) {
        self.errors.add(kind);
    }

    /// Records a response by its status class.
    pub(crate) fn record_response(&self, status: u16) {
        self.requests.add(match status {
            ..300 => "2xx",
            300..400 => "3xx",
            400..500 => "4xx",
            _ => "5xx",
        });
    }

    /// Renders all metrics in the text format of Prometheus; `rooms` is the number of conversations in memory.
    pub(crate) fn to_prometheus(&self, rooms: usize) -> String {
        let mut out = String::new();
        let plain = [
            ("sockets", "gauge", "connections that are open", self.open_connections.get()),
            ("readers", "gauge", "those who read a conversation", self.subscribers.get()),
            ("rooms", "gauge", "conversations under way", rooms.to_string()),
            (
                "prompts_refused_total",
                "counter",
                "prompts refused by an interceptor",
                self.rejected_messages.get(),
            ),
            ("cost_total", "counter", "what models cost, where the price is known", {
                format!("{:.6}", self.cost.0.load(Ordering::Relaxed) as f64 / 1e6)
            }),
        ];
        for (name, kind, help, value) in plain {
            write_header(&mut out, name, kind, help);
            write_sample(&mut out, name, "", &value);
        }
        write_header(&mut out, "tokens_total", "counter", "tokens that models read and wrote");
        write_sample(&mut out, "tokens_total", r#"{direction="in"}"#, &self.tokens_in.get());
        write_sample(&mut out, "tokens_total", r#"{direction="out"}"#, &self.tokens_out.get());
        let labelled = [
            ("requests_total", "status", "requests answered", &self.requests),
            ("turns_total", "end", "turns that are over", &self.turns),
            ("calls_total", "outcome", "calls of tools", &self.calls),
            ("errors_total", "kind", "turns that failed", &self.errors),
        ];
        for (name, label, help, counts) in labelled {
            write_header(&mut out, name, "counter", help);
            counts.write(&mut out, name, label);
        }
        let timed = [
            ("turn_seconds", "how long turns take", &self.turn_seconds),
            ("call_seconds", "how long calls of tools take", &self.call_seconds),
        ];
        for (name, help, histogram) in timed {
            write_header(&mut out, name, "histogram", help);
            histogram.write(&mut out, name);
        }
        out
    }
}

fn write_header(out: &mut String, name: &str, kind: &str, help: &str) {
    // Writing to a `String` cannot fail, here and below.
    let _ = write!(out, "# HELP toolwright_{name} {help}\n# TYPE toolwright_{name} {kind}\n");
}

fn write_sample(out: &mut String, name: &str, labels: &str, value: &str) {
    let _ = writeln!(out, "toolwright_{name}{labels} {value}");
}

/// A counter.
#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    fn get(&self) -> String {
        self.0.load(Ordering::Relaxed).to_string()
    }
}

/// A gauge.
#[derive(Default)]
pub(crate) struct Gauge(AtomicI64);

impl Gauge {
    pub(crate) fn increment(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn decrement(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    fn get(&self) -> String {
        self.0.load(Ordering::Relaxed).to_string()
    }
}

/// A counter with one label, whose values are few and chosen by the server.
#[derive(Default)]
struct LabelledCounter(Mutex<BTreeMap<String, u64>>);

impl LabelledCounter {
    fn add(&self, label: &str) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match counts.get_mut(label) {
            Some(count) => *count += 1,
            None => drop(counts.insert(label.to_owned(), 1)),
        }
    }

    fn write(&self, out: &mut String, name: &str, label: &str) {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (value, count) in &*counts {
            write_sample(out, name, &format!("{{{label}={value:?}}}"), &count.to_string());
        }
    }
}

/// A histogram of durations.
#[derive(Default)]
struct Histogram {
    bucket_counts: [AtomicU64; BUCKET_BOUNDS.len()],
    count: AtomicU64,
    /// In microseconds.
    sum: AtomicU64,
}

impl Histogram {
    fn observe(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let within = BUCKET_BOUNDS.iter().zip(&self.bucket_counts);
        for (_, count) in within.filter(|(end, _)| seconds <= **end) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.sum.fetch_add(micros, Ordering::Relaxed);
    }

    fn write(&self, out: &mut String, name: &str) {
        for (end, count) in BUCKET_BOUNDS.iter().zip(&self.bucket_counts) {
            let count = count.load(Ordering::Relaxed).to_string();
            write_sample(out, &format!("{name}_bucket"), &format!("{{le=\"{end}\"}}"), &count);
        }
        let all = self.count.load(Ordering::Relaxed).to_string();
        write_sample(out, &format!("{name}_bucket"), r#"{le="+Inf"}"#, &all);
        let sum = self.sum.load(Ordering::Relaxed) as f64 / 1e6;
        write_sample(out, &format!("{name}_sum"), "", &sum.to_string());
        write_sample(out, &format!("{name}_count"), "", &all);
    }
}
