//! What may be used once is used once, also if two nodes are asked for it at the same time.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::HANG_TIMEOUT;
use test_support::api_client::history;
use test_support::api_client::journal::Journal;
use test_support::cluster::{Cluster, ClusterSettings};
use test_support::http::{self, Response};

use super::setting;

/// Races that run at the same time.
const PARALLEL_RACES: usize = 4;

/// The messages that may wait in a conversation.
const MAX_WAITING: usize = 16;

/// A cluster whose requests name their user.
struct Arena {
    cluster: Cluster,
    races: usize,
}

impl Arena {
    fn start() -> Option<Self> {
        let variables = vec![("CLUSTER_USERS", "1".to_owned())];
        let cluster = Cluster::start(ClusterSettings { variables, ..ClusterSettings::default() })?;
        Some(Self { cluster, races: setting("TEST_CLUSTER_RACES", 50) as usize })
    }

    /// Two different nodes, for the nth race.
    fn pair(&self, n: usize) -> [SocketAddr; 2] {
        let nodes = &self.cluster.nodes;
        let first = n % nodes.len();
        let second = (first + 1 + n / nodes.len() % (nodes.len() - 1)) % nodes.len();
        [nodes[first].address, nodes[second].address]
    }

    /// Runs all races, some at the same time.
    fn run(&self, race: impl Fn(usize) + Sync) {
        thread::scope(|scope| {
            for first in 0..PARALLEL_RACES {
                let race = &race;
                scope.spawn(move || (first..self.races).step_by(PARALLEL_RACES).for_each(race));
            }
        });
    }
}

fn send(node: SocketAddr, method: &str, path: &str, body: &Value, user: &str) -> Response {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let user = format!("x-user: {user}\r\n");
    http::send_with_headers(node, method, path, &user, &body).unwrap()
}

/// Sends two requests to two nodes at the same moment.
fn race(nodes: [SocketAddr; 2], path: &str, bodies: [&Value; 2], user: &str) -> [Response; 2] {
    let barrier = Barrier::new(2);
    thread::scope(|scope| {
        let requests = [0, 1].map(|n| {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                send(nodes[n], "POST", path, bodies[n], user)
            })
        });
        requests.map(|request| request.join().unwrap())
    })
}

/// Reads a journal until it is as expected.
fn wait_for_journal(
    node: SocketAddr,
    path: &str,
    user: &str,
    is_expected: impl Fn(&Journal) -> bool,
) -> Journal {
    let began = Instant::now();
    loop {
        let response = send(node, "GET", &format!("{path}/export"), &Value::Null, user);
        let journal = Journal::parse(response.body.as_deref().unwrap_or_default());
        if response.status == 200 && is_expected(&journal) {
            return journal;
        }
        assert!(began.elapsed() < HANG_TIMEOUT, "{path}: {:#?}", journal.entries);
        thread::park_timeout(Duration::from_millis(20));
    }
}

fn has_ended(journal: &Journal) -> bool {
    !journal.turns.is_empty() && journal.turns.iter().all(|turn| turn.end().is_some())
}

/// Waits until no message waits any more, and all turns have ended.
fn wait_until_answered(node: SocketAddr, path: &str, user: &str) -> Journal {
    let began = Instant::now();
    loop {
        let snapshot = send(node, "GET", path, &Value::Null, user).json().unwrap();
        if snapshot.get("queued").is_none() {
            return wait_for_journal(node, path, user, has_ended);
        }
        assert!(began.elapsed() < HANG_TIMEOUT, "{path}: {snapshot:#}");
        thread::park_timeout(Duration::from_millis(20));
    }
}

/// The index of the one request that was accepted; the other one has to have this status.
fn winner(responses: &[Response; 2], refused: u16) -> usize {
    let statuses = [responses[0].status, responses[1].status];
    match statuses {
        [202, other] if other == refused => 0,
        [other, 202] if other == refused => 1,
        _ => panic!("{statuses:?}: {:?} {:?}", responses[0].body, responses[1].body),
    }
}

