//! Streamed answers, compared with reading their JSON and nothing else.

#![allow(
    clippy::unwrap_used,
    reason = "a benchmark stops at the first surprise"
)]

mod answer;
mod line;
mod turn;

use toolwright_bench::{race, stream::VENDORS};

fn main() {
    let runtime = race::runtime();
    for vendor in VENDORS {
        println!("{}", answer::events(vendor, &runtime));
    }
    for vendor in VENDORS {
        println!("{}", turn::turns(vendor, &runtime));
    }
}
