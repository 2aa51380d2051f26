//! Runs all tests; one that fails is run once more, alone, and reported as flaky if it passes then.

use crate::command_runner::cargo_command;

/// All tests of the workspace; not `--all-targets`, which would leave out the doc tests.
const EVERYTHING: [&str; 2] = ["--workspace", "--all-features"];

/// The tests of these targets show that nothing is lost and nothing happens twice: there, one failure in a hundred runs counts.
const NEVER_RETRIED: [&str; 4] =
    ["--test cluster", "--test crash", "--test kill", "--test simulation"];

/// What failed tests printed is shown again at the end, at most this many lines of a target: a log of CI may have its end only.
const MAX_FAILURE_LINES: usize = 200;

/// A target with tests that failed.
#[derive(Debug, PartialEq)]
struct FailedTarget {
    package: String,
    /// How cargo selects the target: `--lib`, or `--test NAME`.
    selection: String,
    /// Empty if the process ended before it could report its tests.
    tests: Vec<String>,
    /// What they printed.
    output: Vec<String>,
}

/// Finds the failed tests in the output of `cargo test`.
#[derive(Default)]
struct OutputReader {
    /// The failed tests of the target that runs.
    tests: Vec<String>,
    /// What they printed: the lines between `failures:` and the result.
    output: Vec<String>,
    is_in_failures: bool,
    targets: Vec<FailedTarget>,
}

impl OutputReader {
    fn read_line(&mut self, line: &str) {
        let line = line.trim_end();
        match line {
            "failures:" => self.is_in_failures = true,
            _ if line.starts_with("test result: ") => self.is_in_failures = false,
            _ if self.is_in_failures && self.output.len() < MAX_FAILURE_LINES => {
                self.output.push(line.to_owned());
            }
            _ => {}
        }
        let name = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED"));
        if let Some(name) = name {
            self.tests.push(name.trim_end_matches(" - should panic").to_owned());
        } else if let Some((_, rerun)) = line.split_once("test failed, to rerun pass `-p ") {
            let rerun = rerun.split('`').next().unwrap_or_default();
            let (package, selection) = rerun.split_once(' ').unwrap_or((rerun, ""));
            self.targets.push(FailedTarget {
                package: package.to_owned(),
                selection: selection.to_owned(),
                tests: std::mem::take(&mut self.tests),
                output: std::mem::take(&mut self.output),
            });
        }
    }
}

/// Runs every test, doc tests included, even if some fail: CI takes long, and one run should show all that is broken.
pub(crate) fn run_all_tests() -> Result<(), String> {
    let mut reader = OutputReader::default();
    let first = cargo_command("test", &EVERYTHING).arg("--no-fail-fast");
    let Err(failure) = first.run_with_lines(|line| reader.read_line(line)) else {
        return Ok(());
    };
    if reader.targets.is_empty() {
        return Err(failure);
    }
    for FailedTarget { package, selection, output, .. } in &reader.targets {
        println!("failed: {package} {selection}\n{}", output.join("\n"));
    }
    for target in &reader.targets {
        check_retriable(target)?;
    }
    for target in &reader.targets {
        run_again(target)?;
    }
    for FailedTarget { package, tests, .. } in &reader.targets {
        for test in tests {
            println!("flaky: `{test}` of {package} failed, and passed when it was run again");
        }
    }
    Ok(())
}

/// Runs the failed tests of a target once more; an error if one of them does not pass.
fn run_again(target: &FailedTarget) -> Result<(), String> {
    let selection: Vec<&str> = target.selection.split(' ').collect();
    let names: Vec<&str> = target.tests.iter().map(String::as_str).collect();
    // Of the whole workspace, as before: cargo would compile a single package with other features.
    let again = cargo_command("test", &EVERYTHING).args(&selection);
    let mut output = String::new();
    again.args(&["--", "--exact"]).args(&names).run_with_lines(|line| output.push_str(line))?;
    let has_passed = |name: &&str| {
        let passed = [format!("test {name} ... ok"), format!("test {name} - should panic ... ok")];
        output.lines().any(|line| passed.iter().any(|passed| passed == line))
    };
    match names.iter().find(|name| !has_passed(name)) {
        None => Ok(()),
        Some(name) => Err(format!("`{name}` failed, and was not found when it should run again")),
    }
}

/// Returns an error if the tests of a target must not be run again.
fn check_retriable(target: &FailedTarget) -> Result<(), String> {
    let FailedTarget { package, selection, tests, .. } = target;
    let target = format!("{package} {selection}");
    if NEVER_RETRIED.contains(&selection.as_str()) {
        return Err(format!(
            "{target}: {} failed; these tests have to pass every time",
            tests.join(", ")
        ));
    }
    match tests.is_empty() || selection == "--doc" {
        true => Err(format!("{target} failed")),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "     Running tests/main/main.rs (target/debug/deps/main-1)
test rooms::a_room_is_left ... ok
test rooms::a_room_is_entered ... FAILED
test rooms::a_room_is_shared - should panic ... FAILED

failures:

---- rooms::a_room_is_entered stdout ----
the room is empty

failures:
    rooms::a_room_is_entered
test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

error: test failed, to rerun pass `-p toolwright-bus --test main`
     Running unittests src/lib.rs (target/debug/deps/toolwright_chat-1)
error: test failed, to rerun pass `-p toolwright-chat --lib`

Caused by:
  process didn't exit successfully: `main` (signal: 6, SIGABRT: process abort signal)
   Doc-tests toolwright
test src/lib.rs - app (line 7) ... FAILED
error: doctest failed, to rerun pass `-p toolwright --doc`
";

    fn failed(package: &str, selection: &str, tests: &[&str]) -> FailedTarget {
        FailedTarget {
            package: package.to_owned(),
            selection: selection.to_owned(),
            tests: tests.iter().map(|test| (*test).to_owned()).collect(),
            output: Vec::new(),
        }
    }

    #[test]
    fn failed_tests_are_found_with_their_targets() {
        let mut reader = OutputReader::default();
        OUTPUT.lines().for_each(|line| reader.read_line(line));
        let main = ["rooms::a_room_is_entered", "rooms::a_room_is_shared"];
        let printed = std::mem::take(&mut reader.targets[0].output).join("\n");
        assert!(printed.contains("stdout ----\nthe room is empty\n"), "{printed}");
        let expected = [
            failed("toolwright-bus", "--test main", &main),
            failed("toolwright-chat", "--lib", &[]),
            failed("toolwright", "--doc", &["src/lib.rs - app (line 7)"]),
        ];
        assert_eq!(reader.targets, expected);
    }

    #[test]
    fn only_a_test_that_may_fail_by_chance_is_run_again() {
        assert_eq!(check_retriable(&failed("bus", "--test main", &["a"])), Ok(()));
        for (selection, tests) in [
            ("--test kill", &["a"][..]),
            ("--test simulation", &["a"]),
            ("--doc", &["a"]),
            ("--lib", &[]),
        ] {
            assert!(check_retriable(&failed("bus", selection, tests)).is_err(), "{selection}");
        }
    }
}
