//! Every crate in `crates/` can be published, and its package has what a registry and docs.rs show.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Crates that others need for their tests only. A package must not require a version of them: they are published later.
const PUBLISHED_LATER: [&str; 3] = ["toolwright", "toolwright-sampler", "toolwright-testing"];

/// A registry accepts at most this many.
const MAX_KEYWORDS: usize = 5;

fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline", "--locked"])
        .output()
        .expect("cargo metadata");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn length(value: &Value, key: &str) -> usize {
    value[key].as_array().map_or(0, Vec::len)
}

/// What is missing for a registry or docs.rs.
fn problems(package: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    let mut expect = |holds: bool, what: &str| {
        if !holds {
            problems.push(what.to_owned());
        }
    };
    expect(!text(package, "description").is_empty(), "a description");
    expect(text(package, "license") == "Apache-2.0", "the licence");
    expect((1..=MAX_KEYWORDS).contains(&length(package, "keywords")), "one to five keywords");
    expect(length(package, "categories") > 0, "a category");
    expect(package["metadata"]["docs"]["rs"]["all-features"] == true, "docs.rs with all features");
    let folder = Path::new(text(package, "manifest_path")).parent().expect("a folder");
    let readme = fs::read_to_string(folder.join(text(package, "readme"))).unwrap_or_default();
    expect(readme.starts_with("# "), "a README");
    let needed = package["dependencies"].as_array().expect("dependencies").iter();
    for needed in needed.filter(|needed| needed["kind"] == "dev") {
        let is_later = PUBLISHED_LATER.contains(&text(needed, "name"));
        let what = format!("`{}` without a version in its dev-dependencies", text(needed, "name"));
        expect(!is_later || needed["req"] == "*", &what);
    }
    problems
}

#[test]
fn every_crate_can_be_published() {
    let packages = packages();
    let published: Vec<_> =
        packages.iter().filter(|package| package["publish"].is_null()).collect();
    assert!(published.len() > 15, "the crates of the facade");
    let incomplete: Vec<String> = published
        .iter()
        .map(|package| (text(package, "name"), problems(package)))
        .filter(|(_, problems)| !problems.is_empty())
        .map(|(name, problems)| format!("{name}: {}", problems.join(", ")))
        .collect();
    assert!(incomplete.is_empty(), "missing in the manifests:\n  {}", incomplete.join("\n  "));
}

#[test]
fn only_the_crates_of_the_facade_are_published() {
    for package in packages() {
        let in_crates = text(&package, "manifest_path").contains("/crates/");
        assert_eq!(package["publish"].is_null(), in_crates, "{}", text(&package, "name"));
    }
}