#[test]
fn an_approval_is_used_once() {
    let Some(arena) = Arena::start() else {
        return;
    };
    arena.run(|n| {
        let (path, user, nodes) = (format!("/api/conversations/a{n}"), "ann", arena.pair(n));
        let message = json!({ "text": format!("refund a{n}.1") });
        let sent = send(nodes[0], "POST", &format!("{path}/prompt"), &message, user);
        assert_eq!(sent.status, 202, "{:?}", sent.body);
        let is_asked = |journal: &Journal| {
            journal.open_turn().is_some_and(|turn| turn.entries_of("asked").next().is_some())
        };
        let journal = wait_for_journal(nodes[1], &path, user, is_asked);
        let asked = journal.turns[0].entries_of("asked").next().unwrap().clone();
        let decide =
            |verdict| json!({ "call": asked["call"], "token": asked["token"], "verdict": verdict });
        let verdicts = [["approve", "approve"], ["approve", "deny"], ["deny", "approve"]][n % 3];
        let decisions = verdicts.map(decide);
        let responses = race(nodes, &format!("{path}/decide"), decisions.each_ref(), user);
        let statuses = [responses[0].status, responses[1].status];
        let won = match verdicts[0] == verdicts[1] {
            // Sent again, it is the same decision: whoever sends it may learn that it was accepted.
            true if statuses == [202, 202] => 0,
            _ => winner(&responses, 409),
        };
        let journal = wait_for_journal(nodes[0], &path, user, has_ended);
        let decided: Vec<&Value> = journal.turns[0].entries_of("decided").collect();
        assert_eq!(decided.len(), 1, "{:#?}", journal.entries);
        assert_eq!(decided[0]["verdict"]["verdict"], verdicts[won]);
        let effects = history::read_effects(&arena.cluster.effects());
        let done = effects.get(&format!("refund a{n}.1")).copied().unwrap_or_default();
        assert_eq!(done, usize::from(verdicts[won] == "approve"));
    });
}

#[test]
fn the_last_place_in_a_queue_is_taken_once() {
    let Some(arena) = Arena::start() else {
        return;
    };
    let (path, user) = ("/api/conversations/q", "quentin");
    let prompt = format!("{path}/prompt");
    let node = arena.cluster.nodes[0].address;
    let hang = json!({ "text": "hang q.0" });
    assert_eq!(send(node, "POST", &prompt, &hang, user).status, 202);
    wait_for_journal(node, path, user, |journal| journal.open_turn().is_some());
    for n in 1..MAX_WAITING {
        let message = json!({ "text": format!("greet q.{n}") });
        assert_eq!(send(node, "POST", &prompt, &message, user).status, 202);
    }
    for n in 0..arena.races {
        let message = json!({ "text": format!("greet q.race{n}") });
        let responses = race(arena.pair(n), &prompt, [&message, &message], user);
        let won = winner(&responses, 429);
        let position = &responses[won].json().unwrap()["position"];
        let place = format!("{path}/queue/{position}");
        let withdrawn = send(arena.pair(n + 1)[0], "DELETE", &place, &Value::Null, user);
        assert_eq!(withdrawn.status, 204, "{:?}", withdrawn.body);
    }
}

#[test]
fn the_last_call_of_a_rate_limit_is_made_once() {
    let Some(arena) = Arena::start() else {
        return;
    };
    arena.run(|n| {
        let user = format!("user{n}");
        let call = json!({ "arguments": { "order": user } });
        let responses = race(arena.pair(n), "/api/tools/take_last", [&call, &call], &user);
        let mut outcomes = responses.map(|response| {
            assert_eq!(response.status, 200, "{:?}", response.body);
            response.json().unwrap()["outcome"].as_str().unwrap().to_owned()
        });
        outcomes.sort();
        assert_eq!(outcomes, ["denied", "ok"]);
    });
    let effects: BTreeMap<String, usize> = history::read_effects(&arena.cluster.effects());
    assert_eq!(effects.len(), arena.races);
    assert!(effects.values().all(|count| *count == 1), "{effects:?}");
}

#[test]
fn the_last_turn_of_a_budget_is_run_once() {
    let Some(arena) = Arena::start() else {
        return;
    };
    arena.run(|n| {
        let (path, user, nodes) = (format!("/budget/b{n}"), "bob", arena.pair(n));
        let messages = ["greet 1", "greet 2"].map(|text| json!({ "text": text }));
        let responses = race(nodes, &format!("{path}/prompt"), messages.each_ref(), user);
        assert_eq!([responses[0].status, responses[1].status], [202, 202]);
        wait_until_answered(nodes[0], &path, user);
        // A node that has run no turn of this conversation knows what it has cost, too.
        let others = arena.cluster.nodes.iter().map(|node| node.address);
        let third = others.into_iter().find(|node| !nodes.contains(node)).unwrap();
        let message = json!({ "text": "greet 3" });
        assert_eq!(send(third, "POST", &format!("{path}/prompt"), &message, user).status, 202);
        let has_all = |journal: &Journal| journal.turns.len() == 3 && has_ended(journal);
        let journal = wait_for_journal(third, &path, user, has_all);
        // Messages that are rejected have no step of the model.
        let mut answered = journal.turns.iter().filter(|turn| !turn.answer().is_empty());
        assert!(answered.next().is_some_and(|turn| turn.answer().contains("is answered")));
        assert!(answered.next().is_none(), "{:#?}", journal.entries);
    });
}
