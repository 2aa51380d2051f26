//! The steps of `cargo xtask test`, in the order they run.

use std::fs;
use std::process::ExitCode;
use std::time::Instant;

use crate::command_runner::{CommandRunner, cargo_command, workspace_root};
use crate::{
    api, counts, forbidden, markdown, packages, readme, readme_transcripts, reference,
    required_programs, test_run,
};

/// One check of CI.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    what: &'static str,
    run: fn() -> Result<Outcome, String>,
}

/// The outcome of a step that did not fail.
enum Outcome {
    Passed,
    /// Nothing to check, with the reason.
    Skipped(&'static str),
}

/// Separate workspaces, which `--workspace` does not include.
pub(crate) const BRIDGES_MANIFEST: &str = "bridges/Cargo.toml";
pub(crate) const FUZZ_MANIFEST: &str = "fuzz/Cargo.toml";
pub(crate) const PEERS_MANIFEST: &str = "bench/peers/Cargo.toml";

pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "setup",
        what: "every program the other steps need; the missing ones are installed",
        run: || required_programs::install_missing_programs().map(to_passed),
    },
    Step {
        name: "fmt",
        what: "rustfmt would change nothing; bridges/, fuzz/, bench/peers and xtask/api-lines included",
        run: fmt,
    },
    Step { name: "clippy", what: "no warning in any target with all features", run: clippy },
    Step {
        name: "lean",
        what: "the facade with few features: no warning in code that others would complete",
        run: check_minimal_features,
    },
    Step { name: "doc", what: "rustdoc warns about nothing", run: doc },
    Step {
        name: "api",
        what: "the public items are those in api/, and CHANGELOG.md names changes; UPDATE=1 writes them",
        run: check_api,
    },
    Step {
        name: "test",
        what: "every test, doc tests included; a failed one is run once more, and reported",
        run: test,
    },
    Step {
        name: "bridges",
        what: "no warning in bridges/, and every bridge's tests, with its framework's own loop",
        run: bridges,
    },
    Step {
        name: "examples",
        what: "the transcripts in examples/, and in the ```console blocks of README.md, docs/ and bridges/*/README.md, are as shown",
        run: transcripts,
    },
    Step {
        name: "reference",
        what: "docs/ has every command, setting, route, feature and dependency; UPDATE=1 writes the page of commands",
        run: reference,
    },
    Step {
        name: "packages",
        what: "every crate can be packaged, with all of its files; `cargo xtask packages` builds with them",
        run: check_packages,
    },
    Step { name: "links", what: "every link of a page has a target", run: links },
    Step {
        name: "spelling",
        what: "no typing error in code and pages; British in pages; typos.toml has the exceptions",
        run: spelling,
    },
    Step { name: "readme", what: "README.md is short and shows a program at once", run: readme },
    Step {
        name: "forbidden",
        what: "no unfinished or panicking code, tests that do not run, machine paths, registry hosts",
        run: forbidden,
    },
    Step {
        name: "counts",
        what: "calls, lowering and streams take no more instructions than bench/counts/expected.txt has",
        run: count_instructions,
    },
    Step { name: "peers", what: "no warning in bench/peers", run: peers },
    Step { name: "fuzz", what: "the fuzz targets compile", run: fuzz },
];

/// One line per step: its name and what it checks.
pub(crate) fn list() -> String {
    let line = |step: &Step| format!("  {:<10} {}\n", step.name, step.what);
    STEPS.iter().map(line).collect()
}

/// The named steps in the order of the table; all of them when none is named.
pub(crate) fn select(names: &[&str]) -> Result<Vec<&'static Step>, String> {
    let known = || STEPS.iter().map(|step| step.name);
    if let Some(name) = names.iter().find(|name| !known().any(|step| step == **name)) {
        let valid: Vec<&str> = known().collect();
        return Err(format!("no step `{name}`; steps: {}", valid.join(", ")));
    }
    let is_selected = |step: &&Step| names.is_empty() || names.contains(&step.name);
    Ok(STEPS.iter().filter(is_selected).collect())
}

