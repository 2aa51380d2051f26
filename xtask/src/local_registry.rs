//! Lays packages out as a local registry of Cargo: the published crates, and everything that the lock files name.
//!
//! It replaces crates.io, so projects name a version and nothing else, and Cargo resolves, verifies and unpacks the packages as it
//! will do with published ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::command_runner::{CommandRunner, cargo_command, workspace_root};
use crate::files::{copy, read, remove_dir, write};
use crate::packages::{Crate, FOLDER, list, metadata, text};

/// The workspaces whose dependencies the registry has, by their folders.
const WORKSPACES: [&str; 2] = [".", "bridges"];

/// The folder of the registry.
pub(crate) fn folder() -> PathBuf {
    workspace_root().join(FOLDER).join("registry")
}

/// Settings for Cargo that take packages from the registry only.
pub(crate) fn cargo_settings() -> String {
    format!(
        "[source.crates-io]\nreplace-with = \"packages\"\n\n[source.packages]\nlocal-registry = {:?}\n",
        folder().display().to_string()
    )
}

/// Writes the registry; returns the number of its packages.
pub(crate) fn write_registry(crates: &[Crate]) -> Result<usize, String> {
    remove_dir(&folder())?;
    let mut index: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut added = BTreeSet::new();
    let mut add = |entry: &Value, checksum: &str, package: &Path| {
        let (name, version) = (text(entry, "name"), text(entry, "version"));
        let file = format!("{name}-{version}.crate");
        if added.insert(file.clone()) {
            copy(package, &folder().join(file))?;
            let line = index_line(entry, checksum).to_string();
            index.entry(index_path(name)).or_default().push(line);
        }
        Ok::<(), String>(())
    };
    let downloads = download_folders()?;
    for workspace in WORKSPACES {
        let manifest = format!("{workspace}/Cargo.toml");
        cargo_command("fetch", &["--quiet", "--manifest-path", &manifest]).run_inherited()?;
        let checksums = lock_checksums(&read(&format!("{workspace}/Cargo.lock"))?);
        let metadata = metadata(&["--manifest-path", &manifest])?;
        for entry in list(&metadata, "packages") {
            let (name, version) = (text(entry, "name"), text(entry, "version"));
            if text(entry, "source").is_empty() {
                let ours = crates.iter().find(|it| it.name == name);
                if let Some(it) = ours {
                    add(entry, &checksum(&it.package())?, &it.package())?;
                }
                continue;
            }
            let file = format!("{name}-{version}.crate");
            let package = downloads.iter().map(|folder| folder.join(&file)).find(|it| it.is_file());
            let package = package.ok_or_else(|| format!("{file} was not downloaded"))?;
            let checksum = checksums.get(&(name.to_owned(), version.to_owned()));
            let checksum =
                checksum.ok_or_else(|| format!("{file} is not in {workspace}/Cargo.lock"))?;
            add(entry, checksum, &package)?;
        }
    }
    for (path, lines) in index {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        write(&folder().join("index").join(path), text.as_bytes())?;
    }
    Ok(added.len())
}

/// The folders in which Cargo keeps the packages that it downloads.
fn download_folders() -> Result<Vec<PathBuf>, String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let default = || std::env::home_dir().map(|home| home.join(".cargo"));
    let home = home.or_else(default).ok_or("neither CARGO_HOME nor a home directory is set")?;
    let cache = home.join("registry/cache");
    let failed = |error: std::io::Error| format!("{}: {error}", cache.display());
    let mut folders = Vec::new();
    for entry in fs::read_dir(&cache).map_err(failed)? {
        folders.push(entry.map_err(failed)?.path());
    }
    Ok(folders)
}

/// The SHA-256 of a file.
pub(crate) fn checksum(file: &Path) -> Result<String, String> {
    let output = CommandRunner::new("sha256sum").arg(&file.display().to_string()).stdout()?;
    let sum = output.split_whitespace().next().unwrap_or_default();
    match sum.len() {
        64 => Ok(sum.to_owned()),
        _ => Err(format!("sha256sum printed `{output}`")),
    }
}

