//! A whole turn: an answer that calls a tool, the tool, and the answer that follows.

use std::hint::black_box;

use serde::Deserialize;
use tokio::runtime::Runtime;
use toolwright::{Invoker, Registry, chat::Chat, tool};
use toolwright_bench::{
    Comparison, Table,
    stream::{baseline, recorded::recorded_frames},
};

use crate::recorded_transport::{model_over_recording, pack_frames};

#[derive(Deserialize)]
struct Args {
    city: String,
    days: u8,
    parts: Vec<String>,
    note: String,
}

fn forecast(args: &Args) -> String {
    let parts = args.parts.join(" and ");
    format!("{} days of {parts} in {}: {}", args.days, args.city, args.note)
}

/// Tells the weather.
#[tool(read_only)]
fn weather(
    /// Where.
    city: String,
    /// For how many days.
    days: u8,
    /// Which parts of it.
    parts: Vec<String>,
    /// What else to think of.
    note: String,
) -> String {
    forecast(&Args { city, days, parts, note })
}

/// Races the ways through a turn.
pub(crate) fn compare_turns(vendor: &str, runtime: &Runtime) -> Table {
    let answers = [recorded_frames(vendor, true), recorded_frames(vendor, false)];
    let [first, second] = answers.each_ref().map(|frames| frames.concat().into_bytes());
    let registry = Registry::new();
    registry.add(weather::tool()).unwrap();
    let model =
        model_over_recording(vendor, answers.iter().map(|frames| pack_frames(frames)).collect());
    let chat = Chat::new(&Invoker::new(registry).unwrap(), model);
    Comparison::new(format!("{vendor}: a turn with one call"), runtime)
        .add_function("frames, serde_json, function", || {
            let call = baseline::parse_stream(vendor, black_box(&first)).arguments;
            let args = serde_json::from_str(&call).unwrap();
            forecast(&args) + &baseline::parse_stream(vendor, black_box(&second)).text
        })
        .add_async_function("Chat", async || {
            let response = chat.message().user("How is it there?").call().await.unwrap();
            response.results().first().unwrap().text().into_owned() + &response.text()
        })
        .run()
}
