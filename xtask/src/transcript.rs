//! Parses transcripts of commands and compares them with the actual output.
//!
//! A transcript is a line `$ command` and the lines the command prints. `…` alone on a line stands for any lines, and
//! `# exit 1` after the command for an exit code other than 0.

/// Matches any number of lines, including none.
const ANY_LINES: &str = "…";

/// A command and its expected output.
#[derive(Debug, PartialEq)]
pub(crate) struct Transcript {
    /// The line of the command, from 1.
    pub(crate) line: usize,
    /// The command without its `$`.
    pub(crate) command: String,
    /// The expected output.
    pub(crate) expected: Vec<String>,
}

/// A command line as words, and its expected exit code.
#[derive(Debug, PartialEq)]
pub(crate) struct CommandLine {
    pub(crate) words: Vec<String>,
    pub(crate) expected_exit_code: i32,
}

impl Transcript {
    /// Starts a transcript at a line `$ command`; `None` for any other line.
    fn parse_command_line(index: usize, line: &str) -> Option<Self> {
        Some(Self {
            line: index + 1,
            command: line.strip_prefix("$ ")?.trim().to_owned(),
            expected: Vec::new(),
        })
    }

    /// In a block that begins with ` ```console example:NAME `, `cargo run -- …` runs that example, and `target/debug/…` is that
    /// example: a page shows the command of a reader whose own program it is.
    fn of_example(mut self, language: &str) -> Self {
        let Some((_, example)) = language.split_once(" example:") else {
            return self;
        };
        self.command = self.command.replacen(" --", &format!(" --example {example} --"), 1);
        if let Some((before, rest)) = self.command.split_once("target/debug/") {
            let end = rest.find([' ', '\'', '"']).unwrap_or(rest.len());
            let after = rest.get(end..).unwrap_or_default();
            self.command = format!("{before}target/debug/examples/{example}{after}");
        }
        self
    }

    fn trim_trailing_blank_lines(mut self) -> Self {
        while self.expected.last().is_some_and(|line| line.trim().is_empty()) {
            self.expected.pop();
        }
        self
    }

    /// Returns true if `output` matches the expected lines; white space at line ends is ignored.
    pub(crate) fn matches_output(&self, output: &str) -> bool {
        let actual: Vec<&str> = output.trim_end().lines().map(str::trim_end).collect();
        let expected: Vec<&str> = self.expected.iter().map(|line| line.trim_end()).collect();
        let (mut expected_index, mut actual_index, mut retry) = (0, 0, None);
        while let Some(line) = actual.get(actual_index) {
            match expected.get(expected_index) {
                Some(&ANY_LINES) => {
                    retry = Some((expected_index, actual_index));
                    expected_index += 1;
                }
                Some(expected_line) if expected_line == line => {
                    expected_index += 1;
                    actual_index += 1;
                }
                // Backtracks: the last `…` matches one more line.
                _ => match retry {
                    Some((gap, from)) => {
                        (expected_index, actual_index) = (gap + 1, from + 1);
                        retry = Some((gap, actual_index));
                    }
                    None => return false,
                },
            }
        }
        expected.iter().skip(expected_index).all(|line| *line == ANY_LINES)
    }
}

/// The transcripts in the ` ```console ` blocks of a Markdown text; those of ` ```console example:NAME ` are of an example.
///
/// # Errors
///
/// A block with output before its first command, which would not be checked.
pub(crate) fn find_in_markdown(text: &str) -> Result<Vec<Transcript>, String> {
    let mut found: Vec<Transcript> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut block_has_command = false;
    for (index, line) in text.lines().enumerate() {
        match (fence, line.strip_prefix("```")) {
            (Some(_), Some("")) => fence = None,
            (None, Some(language)) => {
                fence = Some(language.trim());
                block_has_command = false;
            }
            (Some(language), _) if language.split(' ').next() == Some("console") => {
                if let Some(started) = Transcript::parse_command_line(index, line) {
                    found.push(started.of_example(language));
                    block_has_command = true;
                } else if let (true, Some(last)) = (block_has_command, found.last_mut()) {
                    last.expected.push(line.to_owned());
                } else {
                    return Err(format!(
                        "line {}: a ```console block starts with `$ command`",
                        index + 1
                    ));
                }
            }
            _ => {}
        }
    }
    Ok(found.into_iter().map(Transcript::trim_trailing_blank_lines).collect())
}

