//! Packages the published crates, and checks what the packages contain.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command_runner::{CommandRunner, cargo_command, workspace_root};
use crate::files::remove_dir;

/// Where the packages and all that is made of them are written.
pub(crate) const FOLDER: &str = "target/packages";

/// A crate that is published.
pub(crate) struct Crate {
    pub(crate) name: String,
    pub(crate) version: String,
    /// From the root of the workspace, as `crates/core`.
    pub(crate) folder: String,
}

impl Crate {
    /// The file that a registry gets.
    pub(crate) fn package(&self) -> PathBuf {
        self.below(&format!("package/{}-{}.crate", self.name, self.version))
    }

    /// The folder of the unpacked package.
    fn unpacked(&self) -> PathBuf {
        self.below(&format!("unpacked/{}-{}", self.name, self.version))
    }

    fn below(&self, path: &str) -> PathBuf {
        workspace_root().join(FOLDER).join(path)
    }
}

/// Whether a package has a `Cargo.lock`, as all published ones do; resolving takes most of the time.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum LockFiles {
    Included,
    Omitted,
}

/// The output of `cargo metadata` for the workspace of a manifest.
pub(crate) fn metadata(args: &[&str]) -> Result<Value, String> {
    let output = cargo_command("metadata", &["--format-version", "1"]).args(args).stdout()?;
    serde_json::from_str(&output).map_err(|error| format!("cargo metadata: {error}"))
}

/// A list in JSON; empty if there is none.
pub(crate) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A string in JSON; empty if there is none.
pub(crate) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The crates of the workspace that are published.
pub(crate) fn published_crates() -> Result<Vec<Crate>, String> {
    let metadata = metadata(&["--no-deps"])?;
    let root = text(&metadata, "workspace_root");
    let is_published = |package: &&Value| package.get("publish").is_some_and(Value::is_null);
    let to_crate = |package: &Value| {
        let manifest = text(package, "manifest_path");
        let folder = manifest.strip_prefix(root).unwrap_or(manifest).trim_start_matches('/');
        Crate {
            name: text(package, "name").to_owned(),
            version: text(package, "version").to_owned(),
            folder: folder.trim_end_matches("/Cargo.toml").to_owned(),
        }
    };
    let crates: Vec<Crate> =
        list(&metadata, "packages").iter().filter(is_published).map(to_crate).collect();
    if crates.is_empty() {
        return Err("the workspace has no crate that is published".to_owned());
    }
    Ok(crates)
}

/// Packages the crates and unpacks the packages.
pub(crate) fn package_all(crates: &[Crate], lock_files: LockFiles) -> Result<(), String> {
    remove_dir(&workspace_root().join(FOLDER).join("package"))?;
    remove_dir(&workspace_root().join(FOLDER).join("unpacked"))?;
    // Offline: what is packaged depends on nothing that was published since Cargo.lock was written.
    let mut command = cargo_command("package", &["--no-verify", "--offline", "--quiet"])
        // A change is checked before it is committed; `release` wants a clean tree.
        .args(&["--allow-dirty", "--target-dir", FOLDER]);
    if lock_files == LockFiles::Omitted {
        command = command.arg("--exclude-lockfile");
    }
    for it in crates {
        command = command.args(&["--package", &it.name]);
    }
    command.run_inherited()?;
    for it in crates {
        let folder = it.below("unpacked");
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        CommandRunner::new("tar")
            .args(&["-xzf", &it.package().display().to_string()])
            .in_folder(&folder)
            .stdout()?;
    }
    Ok(())
}

/// Packages all crates and checks the contents; returns how many there are.
pub(crate) fn check() -> Result<usize, String> {
    let crates = published_crates()?;
    package_all(&crates, LockFiles::Omitted)?;
    check_contents(&crates)?;
    Ok(crates.len())
}

/// Fails if a package lacks a file, or requires a version that is not that of the workspace.
pub(crate) fn check_contents(crates: &[Crate]) -> Result<(), String> {
    let mut problems = Vec::new();
    for it in crates {
        let found = find_problems(it, crates)?;
        problems.extend(found.into_iter().map(|problem| format!("{}: {problem}", it.name)));
    }
    for problem in &problems {
        println!("{problem}");
    }
    match problems.len() {
        0 => Ok(()),
        count => Err(format!("{count} things are wrong with the packages")),
    }
}

