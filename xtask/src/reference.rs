//! Compares the pages of `docs/reference` with the code that they describe.

use std::collections::BTreeSet;
use std::fs;

use crate::command_runner::{cargo_command, workspace_root};

const COMMANDS_PAGE: &str = "docs/reference/commands.md";
const SETTINGS_PAGE: &str = "docs/reference/settings.md";
const FEATURES_PAGE: &str = "docs/features.md";
const FACADE_MANIFEST: &str = "crates/toolwright/Cargo.toml";
const ROUTES_PAGE: &str = "docs/http.md";
const ROUTES: &str = "crates/server/src/http/mount.rs";
const DEPENDENCIES_PAGE: &str = "docs/decisions/dependencies.md";
const KNOWN_KEYS: &str = "crates/app/src/project/known_keys.rs";

/// Checks all pages; with the variable `UPDATE`, writes the one that is generated.
pub(crate) fn check() -> Result<(), String> {
    check_settings()?;
    check_dependencies()?;
    check_routes()?;
    check_features()?;
    let page = commands_page()?;
    if std::env::var_os("UPDATE").is_some() {
        let path = workspace_root().join(COMMANDS_PAGE);
        return fs::write(path, page).map_err(|error| format!("{COMMANDS_PAGE}: {error}"));
    }
    if read(COMMANDS_PAGE)? != page {
        return Err(format!(
            "{COMMANDS_PAGE} is not what the commands print: UPDATE=1 cargo xtask test reference"
        ));
    }
    Ok(())
}

/// The help of every command, in the order of the program's own.
fn commands_page() -> Result<String, String> {
    cargo_command("build", &["--quiet"]).run_inherited()?;
    let mut page = String::from(
        "# Commands\n\n\
         What `--help` prints, for every command of a program made with [`app!()`](../programs.md) and all features that add \
         commands.\nWritten by `UPDATE=1 cargo xtask test reference`.\n",
    );
    let mut pending = vec![Vec::new()];
    while let Some(command) = pending.pop() {
        let help = help(&command)?;
        let title = match command.as_slice() {
            [] => "toolwright".to_owned(),
            words => words.join(" "),
        };
        let level = if command.len() > 1 { "###" } else { "##" };
        page.push_str(&format!("\n{level} `{title}`\n\n```text\n{}\n```\n", help.trim_end()));
        let names = subcommands(&help);
        pending.extend(names.into_iter().rev().map(|name| [command.as_slice(), &[name]].concat()));
    }
    Ok(page)
}

fn help(command: &[String]) -> Result<String, String> {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let run = cargo_command("run", &["--quiet", "--"]).args(&words).arg("--help");
    let help = run.env("NO_COLOR", "1").stdout()?;
    Ok(help.lines().map(|line| format!("{}\n", line.trim_end())).collect())
}

/// The names in the list of commands, without `help`.
fn subcommands(help: &str) -> Vec<String> {
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let list = list.take_while(|line| !line.is_empty());
    let names = list.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect()
}

/// Lists of keys that are elsewhere: the file, the constant, and what precedes each key on the page.
const OTHER_KEYS: [(&str, &str, &str); 6] = [
    ("crates/core/src/registry/tool_settings.rs", "SETTING_NAMES", "`"),
    ("crates/core/src/registry/tool_settings.rs", "SEARCH_KEYS", "`"),
    ("crates/mcp/src/client/setup/config.rs", "KEYS", "."),
    ("crates/auth/src/oauth/config.rs", "KEYS", "."),
    ("crates/auth/src/sign_in/config.rs", "KEYS", "."),
    ("crates/auth/src/scope_config.rs", "SCOPE_KEYS", "."),
];

