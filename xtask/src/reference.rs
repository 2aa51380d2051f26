//! Compares the pages of `docs/` with what the program and its manifests say: commands, settings, features, dependencies.
//!
//! The routes of `docs/http.md` are compared by a test of the server, which knows them.

use std::time::Duration;

use serde_json::Value;

use crate::files::{read, write};
use crate::metadata::{list, packages, text};
use crate::process::Program;
use crate::suites::EVERYTHING;

const PROGRAM: &str = "target/debug/toolwright";
const COMMANDS_PAGE: &str = "docs/reference/commands.md";
const SETTINGS_PAGE: &str = "docs/reference/settings.md";
const FEATURES_PAGE: &str = "docs/features.md";
const DEPENDENCIES_PAGE: &str = "docs/decisions/dependencies.md";

const COMMANDS_HEADING: &str = "# Commands

What `--help` prints, for every command of a program made with [`app!()`](../programs.md) and all features that add commands.
Written by `UPDATE=1 cargo xtask test reference`.
";

/// Sections of settings, and what precedes their keys on the page.
#[rustfmt::skip]
const SECTIONS: [(&str, &str); 18] = [
    ("", "`"), ("MCP", "MCP."), ("WebSearchTool", "WebSearchTool."), ("cluster", "cluster."), ("console", "console."),
    ("credentials", "credentials."), ("defaults", "`"), ("journal", "journal."), ("login.a", "."), ("mcp", "mcp."),
    ("mcp.oauth", "."), ("mcp.servers.a", "."), ("models", "`"), ("models.openai", "models.VENDOR."), ("quota", "quota."),
    ("scopes.a", "."), ("server", "server."), ("tools", "`"),
];
const CONFIG: &str = "target/reference/toolwright.toml";
/// A key that no section has, and that resembles none: the error lists those that there are.
const UNKNOWN_KEY: &str = "zzzzzzzz";

/// Checks all pages; with the variable `UPDATE`, writes the one that is generated.
pub(crate) fn check() -> Result<String, String> {
    // The example switches on the features of dev-dependencies, so that nothing is compiled that the tests have not compiled.
    let program = ["--quiet", "--bin", "toolwright", "--example", "01_one_tool"];
    Program::cargo("build", &EVERYTHING).args(&program).run()?;
    let page = commands_page()?;
    let mut problems = Vec::new();
    if std::env::var_os("UPDATE").is_some() {
        write(COMMANDS_PAGE, &page)?;
    } else if read(COMMANDS_PAGE)? != page {
        problems.push(format!("{COMMANDS_PAGE} is old: UPDATE=1 cargo xtask test reference"));
    }
    let settings = read(SETTINGS_PAGE)?;
    problems.extend(missing_settings(&settings)?);
    problems.extend(wrong_columns(&settings, &page));
    problems.extend(missing_in_manifests()?);
    problems.iter().for_each(|problem| println!("{problem}"));
    match problems.len() {
        0 => Ok("all there".to_owned()),
        count => Err(format!("{count} differences")),
    }
}

/// The help of every command, in the order of the program's own.
fn commands_page() -> Result<String, String> {
    let mut page = COMMANDS_HEADING.to_owned();
    let mut pending: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(command) = pending.pop() {
        let help = Program::new(PROGRAM).args(&command).args(&["--help"]).env("NO_COLOR", "1");
        let help = help.stdout()?;
        let lines: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
        let title = if command.is_empty() { "toolwright".to_owned() } else { command.join(" ") };
        let level = if command.len() > 1 { "###" } else { "##" };
        page += &format!("\n{level} `{title}`\n\n```text\n{}\n```\n", lines.join("\n"));
        let names = subcommands(&lines).into_iter().rev();
        pending.extend(names.map(|name| [command.as_slice(), &[name.to_owned()]].concat()));
    }
    Ok(page)
}

/// The names in the list of commands, without `help`.
fn subcommands<'h>(help: &[&'h str]) -> Vec<&'h str> {
    let list = help.iter().skip_while(|line| **line != "Commands:").skip(1);
    let list = list.take_while(|line| !line.is_empty());
    let names = list.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").collect()
}

