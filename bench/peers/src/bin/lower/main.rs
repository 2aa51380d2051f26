//! The same thousand tools brought into a provider's dialect by several libraries: how fast, and how many would be accepted.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first surprise")]

mod comparison;
mod rows;

use comparison::LoweringComparison;
use toolwright::schema::Dialect;
use toolwright_bench::catalogue;
use toolwright_bench::comparison::single_threaded_runtime;

/// The dialects for which another library has an answer.
const DIALECTS: [Dialect; 8] = [
    Dialect::OPENAI,
    Dialect::OPENAI_STRICT,
    Dialect::ANTHROPIC,
    Dialect::ANTHROPIC_STRICT,
    Dialect::GEMINI,
    Dialect::GEMINI_OPENAPI,
    Dialect::OLLAMA,
    Dialect::DEEPSEEK,
];

fn main() {
    let runtime = single_threaded_runtime();
    let tools = catalogue::tools();
    for dialect in DIALECTS {
        let contest = LoweringComparison::new(dialect, &tools, &runtime);
        let contest = rows::toolwright::add_rows(contest);
        #[cfg(feature = "rig")]
        let contest = rows::rig::add_rows(contest);
        #[cfg(feature = "adk")]
        let contest = rows::adk::add_rows(contest);
        #[cfg(feature = "adk-model")]
        let contest = rows::adk_model::add_rows(contest);
        println!("{contest}", contest = contest.run());
    }
}