/// Defaults that are constants: the key, its default on the page, the file and the line of the constant.
const DEFAULTS: [(&str, &str, &str, &str); 6] = [
    (
        "timeout",
        "the tool's, else `60s`",
        "crates/core/src/invoker/builder.rs",
        "const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);",
    ),
    (
        "concurrency",
        "the tool's, else 64",
        "crates/core/src/tool/policy.rs",
        "const DEFAULT_CONCURRENCY: usize = 64;",
    ),
    (
        "tools.search_max_tokens",
        "20000",
        "crates/chat/src/chat/tool_search.rs",
        "const DEFAULT_MAX_TOKENS: usize = 20_000;",
    ),
    (
        "mcp.servers.NAME.timeout_s",
        "120, 30",
        "crates/mcp/src/client/setup/remote_server.rs",
        "const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_secs(120);",
    ),
    (
        "mcp.servers.NAME.timeout_s",
        "120, 30",
        "crates/mcp/src/client/setup/limits.rs",
        "connect_timeout: Duration::from_secs(30),",
    ),
    (
        "–",
        "`127.0.0.1:8787`, or the next free port",
        "crates/app/src/cli/commands/serve.rs",
        "(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8787);",
    ),
];

/// The settings of the page are those of the program: their keys, variables, flags and constant defaults.
fn check_settings() -> Result<(), String> {
    let page = read(SETTINGS_PAGE)?;
    check_settings_rows(&settings_rows(&page), &read(COMMANDS_PAGE)?)?;
    let mut keys = known_keys(&read(KNOWN_KEYS)?);
    for (file, constant, before) in OTHER_KEYS {
        let names = strings_of_constant(&read(file)?, constant);
        if names.is_empty() {
            return Err(format!("{file} has no list {constant}"));
        }
        keys.extend(names.into_iter().map(|name| format!("{before}{name}")));
    }
    let missing: Vec<String> = keys.into_iter().filter(|key| !page.contains(key)).collect();
    match missing.as_slice() {
        [] => Ok(()),
        keys => Err(format!("{SETTINGS_PAGE} does not have {}", keys.join(", "))),
    }
}

/// A row of a table of settings; columns that its table does not have are empty.
#[derive(Debug, Default, PartialEq, Eq)]
struct SettingsRow<'p> {
    key: &'p str,
    default: &'p str,
    variable: &'p str,
    flag: &'p str,
}

fn settings_rows(page: &str) -> Vec<SettingsRow<'_>> {
    let mut columns = Vec::new();
    let mut rows = Vec::new();
    for line in page.lines().filter(|line| line.starts_with('|') && !line.starts_with("|--")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if cells.first() == Some(&"key") {
            columns = cells;
            continue;
        }
        let mut row = SettingsRow::default();
        for (column, cell) in columns.iter().zip(cells) {
            match *column {
                "key" => row.key = cell,
                "default" => row.default = cell,
                "variable" => row.variable = cell,
                "flag" => row.flag = cell,
                _ => {}
            }
        }
        rows.push(row);
    }
    rows
}

fn check_settings_rows(rows: &[SettingsRow<'_>], commands: &str) -> Result<(), String> {
    for row in rows {
        let key = row.key.trim_matches('`');
        let name = key.replace("VENDOR", "openai").replace('.', "_").to_uppercase();
        let variable = format!("TOOLWRIGHT_{name}");
        if row.variable.contains("TOOLWRIGHT_") && !row.variable.contains(&format!("`{variable}`"))
        {
            return Err(format!("{SETTINGS_PAGE}: the variable of {key} is {variable}"));
        }
        let flags = row.flag.split('`').filter(|word| word.starts_with("--"));
        for flag in flags {
            if !commands.contains(&format!(" {flag} ")) {
                return Err(format!("{SETTINGS_PAGE}: no command has {flag}, the flag of {key}"));
            }
        }
    }
    for (key, default, file, constant) in DEFAULTS {
        let is_shown = rows.iter().any(|row| {
            row.key.split(',').next().is_some_and(|first| first.trim_matches('`') == key)
                && row.default == default
        });
        if !is_shown || !read(file)?.contains(constant) {
            return Err(format!(
                "the default of {key} is {default} in {SETTINGS_PAGE}, and `{constant}` in {file}: one of them has changed"
            ));
        }
    }
    Ok(())
}

/// The keys of `known_keys.rs` as the page writes them: `model`, `server.token`, `models.VENDOR.key`.
fn known_keys(source: &str) -> Vec<String> {
    let mut keys = strings_of_constant(source, "TOP_LEVEL_KEYS");
    for section in value_of_constant(source, "SECTION_KEYS").split('(') {
        let mut names = quoted_strings(section).into_iter();
        let name = names.next().unwrap_or_default();
        keys.extend(names.map(|key| format!("{name}.{key}")));
    }
    for (name, prefix) in [("VENDOR_KEYS", "models.VENDOR."), ("MCP_GROUP_KEYS", "MCP.")] {
        let below = strings_of_constant(source, name).into_iter();
        keys.extend(below.map(|key| format!("{prefix}{key}")));
    }
    keys
}

fn strings_of_constant(source: &str, name: &str) -> Vec<String> {
    quoted_strings(value_of_constant(source, name))
}

/// The text between `const NAME: … =` and the end of its list.
fn value_of_constant<'s>(source: &'s str, name: &str) -> &'s str {
    let (_, rest) = source.split_once(&format!("const {name}: ")).unwrap_or_default();
    let (_, value) = rest.split_once("=").unwrap_or_default();
    value.split_once("];").unwrap_or_default().0
}

