//! Builds the tests once, and runs their executables side by side.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::files::write;
use crate::metadata::{ROOT_PACKAGE, packages, parse, text, to_target};
use crate::process::{Program, workspace_root};
use crate::report::Report;

/// All tests of the workspace. Every other step that builds has these features, too.
pub(crate) const EVERYTHING: [&str; 2] = ["--workspace", "--all-features"];

/// Tests of the root that mostly wait: for a browser, for nodes, for processes that are killed. Each has a lane of its own, beside the
/// others.
const WAITING_LANES: [&str; 3] = ["browser", "cluster", "processes"];
/// All other tests share a lane that runs two executables at a time: more would keep the waiting tests beyond their time limits.
const COMPUTING_LANE: &str = "computing";
const DOC_TESTS: &str = "doc tests";
const WORKSPACE: &str = "workspace";
pub(crate) const MACROS: &str = "toolwright-macros";

/// These tests show that nothing is lost and nothing happens twice: one failure in a hundred runs is a bug, so none is run again. The
/// package, its target, and how the names of the tests begin.
const NEVER_RETRIED: [(&str, &str, &str); 3] = [
    (ROOT_PACKAGE, "cluster", ""),
    (ROOT_PACKAGE, "processes", ""),
    ("toolwright-chat", "main", "simulation::"),
];

/// An executable that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(20 * 60);
/// How often the running executables are listed while none ends.
const NEWS_INTERVAL: Duration = Duration::from_secs(60);
/// The output of each executable.
const OUTPUT_FOLDER: &str = if cfg!(test) { "target/tmp/out" } else { "target/test-output" };

/// Tests that run in one process; or the doc tests, which `cargo` runs.
pub(crate) struct Suite {
    pub(crate) package: String,
    /// `lib`, the name of an integration test, `bin NAME`, `example NAME`.
    pub(crate) target: String,
    executable: String,
    args: Vec<&'static str>,
    folder: PathBuf,
}

enum Event {
    Started(String),
    Finished(Suite, Box<Report>),
}

/// Runs a command of Cargo; returns what it says about each crate.
pub(crate) fn messages(subcommand: &str, args: &[&str]) -> Result<Vec<Value>, String> {
    let json = ["--message-format", "json-render-diagnostics"];
    Program::cargo(subcommand, &json).args(args).stdout()?.lines().map(parse).collect()
}

/// Builds the tests that `selection` names, with the arguments of `cargo test`.
pub(crate) fn build(selection: &[&str]) -> Result<Vec<Suite>, String> {
    let (packages, mut suites) = (packages()?, Vec::new());
    for message in messages("test", &[&["--no-run"], selection].concat())? {
        let manifest = text(&message, "manifest_path");
        let package = packages.iter().find(|it| text(&it.entry, "manifest_path") == manifest);
        let is_test = message.pointer("/profile/test").is_some_and(|test| test == true);
        if let (true, Some(package), Some(target)) = (is_test, package, message.get("target"))
            && !text(&message, "executable").is_empty()
        {
            let target = to_target(target);
            suites.push(Suite {
                package: package.name.clone(),
                target: match target.kind.as_str() {
                    "lib" => target.kind,
                    "test" => target.name,
                    kind => format!("{kind} {}", target.name),
                },
                executable: text(&message, "executable").to_owned(),
                args: Vec::new(),
                folder: workspace_root().join(&package.folder),
            });
        }
    }
    Ok(suites)
}

/// Returns true for tests that mostly wait.
pub(crate) fn is_waiting(package: &str, target: &str) -> bool {
    package == ROOT_PACKAGE && WAITING_LANES.contains(&target)
}

