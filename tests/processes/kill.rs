//! Servers that are killed, terminated, or lose their database or their clock: nothing that was acknowledged is lost, and
//! nothing happens twice.
//!
//! The server is the `serve` command of `tests/test_programs/kill.rs`. Its clients record what it acknowledges; afterwards the
//! journals are compared with that. `TOOLWRIGHT_KILLS` sets the number of kills, `TOOLWRIGHT_DATABASE_CRASHES` of crashes of
//! PostgreSQL, and `TOOLWRIGHT_KILL_SEED` the random numbers.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::api_client::client::{self, Acknowledgement, Client, Shared};
use test_support::api_client::history::{self, CheckTotals};
use test_support::api_client::journal::Journal;
use test_support::servers::postgres::PostgresServer;
use toolwright::testing::SeededRng;

mod process;

use process::{FakeClock, Launcher, ServerProcess};

use crate::setting;

/// The conversations at once; events of every other one are subscribed to.
const CONVERSATIONS: usize = 6;

/// The messages that may wait in a conversation.
const MAX_WAITING: usize = 16;

/// Without an observation for this time, the test fails.
const TIMEOUT: Duration = Duration::from_secs(240);

/// What happens to a server while its clients work.
enum Disturbance<'a> {
    /// It is killed, and another one is started.
    Kill,
    /// Its database crashes.
    DatabaseCrash(&'a PostgresServer),
    /// Its clock is moved; then it is killed, or not.
    Clock,
}

fn sqlite_launcher(directory: &Path) -> Launcher {
    let url = format!("sqlite:{}", directory.join("conversations.sqlite").display());
    Launcher { url, effects: directory.join("effects"), node: None, clock: None }
}

fn postgres_launcher(directory: &Path, server: &PostgresServer) -> Launcher {
    // Under the name of the process before, the sweeper need not wait until its leases expire.
    let (url, node) = (server.url("postgres"), Some("the-only-one"));
    Launcher { url, effects: directory.join("effects"), node, clock: None }
}

#[test]
fn kills_of_a_server_with_sqlite_lose_and_repeat_nothing() {
    let directory = tempfile::tempdir().unwrap();
    run("kills, SQLite", &sqlite_launcher(directory.path()), &Disturbance::Kill);
}

#[test]
fn kills_of_a_server_with_postgresql_lose_and_repeat_nothing() {
    let Some(server) = PostgresServer::start(&[]) else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let launcher = postgres_launcher(directory.path(), &server);
    run("kills, PostgreSQL", &launcher, &Disturbance::Kill);
}

#[test]
fn crashes_of_the_database_lose_and_repeat_nothing() {
    let Some(server) = PostgresServer::start(&[]) else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let launcher = postgres_launcher(directory.path(), &server);
    run("crashes of PostgreSQL", &launcher, &Disturbance::DatabaseCrash(&server));
}

#[test]
fn a_clock_that_jumps_loses_and_repeats_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut launcher = sqlite_launcher(directory.path());
    launcher.clock = FakeClock::new(directory.path());
    if launcher.clock.is_some() {
        run("jumps of the clock, SQLite", &launcher, &Disturbance::Clock);
    }
}

#[test]
fn a_clock_that_jumps_beside_postgresql_loses_and_repeats_nothing() {
    let Some(server) = PostgresServer::start(&[]) else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let mut launcher = postgres_launcher(directory.path(), &server);
    launcher.clock = FakeClock::new(directory.path());
    if launcher.clock.is_some() {
        run("jumps of the clock, PostgreSQL", &launcher, &Disturbance::Clock);
    }
}

/// Has clients work while the server is disturbed, lets another process finish what is left, and checks all of it.
fn run(name: &str, launcher: &Launcher, disturbance: &Disturbance<'_>) {
    let wanted = match disturbance {
        // Leases that could not be released in time have to expire.
        Disturbance::DatabaseCrash(_) => setting("TOOLWRIGHT_DATABASE_CRASHES", 4),
        _ => setting("TOOLWRIGHT_KILLS", 10),
    };
    let seed = setting("TOOLWRIGHT_KILL_SEED", 7);
    let mut rng = SeededRng::new(seed);
    let shared = Arc::new(Shared::of_one_server());
    let (observed, observations) = channel();
    let is_over = Arc::new(AtomicBool::new(false));
    let mut process = start(launcher, &shared);
    let (mut clients, mut subscribers) = (Vec::new(), Vec::new());
    for n in 0..CONVERSATIONS {
        let (shared, observed) = (Arc::clone(&shared), observed.clone());
        let name = format!("c{n}");
        if n % 2 == 0 {
            let (shared, name, observed) = (Arc::clone(&shared), name.clone(), observed.clone());
            let subscriber = thread::spawn(move || client::subscribe(&shared, &name, &observed));
            subscribers.push((n, subscriber));
        }
        let mut rng = SeededRng::new(rng.next_u64());
        let client = Client::new(&shared, name, move |end| rng.below(end), Some(observed));
        let is_over = Arc::clone(&is_over);
        clients.push(thread::spawn(move || client.run(|| is_over.load(Ordering::Relaxed))));
    }
    drop(observed);
    // The last kill is below.
    for n in 1..wanted {
        wait_for_random_moment(&mut rng, &observations);
        if let (Disturbance::Clock, Some(clock)) = (disturbance, &launcher.clock) {
            // Forward an hour, back two; in this process, and then in the next one.
            clock.set_offset(if n % 2 == 0 { 3600 } else { -3600 });
            if n % 4 < 2 {
                continue;
            }
        }
        if let Disturbance::DatabaseCrash(server) = disturbance {
            server.supervisor.run("crash");
            server.supervisor.run("start");
            process.assert_alive();
            continue;
        }
        shared.address.set(None);
        drop(process);
        process = start(launcher, &shared);
    }
    is_over.store(true, Ordering::Relaxed);
    let clients: Vec<Client> = clients.into_iter().map(|it| it.join().unwrap()).collect();
    shared.address.end();
    drop(process);
    let events: Vec<(usize, Vec<Value>)> =
        subscribers.into_iter().map(|(n, it)| (n, it.join().unwrap())).collect();
    // From here on, clients only read journals: the sweeper finds what the last process has left.
    let _process = start(launcher, &shared);
    let (mut totals, mut clock_jumps) = (CheckTotals::default(), 0);
    for (n, mut client) in clients.into_iter().enumerate() {
        let journal = client.settle();
        totals += history::check(&client, &journal, &history::read_effects(&launcher.effects));
        clock_jumps += journal.clock_jumps();
        for (_, events) in events.iter().filter(|(of, _)| *of == n) {
            totals += history::check_events(events, &journal);
        }
    }
    assert_eq!(clock_jumps > 0, launcher.clock.is_some(), "{clock_jumps} jumps of the clock");
    let report = format!("{name}: {wanted} times, seed {seed}\n{totals}");
    // Written directly, because the test harness captures `eprint!`.
    std::io::stderr().write_all(report.as_bytes()).unwrap();
}

