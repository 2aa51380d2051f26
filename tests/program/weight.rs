//! The crates that each feature of the facade compiles are those that `docs/features.md` shows.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// A feature that adds more crates than this beyond its row is a decision: change the row in the same commit.
const TOLERANCE: usize = 5;

/// The most crates that these features may compile, core and macros included.
const LIMITS: [(&str, usize); 2] = [("mcp", 110), ("cli", 225)];

#[test]
fn the_core_has_the_crates_that_the_page_shows() {
    let page = read("docs/features.md");
    let shown =
        page.split_once(" adds to the ").and_then(|(_, rest)| rest.split_once(" of the core"));
    let (shown, _) = shown.expect("the number of crates of the core");
    let shown: usize = shown.parse().expect("a number");
    let core = count_crates("");
    assert!(
        core.abs_diff(shown) <= TOLERANCE,
        "the core compiles {core} crates, shown are {shown}"
    );
}

#[test]
fn no_feature_adds_more_crates_than_its_row_shows() {
    let core = count_crates("");
    let rows = rows();
    assert!(rows.len() > 10, "docs/features.md has a table");
    let wrong: Vec<String> = rows
        .iter()
        .map(|(features, shown)| (features, shown, count_crates(features) - core))
        .filter(|(_, shown, adds)| adds.abs_diff(**shown) > TOLERANCE)
        .map(|(features, shown, adds)| format!("{features}: {adds}, shown are {shown}"))
        .collect();
    assert!(
        wrong.is_empty(),
        "crates that features add (docs/features.md):\n  {}",
        wrong.join("\n  ")
    );
}

#[test]
fn a_server_and_a_program_stay_light() {
    for (features, limit) in LIMITS {
        let count = count_crates(features);
        assert!(count <= limit, "`{features}` compiles {count} crates, more than {limit}");
    }
}

#[test]
fn every_feature_has_a_row() {
    let manifest = read("crates/toolwright/Cargo.toml");
    let (_, features) = manifest.split_once("\n[features]\n").expect("a section of features");
    let (features, _) = features.split_once("\n[").expect("a section after it");
    let features = features.lines().filter_map(|line| line.split_once(" = ["));
    let features: BTreeSet<&str> = features.map(|(name, _)| name).collect();
    let rows = rows();
    let shown: BTreeSet<&str> =
        rows.iter().flat_map(|(names, _)| names.split(',')).chain(["default", "macros"]).collect();
    assert_eq!(features, shown);
}

/// The rows of the table: the names of features, separated by commas, and the number of crates that they add.
fn rows() -> Vec<(String, usize)> {
    let text = read("docs/features.md");
    let rows = text.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.trim_end_matches(" |").split(" | ");
        let features = cells.next()?.replace(['`', ' '], "");
        Some((features, cells.last()?.parse().ok()?))
    });
    rows.collect()
}

fn read(path: &str) -> String {
    fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).expect(path)
}

/// The number of distinct crates that the facade compiles with `macros` and these features.
fn count_crates(features: &str) -> usize {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["tree", "--locked", "--offline", "--package=toolwright", "--edges=normal"])
        .args(["--target=x86_64-unknown-linux-gnu", "--prefix=none", "--no-default-features"])
        .args(["--format={p}", &format!("--features=macros,{features}")])
        .output()
        .expect("cargo");
    if !output.status.success() {
        panic!("cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // A crate that is shown again has ` (*)` after its version.
    text.lines().map(|line| line.split(" (").next()).collect::<BTreeSet<_>>().len()
}
