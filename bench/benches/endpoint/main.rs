//! Load tests of the endpoint: one scripted answer, streamed to many clients at once.
//!
//! The arguments after `--` select `race` (the default), `load`, `soak` or `start`, `program` for `toolwright serve` itself in `load` and `soak`,
//! and `short` for less of it. Every server
//! is a process of its own; those in Rust are this program, started with `serve`.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark stops at the first surprise"
)]

mod client;
mod comparison;
mod load;
mod process;
mod provider;
mod requests;
mod scripted_model;
mod serve;
mod servers;
mod soak;
mod startup;

use tokio::runtime::Builder;

fn main() {
    // `cargo bench` adds `--bench`.
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let words: Vec<&str> = words.into_iter().filter(|it| *it != "--bench").collect();
    if let ["serve", name, pace] = words[..] {
        let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
        return runtime.block_on(serve::serve_named(name, pace.parse().unwrap()));
    }
    let (short, program) = (words.contains(&"short"), words.contains(&"program"));
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    match words.iter().find(|it| !["short", "program"].contains(it)) {
        None | Some(&"race") => runtime.block_on(comparison::run(short)),
        Some(&"load") => runtime.block_on(load::run(short, program)),
        Some(&"soak") => runtime.block_on(soak::run(short, program)),
        Some(&"start") => runtime.block_on(startup::run(short)),
        Some(other) => println!(
            "{other}: choose race, load, soak or start, program for `toolwright serve` itself, short for less"
        ),
    }
}
