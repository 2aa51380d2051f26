//! The cost of appending an entry, of loading a conversation, of a turn in a long one, and of opening a branch.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a benchmark stops at the first surprise"
)]

use std::sync::Arc;

use test_support::servers::postgres::PostgresServer;
use tokio::runtime::{Builder, Runtime};
use toolwright::chat::{MemoryStore, Store};
use toolwright_bench::Table;

mod comparisons;
mod plain_sqlx;
mod sample_conversation;

use plain_sqlx::PlainSqlx;

fn main() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| format!("sqlite:{}", directory.path().join(name).display());
    println!("an entry has {} bytes", sample_conversation::user_text(0).len());

    let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
    print_tables(&runtime, "memory", None, &memory);

    let sqlite = runtime.block_on(toolwright_store::open(&file("store.db")));
    let floor = runtime.block_on(PlainSqlx::sqlite(&file("floor.db")));
    print_tables(&runtime, "SQLite", Some(floor), &sqlite.unwrap());

    // The durable default, not the settings of the tests.
    let Some(server) = PostgresServer::start(&[]) else {
        return;
    };
    let url = runtime.block_on(server.create_database());
    let postgres = runtime.block_on(toolwright_store::open(&url));
    let floor = runtime.block_on(PlainSqlx::postgres(&url));
    print_tables(&runtime, "PostgreSQL", Some(floor), &postgres.unwrap());
}

fn print_tables(runtime: &Runtime, name: &str, floor: Option<PlainSqlx>, store: &Arc<dyn Store>) {
    let floor = floor.as_ref();
    println!("\n{}", with_rate(comparisons::compare_append(runtime, name, floor, store)));
    println!("{}", comparisons::compare_load(runtime, name, floor, store));
    println!("{}", comparisons::compare_by_length(runtime, name, store));
    println!("{}", comparisons::compare_calls(runtime, name, store));
    println!("{}", comparisons::compare_inbox(runtime, name, store));
    let (windows, paths) = comparisons::compare_branch(runtime, name, store);
    println!("{windows}\n{paths}");
}

fn with_rate(table: Table) -> Table {
    let remarks: Vec<String> =
        table.times().map(|ns| format!("{:.0} per second", 1e9 / ns)).collect();
    table.remarks(remarks)
}
