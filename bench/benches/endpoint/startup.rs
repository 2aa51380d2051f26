//! The time until the program listens, its memory then, and its size.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client;
use crate::process::Process;

pub(crate) async fn run(short: bool) {
    let rounds = if short { 5 } else { 41 };
    // This program is in `deps`, below the directory of the profile.
    let bench = std::env::current_exe().unwrap();
    let program = bench.ancestors().nth(2).unwrap().join("toolwright");
    if !program.exists() {
        println!("left out: build it with `cargo build --release`");
        return;
    }
    let size = program.metadata().unwrap().len();
    println!("the program: {:.1} MB", size as f64 / 1e6);
    let home = tempfile::tempdir().unwrap();
    for store in ["memory:", "sqlite:conversations.sqlite"] {
        let (mut listening, mut answered, mut memory) = (Vec::new(), Vec::new(), 0);
        for _ in 0..rounds {
            let mut command = Command::new(&program);
            command
                .args([
                    "serve",
                    "--json",
                    "--model",
                    "demo",
                    "--addr",
                    "127.0.0.1:0",
                    "--store",
                    store,
                ])
                .env("HOME", home.path())
                .current_dir(home.path());
            let start = Instant::now();
            let process = Process::start(command, b"");
            listening.push(start.elapsed());
            let line: Value = serde_json::from_str(&process.line).unwrap();
            let url = line["url"].as_str().unwrap();
            let addr = url.trim_start_matches("http://").trim_end_matches('/');
            let health = client::send_request(addr, "GET", "/healthz", String::new()).await;
            assert_eq!(health.status, 200);
            answered.push(start.elapsed());
            memory = process.resident_bytes();
        }
        println!(
            "--store {store}: listening after {}, /healthz answered after {}; idle {:.1} MB",
            format_times(&mut listening),
            format_times(&mut answered),
            memory as f64 / 1e6
        );
    }
}

/// Median, minimum and maximum.
fn format_times(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let ms = |at: usize| times[at].as_secs_f64() * 1e3;
    let last = times.len() - 1;
    format!("{:.1} ms ({:.1}–{:.1})", ms(last / 2), ms(0), ms(last))
}
