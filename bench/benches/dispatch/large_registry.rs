//! A registry of ten thousand tools: filled, searched, listed.

use std::{collections::HashMap, hint::black_box};

use serde_json::Value;
use tokio::runtime::Runtime;
use toolwright::{Json, Registry, Tool};
use toolwright_bench::{Comparison, Table, order::plain};

const TOOL_COUNT: usize = 10_000;

/// Races the ways to add all of them.
pub(crate) fn compare_registration(runtime: &Runtime) -> Table {
    let tools = &tools();
    let named = || tools.iter().map(|tool| (tool.name().as_str(), tool.clone()));
    Comparison::new("adding 10,000 tools", runtime)
        .add_function("to a HashMap", || named().collect::<HashMap<_, _>>().len().to_string())
        .add_function("to a registry, at once", || {
            let registry = Registry::new();
            registry.add(tools.clone()).unwrap();
            registry.snapshot().len().to_string()
        })
        .add_function("to a registry, one by one", || {
            let registry = Registry::new();
            for tool in tools {
                registry.add(tool.clone()).unwrap();
            }
            registry.snapshot().len().to_string()
        })
        .run()
}

/// Races the ways to find one of them.
pub(crate) fn compare_lookup(runtime: &Runtime) -> Table {
    let registry = &registry();
    let snapshot = &registry.snapshot();
    let names = snapshot.iter().map(|entry| entry.spec().name.as_str());
    let map: &HashMap<&str, &str> = &names.map(|name| (name, name)).collect();
    let name = "tool_7777";
    Comparison::new("finding one of 10,000 tools", runtime)
        .add_function("HashMap::get", || *map.get(black_box(name)).unwrap())
        .add_function("Snapshot::get", || {
            snapshot.get(black_box(name)).unwrap().spec().name.as_str()
        })
        .add_function("Registry::get", || registry.get(black_box(name)).unwrap().name().to_string())
        .run()
}

/// Races the ways to write the JSON of `tools list`.
pub(crate) fn compare_listing(runtime: &Runtime) -> Table {
    let registry = &registry();
    let listed = move || {
        let snapshot = registry.snapshot();
        let specs: Vec<_> = snapshot.iter().map(|entry| entry.spec()).collect();
        serde_json::to_string(&specs).unwrap()
    };
    let text = listed();
    let values: &Vec<Value> = &serde_json::from_str(&text).unwrap();
    let title = format!("listing 10,000 tools, {} kB of JSON", text.len() / 1000);
    Comparison::new(title, runtime)
        .add_function("serde_json::Value", || serde_json::to_string(values).unwrap())
        .add_function("Snapshot", listed)
        .run()
}

fn tools() -> Vec<Tool> {
    let tool = |number| {
        Tool::builder(format!("tool_{number}"), "Places an order.")
            .input::<plain::Args>()
            .run(|args: plain::Args, _| Json(plain::work(args.order, args.dry_run)))
            .unwrap()
    };
    (0..TOOL_COUNT).map(tool).collect()
}

fn registry() -> Registry {
    let registry = Registry::new();
    registry.add(tools()).unwrap();
    registry
}
