//! `cargo xtask test`: runs all checks of CI, and installs the programs that they need. `cargo xtask counts` counts instructions,
//! `cargo xtask book` builds the book, `cargo xtask packages` tries the packages as users will,
//! `cargo xtask release` prepares a release.

mod api;
mod archive;
mod book;
mod canned_model;
mod command_runner;
mod counts;
mod files;
mod forbidden;
mod gates;
mod local_registry;
mod markdown;
mod outside;
mod packages;
mod readme;
mod readme_transcripts;
mod reference;
mod release;
mod required_programs;
mod sbom;
mod steps;
mod test_run;
mod tools;
mod transcript;
mod version;

use std::process::ExitCode;

/// The exit code of a wrong command line.
const EXIT_USAGE: u8 = 2;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["release", "-h" | "--help", ..] => {
            print!("{}", release::help());
            ExitCode::SUCCESS
        }
        [] | ["help" | "-h" | "--help", ..] | [_, "-h" | "--help", ..] => {
            print!("{}", help());
            ExitCode::SUCCESS
        }
        ["steps"] => {
            print!("{}", steps::list());
            ExitCode::SUCCESS
        }
        ["book"] => match book::build() {
            Ok(pages) => {
                println!("target/book/index.html: {pages} pages, every link has a target");
                ExitCode::SUCCESS
            }
            Err(message) => {
                eprintln!("error: {message}");
                ExitCode::FAILURE
            }
        },
        ["test", names @ ..] => match steps::select(names) {
            Ok(selected) => steps::run_steps(&selected),
            Err(message) => usage_error(&message),
        },
        ["counts"] => exit_code(counts::check()),
        ["counts", "--write"] => exit_code(counts::write()),
        ["counts", extra, ..] => {
            usage_error(&format!("`counts` takes only `--write`, got `{extra}`"))
        }
        ["gates"] => exit_code(gates::deny().and_then(|()| gates::semver(None))),
        ["gates", "deny"] => exit_code(gates::deny()),
        ["gates", "semver"] => exit_code(gates::semver(None)),
        ["gates", "semver", revision] => exit_code(gates::semver(Some(revision))),
        ["gates", extra @ ..] => usage_error(&format!(
            "`gates` takes `deny`, `semver` or `semver REVISION`, got `{}`",
            extra.join(" ")
        )),
        ["release", words @ ..] => match release::Options::parse(words) {
            Ok(options) => exit_code(release::run(options)),
            Err(message) => usage_error(&message),
        },
        ["packages", projects @ ..] => exit_code(outside::check(projects)),
        ["steps", extra, ..] => usage_error(&format!("`steps` takes no argument, got `{extra}`")),
        [other, ..] => usage_error(&unknown_command(other)),
    }
}

fn help() -> String {
    format!(
        "Everything CI runs, on your machine.

Usage:
  cargo xtask test           every step below, in order; stops at the first failure
  cargo xtask test STEP…     only the named steps, e.g. `cargo xtask test fmt clippy`
  cargo xtask steps          the steps, one per line
  cargo xtask counts         counts instructions; fails if one of the committed counts has grown by more than 5 %
  cargo xtask counts --write keeps the new counts, in bench/counts/expected.txt
  cargo xtask book           the book of docs/, in target/book; installs mdBook into target/tools
  cargo xtask packages       packages every crate; with them alone, outside of the workspace, builds and tests the templates of
                             `new`, a crate of tools and the bridges; `cargo xtask packages tools template-mcp` only these
  cargo xtask gates          licences, bans, sources and compatibility; compiles cargo-deny and cargo-semver-checks, once
  cargo xtask gates semver REVISION    compatibility with another revision than the last release
  cargo xtask release VERSION --dry-run    everything that a release consists of; `cargo xtask release --help` has the steps
  cargo xtask --help         this text

Steps:
{}
Exit: 0 when every step passed, 1 when one failed, 2 for a mistyped command line.
",
        steps::list()
    )
}

fn unknown_command(word: &str) -> String {
    if steps::STEPS.iter().any(|step| step.name == word) {
        return format!("no command `{word}`; the step runs with `cargo xtask test {word}`");
    }
    format!(
        "no command `{word}`; there are `test`, `steps`, `counts`, `book`, `packages`, `gates`, `release` and `--help`"
    )
}

fn exit_code(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn usage_error(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(EXIT_USAGE)
}
