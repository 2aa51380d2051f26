//! Dependencies point one way.
//!
//! `schema ← config ← core ← chat ← models, server ← app ← toolwright ← the binary`; `macros` stands alone. A new edge needs a
//! change of a table below, which a reviewer sees. Only normal dependencies count: a test may use what its crate may not, except
//! in the crates of `QUICK_TESTS`.

use std::process::Command;

/// Each crate of the workspace, and the crates of the workspace it may name as normal dependencies.
const MAY_USE: &[(&str, &[&str])] = &[
    ("toolwright-schema", &[]),
    ("toolwright-config", &["toolwright-schema"]),
    ("toolwright-core", &["toolwright-config", "toolwright-schema"]),
    // The expansions name `::toolwright` paths only; the user's crate depends on that, the macros do not.
    ("toolwright-macros", &[]),
    ("toolwright-guard", &["toolwright-core", "toolwright-schema"]),
    ("toolwright-chat", &["toolwright-core", "toolwright-schema", "toolwright-search"]),
    ("toolwright-auth", &["toolwright-core"]),
    ("toolwright-bus", &["toolwright-core"]),
    (
        "toolwright-mcp",
        &[
            "toolwright-auth",
            "toolwright-bus",
            "toolwright-core",
            "toolwright-schema",
            "toolwright-search",
        ],
    ),
    (
        "toolwright-models",
        &[
            "toolwright-chat",
            "toolwright-core",
            "toolwright-demo",
            "toolwright-schema",
            "toolwright-search",
        ],
    ),
    ("toolwright-sampler", &["toolwright-schema"]),
    (
        "toolwright-testing",
        &["toolwright-chat", "toolwright-core", "toolwright-models", "toolwright-sampler"],
    ),
    ("toolwright-store", &["toolwright-chat", "toolwright-core", "toolwright-schema"]),
    ("toolwright-search", &["toolwright-core"]),
    ("toolwright-demo", &["toolwright-chat", "toolwright-core", "toolwright-search"]),
    (
        "toolwright-conversation",
        &["toolwright-bus", "toolwright-chat", "toolwright-core", "toolwright-schema"],
    ),
    (
        "toolwright-server",
        &[
            "toolwright-auth",
            "toolwright-bus",
            "toolwright-chat",
            "toolwright-conversation",
            "toolwright-core",
            "toolwright-mcp",
            "toolwright-schema",
            "toolwright-search",
        ],
    ),
    (
        "toolwright-app",
        &[
            "toolwright-auth",
            "toolwright-bus",
            "toolwright-chat",
            "toolwright-core",
            "toolwright-mcp",
            "toolwright-models",
            "toolwright-search",
            "toolwright-server",
            "toolwright-store",
        ],
    ),
    (
        "toolwright",
        &[
            "toolwright-app",
            "toolwright-auth",
            "toolwright-bus",
            "toolwright-chat",
            "toolwright-core",
            "toolwright-demo",
            "toolwright-guard",
            "toolwright-macros",
            "toolwright-mcp",
            "toolwright-models",
            "toolwright-schema",
            "toolwright-search",
            "toolwright-server",
            "toolwright-store",
            "toolwright-testing",
        ],
    ),
    ("core-facade", &["toolwright-core", "toolwright-macros"]),
    ("assistant-tools", &["toolwright"]),
    ("guarded-tools", &["toolwright"]),
    ("redb-store", &["toolwright"]),
    ("toolwright-assistant", &["assistant-tools", "toolwright"]),
    ("toolwright-bench", &["toolwright"]),
    ("test-support", &[]),
    ("test-support-mcp", &["toolwright", "toolwright-mcp"]),
    ("test-support-store", &["toolwright"]),
    ("toolwright-counts", &["assistant-tools", "toolwright", "toolwright-bench"]),
    ("xtask", &[]),
    ("command-docs", &["toolwright-app"]),
];

/// The crates whose tests are compiled and run seconds after an edit, and what of the workspace those tests compile beside the crate
/// itself. `core-facade` is `toolwright` to them; the true one has every crate below it, and each of them would be compiled first.
const QUICK_TESTS: &[(&str, &[&str])] = &[
    ("toolwright-schema", &["test-support", "toolwright-sampler"]),
    ("toolwright-config", &["toolwright-schema"]),
    (
        "toolwright-core",
        &[
            "core-facade",
            "toolwright-config",
            "toolwright-macros",
            "toolwright-sampler",
            "toolwright-schema",
        ],
    ),
];

