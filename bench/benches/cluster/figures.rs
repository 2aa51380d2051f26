//! The figures that `scale` takes, measured: three nodes with NATS, whose turns call a tool and stream short and long answers.

use std::time::Duration;

use test_support::cluster::{Cluster, ClusterSettings};

use crate::load::{Load, LoadResult};
use crate::totals::Totals;

/// Rounds with short and with long answers take turns, so many of each.
const ROUNDS: usize = 3;

/// The words of a long answer, more than a short one has: about as many events as `docs/scale.md` assumes.
const MORE_WORDS: usize = 180;

/// Prints `NAME=VALUE` lines to standard output, and what they come from to standard error.
pub(crate) fn print(duration: Duration) {
    let settings = ClusterSettings { direct: true, ..ClusterSettings::default() };
    let settings = ClusterSettings { variables: crate::unpaced(), ..settings };
    let Some(cluster) = Cluster::start(settings) else { return };
    // Connections are opened, statements prepared, pages read.
    Load::Calls.run(&cluster, MORE_WORDS, duration / 2);
    let before = Totals::read_settled(&cluster);
    let (mut short, mut long) = (LoadResult::default(), LoadResult::default());
    for _ in 0..ROUNDS {
        short += Load::Calls.run(&cluster, 0, duration);
        long += Load::Calls.run(&cluster, MORE_WORDS, duration);
    }
    let all = Totals::read_settled(&cluster).since(&before);
    for (name, value) in figures(&short, &long) {
        println!("{name}={value}");
    }
    for (name, it) in [("short", &short), ("long", &long)] {
        let turns = it.turns as f64;
        eprintln!(
            "{name} answers: {turns} turns with {:.1} events; nodes {:.0} µs per turn, database {:.0} µs, {:.1} commits and \
             {:.1} KiB of the journal, NATS {:.0} µs",
            it.events as f64 / turns,
            micros(it.spent.node_cpu) / turns,
            micros(it.spent.store_cpu) / turns,
            it.spent.writes as f64 / turns,
            it.spent.journal_bytes as f64 / 1024.0 / turns,
            micros(it.spent.nats_cpu) / turns
        );
    }
    let turns = (short.turns + long.turns) as f64;
    eprintln!(
        "all answers: {:.1} transactions per turn with those that only read (xact_commit), {:.1} KiB of the database \
         (pg_database_size), {:.1} messages to NATS and {:.1} from it",
        all.transactions as f64 / turns,
        all.database_bytes as f64 / 1024.0 / turns,
        all.nats_received as f64 / turns,
        all.nats_sent as f64 / turns
    );
}

/// The figures, by the names that `scale` has for them.
fn figures(short: &LoadResult, long: &LoadResult) -> [(&'static str, String); 7] {
    let turns = long.turns as f64;
    let per_turn = |it: &LoadResult, value: f64| value / it.turns as f64;
    let events = [short, long].map(|it| per_turn(it, it.events as f64));
    let node = [short, long].map(|it| per_turn(it, micros(it.spent.node_cpu)));
    // Two lengths of answer give two equations: the cost of a turn, and of each event.
    let node_per_event = (node[1] - node[0]) / (events[1] - events[0]);
    let node_per_turn = node[0] - node_per_event * events[0];
    let nats_cpu = micros(short.spent.nats_cpu + long.spent.nats_cpu);
    let received = (short.spent.nats_received + long.spent.nats_received) as f64;
    let received_bytes = (short.spent.nats_received_bytes + long.spent.nats_received_bytes) as f64;
    let sent = (short.spent.nats_sent + long.spent.nats_sent) as f64;
    [
        ("node_us_per_turn", format!("{node_per_turn:.0}")),
        ("node_us_per_event", format!("{node_per_event:.1}")),
        ("db_us_per_turn", format!("{:.0}", micros(long.spent.store_cpu) / turns)),
        ("db_commits_per_turn", format!("{:.1}", long.spent.writes as f64 / turns)),
        ("db_kib_per_turn", format!("{:.1}", long.spent.journal_bytes as f64 / 1024.0 / turns)),
        ("nats_us_per_message", format!("{:.1}", nats_cpu / sent)),
        ("event_bytes", format!("{:.0}", received_bytes / received)),
    ]
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
