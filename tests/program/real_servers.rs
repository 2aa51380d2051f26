//! The tools of real MCP servers, lowered to every dialect: all are accepted, with the losses in the report.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde::Deserialize;
use test_support::real;

const MIN_SERVERS: usize = 12;
const REPORT: &str = "tests/real/losses.md";

/// The output of `check --json`, as far as it is used here.
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
    /// The violations that the independent validator finds in the lowered schema.
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

/// The verdicts on every tool of every server, computed once.
static CHECK_REPORT: LazyLock<Option<CheckReport>> = LazyLock::new(|| {
    let lists = real::lists()?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    command.args(["check", "--for", "all", "--json"]).args(lists);
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let report = serde_json::from_slice(&output.stdout);
    Some(report.map_err(|error| format!("{error}\n{stderr}")).unwrap())
});

#[test]
fn enough_servers_list_tools() {
    let Some(check_report) = CHECK_REPORT.as_ref() else {
        return;
    };
    let servers: BTreeSet<&Path> =
        check_report.tools.iter().map(|tool| tool.source.as_path()).collect();
    assert!(servers.len() >= MIN_SERVERS, "{servers:?}");
}

#[test]
fn no_real_tool_is_refused_when_read() {
    let Some(check_report) = CHECK_REPORT.as_ref() else {
        return;
    };
    assert!(check_report.refused.is_empty(), "{:#?}", check_report.refused);
}

#[test]
fn every_dialect_accepts_every_real_tool() {
    let Some(check_report) = CHECK_REPORT.as_ref() else {
        return;
    };
    let mut complaints = String::new();
    for tool in &check_report.tools {
        for (dialect, verdict) in &tool.dialects {
            for refusal in &verdict.refused {
                let _ =
                    writeln!(complaints, "{} {} for {dialect}: {refusal}", server(tool), tool.name);
            }
            if let Some(reason) = &verdict.reason {
                let _ =
                    writeln!(complaints, "{} {} for {dialect}: {reason}", server(tool), tool.name);
            }
        }
    }
    assert!(complaints.is_empty(), "{complaints}");
}

#[test]
fn the_report_of_losses_is_as_committed() {
    let Some(check_report) = CHECK_REPORT.as_ref() else {
        return;
    };
    let (file, fresh) = (real::root().join(REPORT), report(check_report));
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
        "{REPORT} is out of date; these lines are new:\n{changed}if that is as it should be: UPDATE=1 cargo test --test program real_servers"
    );
}

/// Counts only: no text of the servers is stored.
fn report(check_report: &CheckReport) -> String {
    let dialects: Vec<&str> =
        check_report.tools.first().unwrap().dialects.keys().map(String::as_str).collect();
    let mut servers: BTreeMap<String, Vec<&Tool>> = BTreeMap::new();
    let mut losses: BTreeMap<(&str, &str), BTreeMap<&str, usize>> = BTreeMap::new();
    for tool in &check_report.tools {
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

Written by `UPDATE=1 cargo test --test program real_servers`, which fails when this is out of date.

{} tools of {} servers. Per dialect: tools lossless / lossy / impossible. Mended: what was put right when the tools were read.
",
        check_report.tools.len(),
        servers.len()
    );
    row(&mut out, "\n| server | tools | mended", dialects.iter());
    row(&mut out, "|---|--:|--:", dialects.iter().map(|_| "--:"));
    for (server, tools) in &servers {
        let mended: usize = tools.iter().map(|tool| tool.notes.len()).sum();
        let cells = dialects.iter().map(|dialect| {
            let verdicts = tools.iter().filter_map(|tool| tool.dialects.get(*dialect));
            let count = |outcome| {
                let such = verdicts.clone().filter(|verdict| verdict.verdict == outcome);
                such.count().to_string()
            };
            [Outcome::Lossless, Outcome::Lossy, Outcome::Impossible].map(count).join("/")
        });
        row(&mut out, &format!("| {server} | {} | {mended}", tools.len()), cells);
    }
    out.push_str("\nLosses by keyword, and what they mean for a model's arguments.\n");
    row(&mut out, "\n| keyword | severity", dialects.iter());
    row(&mut out, "|---|---", dialects.iter().map(|_| "--:"));
    for ((keyword, severity), counts) in &losses {
        let cells = dialects
            .iter()
            .map(|dialect| counts.get(dialect).map(usize::to_string).unwrap_or_default());
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
    tool.source.file_stem().unwrap().to_string_lossy().into_owned()
}
