//! Streamed answers, compared with reading their JSON and nothing else.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first surprise")]

mod model_events;
mod recorded_transport;
mod turn;

use toolwright_bench::{comparison, stream::VENDORS};

fn main() {
    let runtime = comparison::single_threaded_runtime();
    for vendor in VENDORS {
        println!("{}", model_events::compare_model_events(vendor, &runtime));
    }
    for vendor in VENDORS {
        println!("{}", turn::compare_turns(vendor, &runtime));
    }
}
