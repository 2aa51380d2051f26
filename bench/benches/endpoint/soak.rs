//! Clients that disconnect at random and reconnect, for minutes: each must receive the rest of its answer exactly once.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::task::LocalSet;
use toolwright::testing::SeededRng;

use crate::client;
use crate::process;
use crate::requests::{self, Protocol};
use crate::scripted_model;
use crate::servers::LoadedServer;

const SAMPLES: u32 = 20;

#[derive(Default)]
struct SoakCounters {
    answers: Cell<u64>,
    breaks: Cell<u64>,
    wrong: Cell<u64>,
    /// The snapshots in the middle of an answer, in place of events that were not kept.
    snapshots: Cell<u64>,
}

fn increment(counter: &Cell<u64>) {
    counter.set(counter.get() + 1);
}

pub(crate) async fn run(short: bool, program: bool) {
    let time = Duration::from_secs(if short { 30 } else { 600 });
    // An answer takes ten seconds, or a minute.
    let (client_count, pace) = if program { (2000, 120) } else { (200, 20) };
    let LoadedServer { process, addr, .. } = &LoadedServer::start(program, pace).await;
    let start = Instant::now();
    let count = Rc::new(SoakCounters::default());
    let clients = LocalSet::new();
    for number in 0..client_count {
        let (addr, count) = (addr.clone(), Rc::clone(&count));
        clients.spawn_local(run_client(addr, number, start + time, count));
    }
    println!("idle: {:.1} MB", process.resident_bytes() as f64 / 1e6);
    let samples = clients.run_until(async {
        for _ in 0..SAMPLES {
            tokio::time::sleep(time / SAMPLES).await;
            let (seconds, memory) = (start.elapsed().as_secs(), process.resident_bytes());
            let (answers, breaks) = (count.answers.get(), count.breaks.get());
            println!(
                "{seconds:>4} s: {:.1} MB, {answers} answers, {breaks} broken lines",
                memory as f64 / 1e6
            );
        }
    });
    samples.await;
    clients.await;
    println!("all gone: {:.1} MB", process.resident_bytes() as f64 / 1e6);
    let (answers, wrong) = (count.answers.get(), count.wrong.get());
    let refused = requests::REFUSALS.load(Ordering::Relaxed);
    println!(
        "{answers} answers, {wrong} of them not whole, {} continued after a snapshot; {refused} requests refused, and sent \
         again; the server's log is {}",
        count.snapshots.get(),
        process::log_path().display()
    );
    assert_eq!(wrong, 0, "answers were not whole");
}

/// Sends messages in new conversations with random disconnects, and deletes each conversation after its answer.
async fn run_client(addr: String, number: u64, end: Instant, count: Rc<SoakCounters>) {
    let mut rng = SeededRng::new(number);
    let mut turn = 0;
    while Instant::now() < end {
        let conversation = format!("c{number}-{turn}");
        turn += 1;
        let result = match rng.below(2) {
            0 => run_ai_sdk_turn(&addr, &conversation, &mut rng, &count).await,
            _ => run_native_turn(&addr, &conversation, &mut rng, &count).await,
        };
        increment(&count.answers);
        if let Err(reason) = result {
            println!("{conversation} is not whole: {reason}");
            increment(&count.wrong);
        }
        // The turn may hold its lease for a short time after its last event.
        let path = format!("/api/conversations/{conversation}");
        while client::send_request(&addr, "DELETE", &path, String::new()).await.status != 204 {
            tokio::time::sleep(requests::RETRY_INTERVAL).await;
        }
    }
}

/// Reconnects with the number of the last event that was read.
async fn run_native_turn(
    addr: &str,
    id: &str,
    rng: &mut SeededRng,
    count: &SoakCounters,
) -> Result<(), &'static str> {
    let (mut answer, mut seq) = Protocol::Native.send_message(addr, id).await;
    let (mut text, mut is_first, mut has_snapshot) = (String::new(), true, false);
    loop {
        let data = answer.next_event_data().await.ok_or("the stream ended early")?;
        let event: Value = serde_json::from_slice(&data).map_err(|_| "an event is not JSON")?;
        if requests::is_snapshot(&data) {
            let snapshot = &event["event"];
            if requests::has_ended(snapshot) {
                return check(requests::is_stored(addr, id).await, "a snapshot without the answer");
            }
            // It replaces what was read, and the rest of the turn follows it.
            increment(&count.snapshots);
            text = snapshot["partial"]["text"].as_str().unwrap_or_default().to_owned();
            seq = event["seq"].as_u64().ok_or("a snapshot without a number")?;
            (is_first, has_snapshot) = (true, true);
            continue;
        }
        seq = match has_snapshot && is_first {
            // Any event may follow a snapshot.
            true => event["seq"].as_u64().filter(|next| *next > seq),
            false => requests::next_seq(&event, seq, is_first),
        }
        .ok_or("a number is missing")?;
        is_first = false;
        text += &requests::parse_delta(Protocol::Native, &data).unwrap_or_default();
        if Protocol::Native.is_last_event(&data) {
            let is_whole = text == scripted_model::full_text()
                || has_snapshot && requests::is_stored(addr, id).await;
            return check(is_whole, "another text");
        }
        if rng.below(200) == 0 {
            increment(&count.breaks);
            drop(answer);
            tokio::time::sleep(Duration::from_millis(rng.below(2000) as u64)).await;
            answer = requests::read_events(addr, id, seq).await;
        }
    }
}

/// Reconnects to the stream, which is then replayed from its beginning.
async fn run_ai_sdk_turn(
    addr: &str,
    id: &str,
    rng: &mut SeededRng,
    count: &SoakCounters,
) -> Result<(), &'static str> {
    let (mut answer, _) = Protocol::Ui.send_message(addr, id).await;
    let mut text = String::new();
    loop {
        let data = answer.next_event_data().await.ok_or("the stream ended early")?;
        text += &requests::parse_delta(Protocol::Ui, &data).unwrap_or_default();
        if Protocol::Ui.is_last_event(&data) {
            return check(text == scripted_model::full_text(), "another text");
        }
        if rng.below(400) == 0 {
            increment(&count.breaks);
            drop(answer);
            tokio::time::sleep(Duration::from_millis(rng.below(2000) as u64)).await;
            let path = format!("/api/chat/{id}/stream");
            answer = requests::send_until_served(addr, "GET", &path, "").await;
            if answer.status == 204 {
                // The turn has ended in the meantime.
                return check(requests::is_stored(addr, id).await, "no turn, and no answer");
            }
            text.clear();
        }
    }
}

fn check(is_whole: bool, reason: &'static str) -> Result<(), &'static str> {
    if is_whole { Ok(()) } else { Err(reason) }
}
