//! Many slow streams at once: none may be lost; measures the memory of each.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures::future::join_all;
use serde_json::Value;
use toolwright::__internal::unix_millis_now;

use crate::requests::{self, Protocol};
use crate::scripted_model::{self, DELTA_COUNT};
use crate::servers::LoadedServer;

struct StreamOutcome {
    is_correct: bool,
    events: usize,
    /// From an event's timestamp until it is read; only native events have a timestamp.
    delays_ms: Vec<u64>,
}

pub(crate) async fn run(short: bool, program: bool) {
    // The pauses of one answer take a minute.
    let (streams, pace) = if short { (200, 10) } else { (2000, 120) };
    let LoadedServer { process, addr, .. } = &LoadedServer::start(program, pace).await;
    let idle = process.resident_bytes();
    let start = Instant::now();
    let tasks: Vec<_> =
        (0..streams).map(|number| tokio::spawn(read_stream(addr.clone(), number))).collect();
    let tenth = Duration::from_millis(pace) * u32::try_from(DELTA_COUNT / 10).unwrap();
    tokio::time::sleep(tenth).await;
    let early = process.resident_bytes();
    tokio::time::sleep(tenth * 8).await;
    let (full, open) = (process.resident_bytes(), open_stream_count(addr).await);
    let outcomes: Vec<StreamOutcome> =
        join_all(tasks).await.into_iter().map(Result::unwrap).collect();
    let time = start.elapsed();
    let lost = outcomes.iter().filter(|it| !it.is_correct).count();
    let events: usize = outcomes.iter().map(|it| it.events).sum();
    let mut delays: Vec<u64> = outcomes.into_iter().flat_map(|outcome| outcome.delays_ms).collect();
    delays.sort_unstable();
    let delay = |part: f64| delays[((delays.len() - 1) as f64 * part) as usize];
    println!(
        "{streams} streams in {:.1} s, {open} of them open shortly before the end",
        time.as_secs_f64()
    );
    let refused = requests::REFUSALS.load(Ordering::Relaxed);
    println!(
        "lost: {lost}, refused and sent again: {refused}; {events} events, {:.0} per second",
        events as f64 / time.as_secs_f64()
    );
    println!(
        "delay of an event: p50 {} ms, p99 {} ms, longest {} ms",
        delay(0.5),
        delay(0.99),
        delay(1.0)
    );
    let each = |memory: u64| (memory - idle) as f64 / 1e3 / f64::from(streams);
    println!(
        "memory: idle {:.1} MB; after a tenth of the answers {:.1} kB per stream, after nine tenths {:.1} kB ({:.1} MB)",
        idle as f64 / 1e6,
        each(early),
        each(full),
        full as f64 / 1e6,
    );
    println!("CPU: {:.1} s of the server's", process.cpu_time().as_secs_f64());
    assert_eq!(lost, 0, "streams were lost");
}

/// The number of open streams in the metrics of the server.
async fn open_stream_count(addr: &str) -> String {
    let metrics = crate::client::send_request(addr, "GET", "/metrics", String::new()).await;
    let metrics = String::from_utf8(metrics.read_to_end().await).unwrap();
    let line = metrics.lines().find(|line| line.starts_with("toolwright_readers"));
    line.and_then(|line| line.split_whitespace().last()).unwrap_or("?").to_owned()
}

/// Reads one stream to its end: odd numbers use the native protocol, even ones that of the AI SDK.
async fn read_stream(addr: String, number: u32) -> StreamOutcome {
    let protocol = if number % 2 == 1 { Protocol::Native } else { Protocol::Ui };
    let (mut answer, mut seq) = protocol.send_message(&addr, &format!("c{number}")).await;
    let (mut text, mut is_correct, mut last, mut events) = (String::new(), true, false, 0);
    let mut delays = Vec::new();
    while !last && let Some(data) = answer.next_event_data().await {
        events += 1;
        last = protocol.is_last_event(&data);
        text += &requests::parse_delta(protocol, &data).unwrap_or_default();
        if protocol == Protocol::Native {
            let event: Value = serde_json::from_slice(&data).unwrap();
            match requests::next_seq(&event, seq, events == 1) {
                Some(next) => seq = next,
                None => is_correct = false,
            }
            delays.push(unix_millis_now().saturating_sub(event["at"].as_u64().unwrap()));
        }
    }
    is_correct &= last && text == scripted_model::full_text();
    StreamOutcome { is_correct, events, delays_ms: delays }
}
