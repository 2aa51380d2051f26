//! A search over ten thousand tools: building the index, a question, an update of one tool.
//!
//! `-- rank CATALOGUE QUESTIONS [URL]` prints the tools for each question instead, for `bench/search/quality.py`; the URL is that of
//! an embedding endpoint.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a benchmark stops at the first surprise"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::runtime::Builder;
use toolwright::wire::{self, ToolDefinition};
use toolwright::{MemorySharedState, models};
use toolwright_bench::catalogue;
use toolwright_search::{ToolIndex, VectorIndex, merge_by_rank};

const TOOLS: usize = 10_000;

/// How many matches are merged, and how many are printed.
const MERGED: usize = 50;
const PRINTED: usize = 10;

const QUESTIONS: [(&str, &str); 4] = [
    ("a few words", "refund an invoice"),
    (
        "a sentence",
        "Please schedule a delivery of the order for the customer in Berlin tomorrow morning",
    ),
    ("with typos", "Pleaes shcedule a deliverry of the ordre for the custmer in Brelin"),
    (
        "a paragraph",
        "Our customer in Lisbon called about the invoice of last month: the expense for the device was counted twice, and the \
         contract has another account. Create an incident for the support team, notify the employee who manages the campaign, \
         upload the document they sent, and schedule an event to review the lead before the delivery is routed to logistics.",
    ),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["rank", catalogue, questions] => rank(catalogue, questions, None),
        ["rank", catalogue, questions, url] => rank(catalogue, questions, Some(url)),
        _ => measure(),
    }
}

/// Prints the speed table.
fn measure() {
    let definitions = definitions();
    let bytes: usize = definitions.iter().map(|tool| tool.input.as_value().to_string().len()).sum();
    println!("{TOOLS} tools with {} bytes of schema each, best of 20 rounds", bytes / TOOLS);
    let built = best_of(20, || ToolIndex::new(&definitions));
    println!("{:28} {:>9.2} ms   to be reached: 300", "build the index", millis(built));
    let mut index = ToolIndex::new(&definitions);
    for (name, question) in QUESTIONS {
        let time = best_of(20, || index.search(question, 5));
        println!("{:28} {:>9.3} ms   to be reached: 2", format!("question, {name}"), millis(time));
    }
    let updated = definitions.get(TOOLS / 2).unwrap();
    let time = best_of(20, || index.insert(updated));
    println!("{:28} {:>9.3} ms   to be reached: 1", "replace one tool", millis(time));
}

fn best_of<T>(rounds: usize, work: impl FnMut() -> T) -> Duration {
    let mut work = work;
    let times = (0..rounds).map(|_| {
        let begin = Instant::now();
        let done = black_box(work());
        let time = begin.elapsed();
        drop(done);
        time
    });
    times.min().unwrap()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// The catalogue ten times, each copy with words of its own.
fn definitions() -> Vec<ToolDefinition> {
    let tools = catalogue::many_tools(TOOLS).into_iter().map(|tool| {
        json!({"name": tool.name, "description": tool.description, "inputSchema": tool.input})
    });
    let text = Value::Array(tools.collect()).to_string();
    wire::import_definitions(&text).unwrap().into_iter().map(Result::unwrap).collect()
}

/// Prints a line of JSON for each question: the names of the tools by words, by meaning and merged.
fn rank(catalogue: &str, questions: &str, url: Option<&str>) {
    let text = std::fs::read_to_string(catalogue).unwrap();
    let definitions: Vec<ToolDefinition> =
        wire::import_definitions(&text).unwrap().into_iter().map(Result::unwrap).collect();
    let questions = std::fs::read_to_string(questions).unwrap();
    let questions: Vec<String> = serde_json::from_str(&questions).unwrap();
    let index = ToolIndex::new(&definitions);
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let mut vectors = url.map(|url| {
        let builder = models::openai("all-minilm-l6-v2").base_url(url).api_key("none");
        VectorIndex::new(builder.build_embedder().unwrap(), Arc::new(MemorySharedState::default()))
    });
    if let Some(vectors) = &mut vectors {
        runtime.block_on(vectors.update(&definitions)).unwrap();
    }
    for question in &questions {
        let names = |found: &[toolwright_search::ToolMatch]| -> Vec<String> {
            found.iter().take(PRINTED).map(|found| found.name.to_string()).collect()
        };
        let mut line = json!({"words": names(&index.search(question, PRINTED))});
        if let Some(vectors) = &vectors {
            let by_words = index.search(question, MERGED);
            let by_meaning = runtime.block_on(vectors.search(question, MERGED)).unwrap();
            line["meaning"] = json!(names(&by_meaning));
            line["merged"] = json!(names(&merge_by_rank(&by_words, &by_meaning, PRINTED)));
        }
        println!("{line}");
    }
}