fn quoted_strings(text: &str) -> Vec<String> {
    text.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Every dependency of the workspace has its reason on the page of dependencies.
fn check_dependencies() -> Result<(), String> {
    let page = read(DEPENDENCIES_PAGE)?;
    let words: BTreeSet<&str> =
        page.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_').collect();
    let manifest = read("Cargo.toml")?;
    let missing: Vec<&str> =
        dependency_names(&manifest).into_iter().filter(|name| !words.contains(name)).collect();
    match missing.as_slice() {
        [] => Ok(()),
        names => Err(format!("{DEPENDENCIES_PAGE} does not have {}", names.join(", "))),
    }
}

/// The names in the table of the workspace's dependencies, without our own crates.
fn dependency_names(manifest: &str) -> Vec<&str> {
    let table = manifest.lines().skip_while(|line| *line != "[workspace.dependencies]").skip(1);
    let table = table.take_while(|line| !line.starts_with('['));
    let names = table.filter(|line| !line.starts_with('#') && !line.contains("path ="));
    names.filter_map(|line| line.split_once(" = ").map(|(name, _)| name)).collect()
}

/// Every route of the server is on the page about HTTP.
fn check_routes() -> Result<(), String> {
    let page = read(ROUTES_PAGE)?;
    let shown: BTreeSet<String> = page
        .split(['`', ' ', '?'])
        .filter(|word| word.starts_with('/'))
        .map(path_pattern)
        .collect();
    let missing: Vec<String> =
        route_paths(&read(ROUTES)?).into_iter().filter(|path| !shown.contains(path)).collect();
    match missing.as_slice() {
        [] => Ok(()),
        paths => Err(format!("{ROUTES_PAGE} does not have {}", paths.join(", "))),
    }
}

/// The paths in the source of the routes, with `*` for parameters; those below an endpoint as those of a conversation.
fn route_paths(source: &str) -> BTreeSet<String> {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let strings = code.flat_map(|line| line.split('"').skip(1).step_by(2));
    let paths = strings.map(|text| text.replace("{path}", "/api/conversations/{id}"));
    paths.filter(|path| path.starts_with('/')).map(|path| path_pattern(&path)).collect()
}

/// Replaces parameters, `{name}` in code and `NAME` on the page, by `*`.
fn path_pattern(path: &str) -> String {
    let is_parameter = |part: &str| {
        part.starts_with('{') || (!part.is_empty() && part.chars().all(|c| c.is_ascii_uppercase()))
    };
    let parts = path.split('/').map(|part| if is_parameter(part) { "*" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

/// The row of each feature has the crate that it adds.
fn check_features() -> Result<(), String> {
    let page = read(FEATURES_PAGE)?;
    let manifest = read(FACADE_MANIFEST)?;
    let missing: Vec<String> = feature_crates(&manifest)
        .into_iter()
        .filter(|(feature, crate_name)| {
            let row = page.lines().find(|line| line.starts_with(&format!("| `{feature}` |")));
            feature != "macros" && !row.is_some_and(|row| row.contains(&format!("`{crate_name}`")))
        })
        .map(|(feature, crate_name)| format!("{feature}: {crate_name}"))
        .collect();
    match missing.as_slice() {
        [] => Ok(()),
        rows => Err(format!("{FEATURES_PAGE} does not have {}", rows.join(", "))),
    }
}

/// The crates that features of the facade add: `dep:NAME` in the list of a feature, which may have several lines.
fn feature_crates(manifest: &str) -> Vec<(String, String)> {
    let (_, features) = manifest.split_once("[features]").unwrap_or_default();
    let features = features.split("\n[").next().unwrap_or_default();
    let mut found = Vec::new();
    for list in features.split(']') {
        let Some((name, list)) = list.trim_start().split_once(" = [") else {
            continue;
        };
        let names = list.split('"').filter_map(|item| item.strip_prefix("dep:"));
        found.extend(names.map(|crate_name| (name.to_owned(), crate_name.to_owned())));
    }
    found
}

fn read(file: &str) -> Result<String, String> {
    fs::read_to_string(workspace_root().join(file)).map_err(|error| format!("{file}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_from_the_help() {
        let help =
            "About\n\nCommands:\n  serve  Serve\n  tools  List\n  help   Print\n\nOptions:\n  -h\n";
        assert_eq!(subcommands(help), ["serve", "tools"]);
    }

    #[test]
    fn crates_of_features_are_read_from_the_manifest() {
        let manifest = "[features]\na = [\"dep:x\", \"b\"]\nb = [\n    \"dep:y\",\n    \"y?/z\",\n]\n\n[dependencies]\n";
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(feature_crates(manifest), [pair("a", "x"), pair("b", "y")]);
    }

    #[test]
    fn settings_with_another_variable_or_flag_are_refused() {
        let page = |variable: &str, flag: &str| {
            format!(
                "| key | default | variable | flag |\n|---|---|---|---|\n| `a.b` | 1 | {variable} | {flag} |\n"
            )
        };
        let check = |variable: &str, flag: &str| {
            let page = page(variable, flag);
            check_settings_rows(&settings_rows(&page), "      --at <X>\n").unwrap_err()
        };
        assert!(check("`TOOLWRIGHT_AB`", "–").contains("the variable of a.b"));
        assert!(check("`TOOLWRIGHT_A_B`", "`--to`").contains("no command has --to"));
        let missing = check("`TOOLWRIGHT_A_B`", "`--at`");
        assert!(missing.contains("the default of timeout"), "{missing}");
    }

    #[test]
    fn routes_are_read_from_their_source() {
        let source = "    // \"/no\"\n (\"/api/tools/{name}\", get(x)),\n (format!(\"{path}/events\"), get(y)),\n";
        let paths: Vec<String> = route_paths(source).into_iter().collect();
        assert_eq!(paths, ["/api/conversations/*/events", "/api/tools/*"]);
        assert_eq!(path_pattern("/api/tools/NAME"), "/api/tools/*");
    }

    #[test]
    fn dependencies_are_read_from_the_manifest() {
        let manifest = "[workspace.dependencies]\nours = { path = \"ours\" }\n# why\naxum = \"0.8\"\n\n[lints]\nx = 1\n";
        assert_eq!(dependency_names(manifest), ["axum"]);
    }

    #[test]
    fn known_keys_are_read_from_their_source() {
        let source = "const TOP_LEVEL_KEYS: [&str; 1] = [\"model\"];\n\
             const SECTION_KEYS: [(&str, &[&str]); 1] = [(\"server\", &[\"token\", \"url\"]),\n];\n\
             const VENDOR_KEYS: [&str; 1] = [\"key\"];\nconst MCP_GROUP_KEYS: [&str; 1] = [\"name\"];\n";
        assert_eq!(
            known_keys(source),
            ["model", "server.token", "server.url", "models.VENDOR.key", "MCP.name"]
        );
    }
}
