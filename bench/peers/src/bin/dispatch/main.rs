//! The same call through several libraries, each from argument text to result text.

#![allow(
    clippy::unwrap_used,
    reason = "a benchmark stops at the first surprise"
)]

mod rows;

use std::hint::black_box;

use toolwright_bench::{Race, floor, order, race, sum};

fn main() {
    let runtime = race::runtime();

    let title = format!("a nested order, {} bytes", order::TEXT.len());
    let race =
        Race::new(title, &runtime).call(floor::NAME, || floor::place(black_box(order::TEXT)));
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

    let race =
        Race::new("add(2, 3)", &runtime).call(floor::NAME, || floor::add(black_box(sum::TEXT)));
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