/// Foreign crates that one crate hides behind its own types, and that crate.
const HIDDEN_BY: &[(&str, &str)] =
    &[("jsonschema", "toolwright-schema"), ("rmcp", "toolwright-mcp")];

/// Servers, databases, HTTP and the terminal, `…-util` and the like included: a crate of tools compiles none of them.
const HEAVY: &[&str] = &["axum", "clap", "hyper", "opentelemetry", "reqwest", "sqlx"];

/// Frameworks that bridges lead to, `…-core` and the like included. rmcp is none of them here: it carries our own MCP client.
const FRAMEWORKS: &[&str] = &["adk", "async-openai", "genai", "rig", "swiftide"];

/// Crates that the program compiles only with a feature, `…-sdk` and the like included.
const ON_REQUEST: &[&str] = &["opentelemetry"];

/// The crates that must not compile a heavy one, and their features.
const LIGHT: &[(&str, &[&str])] = &[
    ("toolwright-schema", &["--all-features"]),
    ("toolwright-config", &["--all-features"]),
    ("toolwright-core", &["--all-features"]),
    ("toolwright", &[]),
];

#[test]
fn every_crate_of_the_workspace_has_a_row() -> Result<(), String> {
    let members: Vec<String> = direct_edges()?.into_iter().map(|(name, _)| name).collect();
    for name in &members {
        assert!(
            row(name).is_some(),
            "`{name}` is new: add its row to MAY_USE in tests/program/layering.rs, saying which crates it may use"
        );
    }
    for (name, _) in MAY_USE {
        assert!(
            members.iter().any(|member| member == name),
            "`{name}` is gone: remove its row from MAY_USE in tests/program/layering.rs"
        );
    }
    Ok(())
}

#[test]
fn crates_use_only_what_their_row_allows() -> Result<(), String> {
    let edges = direct_edges()?;
    let is_member = |name: &String| edges.iter().any(|(member, _)| member == name);
    let mut wrong = Vec::new();
    for (from, uses) in &edges {
        // The other test reports a crate without a row.
        let Some(allowed) = row(from) else { continue };
        let stray = uses.iter().filter(|to| is_member(to) && !allowed.contains(&to.as_str()));
        wrong.extend(
            stray.map(|to| {
                format!("{from} → {to}: the row of `{from}` in MAY_USE allows {allowed:?}")
            }),
        );
    }
    assert!(wrong.is_empty(), "{}", report(&wrong));
    Ok(())
}

#[test]
fn tests_of_the_lowest_crates_compile_nothing_above_them() -> Result<(), String> {
    let members = direct_edges()?;
    let is_member = |name: &str| members.iter().any(|(member, _)| member == name);
    for (name, allowed) in QUICK_TESTS {
        let tree = tree_of("normal,dev", &["--package", name, "--all-features"])?;
        let mut used: Vec<&str> = nodes(&tree).map(|(_, name)| name).collect();
        used.retain(|used| used != name && is_member(used));
        used.sort();
        used.dedup();
        assert_eq!(used, *allowed, "workspace crates that the tests of `{name}` compile");
    }
    Ok(())
}

#[test]
fn hidden_crates_are_used_by_their_keeper_only() -> Result<(), String> {
    let mut wrong = Vec::new();
    for (from, uses) in direct_edges()? {
        let strays = HIDDEN_BY
            .iter()
            .filter(|(hidden, keeper)| from != *keeper && uses.iter().any(|to| to == hidden));
        wrong.extend(strays.map(|(hidden, keeper)| {
            format!("{from} → {hidden}: HIDDEN_BY leaves it to `{keeper}`")
        }));
    }
    assert!(wrong.is_empty(), "{}", report(&wrong));
    Ok(())
}