/// The `$ cargo run …` transcripts in the comment at the top of a Rust file, fenced or indented.
///
/// A command without output is not a transcript.
pub(crate) fn find_in_doc_header(source: &str) -> Vec<Transcript> {
    let mut found: Vec<Transcript> = Vec::new();
    // The indentation of the command whose output is being read.
    let mut open: Option<usize> = None;
    let mut fenced = false;
    for (index, line) in source.lines().enumerate() {
        let Some(text) = doc_comment_text(line) else {
            break;
        };
        if text.trim_start().starts_with("```") {
            fenced = !fenced;
            open = None;
            continue;
        }
        let indent = text.len() - text.trim_start().len();
        if let Some(started) = Transcript::parse_command_line(index, text.trim_start()) {
            open = started.command.starts_with("cargo run").then_some(indent);
            found.extend(open.map(|_| started));
            continue;
        }
        let blank = text.trim().is_empty();
        match open {
            Some(depth) if blank && (fenced || depth > 0) => push_expected_line(&mut found, ""),
            Some(depth) if !blank && (fenced || indent >= depth) => {
                push_expected_line(&mut found, text.get(depth.min(indent)..).unwrap_or_default());
            }
            _ => open = None,
        }
    }
    found
        .into_iter()
        .map(Transcript::trim_trailing_blank_lines)
        .filter(|transcript| !transcript.expected.is_empty())
        .collect()
}

fn push_expected_line(found: &mut [Transcript], line: &str) {
    if let Some(last) = found.last_mut() {
        last.expected.push(line.to_owned());
    }
}

/// The text of a comment line; empty for blank lines and inner attributes, which may be between comments.
fn doc_comment_text(line: &str) -> Option<&str> {
    if line.trim().is_empty() || line.starts_with("#!") {
        return Some("");
    }
    let text = line.strip_prefix("//")?;
    let text = text.strip_prefix(['!', '/']).unwrap_or(text);
    Some(text.strip_prefix(' ').unwrap_or(text))
}

/// Splits a command line with the quoting rules of a shell; other shell syntax is an error.
pub(crate) fn split_command(command: &str) -> Result<CommandLine, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut exit = 0;
    let mut rest = command.chars();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '#' if word.is_none() => {
                exit = parse_exit_code(rest.as_str())?;
                break;
            }
            '\'' => {
                let (inside, after) =
                    rest.as_str().split_once('\'').ok_or("a ' is never closed")?;
                word.get_or_insert_default().push_str(inside);
                rest = after.chars();
            }
            '"' => loop {
                let inside = word.get_or_insert_default();
                match rest.next().ok_or("a \" is never closed")? {
                    '"' => break,
                    '\\' => match rest.next().ok_or("a \" is never closed")? {
                        escaped @ ('"' | '\\' | '$' | '`') => inside.push(escaped),
                        other => inside.extend(['\\', other]),
                    },
                    special @ ('$' | '`') => return Err(shell_syntax_error(special)),
                    other => inside.push(other),
                }
            },
            '\\' => {
                let escaped = rest.next().ok_or("a \\ ends the command")?;
                word.get_or_insert_default().push(escaped);
            }
            '|' | '<' | '>' | '&' | ';' | '$' | '`' | '*' | '?' => {
                return Err(shell_syntax_error(c));
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    if words.is_empty() {
        return Err("the command is empty".to_owned());
    }
    Ok(CommandLine { words, expected_exit_code: exit })
}

/// Parses `exit N` in the comment after a command; 0 for any other comment.
fn parse_exit_code(comment: &str) -> Result<i32, String> {
    match comment.trim().strip_prefix("exit ") {
        None => Ok(0),
        Some(code) => {
            code.trim().parse().map_err(|_| format!("`# exit {code}` names no exit code"))
        }
    }
}

fn shell_syntax_error(c: char) -> String {
    format!("`{c}` needs a shell, and transcripts run without one: quote it or leave it out")
}

#[cfg(test)]
mod tests;
