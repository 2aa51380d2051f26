//! `cargo xtask counts`: the instructions of small pieces of work, compared with those that are committed.
//!
//! Valgrind counts the same instructions in every run, whatever else the machine does, so a slower path is noticed where a time would
//! be noise. The program is `bench/counts`.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crate::command_runner::{CommandRunner, cargo_command, workspace_root};

/// Where the committed counts are.
const EXPECTED_FILE: &str = "bench/counts/expected.txt";
const PROGRAM: &str = "target/counts/toolwright-counts";

/// Work is done this often in two runs; what the second one takes longer is that of the work, without the start of the program.
const FEW_TIMES: u64 = 2;
const MANY_TIMES: u64 = 7;

/// How much a count may grow.
const TOLERANCE: f64 = 0.05;

/// The instructions of one piece of work.
#[derive(Debug, PartialEq)]
struct Count {
    work: String,
    instructions: u64,
}

/// Counts again, and fails if the instructions of a piece of work have grown, or are not committed.
pub(crate) fn check() -> Result<(), String> {
    let path = expected_path();
    let text = fs::read_to_string(&path).map_err(|error| format!("{EXPECTED_FILE}: {error}"))?;
    let expected = parse_counts(&text)?;
    let counted = count_all()?;
    let (report, grown) = compare(&expected, &counted);
    print!("{report}");
    match grown.as_slice() {
        [] => Ok(()),
        grown => Err(format!(
            "more instructions than {EXPECTED_FILE} has: {}; if that is worth it, run `cargo xtask counts --write` and say why in the commit",
            grown.join(", ")
        )),
    }
}

/// Counts, and writes the file of the committed counts.
pub(crate) fn write() -> Result<(), String> {
    let text: String = count_all()?.iter().map(|count| format!("{count}\n")).collect();
    print!("{text}");
    fs::write(expected_path(), text).map_err(|error| format!("{EXPECTED_FILE}: {error}"))
}

fn expected_path() -> PathBuf {
    workspace_root().join(EXPECTED_FILE)
}

fn count_all() -> Result<Vec<Count>, String> {
    cargo_command("build", &["--profile", "counts", "-p", "toolwright-counts"]).run_inherited()?;
    let work = CommandRunner::new(PROGRAM).stdout()?;
    work.lines().map(count).collect()
}

fn count(work: &str) -> Result<Count, String> {
    let few = instructions(work, FEW_TIMES)?;
    let many = instructions(work, MANY_TIMES)?;
    let instructions = many.saturating_sub(few) / (MANY_TIMES - FEW_TIMES);
    Ok(Count { work: work.to_owned(), instructions })
}

/// Returns the instructions of a whole run.
fn instructions(work: &str, times: u64) -> Result<u64, String> {
    let args = ["--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-fd=1", PROGRAM, work];
    let output = CommandRunner::new("valgrind").args(&args).arg(&times.to_string()).stdout()?;
    let total = output.lines().find_map(|line| line.split_once("Collected :"));
    let total = total.and_then(|(_, total)| total.trim().parse().ok());
    total.ok_or_else(|| format!("valgrind printed no count for `{work}`: {output}"))
}

/// Returns a line for each piece of work, and the names of those whose instructions have grown.
fn compare<'c>(expected: &[Count], counted: &'c [Count]) -> (String, Vec<&'c str>) {
    let (mut report, mut grown) = (String::new(), Vec::new());
    for count in counted {
        let known = expected.iter().find(|known| known.work == count.work);
        #[expect(clippy::cast_precision_loss, reason = "the ratio of two counts")]
        let ratio = known.map(|known| count.instructions as f64 / known.instructions.max(1) as f64);
        let remark = match ratio {
            None => "is not committed",
            Some(ratio) if ratio > 1.0 + TOLERANCE => "has grown",
            Some(ratio) if ratio < 1.0 - TOLERANCE => {
                "fewer: keep them with `cargo xtask counts --write`"
            }
            Some(_) => "",
        };
        if ratio.is_none_or(|ratio| ratio > 1.0 + TOLERANCE) {
            grown.push(count.work.as_str());
        }
        let ratio = ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.3} ×"));
        let line = format!("{count}  {ratio}  {remark}");
        let _ = writeln!(report, "{}", line.trim_end());
    }
    (report, grown)
}

fn parse_counts(text: &str) -> Result<Vec<Count>, String> {
    text.lines().map(parse_count).collect()
}

fn parse_count(line: &str) -> Result<Count, String> {
    let count = line.trim().split_once("  ").and_then(|(instructions, work)| {
        let instructions = instructions.replace(',', "").parse().ok()?;
        Some(Count { work: work.to_owned(), instructions })
    });
    count.ok_or_else(|| format!("{EXPECTED_FILE}: not a count and its work: `{line}`"))
}

/// A line of the file: `1,234  work`, the number right-aligned.
impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:>12}  {}", with_separators(self.instructions), self.work)
    }
}

fn with_separators(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(counts: &[(&str, u64)]) -> Vec<Count> {
        let count = |(work, instructions): &(&str, u64)| Count {
            work: (*work).to_owned(),
            instructions: *instructions,
        };
        counts.iter().map(count).collect()
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let written = counts(&[("call: add", 1_234_567), ("lower", 12)]);
        let text: String = written.iter().map(|count| format!("{count}\n")).collect();
        assert_eq!(text, "   1,234,567  call: add\n          12  lower\n");
        assert_eq!(parse_counts(&text), Ok(written));
        assert!(parse_counts("call: add").unwrap_err().contains("`call: add`"));
    }

    #[test]
    fn more_than_five_percent_and_new_work_fail() {
        let expected = counts(&[("a", 1000), ("b", 1000), ("c", 1000)]);
        let counted = counts(&[("a", 1050), ("b", 1051), ("c", 10), ("d", 1)]);
        let (report, grown) = compare(&expected, &counted);
        assert_eq!(grown, ["b", "d"]);
        assert!(report.contains("1.051 ×  has grown"), "{report}");
        assert!(report.contains("0.010 ×  fewer"), "{report}");
    }
}