#[test]
fn a_crate_of_tools_compiles_no_server_database_or_http() -> Result<(), String> {
    let mut wrong = Vec::new();
    for (name, features) in LIGHT {
        let tree = tree(&[&["--package", name], *features].concat())?;
        for path in paths(&tree) {
            // Only the edge to a heavy crate, not those below it.
            if path.iter().position(|name| is_of(HEAVY, name)) == path.len().checked_sub(1) {
                wrong
                    .push(format!("{}: HEAVY and LIGHT keep it out of `{name}`", path.join(" → ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", report(&wrong));
    Ok(())
}

#[test]
fn the_program_compiles_no_telemetry_unless_asked() -> Result<(), String> {
    let brings = |features: &[&str]| -> Result<bool, String> {
        let tree = tree(&[&["--package", "toolwright-assistant"], features].concat())?;
        Ok(nodes(&tree).any(|(_, name)| is_of(ON_REQUEST, name)))
    };
    assert!(!brings(&[])?, "ON_REQUEST keeps it out of the program");
    // Else the line above would hold for a crate that has changed its name, too.
    assert!(brings(&["--features=otlp"])?, "`otlp` asks for it");
    Ok(())
}

#[test]
fn nothing_here_compiles_a_framework_that_a_bridge_leads_to() -> Result<(), String> {
    let tree = tree(&["--workspace", "--all-features"])?;
    let strays: Vec<String> = nodes(&tree)
        .filter(|(_, name)| is_of(FRAMEWORKS, name))
        .map(|(_, name)| format!("{name}: FRAMEWORKS leaves it to bridges/"))
        .collect();
    assert!(strays.is_empty(), "{}", report(&strays));
    // Else the line above would hold for a framework that has changed its name, too.
    let manifest = include_str!("../../bridges/Cargo.toml");
    for framework in FRAMEWORKS {
        assert!(
            manifest.lines().any(|line| line.starts_with(framework)),
            "no bridge leads to {framework}"
        );
    }
    Ok(())
}

fn row(name: &str) -> Option<&'static [&'static str]> {
    MAY_USE.iter().find(|(member, _)| *member == name).map(|(_, uses)| *uses)
}

/// Returns true if a crate belongs to one of these families.
fn is_of(families: &[&str], name: &str) -> bool {
    families.iter().any(|family| {
        name.strip_prefix(family)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
    })
}

fn report(wrong: &[String]) -> String {
    format!(
        "dependencies that point the wrong way (rules: tests/program/layering.rs):\n  {}",
        wrong.join("\n  ")
    )
}

/// Each member of the workspace with its normal dependencies, all features on.
fn direct_edges() -> Result<Vec<(String, Vec<String>)>, String> {
    let tree = tree(&["--workspace", "--all-features", "--depth=1", "--no-dedupe"])?;
    let mut edges: Vec<(String, Vec<String>)> = Vec::new();
    for (depth, name) in nodes(&tree) {
        match edges.last_mut() {
            Some((_, uses)) if depth > 0 => uses.push(name.to_owned()),
            _ => edges.push((name.to_owned(), Vec::new())),
        }
    }
    Ok(edges)
}

/// The path from the root to each node of a tree.
fn paths(tree: &str) -> Vec<Vec<&str>> {
    let mut path = Vec::new();
    let extend = |(depth, name)| {
        path.truncate(depth);
        path.push(name);
        path.clone()
    };
    nodes(tree).map(extend).collect()
}

/// Depth and crate name of each line: `1serde v1.0.0` is `(1, "serde")`.
fn nodes(tree: &str) -> impl Iterator<Item = (usize, &str)> {
    tree.lines().filter_map(|line| {
        let digits = line.find(|c: char| !c.is_ascii_digit())?;
        let (depth, rest) = line.split_at(digits);
        Some((depth.parse().ok()?, rest.split_whitespace().next()?))
    })
}

/// `cargo tree` over normal dependencies.
fn tree(selection: &[&str]) -> Result<String, String> {
    tree_of("normal", selection)
}

/// `cargo tree` over dependencies of these kinds; uses the network only if a crate is missing offline.
fn tree_of(kinds: &str, selection: &[&str]) -> Result<String, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut complaint = String::new();
    for network in [&["--offline"][..], &[]] {
        let output = Command::new(&cargo)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(["tree", "--locked", "--prefix=depth", "--edges", kinds])
            .args(selection)
            .args(network)
            .output()
            .map_err(|error| format!("cannot start cargo: {error}"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    }
    Err(format!("cargo tree {}: {complaint}", selection.join(" ")))
}
