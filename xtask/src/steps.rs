//! The steps of `cargo xtask test` and `cargo xtask all`, in the order in which they run.

use std::time::Instant;

use crate::process::Program;
use crate::suites::{EVERYTHING, Suite, build, run_all};
use crate::{
    Error, api, checks, counts, gates, long, names, outside, packages, programs, quick, transcripts,
};

/// A command that runs steps.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Tier {
    /// What CI runs.
    Test,
    /// What runs before a release and before a large change lands: the steps of CI and more.
    All,
}

use Tier::{All, Test};

/// A name, the first tier that has it, what it checks, and its function, which returns in a few words what it has found out.
struct Step(&'static str, Tier, &'static str, fn() -> Result<String, String>);

#[rustfmt::skip]
const STEPS: [Step; 22] = [
    Step("setup", Test, "installs the programs that the other steps need", programs::install_missing),
    Step("fmt", Test, "rustfmt would change nothing, in no workspace", checks::fmt),
    Step("spelling", Test, "no typing error in code and pages; British in pages; typos.toml has the exceptions", || Program::new("target/tools/typos/bin/typos").args(&["--format", "brief"]).run()),
    Step("links", Test, "every link of a page has a target, every anchor a heading", checks::links),
    Step("readme", Test, "README.md is short and shows a program at once", checks::readme),
    Step("forbidden", Test, "no paths of one machine, no hosts of registries; every crate has the lints", checks::forbidden),
    Step("clippy", Test, "no warning in any target with all features", checks::clippy),
    Step("lean", Test, "no warning with the features that people choose", checks::lean),
    Step("api", Test, "rustdoc warns about nothing; public items are those in api/, and CHANGELOG.md names changes; UPDATE=1 writes them", api::check),
    Step("test", Test, "every test, doc tests included; a failed one is run once more, and reported", test),
    Step("bridges", Test, "every bridge's tests, with its framework's own loop", checks::bridges),
    Step("transcripts", Test, "the commands in examples/, README.md, docs/ and bridges/*/README.md print what is shown", transcripts::check),
    Step("packages", Test, "every crate can be packaged, with all of its files", packages::check),
    Step("quick", Test, "`cargo xtask quick` compiles nothing that `test` and `clippy` have compiled", quick::check_reuse),
    Step("bridges-lint", All, "no warning of clippy or rustdoc in bridges/", checks::lint_bridges),
    Step("peers", All, "no warning in bench/peers", || checks::lint(&["--manifest-path", "bench/peers/Cargo.toml", "--all-targets"])),
    Step("fuzz", All, "the fuzz targets compile", || Program::cargo("check", &["--manifest-path", "fuzz/Cargo.toml"]).run()),
    Step("licences", All, "licences, sources, bans and advisories of all dependencies", gates::deny),
    Step("counts", All, "calls, lowering and streams take no more instructions than bench/counts/expected.txt has", counts::check),
    Step("outside", All, "projects that have only the packages build, and their tests pass", || outside::check(&[])),
    Step("seeds", All, "100,000 seeds of the simulation, 2,000 schemas for every pass", long::seeds),
    Step("chaos", All, "hundreds of crashes and kills, ten minutes of chaos in a cluster, 10,000 conversations", long::chaos),
];

/// The steps of both tiers, one per line.
pub(crate) fn list() -> String {
    let line = |Step(name, _, what, _): &Step| format!("  {name:<13} {what}\n");
    let of = |tier| STEPS.iter().filter(move |step| step.1 == tier).map(line);
    let (test, all): (String, String) = (of(Test).collect(), of(All).collect());
    format!("Steps of `test`:\n{test}\nSteps that `all` adds:\n{all}")
}

pub(crate) fn is_step(name: &str) -> bool {
    STEPS.iter().any(|step| step.0 == name)
}

