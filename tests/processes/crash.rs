//! A conversation whose program is killed repeatedly: no entry is lost, and no call runs twice.
//!
//! The program is `tests/test_programs/crash.rs`. It is killed with SIGKILL, either at a point of a selected stage, or after a random
//! number of output lines. `TOOLWRIGHT_CRASH_KILLS` sets the number of kills, `TOOLWRIGHT_CRASH_SEED` the random numbers.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::Command;

use tempfile::TempDir;
use test_support::servers::postgres::PostgresServer;
use tokio::runtime::Runtime;
use toolwright::chat::Entry;
use toolwright::testing::SeededRng;

mod consistency;
mod journal;
mod process;

use consistency::CheckTotals;
use journal::JournalReader;
use process::{KillPlan, Process, ProcessOutcome};

use crate::setting;

/// The number of orders in one conversation.
const ORDERS: usize = 2;

/// The maximum of kills per conversation, after which it may finish.
const MAX_KILLS: usize = 8;

const STAGES: [&str; 5] = [
    "before start",
    "during the call",
    "after the call",
    "waiting for approval",
    "during the final answer",
];

#[test]
fn a_conversation_in_sqlite_survives_kills_at_any_moment() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("conversations.sqlite");
    run("sqlite", &format!("sqlite:{}", file.display()), &folder);
}

#[test]
fn a_conversation_in_postgresql_survives_kills_at_any_moment() {
    let Some(server) = PostgresServer::start(&[]) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    run("postgresql", &server.url("postgres"), &folder);
}

/// Performs the configured number of kills, and finishes every conversation.
fn run(name: &str, url: &str, folder: &TempDir) {
    let wanted = usize::try_from(setting("TOOLWRIGHT_CRASH_KILLS", 20)).unwrap();
    let seed = setting("TOOLWRIGHT_CRASH_SEED", 7);
    let mut rng = SeededRng::new(seed);
    let runtime = Runtime::new().unwrap();
    let journal = JournalReader::open(&runtime, url);
    let mut killed: BTreeMap<String, usize> = BTreeMap::new();
    let (mut starts, mut findings, mut conversations) = (0, CheckTotals::default(), Vec::new());
    while killed.values().sum::<usize>() < wanted
        || STAGES.iter().any(|it| !killed.contains_key(*it))
    {
        let conversation = format!("orders-{}", conversations.len());
        let log = folder.path().join(format!("{conversation}.log"));
        let mut kept = Vec::new();
        let mut kills = 0;
        loop {
            let most = match killed.values().sum::<usize>() < wanted {
                true => MAX_KILLS,
                // Only stages without a kill are left.
                false => 1,
            };
            let fate = match kills < most {
                true => choose_kill_plan(&mut rng, &killed),
                false => KillPlan::RunToEnd,
            };
            let process = Process::start(url, &conversation, &log, ORDERS, &fate);
            starts += 1;
            let ProcessOutcome { lines, killed_at_stage: died } = process.run(&fate, &mut rng);
            kept = journal.assert_only_appended(&conversation, &kept, &lines);
            match died {
                None => break,
                Some(stage) => {
                    *killed.entry(stage).or_default() += 1;
                    kills += 1;
                }
            }
        }
        let entries = journal.entries(&conversation);
        findings += consistency::check(&entries, &log, ORDERS);
        conversations.push(conversation);
    }
    assert_listed(url, &conversations);
    assert_exported(url, &journal, &conversations);
    let mut report = format!(
        "crash test in {name}: {} kills in {starts} starts, {} conversations, seed {seed}\n",
        killed.values().sum::<usize>(),
        conversations.len(),
    );
    for (stage, count) in &killed {
        report.push_str(&format!("  {count:>4} killed {stage}\n"));
    }
    report.push_str(&findings.to_string());
    // Written directly, because the test harness captures `eprint!`.
    std::io::stderr().write_all(report.as_bytes()).unwrap();
}

/// Alternates between the stage with the fewest kills and a random number of lines.
fn choose_kill_plan(rng: &mut SeededRng, killed: &BTreeMap<String, usize>) -> KillPlan {
    if rng.below(2) == 0 {
        return KillPlan::KillAfterLines(1 + rng.below(50));
    }
    let fewest = |stage: &&&str| killed.get(**stage).copied().unwrap_or_default();
    let stage = STAGES.iter().min_by_key(fewest).unwrap();
    KillPlan::KillAtStage((*stage).to_owned(), 1 + rng.below(6))
}

/// Asserts that the command line lists all conversations.
fn assert_listed(url: &str, conversations: &[String]) {
    let list: serde_json::Value =
        serde_json::from_str(&toolwright(url, &["list", "--json"])).unwrap();
    let mut listed: Vec<&str> =
        list.as_array().unwrap().iter().map(|it| it["conversation"].as_str().unwrap()).collect();
    let mut known: Vec<&str> = conversations.iter().map(String::as_str).collect();
    listed.sort_unstable();
    known.sort_unstable();
    assert_eq!(listed, known);
}

/// The export of the command line.
fn assert_exported(url: &str, journal: &JournalReader, conversations: &[String]) {
    let last = conversations.last().unwrap();
    let exported = toolwright(url, &["export", last]);
    let lines: Vec<&str> = exported.lines().skip(1).collect();
    let entries = journal.entries(last).into_iter().map(Entry::without_mac);
    let expected = entries.map(|entry| serde_json::to_string(&entry).unwrap());
    assert_eq!(lines, expected.collect::<Vec<String>>());
}

fn toolwright(url: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    command.arg("conversations").args(arguments);
    let output = command.args(["--store", url]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}