impl Suite {
    /// The doc tests of all crates.
    pub(crate) fn doc_tests() -> Self {
        Self {
            package: WORKSPACE.to_owned(),
            target: DOC_TESTS.to_owned(),
            executable: "cargo".to_owned(),
            args: [&["test", "--locked", "--doc", "--no-fail-fast"], &EVERYTHING[..], &["--"]]
                .concat(),
            folder: workspace_root(),
        }
    }

    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.package, self.target)
    }

    fn lane(&self) -> &str {
        match is_waiting(&self.package, &self.target) {
            true => &self.target,
            false => COMPUTING_LANE,
        }
    }

    /// Returns true if a failed test of this name may be run again. Of a doc test, there is no executable.
    fn may_retry(&self, test: &str) -> bool {
        let is_own = |(package, target, start): &(&str, &str, &str)| {
            self.package == *package && self.target == *target && test.starts_with(start)
        };
        self.target != DOC_TESTS && !NEVER_RETRIED.iter().any(is_own)
    }

    /// The tests as a program with the environment that `cargo test` gives it.
    fn program(&self, args: &[&str]) -> Program {
        let program = Program::new(&self.executable).args(&self.args).args(args);
        let program = program.folder(&self.folder);
        if self.target == DOC_TESTS {
            return program;
        }
        program
            .env("CARGO", std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .env("CARGO_PKG_NAME", &self.package)
    }

    /// The names of the tests; empty for doc tests.
    pub(crate) fn list(&self) -> Vec<String> {
        let list = self.program(&["--list", "--format", "terse"]).stdout().unwrap_or_default();
        list.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
    }

    /// Runs the tests that the arguments select, or all.
    pub(crate) fn run(
        &self,
        args: &[&str],
        environment: &[(&str, &str)],
        limit: Duration,
    ) -> Report {
        let (mut report, start) = (Report::default(), Instant::now());
        // What a passed test prints has the reason why it was skipped.
        let program = self.program(&[&["--show-output"], args].concat());
        let set = |program: Program, (name, value): &(&str, &str)| program.env(name, value);
        let program = environment.iter().fold(program, set);
        let ended = program.lines(limit, |line| report.read_line(line));
        report.seconds = start.elapsed().as_secs_f64();
        match ended {
            Ok(status) if status.success() || !report.failed.is_empty() => {}
            Ok(status) => report.fault = Some(status.to_string()),
            Err(error) => {
                let mut running = self.list();
                running.retain(|test| !report.has_ended(test));
                report.fault = Some(format!("{error}; without a result: {}", running.join(", ")));
            }
        }
        report
    }
}

