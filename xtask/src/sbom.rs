//! Writes the bill of materials of a program, as CycloneDX JSON, from `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::command_runner::{CommandRunner, cargo_command};
use crate::files::read;
use crate::local_registry::lock_checksums;
use crate::packages::{list, metadata, text};

/// The bill of materials of the program `package`, for this target, and the number of its components.
pub(crate) fn bill_of_materials(package: &str, target: &str) -> Result<(Value, usize), String> {
    let metadata = metadata(&["--filter-platform", target])?;
    // The metadata has the features that any crate of the workspace wants; the tree has those of the program.
    let tree = cargo_command("tree", &["--package", package, "--target", target])
        .args(&["--edges", "normal,build", "--prefix", "none", "--format", "{p}"])
        .stdout()?;
    let lock = read("Cargo.lock")?;
    let time = CommandRunner::new("git").args(&["log", "-1", "--format=%cI"]).stdout()?;
    let bill = from_metadata(
        &metadata,
        package,
        &compiled_packages(&tree),
        &lock_checksums(&lock),
        time.trim(),
    )?;
    let problems = find_problems(&bill);
    if !problems.is_empty() {
        return Err(format!("the bill of materials is wrong: {}", problems.join("; ")));
    }
    let count = list(&bill, "components").len();
    Ok((bill, count))
}

fn from_metadata(
    metadata: &Value,
    package: &str,
    compiled: &BTreeSet<(&str, &str)>,
    checksums: &BTreeMap<(String, String), String>,
    time: &str,
) -> Result<Value, String> {
    let packages: BTreeMap<&str, &Value> =
        list(metadata, "packages").iter().map(|it| (text(it, "id"), it)).collect();
    let is_compiled = |id: &&str| {
        packages
            .get(id)
            .is_some_and(|it| compiled.contains(&(text(it, "name"), text(it, "version"))))
    };
    let nodes: BTreeMap<&str, Vec<&str>> =
        list(metadata.get("resolve").unwrap_or(&Value::Null), "nodes")
            .iter()
            .map(|node| {
                let needed = linked_dependencies(node).into_iter().filter(is_compiled).collect();
                (text(node, "id"), needed)
            })
            .collect();
    let root = packages
        .values()
        .find(|it| text(it, "name") == package)
        .ok_or_else(|| format!("there is no package {package}"))?;
    let mut reached = BTreeSet::new();
    let mut pending = vec![text(root, "id")];
    while let Some(id) = pending.pop() {
        if reached.insert(id) {
            pending.extend(nodes.get(id).into_iter().flatten());
        }
    }
    let reference = |id: &str| packages.get(id).map(|it| purl(it)).unwrap_or_default();
    let components: Vec<Value> = reached
        .iter()
        .filter(|id| **id != text(root, "id"))
        .filter_map(|id| packages.get(id))
        .map(|it| component(it, "library", checksums))
        .collect();
    let dependencies: Vec<Value> = reached
        .iter()
        .map(|id| {
            let needed: BTreeSet<String> =
                nodes.get(id).into_iter().flatten().map(|id| reference(id)).collect();
            json!({ "ref": reference(id), "dependsOn": needed })
        })
        .collect();
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "tools": { "components": [{ "type": "application", "name": "cargo xtask release" }] },
            "component": component(root, "application", checksums),
        },
        "components": components,
        "dependencies": dependencies,
    }))
}

/// The names and versions of the packages in the output of `cargo tree`.
fn compiled_packages(tree: &str) -> BTreeSet<(&str, &str)> {
    let package = |line| {
        let (name, rest) = str::split_once(line, " v")?;
        Some((name, rest.split(' ').next()?))
    };
    tree.lines().filter_map(package).collect()
}

/// The ids of the packages that are linked into a package, or build it; not those of its tests.
fn linked_dependencies(node: &Value) -> Vec<&str> {
    let is_linked =
        |it: &&Value| list(it, "dep_kinds").iter().any(|kind| text(kind, "kind") != "dev");
    list(node, "deps").iter().filter(is_linked).map(|it| text(it, "pkg")).collect()
}

fn purl(package: &Value) -> String {
    format!("pkg:cargo/{}@{}", text(package, "name"), text(package, "version"))
}

