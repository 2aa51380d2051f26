//! The path of one message in ARCHITECTURE.md names files and functions that exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

const PAGE: &str = include_str!("../../ARCHITECTURE.md");

/// The stops of a path: `` **crate** `file` function, function → `file` function ``.
fn stops(path: &str) -> Vec<(PathBuf, Vec<&str>)> {
    let mut folder = String::new();
    let mut stops = Vec::new();
    for stop in path.split(" → ") {
        let mut stop = stop.trim();
        if let Some((name, rest)) = stop.strip_prefix("**").and_then(|stop| stop.split_once("** "))
        {
            folder = match name {
                "console" => "crates/server/console/js".to_owned(),
                name => format!("crates/{name}/src"),
            };
            stop = rest;
        }
        // Text that is no stop becomes the name of a file that does not exist.
        let parsed = stop.strip_prefix('`').and_then(|stop| stop.split_once("` "));
        let (file, functions) = parsed.unwrap_or((stop, ""));
        stops.push((PathBuf::from(&folder).join(file), functions.split(", ").collect()));
    }
    stops
}

fn defines(source: &str, function: &str) -> bool {
    let definitions =
        [format!("fn {function}"), format!("function {function}"), format!("{function} =")];
    let methods = [format!("{function}("), format!("{function}:")];
    definitions.iter().any(|definition| source.contains(definition))
        || source.lines().any(|line| {
            let line = line.trim_start().trim_start_matches("async ");
            methods.iter().any(|method| line.starts_with(method.as_str()))
        })
}

#[test]
fn the_path_of_a_message_names_files_and_functions_that_exist() {
    let rows = PAGE.lines().filter(|line| line.starts_with("| ") && line.contains(" | **"));
    let paths: Vec<&str> = rows
        .filter_map(|row| row.trim_end_matches(" |").rsplit(" | ").next())
        .filter(|path| path.contains(" → `"))
        .collect();
    let stops: Vec<_> = paths.into_iter().flat_map(stops).collect();
    let mut files = BTreeSet::new();
    let mut functions = 0;
    for (file, names) in &stops {
        let source =
            fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for name in names {
            assert!(defines(&source, name), "{} does not define `{name}`", file.display());
        }
        files.insert(file);
        functions += names.len();
    }
    let counted = format!("{} files, {functions} functions", files.len());
    assert!(PAGE.contains(&counted), "the page should name its counts: {counted}");
}
