//! The same call through several libraries, each from argument text to result text.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first surprise")]

mod rows;

use std::hint::black_box;

use toolwright_bench::{Comparison, baseline, comparison, order, sum};

fn main() {
    let runtime = comparison::single_threaded_runtime();

    let title = format!("a nested order, {} bytes", order::ARGUMENTS_JSON.len());
    let race = Comparison::new(title, &runtime).add_function(baseline::ROW_NAME, || {
        baseline::place_order(black_box(order::ARGUMENTS_JSON))
    });
    #[cfg(feature = "toolwright")]
    let race = rows::toolwright::add_order_rows(race);
    #[cfg(feature = "rmcp")]
    let race = rows::rmcp::add_order_rows(race, &runtime);
    #[cfg(feature = "rig")]
    let race = rows::rig::add_order_rows(race);
    #[cfg(feature = "adk")]
    let race = rows::adk::add_order_rows(race);
    #[cfg(feature = "bridges")]
    let race = rows::bridges::add_order_rows(race, &runtime);
    println!("{}", race.run());

    let race = Comparison::new("add(2, 3)", &runtime)
        .add_function(baseline::ROW_NAME, || baseline::add(black_box(sum::ARGUMENTS_JSON)));
    #[cfg(feature = "toolwright")]
    let race = rows::toolwright::add_sum_rows(race);
    #[cfg(feature = "rmcp")]
    let race = rows::rmcp::add_sum_rows(race, &runtime);
    #[cfg(feature = "rig")]
    let race = rows::rig::add_sum_rows(race);
    #[cfg(feature = "adk")]
    let race = rows::adk::add_sum_rows(race);
    #[cfg(feature = "bridges")]
    let race = rows::bridges::add_sum_rows(race, &runtime);
    println!("{}", race.run());
}
