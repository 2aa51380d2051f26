//! A thousand tools lowered to every dialect and planned into a request, cold and cached.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first surprise")]

use std::hint::black_box;

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use toolwright::{
    schema::{Dialect, Schema, validate_for},
    wire::{self, ToolDefinition, ToolPlanner},
};
use toolwright_bench::{
    Comparison,
    catalogue::{self, ToolSample},
    comparison,
};

fn main() {
    let runtime = comparison::single_threaded_runtime();
    let samples = catalogue::tools();
    let definitions = definitions(&samples);
    let values: Vec<Value> = samples.iter().map(|tool| tool.input.clone()).collect();
    let bytes: usize = values.iter().map(|value| value.to_string().len()).sum();
    println!(
        "{} tools with {} bytes of schema each; to be reached: cold < 20 ms, cached < 1 ms",
        values.len(),
        bytes / values.len()
    );
    println!(
        "{:16} {:>8} {:>8} {:>9} {:>9} {:>11} {:>9} {:>6} {:>11} {:>9}",
        "dialect",
        "cold ms",
        "× clone",
        "cached ms",
        "plan cold",
        "plan cached",
        "lossless",
        "lossy",
        "impossible",
        "accepted"
    );
    let mut floor = BaselineTimes::default();
    for dialect in Dialect::ALL {
        let times = LoweringTimes::measure(dialect, &values, &definitions, &runtime);
        let verdicts = LoweringCounts::count(dialect, &values);
        floor.keep_minimum(&times);
        println!(
            "{:16} {:>8.2} {:>8.2} {:>9.3} {:>9.2} {:>11.2} {:>9} {:>6} {:>11} {:>9}",
            dialect.name(),
            times.cold,
            times.cold / times.clone,
            times.cached,
            times.plan_cold,
            times.plan_cached,
            verdicts.lossless,
            verdicts.lossy,
            verdicts.impossible,
            verdicts.accepted
        );
    }
    println!(
        "for comparison: copying the schemas {:.2} ms, writing them as text {:.2} ms",
        floor.clone, floor.write
    );
}

/// The times to process all tools, in milliseconds.
struct LoweringTimes {
    clone: f64,
    write: f64,
    cold: f64,
    cached: f64,
    plan_cold: f64,
    plan_cached: f64,
}

impl LoweringTimes {
    fn measure(
        dialect: Dialect,
        values: &[Value],
        definitions: &[ToolDefinition],
        runtime: &Runtime,
    ) -> Self {
        let warm = schemas(values);
        let planner = ToolPlanner::new(dialect);
        let table = Comparison::new(dialect.name(), runtime)
            .add_with_fresh_input(
                "clone",
                || Vec::with_capacity(values.len()),
                |copies| {
                    copies.extend(values.iter().cloned());
                    copies.len().to_string()
                },
            )
            .add_with_fresh_input(
                "write",
                || Vec::with_capacity(values.len()),
                |texts| {
                    texts.extend(values.iter().map(Value::to_string));
                    texts.len().to_string()
                },
            )
            .add_with_fresh_input("cold", || schemas(values), |schemas| lower(schemas, dialect))
            .add_function("cached", || lower(&warm, dialect))
            .add_with_fresh_input(
                "plan, cold",
                || uncached_definitions(definitions),
                |definitions| plan(&planner, definitions),
            )
            .add_function("plan, cached", || plan(&planner, definitions))
            .run();
        let mut times = table.times().map(|ns| ns / 1e6);
        let mut next = || times.next().unwrap();
        Self {
            clone: next(),
            write: next(),
            cold: next(),
            cached: next(),
            plan_cold: next(),
            plan_cached: next(),
        }
    }
}

/// The best times of the baselines, which any implementation includes.
struct BaselineTimes {
    clone: f64,
    write: f64,
}

impl Default for BaselineTimes {
    fn default() -> Self {
        Self { clone: f64::INFINITY, write: f64::INFINITY }
    }
}

impl BaselineTimes {
    fn keep_minimum(&mut self, times: &LoweringTimes) {
        self.clone = self.clone.min(times.clone);
        self.write = self.write.min(times.write);
    }
}

/// The outcomes of all tools.
#[derive(Default)]
struct LoweringCounts {
    lossless: usize,
    lossy: usize,
    impossible: usize,
    /// How many lowered schemas the independent validator accepts.
    accepted: usize,
}

impl LoweringCounts {
    fn count(dialect: Dialect, values: &[Value]) -> Self {
        let mut verdicts = Self::default();
        for schema in schemas(values) {
            let Ok(lowered) = schema.lower(dialect) else {
                verdicts.impossible += 1;
                continue;
            };
            if lowered.is_lossless() {
                verdicts.lossless += 1;
            } else {
                verdicts.lossy += 1;
            }
            let refused = validate_for(dialect, lowered.schema());
            verdicts.accepted += usize::from(refused.is_empty());
        }
        verdicts
    }
}

/// Schemas that have not been lowered yet.
fn schemas(values: &[Value]) -> Vec<Schema> {
    values.iter().cloned().map(Schema::trusted).collect()
}

fn definitions(samples: &[ToolSample]) -> Vec<ToolDefinition> {
    let tool = |sample: &ToolSample| json!({"name": sample.name, "description": sample.description, "inputSchema": sample.input});
    let listed: Vec<Value> = samples.iter().map(tool).collect();
    let read = wire::import_definitions(&Value::Array(listed).to_string()).unwrap();
    read.into_iter().map(Result::unwrap).collect()
}

/// The same definitions with schemas that have not been lowered yet.
fn uncached_definitions(definitions: &[ToolDefinition]) -> Vec<ToolDefinition> {
    let mut definitions = definitions.to_vec();
    for definition in &mut definitions {
        definition.input = Schema::trusted(definition.input.as_value().clone());
    }
    definitions
}

fn lower(schemas: &[Schema], dialect: Dialect) -> String {
    for schema in schemas {
        let _ = black_box(schema.lower(dialect));
    }
    schemas.len().to_string()
}

/// Plans a request; every tool must be in it, or among those that are left out.
fn plan(planner: &ToolPlanner, definitions: &[ToolDefinition]) -> String {
    let plan = planner.plan(definitions);
    (plan.tools().len() + plan.omitted().len()).to_string()
}
