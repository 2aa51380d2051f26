//! MCP servers under the same load: Toolwright's, those of others, and the least that could answer at all.
//!
//! Every server is a process of its own; those in Rust are this program again, with the argument `serve`. Words after `--` choose:
//! a transport (`http`, `stdio`), a load (`add`, `page`, `list-100`, `list-10000`), a server by its name.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first surprise")]

mod client;
mod comparison;
mod process;
mod protocol_generation;
mod report;
mod serve;
mod servers;
mod workload;

use std::process::ExitCode;

use tokio::runtime::Builder;

use crate::servers::{APP_TOOLS_VARIABLE, BENCHMARKED_SERVERS, BenchmarkedServer, Transport};
use crate::workload::WORKLOADS;

fn main() -> ExitCode {
    if let Ok(tools) = std::env::var(APP_TOOLS_VARIABLE) {
        return serve::run_app(tools.parse().unwrap());
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let ["serve", name, way, load] = words[..] {
        let (way, load) = (Transport::named(way), workload::find_workload(load));
        let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(serve::serve(name, way, load));
        return ExitCode::SUCCESS;
    }
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let contenders = select_by_name(&BENCHMARKED_SERVERS, &words, |it| it.name);
    let contenders: Vec<&BenchmarkedServer> =
        contenders.into_iter().filter(|it| it.is_installed()).collect();
    for way in select_by_name(&[Transport::Http, Transport::Stdio], &words, |way| way.name()) {
        for load in select_by_name(&WORKLOADS, &words, |load| load.name) {
            let rows = runtime.block_on(comparison::run(&contenders, *way, load));
            println!("{}", report::format_table(*way, load, &rows));
        }
    }
    ExitCode::SUCCESS
}

/// Those that are named; all of them when none is.
fn select_by_name<'a, T>(
    all: &'a [T],
    words: &[&str],
    name: impl Fn(&T) -> &'static str,
) -> Vec<&'a T> {
    let named: Vec<&T> = all.iter().filter(|it| words.contains(&name(it))).collect();
    if named.is_empty() { all.iter().collect() } else { named }
}
