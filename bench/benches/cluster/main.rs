//! Turns per second of one, two and three nodes, and the CPU time that a turn and an event cost nodes, bus and database.
//!
//! `cargo build --release --example test_programs && cargo bench -p toolwright-bench --bench cluster -- 5` takes rounds of 5
//! seconds. All nodes share the cores of this machine, so that CPU times count, and not how many turns there are in a second.
//!
//! `-- figures 5` prints only the figures that `scale` takes, as `NAME=VALUE`.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a benchmark stops at the first surprise"
)]

use std::time::Duration;

use test_support::cluster::{BusKind, Cluster, ClusterSettings, Program};
use toolwright_bench::Table;

mod figures;
mod load;
mod totals;

use load::{Load, LoadResult};

/// The rows take turns for so many rounds; the round with the least CPU time per turn counts.
const ROUNDS: usize = 3;

/// The nodes and their bus.
const ROWS: [(&str, usize, BusKind); 6] = [
    ("one node, no bus", 1, BusKind::None),
    ("one node, NATS", 1, BusKind::Nats),
    ("two nodes, NATS", 2, BusKind::Nats),
    ("three nodes, NATS", 3, BusKind::Nats),
    ("two nodes, PostgreSQL", 2, BusKind::Postgres),
    ("three nodes, PostgreSQL", 3, BusKind::Postgres),
];

fn main() {
    let seconds = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(5.0);
    let duration = Duration::from_secs_f64(seconds);
    if !std::env::args().any(|argument| argument == "figures") {
        compare(duration);
    }
    figures::print(duration);
}

/// The variables of nodes whose answers have no pauses.
fn unpaced() -> Vec<(&'static str, String)> {
    vec![("CLUSTER_PIECE_MILLIS", "0".to_owned())]
}

/// Compares numbers of nodes and buses.
fn compare(duration: Duration) {
    for load in [Load::Streams, Load::Calls] {
        let mut best: [Option<LoadResult>; ROWS.len()] = [const { None }; ROWS.len()];
        for round in 1..=ROUNDS {
            for ((name, nodes, bus), best) in ROWS.iter().zip(&mut best) {
                let settings = ClusterSettings {
                    nodes: *nodes,
                    program: Program::Test,
                    bus: *bus,
                    // A proxy would take a share of the same cores.
                    direct: true,
                    variables: unpaced(),
                };
                let Some(cluster) = Cluster::start(settings) else { return };
                let result = load.run(&cluster, 0, duration);
                let turns = result.turns;
                eprintln!("{load:?}, round {round} of {ROUNDS}, {name}: {turns} turns");
                if best.as_ref().is_none_or(|best| result.cpu_per_turn() < best.cpu_per_turn()) {
                    *best = Some(result);
                }
            }
        }
        print_tables(load, best.map(|result| result.expect("a round was run")));
    }
}

fn print_tables(load: Load, results: [LoadResult; ROWS.len()]) {
    let rows = || ROWS.iter().map(|(name, ..)| *name).zip(&results);
    let per_turn = rows()
        .fold(Table::new(format!("{load:?}: time per turn")), |table, (name, it)| {
            table.row(name, it.seconds * 1e9 / it.turns as f64)
        });
    let remarks = rows().map(|(_, it)| {
        format!(
            "{:.0} turns/s, {:.0} events/s",
            it.turns as f64 / it.seconds,
            it.events as f64 / it.seconds
        )
    });
    println!("{}", per_turn.remarks(remarks));
    let cpu = rows()
        .fold(Table::new(format!("{load:?}: CPU time per turn")), |table, (name, it)| {
            table.row(name, it.cpu_per_turn().as_nanos() as f64)
        });
    let remarks = rows().map(|(_, it)| {
        let micros = |cpu: Duration, of: u64| cpu.as_secs_f64() * 1e6 / of as f64;
        format!(
            "nodes {:.0} µs, database {:.0} µs, NATS {:.0} µs; {:.1} events per turn, {:.1} µs of nodes each",
            micros(it.spent.node_cpu, it.turns),
            micros(it.spent.store_cpu, it.turns),
            micros(it.spent.nats_cpu, it.turns),
            it.events as f64 / it.turns as f64,
            micros(it.spent.node_cpu, it.events)
        )
    });
    println!("{}", cpu.remarks(remarks));
}
