//! The pages of `docs/` have every command, setting, feature and dependency that the program and the manifests have.
//!
//! The routes of `docs/http.md` are compared by a test of the server.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use toolwright::chat::{ChatError, ModelError, ModelErrorKind};
use toolwright::server::error_kind;

const COMMANDS_PAGE: &str = "docs/reference/commands.md";
const COMMANDS_HEADING: &str = "# Commands

What `--help` prints, for every command of a program made with [`app!()`](../programs.md) and all features that add commands.
Written by `UPDATE=1 cargo test --test program reference::`.
";

/// Sections of settings, and what precedes their keys on the page.
#[rustfmt::skip]
const SECTIONS: [(&str, &str); 19] = [
    ("", "`"), ("MCP", "MCP."), ("WebSearchTool", "WebSearchTool."), ("cluster", "cluster."), ("console", "console."),
    ("credentials", "credentials."), ("defaults", "`"), ("journal", "journal."), ("login.a", "."), ("mcp", "mcp."),
    ("mcp.oauth", "."), ("mcp.servers.a", "."), ("models", "`"), ("models.openai", "models.VENDOR."), ("quota", "quota."),
    ("scopes.a", "."), ("server", "server."), ("tools", "`"), ("turn", "turn."),
];
/// A key that no section has, and that resembles none: the error lists those that there are.
const UNKNOWN_KEY: &str = "zzzzzzzz";

pub(crate) fn read(page: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).expect(page)
}

/// What the program prints on stdout and stderr.
fn printed(arguments: &[&str]) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    let output = program.args(arguments).env("NO_COLOR", "1").output().unwrap();
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// The first line that `serve` writes to stderr: the error, or the address if it accepts the settings.
fn first_line_of_serve(config: &Path) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    let program = program.arg("--config").arg(config).args(["--model", "demo"]);
    let program = program.args(["--store", "memory:", "serve", "--addr", "127.0.0.1:0"]);
    let mut child = program.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    line
}

/// The packages of the workspace.
fn packages() -> Vec<Value> {
    let args = ["metadata", "--no-deps", "--format-version", "1", "--offline", "--locked"];
    let output = Command::new(env!("CARGO")).args(args).output().unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// The names in the list of commands, without `help`.
fn subcommands(help: &str) -> Vec<&str> {
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let list = list.take_while(|line| !line.is_empty());
    let names = list.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").collect()
}

#[test]
fn the_page_of_commands_is_what_the_program_prints() {
    let mut page = COMMANDS_HEADING.to_owned();
    let mut pending: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(command) = pending.pop() {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let help = printed(&[&words[..], &["--help"]].concat());
        let lines: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
        let title = if words.is_empty() { "toolwright".to_owned() } else { words.join(" ") };
        let level = if words.len() > 1 { "###" } else { "##" };
        page += &format!("\n{level} `{title}`\n\n```text\n{}\n```\n", lines.join("\n"));
        let below = |name: &str| [command.as_slice(), &[name.to_owned()]].concat();
        pending.extend(subcommands(&help).into_iter().rev().map(below));
    }
    assert!(page.contains("\n## `serve`\n") && page.contains("\n### `tools call`\n"));
    if std::env::var_os("UPDATE").is_some() {
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(COMMANDS_PAGE), &page).unwrap();
    }
    let is_same = read(COMMANDS_PAGE) == page;
    assert!(is_same, "{COMMANDS_PAGE} is old: UPDATE=1 cargo test --test program reference::");
}

#[test]
fn the_page_of_settings_has_every_key() {
    let page = read("docs/reference/settings.md");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("toolwright.toml");
    let mut missing = Vec::new();
    for (section, before) in SECTIONS {
        let heading = if section.is_empty() { String::new() } else { format!("[{section}]\n") };
        fs::write(&file, format!("{heading}{UNKNOWN_KEY} = 1\n")).unwrap();
        let error = first_line_of_serve(&file);
        let keys = error.split_once("there are ").expect(&error).1.split(['\n', ';']).next();
        let keys = keys.unwrap_or_default().split(", ");
        let is_missing = |key: &&str| !page.contains(&format!("{before}{key}"));
        missing.extend(keys.filter(is_missing).map(|key| format!("[{section}] {key}")));
    }
    assert!(missing.is_empty(), "docs/reference/settings.md lacks {missing:?}");
}

