//! Tool calls and large registries, compared with what they cannot go below.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first surprise")]

mod calls;
mod large_registry;

use toolwright_bench::comparison;

fn main() {
    let runtime = comparison::single_threaded_runtime();
    println!("{}", calls::compare_order_call(&runtime));
    println!("{}", calls::compare_add_call(&runtime));
    println!("{}", large_registry::compare_registration(&runtime));
    println!("{}", large_registry::compare_lookup(&runtime));
    println!("{}", large_registry::compare_listing(&runtime));
}