/// Runs suites, the lanes side by side; prints a line for each one that ends.
pub(crate) fn run_all(suites: Vec<Suite>) -> Result<String, String> {
    let mut lanes: BTreeMap<String, Vec<Suite>> = BTreeMap::new();
    for suite in suites {
        lanes.entry(suite.lane().to_owned()).or_default().push(suite);
    }
    let lanes: Vec<_> = lanes
        .into_iter()
        .map(|(lane, mut suites)| {
            // The longest ones start first.
            suites.sort_by_key(|it| ![ROOT_PACKAGE, MACROS, WORKSPACE].contains(&&*it.package));
            let workers = if lane == COMPUTING_LANE { 2 } else { 1 };
            (workers, Mutex::new(suites.into_iter()))
        })
        .collect();
    let (mut finished, mut running) = (Vec::new(), BTreeMap::new());
    thread::scope(|scope| {
        let (sender, events) = mpsc::channel();
        for lane in lanes.iter().flat_map(|(workers, lane)| std::iter::repeat_n(lane, *workers)) {
            let sender = sender.clone();
            scope.spawn(move || {
                let next = || lane.lock().ok()?.next();
                while let Some(suite) = next() {
                    // The receiver outlives the lanes.
                    let _ = sender.send(Event::Started(suite.name()));
                    let report = Box::new(suite.run(&[], &[], LIMIT));
                    let _ = sender.send(Event::Finished(suite, report));
                }
            });
        }
        drop(sender);
        loop {
            match events.recv_timeout(NEWS_INTERVAL) {
                Ok(Event::Started(name)) => drop(running.insert(name, Instant::now())),
                Ok(Event::Finished(suite, report)) => {
                    running.remove(&suite.name());
                    println!("{}", report.line(&suite.name()));
                    let file = format!("{OUTPUT_FOLDER}/{}.txt", suite.name().replace(' ', "-"));
                    // What failed is printed, too.
                    let _ = write(file, &report.output.join("\n"));
                    finished.push((suite, report));
                }
                Err(RecvTimeoutError::Timeout) => {
                    let since = |(name, start): (&String, &Instant)| {
                        format!("{name} {} s", start.elapsed().as_secs())
                    };
                    let running: Vec<String> = running.iter().map(since).collect();
                    println!("   running: {}", running.join(", "));
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    });
    conclude(finished)
}

/// Runs failed tests once more; prints what failed, what was skipped and the counts.
fn conclude(finished: Vec<(Suite, Box<Report>)>) -> Result<String, String> {
    let (mut passed, mut skipped, mut faults, mut flaky) = (0, 0, Vec::new(), Vec::new());
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for (suite, report) in finished {
        let name = suite.name();
        if report.is_bad() {
            println!("\n== {name}, all of it in {OUTPUT_FOLDER}:\n{}", report.excerpt());
        }
        passed += report.passed - report.skipped.len().min(report.passed);
        skipped += report.skipped.len() + report.ignored;
        if report.ignored > 0 {
            faults.push(format!("{name}: {} tests are ignored: every test runs", report.ignored));
        }
        faults.extend(report.fault.map(|fault| format!("{name}: {fault}")));
        for test in report.failed {
            if suite.may_retry(&test) && suite.run(&["--exact", &test], &[], LIMIT).passed == 1 {
                passed += 1;
                flaky.push(format!("`{test}` of {name} failed, and passed when it was run again"));
            } else {
                faults.push(format!("{name}: {test}"));
            }
        }
        report.skipped.into_iter().for_each(|reason| *reasons.entry(reason).or_default() += 1);
    }
    println!();
    reasons.iter().for_each(|(reason, count)| println!("skipped, {count} tests: {reason}"));
    flaky.iter().for_each(|test| println!("flaky: {test}"));
    faults.iter().for_each(|fault| println!("failed: {fault}"));
    let counts = format!("{passed} passed, {} failed, {skipped} skipped", faults.len());
    println!("{counts}");
    if faults.is_empty() { Ok(counts) } else { Err(counts) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passes two tests, if it runs one alone; else, one fails.
    const FLAKY: &str = "case \"$*\" in
        *--exact*) echo 'test result: ok. 1 passed; 0 failed; 0 ignored' ;;
        *) printf 'failures:\n    a\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n'; exit 1 ;;
        esac";

    fn suite(target: &str, script: &'static str) -> Suite {
        Suite {
            package: ROOT_PACKAGE.to_owned(),
            target: target.to_owned(),
            executable: "sh".to_owned(),
            args: vec!["-c", script, "sh"],
            folder: workspace_root(),
        }
    }

    #[test]
    fn a_failed_test_is_run_again_unless_it_has_to_pass_every_time() {
        let flaky = vec![suite("program", FLAKY)];
        assert_eq!(run_all(flaky), Ok("2 passed, 0 failed, 0 skipped".to_owned()));
        let broken = vec![suite("processes", FLAKY), suite("program", "kill -9 $$")];
        assert_eq!(run_all(broken), Err("1 passed, 2 failed, 0 skipped".to_owned()));
        let ignored =
            vec![suite("program", "echo 'test result: ok. 0 passed; 0 failed; 3 ignored'")];
        assert_eq!(run_all(ignored), Err("0 passed, 1 failed, 3 skipped".to_owned()));
    }

    #[test]
    fn lanes_run_side_by_side_and_a_hung_test_is_named() {
        let (waits, start) =
            ("sleep 1; echo 'test result: ok. 1 passed; 0 failed'", Instant::now());
        let lanes = ["browser", "cluster", "program"].map(|target| suite(target, waits));
        assert_eq!(run_all(lanes.into()), Ok("3 passed, 0 failed, 0 skipped".into()));
        assert!(start.elapsed() < Duration::from_millis(2_500));
        let hangs = "case $1 in --list) printf 'a: test\nb: test\n' ;; *) echo 'test a ... ok'; exec sleep 30 ;; esac";
        let report = suite("program", hangs).run(&[], &[], Duration::from_millis(300));
        assert!(report.fault.is_some_and(|fault| fault.ends_with("; without a result: b")));
    }
}
