//! The tools of real MCP servers, lowered to every dialect: accepted everywhere, at the price that the report says.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde::Deserialize;

#[path = "support/real.rs"]
mod real;

const MIN_SERVERS: usize = 12;
const REPORT: &str = "tests/real/losses.md";

/// What `check --json` tells, as far as it is read here.
#[derive(Deserialize)]
struct CheckReport {
    tools: Vec<Tool>,
    refused: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    source: PathBuf,
    notes: Vec<serde_json::Value>,
    dialects: BTreeMap<String, Verdict>,
}

#[derive(Deserialize)]
struct Verdict {
    verdict: Outcome,
    losses: Vec<Loss>,
    reason: Option<String>,
    /// What the independent validator has against the lowered schema.
    refused: Vec<serde_json::Value>,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Lossless,
    Lossy,
    Impossible,
}

#[derive(Deserialize)]
struct Loss {
    keyword: String,
    severity: String,
}

/// The verdicts on every tool of every server, asked for once.
static CHECK_REPORT: LazyLock<Option<CheckReport>> = LazyLock::new(|| {
    let lists = real::lists()?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    command
        .args(["check", "--for", "all", "--json"])
        .args(lists);
    let output = command.output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    let told = serde_json::from_slice(&output.stdout);
    Some(told.map_err(|why| format!("{why}\n{complaint}")).unwrap())
});

#[test]
fn enough_servers_list_tools() {
    let Some(told) = CHECK_REPORT.as_ref() else {
        return;
    };
    let servers: BTreeSet<&Path> = told
        .tools
        .iter()
        .map(|tool| tool.source.as_path())
        .collect();
    assert!(servers.len() >= MIN_SERVERS, "{servers:?}");
}

#[test]
fn no_real_tool_is_refused_when_read() {
    let Some(told) = CHECK_REPORT.as_ref() else {
        return;
    };
    assert!(told.refused.is_empty(), "{:#?}", told.refused);
}

#[test]
fn every_dialect_accepts_every_real_tool() {
    let Some(told) = CHECK_REPORT.as_ref() else {
        return;
    };
    let mut complaints = String::new();
    for tool in &told.tools {
        for (dialect, verdict) in &tool.dialects {
            for refusal in &verdict.refused {
                let _ = writeln!(
                    complaints,
                    "{} {} for {dialect}: {refusal}",
                    server(tool),
                    tool.name
                );
            }
            if let Some(reason) = &verdict.reason {
                let _ = writeln!(
                    complaints,
                    "{} {} for {dialect}: {reason}",
                    server(tool),
                    tool.name
                );
            }
        }
    }
    assert!(complaints.is_empty(), "{complaints}");
}

#[test]
fn the_report_of_losses_is_as_committed() {
    let Some(told) = CHECK_REPORT.as_ref() else {
        return;
    };
    let (file, fresh) = (real::root().join(REPORT), report(told));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(file, fresh).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(file).unwrap_or_default();
    let changed: String = fresh
        .lines()
        .filter(|line| !committed.lines().any(|known| known == *line))
        .map(|line| format!("{line}\n"))
        .collect();
    assert!(
        committed == fresh,
        "{REPORT} is out of date; these lines are new:\n{changed}if that is as it should be: UPDATE=1 cargo test --test real_servers"
    );
}

/// Counts only: nothing of what the servers say is kept.
fn report(told: &CheckReport) -> String {
    let dialects: Vec<&str> = told
        .tools
        .first()
        .unwrap()
        .dialects
        .keys()
        .map(String::as_str)
        .collect();
    let mut servers: BTreeMap<String, Vec<&Tool>> = BTreeMap::new();
    let mut losses: BTreeMap<(&str, &str), BTreeMap<&str, usize>> = BTreeMap::new();
    for tool in &told.tools {
        servers.entry(server(tool)).or_default().push(tool);
        for (dialect, verdict) in &tool.dialects {
            for loss in &verdict.losses {
                let counts = losses.entry((&loss.keyword, &loss.severity)).or_default();
                *counts.entry(dialect).or_default() += 1;
            }
        }
    }
    let mut out = format!(
        "# What lowering costs real tools

Written by `UPDATE=1 cargo test --test real_servers`, which fails when this is out of date.

{} tools of {} servers. Per dialect: tools lossless / lossy / impossible. Mended: what was put right when the tools were read.
",
        told.tools.len(),
        servers.len()
    );
    row(&mut out, "\n| server | tools | mended", dialects.iter());
    row(&mut out, "|---|--:|--:", dialects.iter().map(|_| "--:"));
    for (server, tools) in &servers {
        let mended: usize = tools.iter().map(|tool| tool.notes.len()).sum();
        let cells = dialects.iter().map(|dialect| {
            let verdicts = tools.iter().filter_map(|tool| tool.dialects.get(*dialect));
            let count = |outcome| {
                let such = verdicts
                    .clone()
                    .filter(|verdict| verdict.verdict == outcome);
                such.count().to_string()
            };
            [Outcome::Lossless, Outcome::Lossy, Outcome::Impossible]
                .map(count)
                .join("/")
        });
        row(
            &mut out,
            &format!("| {server} | {} | {mended}", tools.len()),
            cells,
        );
    }
    out.push_str("\nLosses by keyword, and what they mean for a model's arguments.\n");
    row(&mut out, "\n| keyword | severity", dialects.iter());
    row(&mut out, "|---|---", dialects.iter().map(|_| "--:"));
    for ((keyword, severity), counts) in &losses {
        let cells = dialects.iter().map(|dialect| {
            counts
                .get(dialect)
                .map(usize::to_string)
                .unwrap_or_default()
        });
        row(&mut out, &format!("| {keyword} | {severity}"), cells);
    }
    out
}

fn row(out: &mut String, start: &str, cells: impl Iterator<Item = impl std::fmt::Display>) {
    out.push_str(start);
    for cell in cells {
        let _ = write!(out, " | {cell}");
    }
    out.push_str(" |\n");
}

/// The name of the server a tool comes from.
fn server(tool: &Tool) -> String {
    tool.source
        .file_stem()
        .unwrap()
        .to_string_lossy()
        .into_owned()
}
