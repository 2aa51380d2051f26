//! Counts the instructions of small pieces of work, and compares them with those that are committed.
//!
//! Valgrind counts the same instructions in every run, whatever else the machine does, so a slower path is noticed where a time would
//! be noise. The program is `bench/counts`.

use crate::files::{read, write};
use crate::process::Program;

/// A line for each piece of work: its instructions, two spaces, its name.
const EXPECTED: &str = "bench/counts/expected.txt";
const PROGRAM: &str = "target/counts/toolwright-counts";

/// Work is done this often in two runs; what the second one takes longer is that of the work, without the start of the program.
const FEW_TIMES: u64 = 2;
const MANY_TIMES: u64 = 7;

/// How much a count may differ.
const TOLERANCE: f64 = 0.05;

/// Counts again, and fails if the instructions of a piece of work have grown, or are not committed.
pub(crate) fn check() -> Result<String, String> {
    if !cfg!(target_arch = "x86_64") {
        return Ok("skipped: the committed counts are those of x86_64".to_owned());
    }
    let (report, grown) = compare(&parse(&read(EXPECTED)?), &count_all()?);
    print!("{report}");
    match grown {
        0 => Ok("no more than expected".to_owned()),
        _ => Err(format!(
            "{grown} counts have grown; if that is worth it: cargo xtask counts --write"
        )),
    }
}

/// Counts, and writes the file of the committed counts.
pub(crate) fn keep() -> Result<String, String> {
    let counts = count_all()?;
    let line = |(work, count): &(String, u64)| format!("{:>12}  {work}\n", grouped(*count));
    write(EXPECTED, &counts.iter().map(line).collect::<String>())?;
    Ok(format!("{} counts are in {EXPECTED}", counts.len()))
}

fn count_all() -> Result<Vec<(String, u64)>, String> {
    Program::cargo("build", &["--profile", "counts", "-p", "toolwright-counts"]).run()?;
    let list = Program::new(PROGRAM).stdout()?;
    list.lines().map(|work| Ok((work.to_owned(), count(work)?))).collect()
}

/// Counts the instructions of one piece of work.
fn count(work: &str) -> Result<u64, String> {
    let of_run = |times: u64| {
        let options = ["--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-fd=1"];
        let valgrind = Program::new("valgrind").args(&options).args(&[PROGRAM, work]);
        let output = valgrind.args(&[times.to_string()]).stdout()?;
        let total = output.lines().find_map(|line| line.split_once("Collected :"));
        let total = total.and_then(|(_, total)| total.trim().parse::<u64>().ok());
        total.ok_or_else(|| format!("valgrind printed no count for `{work}`: {output}"))
    };
    let (few, many) = (of_run(FEW_TIMES)?, of_run(MANY_TIMES)?);
    Ok(many.saturating_sub(few) / (MANY_TIMES - FEW_TIMES))
}

/// Returns a line for each piece of work, and how many have grown.
fn compare(expected: &[(String, u64)], counted: &[(String, u64)]) -> (String, usize) {
    let (mut report, mut grown) = (String::new(), 0);
    for (work, count) in counted {
        let known = expected.iter().find(|(known, _)| known == work).map_or(0, |(_, count)| *count);
        #[expect(clippy::cast_precision_loss, reason = "the ratio of two counts")]
        let ratio = *count as f64 / known as f64;
        let remark = match ratio {
            ratio if ratio < 1.0 - TOLERANCE => {
                "fewer: keep them with `cargo xtask counts --write`"
            }
            ratio if ratio <= 1.0 + TOLERANCE => "",
            _ => {
                grown += 1;
                if known == 0 { "is not committed" } else { "has grown" }
            }
        };
        report += &format!("{:>12}  {work}  {ratio:.3} ×  {remark}\n", grouped(*count));
    }
    (report, grown)
}

fn parse(text: &str) -> Vec<(String, u64)> {
    let lines = text.lines().filter_map(|line| line.trim().split_once("  "));
    let count =
        |(count, work): (&str, &str)| Some((work.to_owned(), count.replace(',', "").parse().ok()?));
    lines.filter_map(count).collect()
}

/// `1,234`.
fn grouped(count: u64) -> String {
    let digits = count.to_string().into_bytes();
    digits.rchunks(3).rev().map(String::from_utf8_lossy).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_five_percent_and_new_work_fail() {
        let expected = parse("       1,000  call: a\n 1,000  b\n1000  c\n");
        let counted = [("call: a", 1_050), ("b", 1_051), ("c", 10), ("d", 1)];
        let counted = counted.map(|(work, count)| (work.to_owned(), count));
        let (report, grown) = compare(&expected, &counted);
        assert_eq!(grown, 2, "{report}");
        assert!(report.contains("       1,050  call: a  1.050 ×  \n"), "{report}");
        assert!(report.contains("b  1.051 ×  has grown\n"), "{report}");
        assert!(report.contains("c  0.010 ×  fewer"), "{report}");
        assert!(report.contains("d  inf ×  is not committed\n"), "{report}");
    }
}
