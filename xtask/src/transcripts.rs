//! Runs the commands in the READMEs, the book and the headers of the examples, and compares what they print.
//!
//! In a ` ```console ` block, `$ command` is followed by the lines that it prints. `…` alone on a line stands for any lines, and
//! `# exit 1` after the command for another exit code than 0. A `cargo run` is replaced by the executable, which was built with all
//! others; in ` ```console example:NAME ` it is that example, because the page shows the command of a reader whose program it is.

use std::time::Duration;

use crate::canned_model;
use crate::checks::BRIDGES;
use crate::files::{read, tracked};
use crate::process::Program;
use crate::suites::EVERYTHING;

/// Matches any number of lines, including none.
const ANY_LINES: &str = "…";
const LIMIT: Duration = Duration::from_secs(300);
const PAGES: [&str; 4] = ["README.md", "docs/*.md", "bridges/*/README.md", "examples/*.rs"];

/// A command and what it prints.
struct Transcript {
    /// The line of the command, from 1.
    line: usize,
    /// With executables in place of `cargo run`.
    command: String,
    exit_code: String,
    expected: Vec<String>,
}

/// Runs every transcript.
pub(crate) fn check() -> Result<String, String> {
    // With examples, the features of dev-dependencies are on: nothing is compiled that the tests have not compiled.
    Program::cargo("build", &EVERYTHING).args(&["--bin", "toolwright", "--examples"]).run()?;
    Program::cargo("build", &["--manifest-path", BRIDGES, "--workspace", "--examples"]).run()?;
    let model_url = canned_model::serve().map_err(|error| format!("canned model: {error}"))?;
    let (mut count, mut different) = (0, 0);
    for file in tracked(&PAGES)? {
        let text = read(&file)?;
        let text = if file.ends_with(".rs") { header(&text) } else { text };
        for transcript in find(&text).map_err(|error| format!("{file}: {error}"))? {
            count += 1;
            if let Err(difference) = run(&transcript, &model_url) {
                different += 1;
                println!("{file}:{}: {}\n{difference}", transcript.line, transcript.command);
            }
        }
    }
    match different {
        0 => Ok(format!("{count} transcripts")),
        _ => Err(format!("{different} of {count} transcripts differ")),
    }
}

/// The text of the comment at the top of a Rust file.
fn header(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect()
}

/// The transcripts in the ` ```console ` blocks of a page.
fn find(text: &str) -> Result<Vec<Transcript>, String> {
    let mut found: Vec<Transcript> = Vec::new();
    // The language of a block, and where its transcripts begin.
    let mut block: Option<(&str, usize)> = None;
    for (index, line) in text.lines().enumerate() {
        match (block, line.strip_prefix("```"), line.strip_prefix("$ ")) {
            (Some(_), Some(""), _) => block = None,
            (None, Some(language), _) => block = Some((language, found.len())),
            (Some((language, _)), _, Some(command)) if language.starts_with("console") => {
                let (command, exit_code) = command.split_once(" # exit ").unwrap_or((command, "0"));
                let example = language.split_once(" example:").map(|(_, example)| example);
                let (command, exit_code) = (executable(command, example)?, exit_code.to_owned());
                found.push(Transcript { line: index + 1, command, exit_code, expected: vec![] });
            }
            (Some((language, start)), ..) if language.starts_with("console") => {
                let last = found.get_mut(start..).and_then(<[_]>::last_mut);
                let last =
                    last.ok_or(format!("line {}: a block starts with `$ command`", index + 1))?;
                last.expected.push(line.trim_end().to_owned());
            }
            _ => {}
        }
    }
    Ok(found)
}

