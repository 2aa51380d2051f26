//! Compares the public items of every published crate with those in `api/`, and wants a word in CHANGELOG.md when they change.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::command_runner::{CommandRunner, cargo_command, workspace_root};
use crate::files::{copy, read, remove_dir, write};
use crate::packages::{self, published_crates};

/// A file per crate, with a line per public item.
const FOLDER: &str = "api";
/// The program that reads the JSON of rustdoc.
pub(crate) const LINES_MANIFEST: &str = "xtask/api-lines/Cargo.toml";
const CHANGELOG: &str = "CHANGELOG.md";
/// How many changed lines of a crate are printed.
const SHOWN_LINES: usize = 20;

/// Checks every crate; with the variable `UPDATE`, writes the files. Returns the number of items.
pub(crate) fn check() -> Result<usize, String> {
    let json = workspace_root().join("target/api/json");
    write_rustdoc_json(&workspace_root(), &target_folder()?, &json)?;
    let target_dir = ["--target-dir", "target/api-lines", "--quiet"];
    cargo_command("build", &["--manifest-path", LINES_MANIFEST])
        .args(&target_dir)
        .run_inherited()?;
    let update = std::env::var_os("UPDATE").is_some();
    let (mut items, mut changed) = (0, Vec::new());
    let crates = published_crates()?;
    for it in &crates {
        let file = json.join(format!("{}.json", it.name.replace('-', "_")));
        let lines = CommandRunner::new("target/api-lines/debug/api-lines")
            .arg(&file.display().to_string())
            .stdout()?;
        items += lines.lines().count();
        let snapshot = format!("{FOLDER}/{}.txt", it.name);
        // A new crate has none.
        let before = read(&snapshot).unwrap_or_default();
        if before == lines {
            continue;
        }
        if update {
            write(&workspace_root().join(&snapshot), lines.as_bytes())?;
        } else {
            print_difference(&it.name, &before, &lines);
            changed.push(it.name.as_str());
        }
    }
    if !changed.is_empty() {
        return Err(format!(
            "the public items of {} are not those in {FOLDER}/: if that is intended, write it into {CHANGELOG}, then \
             UPDATE=1 cargo xtask test api",
            changed.join(", ")
        ));
    }
    remove_old_snapshots(&crates.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), update)?;
    check_changelog()?;
    Ok(items)
}

/// Where Cargo builds the workspace.
pub(crate) fn target_folder() -> Result<PathBuf, String> {
    let metadata = packages::metadata(&["--no-deps"])?;
    Ok(PathBuf::from(packages::text(&metadata, "target_directory")))
}

/// Writes the JSON of rustdoc for every published crate of a checkout into a folder.
///
/// Each checkout needs a target folder of its own: Cargo would take the crates of one for those of the other.
pub(crate) fn write_rustdoc_json(
    checkout: &Path,
    target: &Path,
    folder: &Path,
) -> Result<(), String> {
    let manifest = checkout.join("Cargo.toml").display().to_string();
    let names: Vec<String> = published_crates()?
        .iter()
        .map(|it| format!("{}.json", it.name.replace('-', "_")))
        .collect();
    for name in &names {
        // What another revision has left.
        let _ = fs::remove_file(target.join("doc").join(name));
    }
    // The format is unstable, so rustdoc wants the variable. Cargo must not see it: build scripts would run again, and with them
    // every crate be compiled once more.
    let wrapper = workspace_root().join("target/api/rustdoc");
    write(&wrapper, b"#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc \"$@\"\n")?;
    make_executable(&wrapper)?;
    // Cargo looks for HTML to decide whether rustdoc has to run; a flag of its own for each run lets it always run.
    let run = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let flags = format!("-Z unstable-options --output-format json --cfg run_{run}");
    // The packages and features of the step `doc`, so that their dependencies are compiled once.
    let all = ["--workspace", "--no-deps", "--all-features", "--lib", "--quiet"];
    cargo_command("doc", &all)
        .args(&["--manifest-path", &manifest, "--target-dir", &target.display().to_string()])
        .env("RUSTDOC", &wrapper.display().to_string())
        .env("RUSTDOCFLAGS", &flags)
        .run_inherited()?;
    remove_dir(folder)?;
    for name in &names {
        let from = target.join("doc").join(name);
        // An older checkout may lack a crate.
        if from.is_file() {
            copy(&from, &folder.join(name))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn make_executable(file: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
        .map_err(|error| format!("{}: {error}", file.display()))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> Result<(), String> {
    Err("the public items are compared on Unix only".to_owned())
}

fn print_difference(name: &str, before: &str, now: &str) {
    let removed = lines_only_in(before, now).into_iter().map(|line| format!("- {line}"));
    let added = lines_only_in(now, before).into_iter().map(|line| format!("+ {line}"));
    let lines: Vec<String> = removed.chain(added).collect();
    println!("{name}: {} lines differ", lines.len());
    for line in lines.iter().take(SHOWN_LINES) {
        println!("  {line}");
    }
    if lines.len() > SHOWN_LINES {
        println!("  …");
    }
}

/// The lines of a text that another does not have.
fn lines_only_in<'t>(text: &'t str, other: &str) -> Vec<&'t str> {
    let others: std::collections::HashSet<&str> = other.lines().collect();
    text.lines().filter(|line| !others.contains(line)).collect()
}

/// A file of a crate that is gone is removed with `UPDATE`, and a failure without.
fn remove_old_snapshots(names: &[&str], update: bool) -> Result<(), String> {
    let folder = workspace_root().join(FOLDER);
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
        if name.is_some_and(|name| names.contains(&name.as_str())) {
            continue;
        }
        if !update {
            return Err(format!("{} is of a crate that is not published", path.display()));
        }
        fs::remove_file(&path).map_err(failed)?;
    }
    Ok(())
}

/// Fails if CHANGELOG.md is as it was before the snapshots were changed the last time.
fn check_changelog() -> Result<(), String> {
    let git = |args: &[&str]| CommandRunner::new("git").args(args);
    let is_changed_since =
        |commit: &str, path: &str| !git(&["diff", "--quiet", commit, "--", path]).succeeds();
    let pending = is_changed_since("HEAD", FOLDER)
        || !git(&["ls-files", "--others", "--exclude-standard", FOLDER]).stdout()?.is_empty();
    let base = match pending {
        true => "HEAD".to_owned(),
        false => match git(&["log", "-1", "--format=%H", "--", FOLDER]).stdout()?.trim() {
            "" => return Ok(()),
            commit => format!("{commit}^"),
        },
    };
    if !git(&["rev-parse", "--verify", "--quiet", &base]).succeeds() {
        println!("skipped: whether {CHANGELOG} has changed, because the history is not complete");
        return Ok(());
    }
    match is_changed_since(&base, CHANGELOG) {
        true => Ok(()),
        false => Err(format!("the public items have changed, and {CHANGELOG} does not mention it")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_is_what_one_side_has_alone() {
        let (before, now) = ("pub fn a()\npub fn b()\n", "pub fn b()\npub fn c()\n");
        assert_eq!(lines_only_in(before, now), ["pub fn a()"]);
        assert_eq!(lines_only_in(now, before), ["pub fn c()"]);
    }
}
