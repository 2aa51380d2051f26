//! Tool calls and large registries, compared with what they cannot go below.

#![allow(
    clippy::unwrap_used,
    reason = "a benchmark stops at the first surprise"
)]

mod calls;
mod many;

use toolwright_bench::race;

fn main() {
    let runtime = race::runtime();
    println!("{}", calls::order(&runtime));
    println!("{}", calls::sum(&runtime));
    println!("{}", many::add(&runtime));
    println!("{}", many::find(&runtime));
    println!("{}", many::list(&runtime));
}