/// The keys in the first column of the page, with a name for each that is the user's.
pub(crate) fn keys_of_page(page: &str) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for row in page.lines().filter(|line| line.starts_with("| `")) {
        let first = row.split(" | ").next().unwrap_or_default();
        let names = first.split('`').skip(1).step_by(2).filter(|name| !name.contains('…'));
        let mut section = String::new();
        for name in names {
            let name = name.replace("NAME", "a").replace("ROLE", "a");
            let key = match (name.strip_prefix('.'), name.split_once('.')) {
                (Some(name), _) => format!("{section}.{name}"),
                (None, None) if !["model", "system", "store", "prices"].contains(&&*name) => {
                    format!("tools.get_weather.{name}")
                }
                _ => name,
            };
            section =
                key.rsplit_once('.').map_or_else(String::new, |(section, _)| section.to_owned());
            keys.push(key);
        }
    }
    keys
}

#[test]
fn every_key_of_the_page_of_settings_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("toolwright.toml");
    let keys = keys_of_page(&read("docs/reference/settings.md"));
    assert!(keys.len() > 80, "{keys:?}");
    for key in keys {
        let key = key.replace("VENDOR", "openai");
        let below = ["headers", "env", "roles", "grants"].iter().any(|it| key.ends_with(it));
        fs::write(&file, format!("{key}{} = 1\n", if below { ".a.cost_per_day" } else { "" }))
            .unwrap();
        let config = file.to_str().unwrap();
        let printed = printed(&["--config", config, "tools", "show", "get_weather"]);
        assert!(!printed.contains("no such setting"), "{key}: {printed}");
    }
}

#[test]
fn the_columns_of_the_page_of_settings_belong_to_its_keys() {
    let (page, commands) = (read("docs/reference/settings.md"), read(COMMANDS_PAGE));
    let mut checked = 0;
    for row in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split(" | ").collect();
        let key = cells[0].trim_matches(['|', ' ', '`']);
        let name = key.replace("VENDOR", "openai").replace('.', "_").to_uppercase();
        for word in cells.iter().skip(2).take(2).flat_map(|cell| cell.split('`')) {
            if let Some(variable) = word.strip_prefix("TOOLWRIGHT_") {
                assert_eq!(variable, name, "{key}");
                checked += 1;
            } else if word.starts_with("--") {
                assert!(commands.contains(&format!(" {word} ")), "no command has {word}: {key}");
                checked += 1;
            }
        }
    }
    assert!(checked > 10, "{checked} variables and flags");
}

#[test]
fn every_kind_of_error_of_a_model_has_a_place_on_the_page_of_errors() {
    let page = read("docs/reference/errors.md");
    for kind in [
        ModelErrorKind::Auth,
        ModelErrorKind::RateLimit,
        ModelErrorKind::Quota,
        ModelErrorKind::Overloaded,
        ModelErrorKind::BadRequest,
        ModelErrorKind::ContextTooLong,
        ModelErrorKind::ContentFilter,
        ModelErrorKind::Network,
        ModelErrorKind::Timeout,
        ModelErrorKind::Protocol,
        ModelErrorKind::Forbidden,
    ] {
        let name = error_kind(&ChatError::Model(ModelError::new(kind, "")));
        assert!(page.contains(&format!("<a id=\"{name}\"></a>")), "{name}");
    }
}

#[test]
fn every_dependency_has_its_reason_on_the_page() {
    let page = read("docs/decisions/dependencies.md");
    let words: Vec<&str> =
        page.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_').collect();
    let packages = packages();
    let dependencies = packages.iter().flat_map(|it| it["dependencies"].as_array().unwrap());
    let foreign = dependencies.filter(|dependency| dependency["source"].is_string());
    let mut missing: Vec<&str> =
        foreign.map(|it| it["name"].as_str().unwrap()).filter(|it| !words.contains(it)).collect();
    missing.sort_unstable();
    missing.dedup();
    assert!(missing.is_empty(), "docs/decisions/dependencies.md has no reason for {missing:?}");
}

#[test]
fn the_row_of_a_feature_has_the_crates_that_it_adds() {
    let page = read("docs/features.md");
    let packages = packages();
    let facade = packages.iter().find(|package| package["name"] == "toolwright").unwrap();
    for (feature, items) in facade["features"].as_object().unwrap() {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{feature}` |")));
        let items = items.as_array().unwrap().iter().filter_map(Value::as_str);
        for name in items.filter_map(|item| item.strip_prefix("dep:")) {
            let is_shown = row.is_some_and(|row| row.contains(&format!("`{name}`")));
            assert!(feature == "macros" || is_shown, "docs/features.md: {feature} adds {name}");
        }
    }
}