/// Files of a crate that its package does not need.
const UNPACKAGED: [&str; 2] = ["tests/", "examples/"];

fn find_problems(it: &Crate, crates: &[Crate]) -> Result<Vec<String>, String> {
    let unpacked = it.unpacked();
    let mut files = BTreeSet::new();
    collect_files(&unpacked, &unpacked, &mut files)?;
    let mut problems = Vec::new();
    let tracked = CommandRunner::new("git").args(&["ls-files", &it.folder]).stdout()?;
    for file in tracked.lines() {
        let file = file.strip_prefix(&it.folder).unwrap_or(file).trim_start_matches('/');
        let is_deleted = !workspace_root().join(&it.folder).join(file).exists();
        if !is_deleted && !files.contains(file) && !UNPACKAGED.iter().any(|it| file.starts_with(it))
        {
            problems.push(format!("{file} is not in the package"));
        }
    }
    for file in files.iter().filter(|file| file.ends_with(".rs")) {
        let source = fs::read_to_string(unpacked.join(file))
            .map_err(|error| format!("{}: {error}", unpacked.join(file).display()))?;
        for included in included_files(&source) {
            let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
            if !unpacked.join(folder).join(included).is_file() {
                problems.push(format!("{file} includes {included}, which is not in the package"));
            }
        }
    }
    let manifest = fs::read_to_string(unpacked.join("Cargo.toml"))
        .map_err(|error| format!("{}: {error}", unpacked.display()))?;
    for (name, version) in required_versions(&manifest) {
        if let Some(other) = crates.iter().find(|other| other.name == name)
            && other.version != version
        {
            let actual = &other.version;
            problems.push(format!("requires {name} {version}, while the workspace has {actual}"));
        }
    }
    Ok(problems)
}

/// The files below `folder`, as paths from `root`.
pub(crate) fn collect_files(
    root: &Path,
    folder: &Path,
    files: &mut BTreeSet<String>,
) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            collect_files(root, &path, files)?;
        } else {
            let path = path.strip_prefix(root).unwrap_or(&path);
            files.insert(path.display().to_string());
        }
    }
    Ok(())
}

/// The literals of `include_str!` and `include_bytes!`, except those that only doc tests of the workspace read.
fn included_files(source: &str) -> Vec<&str> {
    let literal = |text| str::split_once(text, '"').map(|(literal, _)| literal);
    let is_outside = |file: &&str| file.starts_with("../../");
    ["include_str!(\"", "include_bytes!(\""]
        .iter()
        .flat_map(|start| source.split(start).skip(1))
        .filter_map(literal)
        .filter(|file| !is_outside(file) || !source.contains("doctest"))
        .collect()
}

/// The dependencies in a manifest as Cargo has written it, with the versions that they require.
fn required_versions(manifest: &str) -> Vec<(&str, &str)> {
    let mut versions = Vec::new();
    let mut dependency = None;
    for line in manifest.lines() {
        if let Some(table) = line.strip_prefix('[') {
            let (kind, name) = table.trim_end_matches(']').rsplit_once('.').unwrap_or_default();
            dependency = kind.ends_with("dependencies").then_some(name);
        } else if let Some(name) = dependency
            && let Some(version) = line.strip_prefix("version = ")
        {
            versions.push((name, version.trim_matches('"')));
        }
    }
    versions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_the_tables_of_dependencies() {
        let manifest = "[package]\nversion = \"9.9.9\"\n\n[dependencies.toolwright-core]\nversion = \"0.1.0\"\n\
                        features = [\"toml\"]\n\n[target.\"cfg(unix)\".dependencies.rustix]\nversion = \"1.1\"\n\
                        [features]\nversion = \"no\"\n";
        assert_eq!(required_versions(manifest), [("toolwright-core", "0.1.0"), ("rustix", "1.1")]);
    }

    #[test]
    fn pages_outside_of_the_package_are_for_doc_tests_only() {
        let macros = [concat!("include_", "str!"), concat!("include_", "bytes!")];
        let [text, bytes] = macros;
        let source = format!("{text}(\"new/tools.rs.txt\") {bytes}(\"../../../README.md\")");
        assert_eq!(included_files(&source), ["new/tools.rs.txt", "../../../README.md"]);
        assert_eq!(included_files(&format!("#[cfg(doctest)] {source}")), ["new/tools.rs.txt"]);
    }
}
