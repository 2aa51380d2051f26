//! Completion and continuation lines for the line editor.

use std::io::{self, BufRead};

use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};

const FENCE: &str = "```";

/// The helper of the line editor: completes commands and names, and continues incomplete input on the next line.
pub(crate) struct LineHelper {
    /// Slash commands, with the slash.
    pub(crate) commands: Vec<String>,
    /// Names of tools, prompts and vendors.
    pub(crate) names: Vec<String>,
}

impl Helper for LineHelper {}
impl Highlighter for LineHelper {}

impl Hinter for LineHelper {
    type Hint = String;
}

impl Completer for LineHelper {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        pos: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = line.get(..pos).unwrap_or(line);
        Ok(self.completions(typed))
    }
}

impl LineHelper {
    /// The start of the last word, and its completions: commands for the first word, else names.
    fn completions(&self, typed: &str) -> (usize, Vec<String>) {
        let space = typed.rfind(char::is_whitespace);
        let start = space.map_or(0, |at| {
            at + typed.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
        });
        let word = typed.get(start..).unwrap_or_default();
        let known = match start {
            0 => &self.commands,
            _ => &self.names,
        };
        if word.is_empty() {
            return (start, Vec::new());
        }
        let matching = known.iter().filter(|known| known.starts_with(word));
        (start, matching.cloned().collect())
    }
}

impl Validator for LineHelper {
    fn validate(&self, typed: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match is_incomplete(typed.input()) {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

/// Returns true if the last line ends in `\`, or a block of code is not closed.
fn is_incomplete(text: &str) -> bool {
    let fences = text.lines().filter(|line| is_fence(line)).count();
    fences % 2 == 1 || text.ends_with('\\')
}

fn is_fence(line: &str) -> bool {
    line.trim_start().starts_with(FENCE)
}

/// Removes the backslashes at line ends that continue a line; those in code blocks stay.
pub(crate) fn strip_continuations(text: &str) -> String {
    let mut in_code = false;
    let mut lines: Vec<&str> = text.lines().collect();
    let last = lines.len().saturating_sub(1);
    for (at, line) in lines.iter_mut().enumerate() {
        in_code ^= is_fence(line);
        if !in_code && at < last {
            *line = line.strip_suffix('\\').unwrap_or(line);
        }
    }
    lines.join("\n")
}

/// Reads a line and its continuation lines; `None` at the end of input.
pub(crate) fn read_multiline(input: &mut dyn BufRead) -> io::Result<Option<String>> {
    let mut text = String::new();
    loop {
        let read = input.read_line(&mut text)?;
        let whole = text.trim_end_matches(['\n', '\r']).len();
        if read == 0 || !is_incomplete(text.get(..whole).unwrap_or_default()) {
            text.truncate(whole);
            return Ok((read > 0 || !text.is_empty()).then_some(text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let mut text = text.as_bytes();
        std::iter::from_fn(|| read_multiline(&mut text).unwrap())
            .map(|line| strip_continuations(&line))
            .collect()
    }

    #[test]
    fn a_line_goes_on_after_a_backslash_and_inside_of_code() {
        assert_eq!(read("one\r\ntwo"), ["one", "two"]);
        assert_eq!(read("one \\\ntwo\nthree\n"), ["one \ntwo", "three"]);
        assert_eq!(
            read("look:\n```\na \\\nb\n```\nnext\n"),
            ["look:", "```\na \\\nb\n```", "next"]
        );
        assert_eq!(read("```\nnever closed\n"), ["```\nnever closed"]);
        assert_eq!(read("the end \\"), ["the end \\"]);
    }

    #[test]
    fn the_first_word_is_a_command_and_others_are_names() {
        let helper = LineHelper {
            commands: vec!["/tools".into(), "/model".into()],
            names: vec!["get_weather".into(), "openai".into()],
        };
        assert_eq!(helper.completions("/to"), (0, vec!["/tools".to_owned()]));
        let (at, found) = helper.completions("call ge");
        assert_eq!((at, found), (5, vec!["get_weather".to_owned()]));
        assert_eq!(helper.completions("how ").1.len(), 0);
        assert_eq!(helper.completions("ge").1.len(), 0);
    }
}