/// Runs the steps until one fails; prints their number at the end.
pub(crate) fn run_steps(steps: &[&Step]) -> ExitCode {
    let (mut passed, mut failed) = (0, 0);
    for step in steps {
        let name = step.name;
        println!("== {name}: {}", step.what);
        let start = Instant::now();
        let outcome = (step.run)();
        let seconds = start.elapsed().as_secs_f64();
        match outcome {
            Ok(Outcome::Passed) => {
                passed += 1;
                println!("== {name}: passed, {seconds:.1} s");
            }
            Ok(Outcome::Skipped(reason)) => {
                println!("== {name}: skipped, {reason}, {seconds:.1} s")
            }
            Err(reason) => {
                failed += 1;
                println!("== {name}: failed, {seconds:.1} s");
                println!("step `{name}` failed: {reason}");
                println!("to run it alone: cargo xtask test {name}");
                break;
            }
        }
    }
    println!("steps: {passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn to_passed(_: ()) -> Outcome {
    Outcome::Passed
}

fn fmt() -> Result<Outcome, String> {
    cargo_command("fmt", &["--all", "--check"]).run_inherited()?;
    for manifest in [BRIDGES_MANIFEST, FUZZ_MANIFEST, PEERS_MANIFEST, api::LINES_MANIFEST] {
        cargo_command("fmt", &["--manifest-path", manifest, "--all", "--check"]).run_inherited()?;
    }
    Ok(Outcome::Passed)
}

fn clippy() -> Result<Outcome, String> {
    let everything = ["--workspace", "--all-targets", "--all-features"];
    cargo_command("clippy", &everything)
        .args(&["--", "-D", "warnings"])
        .run_inherited()
        .map(to_passed)
}

fn count_instructions() -> Result<Outcome, String> {
    if !cfg!(target_arch = "x86_64") {
        return Ok(Outcome::Skipped("the committed counts are those of x86_64"));
    }
    counts::check().map(to_passed)
}

fn check_minimal_features() -> Result<Outcome, String> {
    // Clippy rather than `RUSTFLAGS=-Dwarnings cargo check`, which would compile every dependency once more.
    // The last two are those of projects that `toolwright new` makes.
    for features in [
        "",
        "macros",
        "guard",
        "mcp",
        "mcp-client",
        "mcp-http",
        "mcp-search",
        "models",
        "nats",
        "otlp",
        "search",
        "cli",
        "macros,app,sqlite,tls",
        "macros,demo,models,tls",
    ] {
        cargo_command("clippy", &["--package", "toolwright", "--no-default-features"])
            .args(&["--features", features, "--", "-D", "warnings"])
            .run_inherited()?;
    }
    // The one test of code that is there only without a feature.
    let without_oauth = ["--package", "toolwright-auth", "--lib", "--features", "http"];
    cargo_command("test", &without_oauth).run_inherited().map(to_passed)
}

fn doc() -> Result<Outcome, String> {
    cargo_command("doc", &["--workspace", "--no-deps", "--all-features"])
        .env("RUSTDOCFLAGS", "-D warnings")
        .run_inherited()
        .map(to_passed)
}

fn check_api() -> Result<Outcome, String> {
    let count = api::check()?;
    println!("{count} public items");
    Ok(Outcome::Passed)
}

fn test() -> Result<Outcome, String> {
    test_run::run_all_tests().map(to_passed)
}

fn bridges() -> Result<Outcome, String> {
    let all = ["--manifest-path", BRIDGES_MANIFEST, "--workspace"];
    cargo_command("clippy", &all)
        .args(&["--all-targets", "--", "-D", "warnings"])
        .run_inherited()?;
    cargo_command("doc", &all)
        .args(&["--no-deps"])
        .env("RUSTDOCFLAGS", "-D warnings")
        .run_inherited()?;
    cargo_command("test", &all).args(&["--no-fail-fast"]).run_inherited().map(to_passed)
}

fn transcripts() -> Result<Outcome, String> {
    match readme_transcripts::check()? {
        0 => Ok(Outcome::Skipped("there is no transcript yet")),
        count => {
            println!("{count} transcripts are as shown");
            Ok(Outcome::Passed)
        }
    }
}

fn reference() -> Result<Outcome, String> {
    reference::check().map(to_passed)
}

fn check_packages() -> Result<Outcome, String> {
    let count = packages::check()?;
    println!("{count} packages have their files");
    Ok(Outcome::Passed)
}

fn links() -> Result<Outcome, String> {
    let count = markdown::check_links()?;
    println!("{count} links have a target");
    Ok(Outcome::Passed)
}

fn spelling() -> Result<Outcome, String> {
    CommandRunner::new("target/tools/typos/bin/typos")
        .args(&["--format", "brief"])
        .run_inherited()
        .map_err(|error| format!("{error}; the program is installed by `cargo xtask test setup`"))
        .map(to_passed)
}

fn readme() -> Result<Outcome, String> {
    let text = fs::read_to_string(workspace_root().join("README.md"))
        .map_err(|error| format!("README.md: {error}"))?;
    let faults = readme::find_problems(&text);
    if faults.is_empty() {
        Ok(Outcome::Passed)
    } else {
        Err(format!("README.md: {}", faults.join("; ")))
    }
}

fn forbidden() -> Result<Outcome, String> {
    let read = forbidden::check()?;
    println!("{read} files read");
    Ok(Outcome::Passed)
}

fn peers() -> Result<Outcome, String> {
    cargo_command("clippy", &["--manifest-path", PEERS_MANIFEST, "--all-targets"])
        .args(&["--", "-D", "warnings"])
        .run_inherited()
        .map(to_passed)
}

fn fuzz() -> Result<Outcome, String> {
    cargo_command("check", &["--manifest-path", FUZZ_MANIFEST]).run_inherited().map(to_passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(selected: Result<Vec<&Step>, String>) -> Result<Vec<&str>, String> {
        selected.map(|steps| steps.iter().map(|step| step.name).collect())
    }

    #[test]
    fn no_name_means_every_step() {
        assert_eq!(select(&[]).map(|steps| steps.len()), Ok(STEPS.len()));
    }

    #[test]
    fn named_steps_keep_the_order_of_the_table() {
        assert_eq!(names(select(&["test", "fmt"])), Ok(vec!["fmt", "test"]));
    }

    #[test]
    fn an_unknown_step_is_an_error_that_lists_all_steps() {
        let error = names(select(&["fmt", "clipy"])).expect_err("refused");
        assert!(error.starts_with("no step `clipy`; steps: setup, fmt, clippy"));
    }
}
