//! Checks the length of the README, and that it starts with a program.

/// The first program must start before this line.
const MAX_FIRST_PROGRAM_LINE: usize = 15;
/// The README must have fewer lines.
const MAX_LINES: usize = 150;

/// The violated rules; empty if there are none.
pub(crate) fn find_problems(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let is_program = |line: &str| {
        line.strip_prefix("```rust")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([',', ' ']))
    };
    match text.lines().position(is_program) {
        Some(index) if index + 1 < MAX_FIRST_PROGRAM_LINE => {}
        Some(index) => faults.push(format!(
            "the first ```rust block starts at line {}, wanted before line {MAX_FIRST_PROGRAM_LINE}",
            index + 1
        )),
        None => faults.push("no ```rust block".to_owned()),
    }
    let lines = text.lines().count();
    if lines >= MAX_LINES {
        faults.push(format!("{lines} lines, wanted under {MAX_LINES}"));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_with_an_early_program_has_no_problems() {
        let text = format!("{}```rust\nfn main() {{}}\n```\n", "text\n".repeat(13));
        assert!(find_problems(&text).is_empty());
    }

    #[test]
    fn a_late_program_is_a_fault() {
        let text = format!("{}```rust,no_run\n```\n", "text\n".repeat(14));
        assert_eq!(
            find_problems(&text),
            ["the first ```rust block starts at line 15, wanted before line 15"]
        );
    }

    #[test]
    fn a_long_text_without_a_program_has_two_faults() {
        let text = format!("```rustic\n{}", "text\n".repeat(149));
        assert_eq!(find_problems(&text), ["no ```rust block", "150 lines, wanted under 150"]);
    }
}
