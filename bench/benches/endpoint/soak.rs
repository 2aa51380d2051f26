//! People who come and go: lines break at random, and whoever comes back gets the rest exactly once, for minutes.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::task::LocalSet;

use crate::ask::{self, Protocol};
use crate::client;
use crate::contender::own;
use crate::process::Process;
use crate::script;

/// How many take part.
const CLIENTS: u64 = 200;
/// How long a piece of an answer takes, in milliseconds: an answer takes ten seconds.
const PACE: u64 = 20;
const SAMPLES: u32 = 20;

#[derive(Default)]
struct Count {
    answers: Cell<u64>,
    breaks: Cell<u64>,
    wrong: Cell<u64>,
}

pub(crate) async fn run(short: bool) {
    let time = Duration::from_secs(if short { 30 } else { 600 });
    let process = Process::start(own("toolwright", PACE), b"");
    let start = Instant::now();
    let count = Rc::new(Count::default());
    let clients = LocalSet::new();
    for number in 0..CLIENTS {
        let (addr, count) = (process.line.clone(), Rc::clone(&count));
        clients.spawn_local(client(addr, number, start + time, count));
    }
    println!("idle: {:.1} MB", process.memory() as f64 / 1e6);
    let samples = clients.run_until(async {
        for _ in 0..SAMPLES {
            tokio::time::sleep(time / SAMPLES).await;
            let (seconds, memory) = (start.elapsed().as_secs(), process.memory());
            let (answers, breaks) = (count.answers.get(), count.breaks.get());
            println!(
                "{seconds:>4} s: {:.1} MB, {answers} answers, {breaks} broken lines",
                memory as f64 / 1e6
            );
        }
    });
    samples.await;
    clients.await;
    println!("all gone: {:.1} MB", process.memory() as f64 / 1e6);
    let (answers, wrong) = (count.answers.get(), count.wrong.get());
    println!("{answers} answers, {wrong} of them not whole");
    assert_eq!(wrong, 0, "answers were not whole");
}

/// Asks, hangs up now and then, comes back, and deletes the conversation when its answer is whole.
async fn client(addr: String, number: u64, end: Instant, count: Rc<Count>) {
    let mut chance = Chance(number + 1);
    let mut turn = 0;
    while Instant::now() < end {
        let conversation = format!("c{number}-{turn}");
        turn += 1;
        let right = match chance.below(2) {
            0 => ui(&addr, &conversation, &mut chance, &count).await,
            _ => native(&addr, &conversation, &mut chance, &count).await,
        };
        count.answers.set(count.answers.get() + 1);
        if right.is_none() {
            count.wrong.set(count.wrong.get() + 1);
        }
        // The turn may hold its lease for a breath after its last event.
        let path = format!("/api/conversations/{conversation}");
        while client::send(&addr, "DELETE", &path, String::new())
            .await
            .status
            != 204
        {
            tokio::time::sleep(Duration::from_millis(PACE)).await;
        }
    }
}

/// Comes back with the number of the last event that was read.
async fn native(addr: &str, id: &str, chance: &mut Chance, count: &Count) -> Option<()> {
    let (mut answer, mut seq) = Protocol::Native.ask(addr, id).await;
    let mut text = String::new();
    loop {
        let data = answer.data().await?;
        if ask::is_snapshot(&data) {
            return ask::is_kept(addr, id).await.then_some(());
        }
        let event: Value = serde_json::from_slice(&data).ok()?;
        seq += 1;
        (event["seq"].as_u64()? == seq).then_some(())?;
        text += &ask::delta(Protocol::Native, &data).unwrap_or_default();
        if Protocol::Native.is_last(&data) {
            return (text == script::text()).then_some(());
        }
        if chance.below(200) == 0 {
            count.breaks.set(count.breaks.get() + 1);
            drop(answer);
            tokio::time::sleep(Duration::from_millis(chance.below(2000))).await;
            answer = ask::events(addr, id, seq).await;
        }
    }
}

/// Comes back to the stream, which is told from its beginning.
async fn ui(addr: &str, id: &str, chance: &mut Chance, count: &Count) -> Option<()> {
    let (mut answer, _) = Protocol::Ui.ask(addr, id).await;
    let mut text = String::new();
    loop {
        let data = answer.data().await?;
        text += &ask::delta(Protocol::Ui, &data).unwrap_or_default();
        if Protocol::Ui.is_last(&data) {
            return (text == script::text()).then_some(());
        }
        if chance.below(400) == 0 {
            count.breaks.set(count.breaks.get() + 1);
            drop(answer);
            tokio::time::sleep(Duration::from_millis(chance.below(2000))).await;
            let path = format!("/api/chat/{id}/stream");
            answer = client::send(addr, "GET", &path, String::new()).await;
            if answer.status == 204 {
                // It is over by now.
                return ask::is_kept(addr, id).await.then_some(());
            }
            text.clear();
        }
    }
}

/// Random enough to hang up at, and the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}
