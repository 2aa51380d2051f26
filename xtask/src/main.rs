//! `cargo xtask`: `quick` for an edit, `test` for everything CI runs, `all` before a release; and the book, counts and releases.

mod api;
mod book;
mod canned_model;
mod checks;
mod counts;
mod files;
mod gates;
mod long;
mod metadata;
mod names;
mod outside;
mod packages;
mod process;
mod programs;
mod quick;
mod release;
mod report;
mod sbom;
mod steps;
mod suites;
mod transcripts;

use std::process::ExitCode;

use steps::Tier;

const HELP: &str = "Builds, tests and releases this workspace.

After an edit:
  cargo xtask quick          format, clippy and tests of the crates that differ from `main`
  cargo xtask quick core     the same of crates that are named; `core` is short for `toolwright-core`

Before a change is proposed, and what CI runs:
  cargo xtask test           every step below, in order; stops at the first failure
  cargo xtask test STEP…     the named steps, as in `cargo xtask test fmt clippy`

Before a release, and before a large change lands:
  cargo xtask all            the steps of `test` and more; shows everything that fails
  cargo xtask all STEP…      the named steps, as in `cargo xtask all counts`

Now and then:
  cargo xtask counts --write keeps new counts of instructions, in bench/counts/expected.txt
  cargo xtask book           builds docs/ as a book, in target/book
  cargo xtask packages NAME… tries packages in projects outside of the workspace, as `tools template-mcp`
  cargo xtask semver [REVISION]    compatibility with the last release, or with a revision
  cargo xtask release VERSION --dry-run    `cargo xtask release --help` has its steps

@steps@
Exit: 0 when everything passed, 1 when something failed, 2 for a mistyped command line.";

const COMMANDS: [&str; 8] =
    ["quick", "test", "all", "counts", "book", "packages", "semver", "release"];

/// Why a command ends without success.
#[derive(Debug)]
enum Error {
    /// The command line is wrong.
    Usage(String),
    Failed(String),
}

impl From<String> for Error {
    fn from(message: String) -> Self {
        Self::Failed(message)
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let (message, exit) = match run(&words) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Error::Failed(message)) => (message, 1),
        Err(Error::Usage(message)) => (message, 2),
    };
    eprintln!("error: {message}");
    ExitCode::from(exit)
}

fn run(words: &[&str]) -> Result<(), Error> {
    let wants_help = words.iter().any(|word| ["help", "-h", "--help"].contains(word));
    let found = match words {
        ["release", ..] if wants_help => release::help(),
        words if words.is_empty() || wants_help => HELP.replace("@steps@", &steps::list()),
        ["quick", names @ ..] => return quick::run(names),
        ["test", names @ ..] => return steps::run(Tier::Test, names),
        ["all", names @ ..] => return steps::run(Tier::All, names),
        ["release", version, steps @ ..] => return release::run(version, steps),
        ["counts"] => counts::check()?,
        ["counts", "--write"] => counts::keep()?,
        ["book"] => book::build()?,
        ["packages", projects @ ..] => outside::check(projects)?,
        ["semver"] => gates::semver(None)?,
        ["semver", revision] => gates::semver(Some(revision))?,
        _ => return Err(Error::Usage(usage_error(words))),
    };
    println!("{found}");
    Ok(())
}

fn usage_error(words: &[&str]) -> String {
    let word = words.first().copied().unwrap_or_default();
    match COMMANDS.contains(&word) {
        true => format!("`{}` is not how `{word}` is used; see --help", words.join(" ")),
        false if steps::is_step(word) => format!("`{word}` is a step: cargo xtask test {word}"),
        false => names::unknown("command", word, &COMMANDS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_command_line_is_answered_with_what_to_write() {
        assert_eq!(usage_error(&["tset"]), "no command `tset`: did you mean `test`?");
        assert_eq!(usage_error(&["clippy"]), "`clippy` is a step: cargo xtask test clippy");
        let error = usage_error(&["counts", "-w"]);
        assert_eq!(error, "`counts -w` is not how `counts` is used; see --help");
    }
}
