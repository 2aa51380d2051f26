//! The same twenty tasks over 10 to 10,000 tools, with and without tool search: tokens sent, rounds, tasks solved.
//!
//! Each task is a conversation of its own, over the real client of a vendor. The tokens are those of whole request bodies.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a benchmark stops at the first surprise"
)]

mod provider;
mod tasks;
mod token_counter;

use std::sync::Arc;

use toolwright::chat::{Chat, ToolSearchMode};
use toolwright::{Invoker, Registry, Tool};
use toolwright_bench::catalogue::{self, ToolSample};
use toolwright_bench::comparison;

use provider::{Provider, RESULT, WIRE_FORMATS};
use tasks::{Task, task_tools, tasks};
use token_counter::RequestSize;

const CATALOGUE_SIZES: [usize; 4] = [10, 100, 1_000, 10_000];

const MODES: [(&str, ToolSearchMode); 3] =
    [("off", ToolSearchMode::Off), ("auto", ToolSearchMode::Auto), ("on", ToolSearchMode::On)];

/// A step through the catalogue that visits all of it, so that a small part has some of everything.
const STRIDE: usize = 7_919;

/// The twenty tasks with one catalogue and mode.
struct Totals {
    requests: Vec<Vec<RequestSize>>,
    solved: usize,
}

impl Totals {
    /// Returns the mean over the tasks.
    fn mean(&self, of_task: impl Fn(&[RequestSize]) -> usize) -> f64 {
        let sum: usize = self.requests.iter().map(|task| of_task(task)).sum();
        sum as f64 / self.requests.len() as f64
    }

    /// Returns the mean of all tokens that a task sends.
    fn task_tokens(&self) -> f64 {
        self.mean(|task| task.iter().map(|request| request.tokens).sum())
    }

    fn row(&self, vendor: &str, size: usize, mode: &str) -> String {
        let new = self.mean(|task| task.iter().map(|it| it.tokens - it.repeated).sum());
        format!(
            "| {vendor} | {size} | {mode} | {} | {:.0} | {:.0} | {new:.0} | {:.1} | {} of {} |",
            self.requests[0][0].tools,
            self.mean(|task| task[0].tokens),
            self.task_tokens(),
            self.mean(<[RequestSize]>::len),
            self.solved,
            self.requests.len(),
        )
    }
}

fn main() {
    let runtime = comparison::single_threaded_runtime();
    let tasks: Vec<Arc<Task>> = tasks().into_iter().map(Arc::new).collect();
    println!(
        "| vendor | tools | search | in the request | first request | task | of it new | rounds | solved |"
    );
    println!("|---|--:|---|--:|--:|--:|--:|--:|--:|");
    let invokers = CATALOGUE_SIZES.map(|size| (size, Invoker::new(registry(size)).unwrap()));
    for format in &WIRE_FORMATS {
        let mut with_search = Vec::new();
        for (size, invoker) in &invokers {
            for (name, mode) in MODES {
                let provider = Provider::new(format);
                let chat = Chat::builder(invoker, provider.model()).tool_search(mode).build();
                let totals = runtime.block_on(run_tasks(&chat, &provider, &tasks));
                let mut requests = totals.requests.iter().flatten().skip(1);
                assert!(requests.all(|request| request.has_same_tools), "a cache would be lost");
                println!("{}", totals.row(format.vendor, *size, name));
                if mode == ToolSearchMode::On {
                    with_search.push(totals.task_tokens());
                }
            }
        }
        let [_, hundred, .., most] = with_search[..] else { unreachable!("four catalogues") };
        assert!(most <= hundred * 1.1, "a task costs more with more tools: {with_search:?}");
    }
}

async fn run_tasks(chat: &Chat, provider: &Provider, tasks: &[Arc<Task>]) -> Totals {
    let mut totals = Totals { requests: Vec::new(), solved: 0 };
    for task in tasks {
        provider.state().task = Some(Arc::clone(task));
        // An error is a request that the provider rejects: the task is not solved.
        let response = chat.message().user(task.question).call().await;
        let results = response.map(|response| response.results()).unwrap_or_default();
        let is_solved = results.iter().any(|it| it.tool == task.tool && it.text() == RESULT);
        totals.solved += usize::from(is_solved);
        totals.requests.push(std::mem::take(&mut provider.state().requests));
    }
    totals
}

/// The tools of the tasks, evenly spread among as many others as the catalogue needs.
fn registry(size: usize) -> Registry {
    let wanted = task_tools();
    let others = catalogue::many_tools(*CATALOGUE_SIZES.last().unwrap());
    let mut other = (0..others.len()).map(|number| &others[number * STRIDE % others.len()]);
    let share = size / wanted.len();
    let mut tools: Vec<Tool> = Vec::with_capacity(size);
    for sample in &wanted {
        tools.extend(other.by_ref().take(share / 2).map(tool));
        tools.push(tool(sample));
        tools.extend(other.by_ref().take(share - 1 - share / 2).map(tool));
    }
    assert_eq!(tools.len(), size);
    Registry::of(tools).unwrap()
}

fn tool(sample: &ToolSample) -> Tool {
    let tool = Tool::import(&*sample.name, &*sample.description, sample.input.clone()).unwrap();
    tool.read_only(true).run(|_, _| RESULT).unwrap()
}
