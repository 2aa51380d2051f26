//! Finds forbidden strings in the files of the workspace.
//!
//! The strings are concatenated here, so that this file has no findings.

use std::fs;
use std::path::Path;

use crate::command_runner::{CommandRunner, workspace_root};

/// Unfinished or panicking code: forbidden in code that users' programs run.
const FORBIDDEN_IN_SHIPPED_CODE: [&str; 3] =
    [concat!(".unw", "rap()"), concat!("to", "do!"), concat!("unimpl", "emented!")];
/// Tests that do not run are forbidden in all files.
const FORBIDDEN_IN_ALL_RUST: &str = concat!("#[", "ignore");
const FENCE: &str = "```";

/// Root folders whose content is specific to one machine.
const LOCAL_PATH_ROOTS: [&str; 5] = ["home", "root", "tmp", "work", "Users"];
const REGISTRY_HOSTS: [&str; 6] = [
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("registry.npmjs", ".org"),
    concat!("pypi", ".org"),
    concat!("files.pythonhosted", ".org"),
    concat!("proxy.golang", ".org"),
];
const LOCK_SOURCE: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// A line with a forbidden string.
#[derive(Debug, PartialEq)]
pub(crate) struct Finding {
    pub(crate) line: usize,
    /// The string, and why it is forbidden.
    pub(crate) fault: String,
}

/// Scans all tracked and untracked files that are not ignored; returns how many were read.
pub(crate) fn check() -> Result<usize, String> {
    let files = tracked_files()?;
    let (mut read, mut found) = (0, 0);
    for file in &files {
        // Binary files, and files that are deleted but still in the index.
        let Ok(text) = fs::read_to_string(workspace_root().join(file)) else {
            continue;
        };
        read += 1;
        for finding in scan(file, &text) {
            found += 1;
            println!("{file}:{}: {}", finding.line, finding.fault);
        }
    }
    match found {
        0 => Ok(read),
        _ => Err(format!("{found} lines hold what must not be there")),
    }
}

/// The findings in one file; `file` is its path from the root, with `/` as separator.
pub(crate) fn scan(file: &str, text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    let rust = file.ends_with(".rs");
    let shipped = rust && !is_test_or_example(file);
    let mut test_items = TestItemTracker::default();
    for (index, line) in text.lines().enumerate() {
        let in_test = test_items.is_test_line(line);
        let mut faults = Vec::new();
        if shipped && !in_test && doc_text(line).is_none() {
            let needles = FORBIDDEN_IN_SHIPPED_CODE.iter().filter(|needle| line.contains(*needle));
            faults.extend(needles.map(|needle| format!("`{needle}` outside tests and examples")));
        }
        if rust && line.contains(FORBIDDEN_IN_ALL_RUST) {
            faults.push(format!("`{FORBIDDEN_IN_ALL_RUST}…`: every test runs"));
        }
        if rust && is_ignored_doc_test(line) {
            faults.push("a doc test that does not run".to_owned());
        }
        if let Some(folder) = find_local_path(line) {
            faults.push(format!("a path under /{folder}, which is of one machine"));
        }
        let hosts = REGISTRY_HOSTS.iter().filter(|host| line.contains(*host));
        faults.extend(hosts.map(|host| format!("the registry host {host}")));
        if file.ends_with("Cargo.lock") && is_nonstandard_registry(line) {
            faults.push("a package from another registry".to_owned());
        }
        found.extend(faults.into_iter().map(|fault| Finding { line: index + 1, fault }));
    }
    found
}

fn is_test_or_example(file: &str) -> bool {
    let (folders, name) = file.rsplit_once('/').unwrap_or(("", file));
    let unshipped_folders = ["bench", "tests", "examples", "benches", "fuzz", "conformance"];
    name == "tests.rs" || folders.split('/').any(|folder| unshipped_folders.contains(&folder))
}

/// Tracks `#[cfg(test)]` items by the indentation of rustfmt.
#[derive(Default)]
enum TestItemTracker {
    #[default]
    Outside,
    /// After the attribute, before the item's body; with the indentation.
    Announced(usize),
    /// In the body, up to a `}` at this indentation.
    Inside(usize),
}

impl TestItemTracker {
    /// Returns true if the next line of the file belongs to a test item.
    fn is_test_line(&mut self, line: &str) -> bool {
        let text = line.trim();
        let indent = line.len() - line.trim_start().len();
        match *self {
            Self::Outside => {
                if !(text.starts_with("#[cfg(test)]") || text.starts_with("#[cfg(all(test,")) {
                    return false;
                }
                *self = Self::Announced(indent);
            }
            Self::Announced(depth) if indent == depth && !text.starts_with("#[") => {
                if text.ends_with([';', ',']) || text.ends_with('}') && text.contains('{') {
                    *self = Self::Outside;
                } else if text.ends_with('{') {
                    *self = Self::Inside(depth);
                }
            }
            Self::Inside(depth) if indent == depth && text.starts_with('}') => {
                *self = Self::Outside;
            }
            Self::Announced(_) | Self::Inside(_) => {}
        }
        true
    }
}

/// The text of a doc comment, whose code is an example.
fn doc_text(line: &str) -> Option<&str> {
    let text = line.trim_start();
    text.strip_prefix("///").or(text.strip_prefix("//!"))
}

fn is_ignored_doc_test(line: &str) -> bool {
    doc_text(line).and_then(|doc| doc.trim().strip_prefix(FENCE)).is_some_and(|language| {
        language.split([',', ' ']).any(|word| word == "ignore" || word.starts_with("ignore-"))
    })
}

/// The root folder of an absolute path in this line, if it is one of [`LOCAL_PATH_ROOTS`].
fn find_local_path(line: &str) -> Option<&'static str> {
    LOCAL_PATH_ROOTS.into_iter().find(|folder| {
        let needle = format!("/{folder}/");
        line.match_indices(&needle).any(|(at, _)| {
            let before = line.get(..at).unwrap_or_default();
            let after = line.get(at + needle.len()..).unwrap_or_default();
            // Not inside of a longer path or a URL.
            let absolute = before.ends_with("file://")
                || !before.ends_with(|c: char| c.is_alphanumeric() || "/._-~*}>)]".contains(c));
            absolute && after.starts_with(|c: char| c.is_alphanumeric() || "._-{$<".contains(c))
        })
    })
}

fn is_nonstandard_registry(line: &str) -> bool {
    line.strip_prefix("source = \"").is_some_and(|source| {
        (source.starts_with("registry+") || source.starts_with("sparse+"))
            && source.trim_end_matches('"') != LOCK_SOURCE
    })
}

/// The tracked and untracked files that are not ignored; without git, all files outside of `target`.
pub(crate) fn tracked_files() -> Result<Vec<String>, String> {
    let git = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    if let Ok(listing) = CommandRunner::from_words(&git).stdout() {
        let names = listing.split('\0').filter(|name| !name.is_empty());
        return Ok(names.map(str::to_owned).collect());
    }
    println!("not a git checkout: reading every file outside target folders");
    let mut files = Vec::new();
    walk(&workspace_root(), "", &mut files)
        .map_err(|error| format!("cannot list the files: {error}"))?;
    Ok(files)
}

fn walk(folder: &Path, prefix: &str, files: &mut Vec<String>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry.file_type()?;
        if kind.is_dir() && name != "target" && name != ".git" {
            walk(&entry.path(), &format!("{prefix}{name}/"), files)?;
        } else if kind.is_file() {
            files.push(format!("{prefix}{name}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
