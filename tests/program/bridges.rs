//! The rules for bridges: the same files, the same sections in their READMEs, a maximum size, no duplicate code.
//!
//! Their behaviour is tested in their own workspace; here only their files are read, so no framework is built.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of every bridge.
const FILES: [&str; 7] = [
    "Cargo.toml",
    "README.md",
    "examples/assistant.rs",
    "src/lib.rs",
    "src/result.rs",
    "src/tools.rs",
    "tests/main/conformance.rs",
];

/// The entries of `bridges` that are not bridges.
const NO_BRIDGES: [&str; 3] = ["conformance", "sample", "target"];

/// The sections of its README, in this order; the fourth is about tools or a loop.
const HEADINGS: [&str; 3] = ["## Set up", "## A program", "## What comes across"];

/// The maximum of code lines in `src`.
const MAX_CODE_LINES: usize = 200;

/// Optional files that do not count: a model for the chat, the events of a foreign agent.
const EXTRA_FILES: [&str; 3] = ["src/events.rs", "src/model.rs", "src/model/"];

/// As many equal lines in two bridges are duplicate code.
const DUPLICATE_BLOCK_LINES: usize = 6;

struct Bridge {
    name: String,
    folder: PathBuf,
}

impl Bridge {
    fn read(&self, file: &str) -> String {
        let path = self.folder.join(file);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The trimmed code lines of each Rust file below a folder; not blank lines, comments and names of lints.
    fn code(&self, folder: &str) -> Vec<(PathBuf, Vec<String>)> {
        let mut files = Vec::new();
        rust_files(&self.folder.join(folder), &mut files);
        let code = |path: PathBuf| {
            let text = fs::read_to_string(&path).expect("a file that was listed");
            let lines = text.lines().map(str::trim);
            let silent = |line: &str| ["//", "clippy::"].iter().any(|it| line.starts_with(it));
            let lines = lines.filter(|line| !line.is_empty() && !silent(line));
            let lines = lines.map(str::to_owned).collect();
            (path, lines)
        };
        files.into_iter().map(code).collect()
    }
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            files.push(path);
        }
    }
    files.sort();
}

fn bridges() -> Vec<Bridge> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("bridges");
    let entries = fs::read_dir(folder).expect("the folder of the bridges");
    let mut bridges: Vec<Bridge> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_dir())
        .map(|entry| Bridge {
            name: entry.file_name().to_string_lossy().into_owned(),
            folder: entry.path(),
        })
        .filter(|bridge| !NO_BRIDGES.contains(&bridge.name.as_str()))
        .collect();
    bridges.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(bridges.len() >= 6, "the bridges are in `bridges`");
    bridges
}

#[test]
fn every_bridge_has_the_same_files() {
    for bridge in bridges() {
        for file in FILES {
            assert!(
                bridge.folder.join(file).is_file(),
                "bridges/{}/{file} is missing",
                bridge.name
            );
        }
    }
}

#[test]
fn every_page_has_the_same_shape() {
    for bridge in bridges() {
        let page = bridge.read("README.md");
        let mut headings = page.lines().filter(|line| line.starts_with('#'));
        let name = &bridge.name;
        let title = headings.next().unwrap_or_default();
        assert!(title.starts_with("# Using Toolwright from "), "{name}: {title}");
        // In code blocks, `#` starts a comment or an attribute.
        let sections: Vec<&str> = headings.filter(|line| line.starts_with("## ")).collect();
        let [first, second, third, fourth, fifth] = sections.as_slice() else {
            panic!("{name}: five sections, not {sections:?}");
        };
        assert_eq!([*first, *second, *third], HEADINGS, "{name}");
        let either = ["## The other way", "## A call loop"];
        assert!(either.contains(fourth), "{name}: {fourth}");
        assert_eq!(*fifth, "## Good to know", "{name}");
    }
}

#[test]
fn the_program_on_a_page_is_the_one_that_runs() {
    for bridge in bridges() {
        let source = bridge.read("examples/assistant.rs");
        let start = source.find("\nuse ").expect("a program uses something") + 1;
        let program = source.get(start..).unwrap_or_default();
        assert!(
            bridge.read("README.md").contains(program),
            "bridges/{0}/README.md does not show bridges/{0}/examples/assistant.rs as it is",
            bridge.name
        );
    }
}

#[test]
fn a_bridge_is_small() {
    for bridge in bridges() {
        let is_more = |path: &Path| {
            let path = path.strip_prefix(&bridge.folder).unwrap_or(path);
            let path = path.to_string_lossy();
            EXTRA_FILES.iter().any(|more| path.starts_with(more))
        };
        let mut code = bridge.code("src");
        code.retain(|(path, _)| !is_more(path));
        let lines: usize = code.iter().map(|(_, lines)| lines.len()).sum();
        let name = &bridge.name;
        assert!(lines > 0, "bridges/{name} has no code");
        assert!(lines < MAX_CODE_LINES, "bridges/{name} has {lines} lines of code");
        println!("bridges/{name}: {lines} lines of code");
    }
}

#[test]
fn nothing_is_written_in_two_bridges() {
    let mut seen: HashMap<Vec<String>, (String, PathBuf)> = HashMap::new();
    let mut twice = Vec::new();
    for bridge in bridges() {
        let folders = ["src", "tests", "examples"];
        for (path, lines) in folders.iter().flat_map(|folder| bridge.code(folder)) {
            for block in lines.windows(DUPLICATE_BLOCK_LINES) {
                let first = seen
                    .entry(block.to_vec())
                    .or_insert_with(|| (bridge.name.clone(), path.clone()));
                if first.0 != bridge.name {
                    let (first, second) = (first.1.display(), path.display());
                    twice.push(format!("{first} and {second}:\n    {}", block.join("\n    ")));
                }
            }
        }
    }
    assert!(twice.is_empty(), "{}", twice.join("\n"));
}