fn component(package: &Value, kind: &str, checksums: &BTreeMap<(String, String), String>) -> Value {
    let (name, version) = (text(package, "name"), text(package, "version"));
    let mut component = Map::new();
    let mut set = |key: &str, value: Value| component.insert(key.to_owned(), value);
    set("type", json!(kind));
    set("bom-ref", json!(purl(package)));
    set("name", json!(name));
    set("version", json!(version));
    if !text(package, "description").is_empty() {
        set("description", json!(text(package, "description").trim()));
    }
    set("purl", json!(purl(package)));
    // `A/B` is how some old manifests write `A OR B`.
    let license = text(package, "license").replace('/', " OR ");
    if !license.is_empty() {
        set("licenses", json!([{ "expression": license }]));
    }
    if let Some(checksum) = checksums.get(&(name.to_owned(), version.to_owned())) {
        set("hashes", json!([{ "alg": "SHA-256", "content": checksum }]));
    }
    Value::Object(component)
}

/// What a reader of the bill would stumble over.
fn find_problems(bill: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let root = bill.pointer("/metadata/component").unwrap_or(&Value::Null);
    let mut references = BTreeSet::new();
    for component in list(bill, "components").iter().chain([root]) {
        let reference = text(component, "bom-ref");
        if !references.insert(reference) {
            problems.push(format!("{reference} is there twice"));
        }
        if text(component, "version").is_empty() || text(component, "name").is_empty() {
            problems.push(format!("{reference} has no name or version"));
        }
        if component.get("licenses").is_none() {
            problems.push(format!("{reference} has no licence"));
        }
    }
    for dependency in list(bill, "dependencies") {
        let needed = list(dependency, "dependsOn").iter().filter_map(Value::as_str);
        for reference in needed.chain([text(dependency, "ref")]) {
            if !references.contains(reference) {
                problems.push(format!("{reference} is no component"));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata() -> Value {
        let package = |name: &str, license: &str| json!({ "id": name, "name": name, "version": "1.0.0", "license": license, "description": " Text. " });
        let needs = |id: &str, kind: Value| json!({ "pkg": id, "dep_kinds": [{ "kind": kind }] });
        json!({
            "packages": [
                package("program", "Apache-2.0"), package("lib", "MIT/Apache-2.0"), package("test", "MIT"),
                package("build", "MIT"), package("elsewhere", "MIT"),
            ],
            "resolve": { "nodes": [
                { "id": "program", "deps": [needs("lib", Value::Null), needs("test", json!("dev"))] },
                { "id": "lib", "deps": [needs("build", json!("build")), needs("elsewhere", Value::Null)] },
                { "id": "build", "deps": [] }, { "id": "test", "deps": [] }, { "id": "elsewhere", "deps": [] },
            ] },
        })
    }

    fn bill() -> Value {
        let checksums = BTreeMap::from([(("lib".to_owned(), "1.0.0".to_owned()), "0f".to_owned())]);
        let compiled =
            compiled_packages("program v1.0.0 (/p)\nlib v1.0.0\nbuild v1.0.0 (*)\ntest v1.0.0\n");
        from_metadata(&metadata(), "program", &compiled, &checksums, "2026-01-01T00:00:00Z")
            .expect("a bill")
    }

    #[test]
    fn components_are_what_the_program_links_or_is_built_with() {
        let bill = bill();
        let names: Vec<&str> =
            list(&bill, "components").iter().map(|it| text(it, "name")).collect();
        assert_eq!(names, ["build", "lib"]);
        assert_eq!(bill.pointer("/metadata/component/name"), Some(&json!("program")));
        assert_eq!(find_problems(&bill), Vec::<String>::new());
    }

    #[test]
    fn a_component_has_its_licence_as_an_expression_and_its_checksum() {
        let bill = bill();
        let library = list(&bill, "components").last().expect("lib");
        assert_eq!(library.pointer("/licenses/0/expression"), Some(&json!("MIT OR Apache-2.0")));
        assert_eq!(library.pointer("/hashes/0/content"), Some(&json!("0f")));
        assert_eq!(text(library, "purl"), "pkg:cargo/lib@1.0.0");
    }

    #[test]
    fn a_dependency_that_is_no_component_is_found() {
        let mut bill = bill();
        if let Some(components) = bill.get_mut("components").and_then(Value::as_array_mut) {
            components.pop();
        }
        assert_eq!(find_problems(&bill), ["pkg:cargo/lib@1.0.0 is no component"; 2]);
    }
}
