//! Events per second from node to node over each bus, and the CPU time that one event costs.
//!
//! `cargo bench -p toolwright-bench --bench bus -- 0.2` takes rounds of 0.2 seconds instead of 1.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a benchmark stops at the first surprise"
)]

use std::sync::Arc;
use std::time::Duration;

use test_support::servers::nats::NatsServer;
use test_support::servers::postgres::{NO_FSYNC, PostgresServer};
use tokio::runtime::{Builder, Runtime};
use toolwright_bench::Table;
use toolwright_bus::{Bus, InProcessBus};

mod events;
use events::{Cluster, RoundResult};

/// The rows take turns for so many rounds; the best round of each counts.
const ROUNDS: usize = 5;

fn main() {
    let seconds = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(1.0);
    let round = Duration::from_secs_f64(seconds);
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let Some(postgres) = PostgresServer::start(NO_FSYNC) else { return };
    let Some(nats) = NatsServer::start("") else { return };
    let url = postgres.url_at(postgres.port, "postgres");
    let in_process = InProcessBus::new();
    let clusters = [
        Cluster::new("in one process", None, [(); 3].map(|()| Arc::new(in_process.node()) as _)),
        Cluster::new("NATS", Some(nats.supervisor.process_id()), open_nodes(&runtime, &nats.url())),
        Cluster::new(
            "PostgreSQL",
            Some(postgres.supervisor.process_id()),
            open_nodes(&runtime, &url),
        ),
    ];
    println!("an event has {} bytes; three nodes, of which one subscribes", events::EVENT_BYTES);
    for (title, publishers, window) in [
        ("one node publishes, 1,000 events on their way", 1, 1_000),
        ("two nodes publish, 1,000 events on their way from each", 2, 1_000),
        ("one node publishes, the next event when one has arrived", 1, 1),
    ] {
        let mut best: [Option<RoundResult>; 3] = [const { None }; 3];
        for _ in 0..ROUNDS {
            for (cluster, best) in clusters.iter().zip(&mut best) {
                let result = runtime.block_on(cluster.run_round(publishers, window, round));
                if best.as_ref().is_none_or(|best| result.time_per_event < best.time_per_event) {
                    *best = Some(result);
                }
            }
        }
        let best = best.map(Option::unwrap);
        print_table(title, &clusters, &best, "time", |result| result.time_per_event);
        print_table(title, &clusters, &best, "CPU time", |result| result.cpu_per_event());
        if publishers == 1 && window > 1 {
            // The first is a figure of `scale`; the second is that of a `postgres://` bus.
            for (name, result) in ["nats", "postgres"].iter().zip(&best[1..]) {
                let micros = result.server_cpu.as_secs_f64() * 1e6;
                println!("{name}_us_per_message={micros:.1}");
            }
        }
    }
}

/// Connects three nodes.
fn open_nodes(runtime: &Runtime, url: &str) -> [Arc<dyn Bus>; 3] {
    [(); 3].map(|()| {
        let bus = runtime.block_on(toolwright_bus::open(url)).unwrap();
        assert!(bus.status().is_connected(), "{:?}", bus.status());
        bus
    })
}

fn print_table(
    title: &str,
    clusters: &[Cluster],
    results: &[RoundResult],
    what: &str,
    value: impl Fn(&RoundResult) -> Duration,
) {
    let table = Table::new(format!("{title}: {what} per event"));
    let rows = clusters.iter().zip(results);
    let table = rows.fold(table, |table, (cluster, result)| {
        table.row(cluster.name, value(result).as_nanos() as f64)
    });
    let remarks = results.iter().map(|result| match what {
        "time" => format!("{:.0} events per second", 1.0 / result.time_per_event.as_secs_f64()),
        _ => format!("{:?} in the nodes, {:?} in the server", result.node_cpu, result.server_cpu),
    });
    println!("\n{}", table.remarks(remarks));
}
