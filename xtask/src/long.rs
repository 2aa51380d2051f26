//! The long forms of tests that `cargo xtask test` runs for seconds: more kills, more seeds, more time.

use std::time::Duration;

use crate::metadata::ROOT_PACKAGE;
use crate::suites::{EVERYTHING, Suite, build};

/// The package, a module of its tests or one of its executables, and the variables that make it long.
type LongForm = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const SEEDS: [LongForm; 2] = [
    ("toolwright-chat", "simulation", &[("SIMULATION_SEEDS", "100000")]),
    ("toolwright-schema", "lowering", &[("LOWERING_CASES", "2000")]),
];

const CHAOS: [LongForm; 4] = [
    (ROOT_PACKAGE, "crash", &[("TOOLWRIGHT_CRASH_KILLS", "200")]),
    (ROOT_PACKAGE, "kill", &[("TOOLWRIGHT_KILLS", "200")]),
    (ROOT_PACKAGE, "load", &[("TOOLWRIGHT_LOAD_CONVERSATIONS", "10000")]),
    (
        ROOT_PACKAGE,
        "cluster",
        &[
            ("TEST_CLUSTER_CONVERSATIONS", "500"),
            ("TEST_CLUSTER_SECONDS", "600"),
            ("TEST_CLUSTER_RACES", "1000"),
        ],
    ),
];

const LIMIT: Duration = Duration::from_secs(2 * 60 * 60);

pub(crate) fn seeds() -> Result<String, String> {
    run(&SEEDS)
}

pub(crate) fn chaos() -> Result<String, String> {
    run(&CHAOS)
}

/// Runs the long forms one after the other: nothing else should take their time.
fn run(forms: &[LongForm]) -> Result<String, String> {
    let suites = build(&EVERYTHING)?;
    let mut failed = Vec::new();
    for (package, module, environment) in forms {
        let of_package = || suites.iter().filter(|suite| suite.package == *package);
        let prefix = format!("{module}::");
        let has_module = |suite: &&Suite| suite.list().iter().any(|test| test.starts_with(&prefix));
        let own = of_package().find(|suite| suite.target == *module);
        let suite = own.or_else(|| of_package().find(has_module));
        let suite = suite.ok_or_else(|| format!("no test of {package} is in `{prefix}`"))?;
        let filter = if own.is_some() { vec![] } else { vec![prefix.as_str()] };
        let report = suite.run(&filter, environment, LIMIT);
        println!("{}", report.line(&format!("{} {module}", suite.name())));
        if report.is_bad() || report.passed == 0 {
            println!("{}\n{}", report.excerpt(), report.fault.unwrap_or_default());
            failed.push(*module);
        }
    }
    match failed.as_slice() {
        [] => Ok(format!("{} long forms", forms.len())),
        names => Err(format!("failed: {}", names.join(", "))),
    }
}
