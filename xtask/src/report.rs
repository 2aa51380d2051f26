//! Reads what an executable of tests prints.

use std::collections::BTreeSet;

/// At most this many lines of an executable are printed when it fails: a log of CI may have its end only.
const MAX_LINES: usize = 200;

/// What became of the tests of one executable.
#[derive(Default)]
pub(crate) struct Report {
    /// Those that were skipped included.
    pub(crate) passed: usize,
    pub(crate) ignored: usize,
    /// The names of the failed tests.
    pub(crate) failed: Vec<String>,
    /// The reason of each test that printed `skipped: REASON`.
    pub(crate) skipped: Vec<String>,
    /// Why the executable failed otherwise: it did not end, or not as it should.
    pub(crate) fault: Option<String>,
    pub(crate) seconds: f64,
    pub(crate) output: Vec<String>,
    /// The tests with a result.
    ended: BTreeSet<String>,
    /// The names below the last `failures:`.
    listed: Vec<String>,
    /// The test whose output is being read has been counted as skipped.
    is_counted: bool,
}

impl Report {
    pub(crate) fn read_line(&mut self, line: &str) {
        self.output.push(line.to_owned());
        if let Some((name, _)) = line.strip_prefix("test ").and_then(|it| it.split_once(" ... ")) {
            self.ended.insert(name.trim_end_matches(" - should panic").to_owned());
        } else if line == "failures:" {
            // The first list is of outputs, the second one of names.
            self.listed.clear();
        } else if let Some(name) = line.strip_prefix("    ") {
            self.listed.push(name.to_owned());
        } else if line.starts_with("---- ") && line.ends_with(" ----") {
            self.is_counted = false;
        } else if let (Some(reason), false) = (line.strip_prefix("skipped: "), self.is_counted) {
            self.skipped.push(reason.to_owned());
            self.is_counted = true;
        } else if let Some(result) = line.strip_prefix("test result: ") {
            self.passed += count(result, " passed");
            self.ignored += count(result, " ignored");
            let listed = std::mem::take(&mut self.listed);
            self.failed.extend(listed.into_iter().filter(|_| count(result, " failed") > 0));
        }
    }

    pub(crate) fn has_ended(&self, test: &str) -> bool {
        self.ended.contains(test)
    }

    pub(crate) fn is_bad(&self) -> bool {
        self.fault.is_some() || !self.failed.is_empty()
    }

    /// One line about the executable `name`.
    pub(crate) fn line(&self, name: &str) -> String {
        let mark = if self.is_bad() { "FAILED" } else { "ok    " };
        let failed = (self.failed.len(), "failed");
        let counts = [failed, (self.ignored, "ignored"), (self.skipped.len(), "of them skipped")];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: String = counts.map(|(count, word)| format!(", {count} {word}")).collect();
        format!("   {mark} {:>6.1} s  {name}: {} passed{counts}", self.seconds, self.passed)
    }

    /// What failed tests printed, or the end of the output of an executable that has no result. No line of it reads as a result of
    /// the tests that print it.
    pub(crate) fn excerpt(&self) -> String {
        let start = self.output.iter().position(|line| line == "failures:");
        let start = start.unwrap_or_else(|| self.output.len().saturating_sub(MAX_LINES));
        let lines = self.output.iter().skip(start).take(MAX_LINES);
        lines.map(|line| format!("| {line}")).collect::<Vec<_>>().join("\n")
    }
}

/// The number before `word`: 2 in `ok. 2 passed; 0 failed`.
fn count(result: &str, word: &str) -> usize {
    let before = result.split_once(word).map_or("", |(before, _)| before);
    before.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "
test rooms::a_room_is_left ... ok
test rooms::a_room_is_entered ... FAILED
test rooms::a_room_is_shared - should panic ... FAILED
test rooms::a_room_is_kept ... ok

successes:

---- rooms::a_room_is_left stdout ----
skipped: needs NATS
skipped: needs NATS
---- rooms::a_room_is_kept stdout ----
skipped: needs Node

successes:
    rooms::a_room_is_left
    rooms::a_room_is_kept

failures:

---- rooms::a_room_is_entered stdout ----
the room is empty
    0: a frame

failures:
    rooms::a_room_is_entered
    rooms::a_room_is_shared

test result: FAILED. 2 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s
";

    #[test]
    fn the_results_of_tests_are_read_from_their_output() {
        let mut report = Report { seconds: 1.26, ..Report::default() };
        OUTPUT.lines().for_each(|line| report.read_line(line));
        assert_eq!(report.failed, ["rooms::a_room_is_entered", "rooms::a_room_is_shared"]);
        // A test that prints the reason twice counts once.
        assert_eq!(report.skipped, ["needs NATS", "needs Node"]);
        assert!(report.has_ended("rooms::a_room_is_shared"));
        assert!(!report.has_ended("rooms::a_room_hangs"));
        let line = "   FAILED    1.3 s  bus main: 2 passed, 2 failed, 1 ignored, 2 of them skipped";
        assert_eq!(report.line("bus main"), line);
        let excerpt = report.excerpt();
        assert!(
            excerpt.starts_with("| failures:\n| \n| ---- rooms::a_room_is_entered"),
            "{excerpt}"
        );
    }

    #[test]
    fn without_a_result_the_end_of_the_output_is_shown() {
        let mut report = Report::default();
        ["test a ... ok", "memory is exhausted"].iter().for_each(|line| report.read_line(line));
        assert_eq!(report.excerpt(), "| test a ... ok\n| memory is exhausted");
        assert_eq!(report.line("a lib"), "   ok        0.0 s  a lib: 0 passed");
    }
}
