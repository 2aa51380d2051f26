//! The official JSON-Schema-Test-Suite, each schema of it lowered to every dialect.

use std::fs;

use serde_json::{Value, json};
use test_support::real;
use toolwright_schema::{Dialect, Schema, Severity, validate_for};

use crate::meaning::{admits, ceiling, meant};

#[derive(Default)]
struct Count {
    lossless: usize,
    lossy: usize,
    impossible: usize,
    instances: usize,
}

/// What an argument of a tool satisfies, where the suite speaks of whole documents.
fn wrapped(schema: &Value) -> Value {
    let mut inner = schema.clone();
    // A schema that is a resource of its own keeps what `#` means in it.
    if let Value::Object(members) = &mut inner {
        members.shift_remove("$schema");
        members.entry("$id").or_insert(json!("urn:suite"));
    }
    json!({
        "type": "object",
        "properties": {"it": inner},
        "required": ["it"],
        "additionalProperties": false,
    })
}

/// Checks one schema in one dialect against instances whose verdicts are known.
fn check(name: &str, schema: &Value, tests: &[(Value, bool)], dialect: Dialect, count: &mut Count) {
    let Ok(canonical) = Schema::check(schema.clone()) else {
        // It refers to what would have to be fetched, or has another draft's meta-schema.
        return;
    };
    let Ok(lowered) = canonical.lower(dialect) else {
        count.impossible += 1;
        return;
    };
    let refusals = validate_for(dialect, lowered.schema());
    let text = lowered.text();
    assert!(refusals.is_empty(), "{name}, {dialect}: {refusals:?}\n{schema}\n→ {text}");
    let has = |severity| lowered.losses().iter().any(|loss| loss.severity == severity);
    let (wider, narrower) = (has(Severity::Wider), has(Severity::Narrower));
    match lowered.is_lossless() {
        true => count.lossless += 1,
        false => count.lossy += 1,
    }
    let (meaning, ceiling) = (meant(lowered.schema(), dialect), ceiling(&canonical, lowered));
    for (instance, valid) in tests {
        // The suite treats formats as annotations; here they are asserted.
        if admits(&canonical, instance) != *valid {
            continue;
        }
        let mut wire = instance.clone();
        lowered.lower_arguments(&mut wire);
        let accepted = admits(&meaning, &wire);
        count.instances += 1;
        if *valid && !narrower {
            assert!(
                accepted,
                "{name}, {dialect}: {instance} is valid, {wire} is refused\n{schema}\n→ {text}"
            );
        }
        if !*valid && !wider && accepted {
            let mut back = wire.clone();
            lowered.lift_arguments(&mut back);
            assert!(
                admits(&ceiling, &back),
                "{name}, {dialect}: {instance} is invalid, {wire} is accepted\n{schema}\n→ {text}"
            );
        }
    }
}

#[test]
fn every_schema_of_the_suite_lowers_honestly_to_every_dialect() {
    let Some(suite) = real::suite() else {
        return;
    };
    let mut files: Vec<_> = fs::read_dir(suite.join("tests/draft2020-12"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    assert!(files.len() > 40, "the required part of the suite has more files");
    let mut counts: Vec<(Dialect, Count)> =
        Dialect::ALL.map(|dialect| (dialect, Count::default())).into();
    let mut schemas = 0;
    for file in files {
        let groups: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        for group in groups.as_array().unwrap() {
            schemas += 1;
            let name = format!("{}: {}", file.file_stem().unwrap().display(), group["description"]);
            let tests: Vec<(Value, bool)> = group["tests"]
                .as_array()
                .unwrap()
                .iter()
                .map(|test| (test["data"].clone(), test["valid"].as_bool().unwrap()))
                .collect();
            let nested: Vec<(Value, bool)> =
                tests.iter().map(|(data, valid)| (json!({"it": data}), *valid)).collect();
            let objects: Vec<(Value, bool)> =
                tests.into_iter().filter(|(data, _)| data.is_object()).collect();
            for (dialect, count) in &mut counts {
                check(&name, &wrapped(&group["schema"]), &nested, *dialect, count);
                // As the arguments of a tool themselves: only objects are.
                check(&name, &group["schema"], &objects, *dialect, count);
            }
        }
    }
    println!("{schemas} schemas, each as an argument and as all arguments");
    for (dialect, Count { lossless, lossy, impossible, instances }) in &counts {
        println!(
            "{dialect:16} {lossless:4} lossless {lossy:4} lossy {impossible:4} impossible {instances:5} instances"
        );
    }
    let never = counts.iter().find(|(_, count)| count.lossless == 0 || count.instances < 1_000);
    assert!(never.is_none(), "a dialect that nothing was checked in");
}
