//! Conversations go on while nodes, the database, the bus and their connections fail; afterwards all is there, once.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use test_support::api_client::client::{Client, Shared};
use test_support::api_client::history::{self, CheckTotals};
use test_support::api_client::journal::Journal;
use test_support::cluster::LinkFault;
use test_support::cluster::{BusKind, Cluster, ClusterSettings};
use test_support::http;
use toolwright::testing::SeededRng;

use super::faults::{Fault, FaultDriver};
use super::setting;
use super::subscriber::{Subscriber, SubscriberKind, SubscriberTotals};
use super::view::View;

/// How long clients and nodes may take until all of them show the same.
const AGREEMENT_TIMEOUT: Duration = Duration::from_secs(120);

#[test]
fn faults_lose_and_repeat_nothing() {
    // Without a time, every fault occurs once.
    let is_ci = std::env::var_os("CI").is_some();
    let (conversations, seconds) = if is_ci { (60, 60) } else { (40, 0) };
    let conversations = setting("TEST_CLUSTER_CONVERSATIONS", conversations) as usize;
    let duration = Duration::from_secs(setting("TEST_CLUSTER_SECONDS", seconds));
    let seed = setting("TEST_CLUSTER_SEED", 7);
    if let Some(cluster) = Cluster::start(ClusterSettings::default()) {
        check_conversations(cluster, conversations, seed, |cluster, seed| {
            let mut driver = FaultDriver::new(seed);
            driver.run(cluster, duration);
            driver.report()
        });
    }
}

#[test]
fn faults_lose_and_repeat_nothing_with_postgresql_as_the_bus() {
    let settings = ClusterSettings { bus: BusKind::Postgres, ..ClusterSettings::default() };
    let seed = setting("TEST_CLUSTER_SEED", 7);
    if let Some(cluster) = Cluster::start(settings) {
        check_conversations(cluster, 20, seed, |cluster, seed| {
            let mut driver = FaultDriver::new(seed);
            let (cut, silence) = (LinkFault::Cut, LinkFault::Silence);
            let of_store = [Fault::StoreCrash, Fault::StoreLink(cut), Fault::StoreLink(silence)];
            driver.cause_each(cluster, &[Fault::Kill, Fault::Drain]);
            driver.cause_each(cluster, &of_store);
            driver.report()
        });
    }
}

/// Lets conversations go on while `disturb` runs, which returns a description of what it has done; then checks that nothing is
/// lost or repeated.
pub(crate) fn check_conversations(
    mut cluster: Cluster,
    conversations: usize,
    seed: u64,
    disturb: impl FnOnce(&mut Cluster, u64) -> String,
) {
    let mut rng = SeededRng::new(seed);
    let shared = Arc::new(Shared {
        is_balanced: true,
        // Else most requests are those of clients that wait.
        poll_interval: Duration::from_millis(2 * conversations as u64),
        tools: &["greet", "look", "charge", "charge", "slow", "hang"],
        ..Shared::of_one_server()
    });
    shared.address.set(Some(cluster.address()));
    let (faults_end, reading_ends) = <(Arc<AtomicBool>, Arc<AtomicBool>)>::default();
    let (mut clients, mut subscribers) = (Vec::new(), Vec::new());
    for n in 0..conversations {
        let name = format!("c{n}");
        let kind = SubscriberKind::ALL[n % SubscriberKind::ALL.len()];
        let random = SeededRng::new(rng.next_u64());
        let address = cluster.address();
        subscribers.push(Subscriber::start(kind, address, &name, random, &reading_ends));
        let mut choices = SeededRng::new(rng.next_u64());
        let client = Client::new(&shared, name, move |end| choices.below(end), None);
        let is_over = Arc::clone(&faults_end);
        clients.push(thread::spawn(move || client.run(|| is_over.load(Ordering::Relaxed))));
    }
    let began = Instant::now();
    let faults = disturb(&mut cluster, rng.next_u64());
    let disturbed = began.elapsed();
    faults_end.store(true, Ordering::Relaxed);
    cluster.wait_until_ready();
    let (mut totals, mut entries) = (CheckTotals::default(), 0);
    let mut agreed = Vec::new();
    for (client, subscriber) in clients.into_iter().zip(&subscribers) {
        let mut client = client.join().unwrap();
        let journal = wait_until_agreed(&cluster, &mut client, subscriber);
        entries += journal.entries.len();
        agreed.push((client, journal));
    }
    reading_ends.store(true, Ordering::Relaxed);
    // All turns have ended.
    let effects = history::read_effects(&cluster.effects());
    for (client, journal) in &agreed {
        totals += history::check(client, journal, &effects);
    }
    let read = subscribers.into_iter().map(Subscriber::join);
    let read = read.fold(SubscriberTotals::default(), |sum, it| SubscriberTotals {
        connections: sum.connections + it.connections,
        snapshots: sum.snapshots + it.snapshots,
        events: sum.events + it.events,
        takeovers: sum.takeovers + it.takeovers,
    });
    let report = format!(
        "{conversations} conversations, {:.0} s of faults, seed {seed}: {}\n{totals}  {entries} entries, the same at every \
         node; {} connections of subscribers, {} events, {} snapshots, {} takeovers seen in a turn\n",
        disturbed.as_secs_f64(),
        faults,
        read.connections,
        read.events,
        read.snapshots,
        read.takeovers
    );
    // Written directly, because the test harness captures `eprint!`.
    std::io::stderr().write_all(report.as_bytes()).unwrap();
}

/// Waits until a conversation has settled, and every node and its subscriber show its journal.
fn wait_until_agreed(cluster: &Cluster, client: &mut Client, subscriber: &Subscriber) -> Journal {
    let began = Instant::now();
    loop {
        let journal = client.settle();
        let expected = View::from_entries(&journal.entries);
        let difference = cluster
            .nodes
            .iter()
            .find_map(|node| difference_at(node.address, &client.name, &journal, &expected))
            .or_else(|| subscriber.difference(&expected));
        let Some(difference) = difference else {
            return journal;
        };
        let kind = subscriber.kind;
        let name = &client.name;
        assert!(began.elapsed() < AGREEMENT_TIMEOUT, "{name}, {kind:?}: {difference}");
        thread::park_timeout(Duration::from_millis(50));
    }
}

/// How a node's journal or snapshot differs; `None` if it does not.
fn difference_at(
    node: std::net::SocketAddr,
    conversation: &str,
    journal: &Journal,
    expected: &View,
) -> Option<String> {
    let path = format!("/api/conversations/{conversation}");
    let read = |path: &str| http::send(node, "GET", path, "").ok().filter(|it| it.status == 200);
    let Some(exported) = read(&format!("{path}/export")).and_then(|it| it.body) else {
        return Some(format!("{node} exports nothing"));
    };
    if Journal::parse(&exported).entries != journal.entries {
        return Some(format!("{node} exports other entries: {exported}"));
    }
    let Some(snapshot) = read(&path).and_then(|it| it.json()) else {
        return Some(format!("{node} has no snapshot"));
    };
    if snapshot["running"] == true || snapshot.get("queued").is_some() {
        return Some(format!("{node} shows a running turn: {snapshot}"));
    }
    View::from_snapshot(&snapshot).difference(expected)
}