fn start(launcher: &Launcher, shared: &Shared) -> ServerProcess {
    let process = launcher.start();
    shared.address.set(Some(process.address));
    process
}

/// Waits for a random number of observations of clients, and a random time after the last one.
fn wait_for_random_moment(rng: &mut SeededRng, observations: &Receiver<()>) {
    for _ in 0..=rng.below(60) {
        observations.recv_timeout(TIMEOUT).expect("clients make progress");
    }
    let until = Instant::now() + Duration::from_micros(rng.below(20_000) as u64);
    while observations.recv_timeout(until.saturating_duration_since(Instant::now())).is_ok() {}
}

#[test]
fn a_terminated_server_leaves_a_full_inbox_to_the_next_one() {
    let directory = tempfile::tempdir().unwrap();
    terminate_with_full_inbox(&sqlite_launcher(directory.path()));
}

#[test]
fn a_terminated_server_with_postgresql_leaves_a_full_inbox_to_the_next_one() {
    let Some(server) = PostgresServer::start(&[]) else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    terminate_with_full_inbox(&postgres_launcher(directory.path(), &server));
}

fn terminate_with_full_inbox(launcher: &Launcher) {
    let shared = Arc::new(Shared::of_one_server());
    let process = start(launcher, &shared);
    let mut rng = SeededRng::new(7);
    let mut client = Client::new(&shared, "c".to_owned(), move |end| rng.below(end), None);
    assert_eq!(client.send_message("hang"), Acknowledgement::Accepted);
    // The turn has begun when its message has left the inbox.
    while client.export().is_none_or(|journal| journal.turns.is_empty()) {}
    for n in 0..MAX_WAITING {
        let tool = ["greet", "look", "charge"][n % 3];
        assert_eq!(client.send_message(tool), Acknowledgement::Accepted);
    }
    assert_eq!(client.send_message("greet"), Acknowledgement::Refused);
    shared.address.set(None);
    assert!(process.terminate().success());
    let _process = start(launcher, &shared);
    let journal = client.settle();
    assert_eq!(journal.turns.len(), 1 + MAX_WAITING);
    history::check(&client, &journal, &history::read_effects(&launcher.effects));
}

/// Checks events of a turn with one call: the kinds of them, after a snapshot.
fn check_events_of_one_turn(kinds: &[&str]) {
    let result = json!({ "callId": "look-1", "outcome": "ok" });
    let text = json!([{ "text": "look 1" }]);
    let entries = [
        json!({ "id": "1", "what": { "user": { "content": text } } }),
        json!({ "id": "2", "what": { "finished": { "result": result } } }),
        json!({ "id": "3", "what": { "step": { "step": { "text": "Done." } } } }),
        json!({ "id": "4", "what": { "ended": { "end": { "end": "answered" } } } }),
    ];
    let lines = entries.iter().map(|entry| format!("\n{entry}"));
    let journal = Journal::parse(&lines.collect::<String>());
    let events = ["snapshot"].iter().chain(kinds).zip(1..).map(|(kind, seq)| {
        let event = match *kind {
            "snapshot" => json!({ "type": kind, "entries": [] }),
            "said" => json!({ "type": kind, "content": text }),
            "result" => json!({ "type": kind, "result": result }),
            _ => json!({ "type": kind, "end": "answered", "content": [{ "text": "Done." }] }),
        };
        json!({ "seq": seq, "event": event })
    });
    history::check_events(&events.collect::<Vec<Value>>(), &journal);
}

#[test]
fn events_that_deliver_each_result_once_pass() {
    check_events_of_one_turn(&["said", "result", "ended"]);
    // A client that reconnected: the events of the turn follow the snapshot again, or not all of them.
    check_events_of_one_turn(&["said", "result", "snapshot", "said", "result", "ended"]);
    check_events_of_one_turn(&["said", "snapshot", "ended"]);
}

#[test]
#[should_panic = "the result of look-1 is delivered twice"]
fn a_result_that_is_delivered_twice_is_found() {
    check_events_of_one_turn(&["said", "result", "result", "ended"]);
}

#[test]
#[should_panic = "the result of look-1 is not delivered"]
fn a_result_that_is_not_delivered_is_found() {
    check_events_of_one_turn(&["said", "ended"]);
}
