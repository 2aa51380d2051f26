//! The time until the program listens, its memory then, and its size.

use std::time::{Duration, Instant};

use crate::client;
use crate::servers;

pub(crate) async fn run(short: bool) {
    let rounds = if short { 5 } else { 41 };
    let program = servers::program_path();
    let size = program.metadata().unwrap().len();
    println!("the program: {:.1} MB", size as f64 / 1e6);
    let home = tempfile::tempdir().unwrap();
    for store in ["memory:", "sqlite:conversations.sqlite"] {
        let (mut listening, mut answered, mut memory) = (Vec::new(), Vec::new(), 0);
        for _ in 0..rounds {
            let start = Instant::now();
            let process =
                servers::start_program(home.path(), &["--model", "demo", "--store", store]);
            listening.push(start.elapsed());
            let addr = servers::listening_address(&process);
            let health = client::send_request(&addr, "GET", "/healthz", String::new()).await;
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