/// Runs the named steps of a tier, or all of them. `test` stops at the first failure; `all` shows everything that is broken.
pub(crate) fn run(tier: Tier, names: &[&str]) -> Result<(), Error> {
    let steps = select(tier, names).map_err(Error::Usage)?;
    let rows = steps.iter().map(|Step(name, _, what, run)| (*name, *what, run));
    run_rows(rows, tier == All).map_err(Error::Failed)
}

fn select(tier: Tier, names: &[&str]) -> Result<Vec<&'static Step>, String> {
    let steps: Vec<&Step> = STEPS.iter().filter(|step| step.1 == Test || tier == All).collect();
    let known: Vec<&str> = steps.iter().map(|step| step.0).collect();
    match names.iter().find(|name| !known.contains(name)) {
        Some(name) if is_step(name) => {
            return Err(format!("`{name}` is a step of `all`: cargo xtask all {name}"));
        }
        Some(name) => return Err(names::unknown("step", name, &known)),
        None => {}
    }
    let is_selected = |step: &&Step| names.is_empty() || names.contains(&step.0);
    Ok(steps.into_iter().filter(is_selected).collect())
}

/// Runs named checks, and prints a table of them at the end.
pub(crate) fn run_rows<'r>(
    rows: impl Iterator<Item = (&'r str, &'r str, impl FnOnce() -> Result<String, String>)>,
    keep_going: bool,
) -> Result<(), String> {
    let (mut table, mut failed, mut tests) = (String::new(), Vec::new(), String::new());
    let begin = Instant::now();
    for (name, what, check) in rows {
        println!("\n== {name}: {what}");
        let start = Instant::now();
        let outcome = check();
        let seconds = start.elapsed().as_secs_f64();
        let (mark, found) = match &outcome {
            Ok(found) => ("ok    ", found),
            Err(fault) => ("FAILED", fault),
        };
        println!("== {name}: {mark} {found}, {seconds:.1} s");
        let first_line = found.lines().next().unwrap_or_default();
        table += &format!("{mark}  {name:<13} {seconds:>7.1} s  {first_line}\n");
        if name == "test" {
            tests = format!("{found}\n");
        }
        if outcome.is_err() {
            failed.push(name);
            if !keep_going {
                break;
            }
        }
    }
    println!("\n{table}        {:<13} {:>7.1} s", "together", begin.elapsed().as_secs_f64());
    // CI reads this line.
    print!("{tests}");
    match failed.as_slice() {
        [] => Ok(()),
        names => Err(format!("failed: {}", names.join(", "))),
    }
}

fn test() -> Result<String, String> {
    let mut suites = build(&EVERYTHING)?;
    suites.push(Suite::doc_tests());
    run_all(suites)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(tier: Tier, names: &[&str]) -> Result<Vec<&'static str>, String> {
        select(tier, names).map(|steps| steps.iter().map(|step| step.0).collect())
    }

    #[test]
    fn steps_are_selected_by_name_and_keep_the_order_of_the_table() {
        let (test, all) = (names(Test, &[]).unwrap(), names(All, &[]).unwrap());
        assert!(all.starts_with(&test) && all.len() == STEPS.len() && test.len() < all.len());
        assert_eq!(names(Test, &["test", "fmt"]), Ok(vec!["fmt", "test"]));
        assert_eq!(names(All, &["fuzz"]), Ok(vec!["fuzz"]));
        let error = names(Test, &["fmt", "clipy"]).unwrap_err();
        assert_eq!(error, "no step `clipy`: did you mean `clippy`?");
        let error = names(Test, &["peers"]).unwrap_err();
        assert_eq!(error, "`peers` is a step of `all`: cargo xtask all peers");
    }

    #[test]
    fn after_a_failure_the_other_rows_run_only_if_wanted() {
        for (keep_going, expected) in [(false, "failed: b"), (true, "failed: b, d")] {
            let rows = ["a", "b", "c", "d"].map(|name| {
                let run = move || {
                    if "bd".contains(name) { Err(String::new()) } else { Ok(String::new()) }
                };
                (name, "", run)
            });
            assert_eq!(run_rows(rows.into_iter(), keep_going), Err(expected.to_owned()));
        }
    }
}
