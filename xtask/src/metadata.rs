//! The packages of the workspace, from `cargo metadata`.

use serde_json::Value;

use crate::process::Program;

/// The package of the program, at the root of the workspace.
pub(crate) const ROOT_PACKAGE: &str = "toolwright-assistant";

/// A package of the workspace.
#[derive(Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// From the root of the workspace, as `crates/core`; empty for the package there.
    pub(crate) folder: String,
    pub(crate) targets: Vec<Target>,
    /// The entry of `cargo metadata`.
    pub(crate) entry: Value,
}

pub(crate) struct Target {
    /// `lib`, `bin`, `test`, `example`, `bench` or `custom-build`.
    pub(crate) kind: String,
    pub(crate) name: String,
    /// `cargo test` runs it.
    pub(crate) is_tested: bool,
}

/// The packages of the workspace.
pub(crate) fn packages() -> Result<Vec<Package>, String> {
    let args = ["--format-version", "1", "--no-deps"];
    let metadata = parse(&Program::cargo("metadata", &args).stdout()?)?;
    let root = text(&metadata, "workspace_root");
    let to_package = |entry: &Value| {
        let folder = text(entry, "manifest_path").trim_end_matches("Cargo.toml");
        Package {
            name: text(entry, "name").to_owned(),
            version: text(entry, "version").to_owned(),
            folder: folder.strip_prefix(root).unwrap_or(folder).trim_matches('/').to_owned(),
            targets: list(entry, "targets").iter().map(to_target).collect(),
            entry: entry.clone(),
        }
    };
    Ok(list(&metadata, "packages").iter().map(to_package).collect())
}

/// The packages that are published.
pub(crate) fn published() -> Result<Vec<Package>, String> {
    let is_published = |package: &Package| package.entry.get("publish").is_some_and(Value::is_null);
    Ok(packages()?.into_iter().filter(is_published).collect())
}

pub(crate) fn to_target(target: &Value) -> Target {
    let kind = list(target, "kind").first().and_then(Value::as_str).unwrap_or_default();
    Target {
        // A crate of macros is a library, too.
        kind: if kind == "proc-macro" { "lib" } else { kind }.to_owned(),
        name: text(target, "name").to_owned(),
        is_tested: target.get("test").is_some_and(|test| test == true),
    }
}

pub(crate) fn parse(json: &str) -> Result<Value, String> {
    serde_json::from_str(json).map_err(|error| format!("not JSON: {error}"))
}

/// A list in JSON; empty if there is none.
pub(crate) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A string in JSON; empty if there is none.
pub(crate) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