/// The settings that the program knows, and the page does not have.
fn missing_settings(page: &str) -> Result<Vec<String>, String> {
    let mut missing = Vec::new();
    for (section, before) in SECTIONS {
        let heading = if section.is_empty() { String::new() } else { format!("[{section}]\n") };
        write(CONFIG, &format!("{heading}{UNKNOWN_KEY} = 1\n"))?;
        let serve =
            ["--config", CONFIG, "--model", "demo", "--store", "memory:", "serve", "--port", "0"];
        let (error, _) = Program::new(PROGRAM).args(&serve).capture(Duration::from_secs(60))?;
        let keys = listed_keys(&error);
        if keys.is_empty() {
            return Err(format!("no list of the keys of [{section}] in: {error}"));
        }
        let is_missing = |key: &&str| !page.contains(&format!("{before}{key}"));
        let keys = keys.into_iter().filter(is_missing);
        missing.extend(keys.map(|key| format!("{SETTINGS_PAGE} lacks {key} of [{section}]")));
    }
    Ok(missing)
}

/// The keys in `error: …; there are KEY, KEY; …`.
fn listed_keys(error: &str) -> Vec<&str> {
    let list = error.split_once("there are ").map_or("", |(_, rest)| rest);
    let list = list.split(['\n', ';']).next().unwrap_or_default();
    list.split(", ").filter(|key| !key.is_empty()).collect()
}

/// Rows of the tables of settings whose variable is not that of their key, or whose flag no command has.
fn wrong_columns(page: &str, commands: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for row in page.lines().filter(|line| line.starts_with("| `")) {
        let mut cells = row.split(" | ");
        let key = cells.next().unwrap_or_default().trim_matches(['|', ' ', '`']);
        let name = key.replace("VENDOR", "openai").replace('.', "_").to_uppercase();
        let words =
            cells.clone().nth(1).into_iter().chain(cells.nth(2)).flat_map(|it| it.split('`'));
        let is_wrong = |word: &&str| match word.strip_prefix("TOOLWRIGHT_") {
            Some(variable) => variable != name,
            None => word.starts_with("--") && !commands.contains(&format!(" {word} ")),
        };
        let wrong = words.filter(is_wrong);
        problems
            .extend(wrong.map(|word| format!("{SETTINGS_PAGE}: {word} does not belong to {key}")));
    }
    problems
}

/// Dependencies on other people's crates without a reason; features of the facade whose row lacks a crate that they add.
fn missing_in_manifests() -> Result<Vec<String>, String> {
    let (dependencies, features) = (read(DEPENDENCIES_PAGE)?, read(FEATURES_PAGE)?);
    let words: Vec<&str> =
        dependencies.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_').collect();
    let mut missing = Vec::new();
    for package in packages()? {
        let foreign = list(&package.entry, "dependencies").iter();
        let foreign =
            foreign.filter(|it| !text(it, "source").is_empty()).map(|it| text(it, "name"));
        let without_reason = foreign.filter(|name| !words.contains(name));
        missing.extend(without_reason.map(|name| format!("{DEPENDENCIES_PAGE} lacks {name}")));
        let enabled = package.entry.get("features").and_then(Value::as_object);
        let enabled = enabled.filter(|_| package.name == "toolwright").into_iter().flatten();
        for (feature, items) in enabled.filter(|(feature, _)| *feature != "macros") {
            let row = features.lines().find(|line| line.starts_with(&format!("| `{feature}` |")));
            let items = items.as_array().into_iter().flatten().filter_map(Value::as_str);
            let crates = items.filter_map(|item| item.strip_prefix("dep:"));
            let not_shown = crates.filter(|name| !row.is_some_and(|row| row.contains(name)));
            missing.extend(not_shown.map(|it| format!("{FEATURES_PAGE} lacks {it} for {feature}")));
        }
    }
    Ok(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_keys_are_read_from_what_the_program_prints() {
        let help =
            "About\n\nCommands:\n  serve  Serve\n  tools  List\n  help   Print\n\nOptions:\n  -h";
        assert_eq!(subcommands(&help.lines().collect::<Vec<_>>()), ["serve", "tools"]);
        let error = "error: no such setting; there are model, store; a tool has its own\n";
        assert_eq!(listed_keys(error), ["model", "store"]);
        assert!(listed_keys("listening\n").is_empty());
    }

    #[test]
    fn settings_with_another_variable_or_flag_are_found() {
        let row = "| `a.b` | 1 | `TOOLWRIGHT_A_B` | `--at` | `--what` |\n";
        assert!(wrong_columns(row, "      --at <X>\n").is_empty());
        let wrong = wrong_columns(&row.replace("_A_B", "_AB").replace("--at", "--to"), "");
        let expected = ["TOOLWRIGHT_AB", "--to"]
            .map(|it| format!("{SETTINGS_PAGE}: {it} does not belong to a.b"));
        assert_eq!(wrong, expected);
    }
}
