use serde::Deserialize;
use toolwright::{JsonSchema, tool};

#[derive(Deserialize, JsonSchema)]
enum Unit {
    Metric,
    Imperial,
}

/// Tells the weather.
#[tool]
fn weather(#[param(default = Unit::Metric)] unit: Unit) -> String {
    match unit {
        Unit::Metric => "20".to_owned(),
        Unit::Imperial => "68".to_owned(),
    }
}

fn main() {}