/// The command with an executable in place of `cargo run … --`.
fn executable<'c>(command: &'c str, mut example: Option<&'c str>) -> Result<String, String> {
    let Some(run) = command.strip_prefix("cargo run ") else {
        return Ok(command.to_owned());
    };
    let (options, args) = run.split_once("-- ").unwrap_or((run, ""));
    let mut folder = "target";
    let mut options = options.split_whitespace();
    while let Some(option) = options.next() {
        match option {
            "-q" => {}
            "-p" => drop(options.next()),
            "--example" => example = options.next(),
            "--manifest-path" if options.next() == Some(BRIDGES) => folder = "bridges/target",
            other => return Err(format!("`{other}` of cargo run is not known here")),
        }
    }
    let program = match example {
        Some(example) => format!("{folder}/debug/examples/{example}"),
        None => format!("{folder}/debug/toolwright"),
    };
    // A page that names the reader's own executable means the same.
    let args = match args.split_once("'target/debug/") {
        Some((before, rest)) => {
            let rest = rest.split_once(' ').map_or("", |(_, rest)| rest);
            format!("{before}'{program} {rest}")
        }
        None => args.to_owned(),
    };
    Ok(format!("{program} {args}"))
}

fn run(transcript: &Transcript, model_url: &str) -> Result<(), String> {
    let mut program = Program::shell(&transcript.command).env("NO_COLOR", "1");
    if transcript.command.contains("21_real_model") {
        // The key would make other programs select the model by themselves.
        program = program.env("BASE_URL", model_url).env("OPENAI_API_KEY", "a key");
    }
    let (output, status) = program.capture(LIMIT)?;
    let actual: Vec<&str> = output.trim_end().lines().map(str::trim_end).collect();
    let expected = transcript.expected.join("\n");
    let exit_code = status.code().unwrap_or(-1).to_string();
    match matches(&expected.trim_end().lines().collect::<Vec<_>>(), &actual) {
        true if exit_code == transcript.exit_code => Ok(()),
        _ => Err(format!("-- expected:\n{expected}\n-- printed, then exit {exit_code}:\n{output}")),
    }
}

fn matches(expected: &[&str], actual: &[&str]) -> bool {
    match (expected.split_first(), actual.split_first()) {
        (None, None) => true,
        (Some((&ANY_LINES, rest)), _) => {
            (0..=actual.len()).any(|skip| actual.get(skip..).is_some_and(|it| matches(rest, it)))
        }
        (Some((line, rest)), Some((first, more))) => line == first && matches(rest, more),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_blocks_have_commands_and_their_output() {
        let page = "# Title\n\n```console\n$ cargo run -q -- tools list\nadd\n\necho\n$ false # exit 2\n```\n\n```sh\n$ no\n```\n\
                    ```console example:26_shop\n$ cargo run -q -- check --mcp 'target/debug/shop mcp' --for all\n```\n";
        let source = "//! Adds.\n//!\n//! ```console\n//! $ cargo run -q --manifest-path bridges/Cargo.toml -p a --example b\n//!  5\n\n//! ```";
        let found = [find(page).unwrap(), find(&header(source)).unwrap()];
        let shown =
            found.iter().flatten().map(|Transcript { line, command, exit_code, expected }| {
                format!("{line} {command} [{exit_code}] {}", expected.join("|"))
            });
        let found: Vec<String> = shown.collect();
        let expected = [
            "4 target/debug/toolwright tools list [0] add||echo",
            "8 false [2] ",
            "15 target/debug/examples/26_shop check --mcp 'target/debug/examples/26_shop mcp' --for all [0] ",
            "4 bridges/target/debug/examples/b  [0]  5",
        ];
        assert_eq!(found, expected);
        for mistake in ["```console\noutput\n```", "```console\n$ cargo run --release\n```"] {
            assert!(find(mistake).is_err(), "{mistake}");
        }
    }

    #[test]
    fn an_ellipsis_stands_for_any_lines() {
        for (expected, actual, is_match) in [
            ("a b", "a b", true),
            ("a … z", "a z", true),
            ("a … z", "a z y z", true),
            ("… b … d", "a b c b d", true),
            ("a b", "a", false),
            ("a b", "a b c", false),
            ("a … z", "a z x", false),
            ("… b … d", "a d b", false),
        ] {
            let [expected, actual] = [expected, actual].map(|it| it.split(' ').collect::<Vec<_>>());
            assert_eq!(matches(&expected, &actual), is_match, "{expected:?} {actual:?}");
        }
    }
}