/// The checksum of each package in a lock file, by its name and version.
pub(crate) fn lock_checksums(lock_file: &str) -> BTreeMap<(String, String), String> {
    let value = |entry: &str, key: &str| {
        let start = format!("{key} = \"");
        let line = entry.lines().find_map(|line| line.strip_prefix(&start))?;
        Some(line.trim_end_matches('"').to_owned())
    };
    lock_file
        .split("[[package]]")
        .filter_map(|it| {
            Some(((value(it, "name")?, value(it, "version")?), value(it, "checksum")?))
        })
        .collect()
}

/// The file of a crate in an index.
fn index_path(name: &str) -> String {
    let name = name.to_lowercase();
    let part = |range| name.get(range).unwrap_or_default();
    match name.len() {
        length @ (1 | 2) => format!("{length}/{name}"),
        3 => format!("3/{}/{name}", part(0..1)),
        _ => format!("{}/{}/{name}", part(0..2), part(2..4)),
    }
}

/// The line of an index for a package of `cargo metadata`.
fn index_line(package: &Value, checksum: &str) -> Value {
    let field = |key: &str| package.get(key).cloned().unwrap_or_default();
    let dependencies = list(package, "dependencies");
    // A package does not contain them: a version of such a dependency is not required.
    let is_kept = |it: &&Value| text(it, "kind") != "dev" || text(it, "req") != "*";
    let dependencies: Vec<Value> =
        dependencies.iter().filter(is_kept).map(index_dependency).collect();
    json!({
        "name": field("name"),
        "vers": field("version"),
        "deps": dependencies,
        "cksum": checksum,
        "features": {},
        "features2": field("features"),
        "links": field("links"),
        "rust_version": field("rust_version"),
        "yanked": false,
        "v": 2,
    })
}

fn index_dependency(dependency: &Value) -> Value {
    let field = |key: &str| dependency.get(key).cloned().unwrap_or_default();
    let mut entry = Map::new();
    let is_renamed = !text(dependency, "rename").is_empty();
    entry.insert("name".to_owned(), field(if is_renamed { "rename" } else { "name" }));
    if is_renamed {
        entry.insert("package".to_owned(), field("name"));
    }
    let kind = match text(dependency, "kind") {
        "" => "normal",
        kind => kind,
    };
    entry.insert("kind".to_owned(), json!(kind));
    for key in ["req", "features", "optional", "target"] {
        entry.insert(key.to_owned(), field(key));
    }
    entry.insert("default_features".to_owned(), field("uses_default_features"));
    Value::Object(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folders_of_an_index_are_the_first_letters_of_a_name() {
        let names = ["a", "ab", "abc", "Abcd-e"];
        let paths = names.map(index_path);
        assert_eq!(paths, ["1/a", "2/ab", "3/a/abc", "ab/cd/abcd-e"]);
    }

    #[test]
    fn a_renamed_dependency_keeps_the_name_of_its_package() {
        let dependency = json!({
            "name": "futures-util", "rename": "futures", "kind": null, "req": "^0.3", "features": ["std"],
            "optional": false, "target": null, "uses_default_features": false,
        });
        let entry = index_dependency(&dependency);
        assert_eq!((text(&entry, "name"), text(&entry, "package")), ("futures", "futures-util"));
        assert_eq!(entry.get("default_features"), Some(&json!(false)));
        assert_eq!(text(&entry, "kind"), "normal");
    }

    #[test]
    fn a_development_dependency_without_a_version_is_left_out() {
        let dependency =
            |kind: &str, req: &str| json!({ "name": "toolwright", "kind": kind, "req": req });
        let dependencies =
            [dependency("dev", "*"), dependency("dev", "^1"), dependency("normal", "*")];
        let line = index_line(&json!({ "name": "a", "dependencies": dependencies }), "0");
        assert_eq!(list(&line, "deps").len(), 2);
    }

    #[test]
    fn checksums_are_those_of_downloaded_packages() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"s\"\nchecksum = \"0f\"\n\n\
                    [[package]]\nname = \"own\"\nversion = \"0.1.0\"\n";
        let checksums = lock_checksums(lock);
        assert_eq!(checksums.len(), 1);
        assert_eq!(checksums.get(&("a".into(), "1.0.0".into())).map(String::as_str), Some("0f"));
    }
}
