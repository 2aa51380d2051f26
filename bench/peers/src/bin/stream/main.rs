//! The same streamed answer through several libraries, each from a socket to its text and call.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first surprise")]

mod rows;
mod server;

use tokio::runtime::Builder;
use toolwright_bench::{Comparison, stream::recorded::recorded_frames};

fn main() {
    #[cfg(feature = "toolwright")]
    rustls::crypto::ring::default_provider().install_default().unwrap();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let frames = recorded_frames("openai-chat", true);
    let bytes = frames.concat().into_bytes();
    let title = format!(
        "OpenAI Chat over HTTP: {} frames, {} kB; per answer",
        frames.len(),
        bytes.len() / 1000
    );
    let base = server::start_server(&bytes);
    let race = rows::baseline::add_row(Comparison::new(title, &runtime), &base);
    #[cfg(feature = "toolwright")]
    let race = rows::toolwright::add_row(race, &base);
    #[cfg(feature = "async-openai")]
    let race = rows::async_openai::add_row(race, &base);
    #[cfg(feature = "genai")]
    let race = rows::genai::add_row(race, &base);
    let table = race.run();
    println!("{table}");
    println!("{}", table.divide_by(frames.len()).with_title("per frame"));
}
