//! Journals: what an entry costs, what a conversation costs to read, and whether a long one costs more.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a benchmark stops at the first surprise"
)]

use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};
use toolwright::chat::{MemoryStore, Store};
use toolwright_bench::Table;

mod floor;
mod race;
mod room;
#[path = "../../../crates/memory/tests/main/server.rs"]
#[allow(dead_code, reason = "the tests need more of it")]
mod server;

use floor::Floor;

fn main() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| format!("sqlite:{}", directory.path().join(name).display());
    println!("an entry has {} bytes", room::text(0).len());

    let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
    print(&runtime, "memory", None, &memory);

    let sqlite = runtime.block_on(toolwright_memory::open(&file("store.db")));
    let floor = runtime.block_on(Floor::sqlite(&file("floor.db")));
    print(&runtime, "SQLite", Some(floor), &sqlite.unwrap());

    // Durable, as everybody has it: not with the settings of the tests.
    let Some(server) = server::Server::start(&[]) else {
        return;
    };
    let url = runtime.block_on(server.create_database());
    let postgres = runtime.block_on(toolwright_memory::open(&url));
    let floor = runtime.block_on(Floor::postgres(&url));
    print(&runtime, "PostgreSQL", Some(floor), &postgres.unwrap());
}

fn print(runtime: &Runtime, name: &str, floor: Option<Floor>, store: &Arc<dyn Store>) {
    let floor = floor.as_ref();
    println!(
        "\n{}",
        per_second(race::append(runtime, name, floor, store))
    );
    println!("{}", race::load(runtime, name, floor, store));
    println!("{}", race::grow(runtime, name, store));
}

fn per_second(table: Table) -> Table {
    let remarks: Vec<String> = table
        .times()
        .map(|ns| format!("{:.0} per second", 1e9 / ns))
        .collect();
    table.remarks(remarks)
}
