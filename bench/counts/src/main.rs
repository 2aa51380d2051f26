//! Repeats one piece of work, for `valgrind --tool=callgrind`: `cargo xtask counts` compares the instructions that it takes.
//!
//! Instructions are the same in every run, whatever else the machine does; times are not.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first surprise")]

mod calls;
mod decoding;
mod encoding;
mod lowering;
mod requests;

#[path = "../../benches/stream/recorded_transport.rs"]
mod recorded_transport;
#[path = "../../benches/endpoint/scripted_model.rs"]
mod scripted_model;

use std::process::ExitCode;

use toolwright_bench::comparison::single_threaded_runtime;

/// One piece of work, prepared; each call of the function does it once.
type Work = Box<dyn FnMut()>;

/// The name of a piece of work, and how it is prepared.
type Workload = (&'static str, fn() -> Work);

const WORKLOADS: &[Workload] = &[
    ("1,000 calls: add", calls::add),
    ("1,000 calls: add, async", calls::add_async),
    ("1,000 calls: nested order", calls::order),
    ("1,000 calls: nested order, validator", calls::validated_order),
    ("lower 100 tools: openai-strict", lowering::openai_strict),
    ("lower 100 tools: anthropic-strict", lowering::anthropic_strict),
    ("lower 100 tools: gemini", lowering::gemini),
    ("lower 100 tools: portable", lowering::portable),
    ("decode an answer: openai", decoding::openai),
    ("decode an answer: openai-chat", decoding::openai_chat),
    ("decode an answer: anthropic", decoding::anthropic),
    ("decode an answer: gemini", decoding::gemini),
    ("decode an answer: ollama", decoding::ollama),
    ("encode 500 events: AI SDK", encoding::ai_sdk),
    ("encode 500 events: native", encoding::native),
    ("encode 500 events: OpenAI", encoding::openai),
    ("1,000 requests: bare axum", requests::floor),
    ("1,000 requests: add over MCP, McpServer alone", requests::sum_over_mcp_alone),
    ("1,000 requests: add over MCP", requests::sum_over_mcp),
    ("1,000 requests: convert_temperature over MCP", requests::temperature_over_mcp),
    ("1,000 requests: convert_temperature over HTTP", requests::temperature_over_api),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.as_slice() {
        [] => WORKLOADS.iter().for_each(|(name, _)| println!("{name}")),
        [name, times] => {
            let workload = WORKLOADS.iter().find(|(known, _)| known == name);
            let (Some((_, prepare)), Ok(times)) = (workload, times.parse::<u32>()) else {
                eprintln!("error: no work `{name}`, or `{times}` is not a number");
                return ExitCode::from(2);
            };
            let mut work = prepare();
            (0..times).for_each(|_| work());
        }
        _ => {
            eprintln!("usage: toolwright-counts [WORK TIMES]; without arguments it lists the work");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// Runs a future to its end in each call, all in one runtime with a single thread.
fn repeat_async<F: Future<Output = ()>>(mut start: impl FnMut() -> F + 'static) -> Work {
    let runtime = single_threaded_runtime();
    Box::new(move || runtime.block_on(start()))
}
