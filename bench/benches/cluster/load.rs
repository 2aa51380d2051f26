//! Conversations that send a message as soon as the one before is answered, and read the answer at another node.

use std::ops::AddAssign;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use test_support::cluster::Cluster;
use test_support::http::{self, EventStream};

use crate::totals::Totals;

/// The conversations at once.
const CONVERSATIONS: usize = 24;

/// What the turns do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Load {
    /// They stream an answer.
    Streams,
    /// They call a tool, then stream an answer.
    Calls,
}

/// What was measured in a round.
#[derive(Clone, Copy, Default)]
pub(crate) struct LoadResult {
    pub(crate) seconds: f64,
    pub(crate) turns: u64,
    /// The events that clients have received.
    pub(crate) events: u64,
    /// What the nodes, the database and NATS have spent.
    pub(crate) spent: Totals,
}

impl LoadResult {
    /// The CPU time of everything but the clients.
    pub(crate) fn cpu_per_turn(&self) -> Duration {
        let cpu = self.spent.node_cpu + self.spent.store_cpu + self.spent.nats_cpu;
        cpu / u32::try_from(self.turns.max(1)).unwrap()
    }
}

impl AddAssign for LoadResult {
    fn add_assign(&mut self, other: Self) {
        self.seconds += other.seconds;
        self.turns += other.turns;
        self.events += other.events;
        self.spent += other.spent;
    }
}

/// One round of turns.
struct Round<'a> {
    cluster: &'a Cluster,
    load: Load,
    /// The words of each answer, beside those that every answer has.
    more_words: usize,
    /// No other round has it, so that all begin with new conversations.
    number: usize,
    is_over: AtomicBool,
    turns: AtomicU64,
    events: AtomicU64,
}

impl Load {
    /// Runs turns for a while.
    pub(crate) fn run(
        self,
        cluster: &Cluster,
        more_words: usize,
        duration: Duration,
    ) -> LoadResult {
        static ROUNDS: AtomicUsize = AtomicUsize::new(0);
        let round = Round {
            cluster,
            load: self,
            more_words,
            number: ROUNDS.fetch_add(1, Ordering::Relaxed),
            is_over: AtomicBool::new(false),
            turns: AtomicU64::new(0),
            events: AtomicU64::new(0),
        };
        let before = Totals::read(cluster);
        let began = Instant::now();
        thread::scope(|scope| {
            for n in 0..CONVERSATIONS {
                let round = &round;
                scope.spawn(move || round.converse(n));
            }
            while let Some(rest) = duration.checked_sub(began.elapsed()) {
                thread::park_timeout(rest);
            }
            round.is_over.store(true, Ordering::Relaxed);
        });
        let seconds = began.elapsed().as_secs_f64();
        LoadResult {
            seconds,
            turns: round.turns.into_inner(),
            events: round.events.into_inner(),
            spent: Totals::read(cluster).since(&before),
        }
    }
}

impl Round<'_> {
    fn converse(&self, n: usize) {
        // All pairs of nodes are equally frequent: most events go over the bus.
        let nodes = &self.cluster.nodes;
        let count = nodes.len();
        let (reads, writes) = (nodes[n % count].address, nodes[n / count % count].address);
        let path = format!("/api/conversations/c{}-{n}", self.number);
        let mut stream = EventStream::open(reads, &format!("{path}/events"), None).unwrap();
        let tool = match self.load {
            Load::Streams => "greet",
            Load::Calls => "look",
        };
        for turn in 0.. {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            let text = format!("{tool} c{n}.{turn}.w{}", self.more_words);
            let message = json!({ "text": text }).to_string();
            let accepted = http::send(writes, "POST", &format!("{path}/prompt"), &message).unwrap();
            assert_eq!(accepted.status, 202, "{:?}", accepted.body);
            loop {
                let event = stream.next_event().unwrap().expect("the node does not end");
                self.events.fetch_add(1, Ordering::Relaxed);
                let kind = &event["event"]["type"];
                assert_ne!(kind, "error", "{event}");
                if kind == "ended"
                    || kind == "snapshot" && event["event"]["running"] == false && turn > 0
                {
                    break;
                }
            }
            self.turns.fetch_add(1, Ordering::Relaxed);
        }
    }
}
