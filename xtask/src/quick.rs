//! `cargo xtask quick`: format, clippy and the tests of the crates that have changed.
//!
//! It compiles nothing that `cargo xtask test` has compiled. Cargo resolves the features of the packages it is asked for, and a
//! dependency with other features is compiled once more. So the package at the root is always among them: its dependencies and those
//! of its tests have the features of the whole workspace. Nothing of it is built, because the selected targets are those of the crates.

use std::time::Duration;

use crate::metadata::{Package, ROOT_PACKAGE, Target, packages, text};
use crate::process::Program;
use crate::suites::{EVERYTHING, MACROS, build, is_waiting, messages, run_all};
use crate::{Error, checks, names, steps};

/// What is in no package: the start of its path, and the command that checks it.
const ELSEWHERE: [(&str, &str); 5] = [
    ("bridges/", "cargo xtask test bridges"),
    ("docs/", "cargo xtask test spelling links transcripts"),
    ("fuzz/", "cargo xtask all fuzz"),
    ("bench/peers/", "cargo xtask all peers"),
    ("xtask/api-lines/", "cargo xtask test api"),
];

const LINT_LIMIT: Duration = Duration::from_secs(30 * 60);

/// Checks the crates with these names, or those that have changed.
pub(crate) fn run(names: &[&str]) -> Result<(), Error> {
    let packages = packages()?;
    let selected = match names {
        [] => changed(&packages)?,
        names => named(&packages, names).map_err(Error::Usage)?,
    };
    if selected.is_empty() {
        println!("no crate has changed; name one: `cargo xtask quick schema`");
        return Ok(());
    }
    let what = selected.iter().map(|package| package.name.as_str()).collect::<Vec<_>>().join(", ");
    let rows = [("fmt", format as fn(_) -> _), ("test, clippy", test_and_lint)];
    let selected = selected.as_slice();
    let rows = rows.into_iter().map(|(name, check)| (name, what.as_str(), move || check(selected)));
    steps::run_rows(rows, true).map_err(Error::Failed)
}

fn format(selected: &[&Package]) -> Result<String, String> {
    let names = selected.iter().flat_map(|package| ["--package", &package.name]);
    let fmt = Program::cargo("fmt", &names.collect::<Vec<_>>()).args(&["--check"]);
    fmt.run().map_err(|_| "run `cargo fmt --all`".to_owned())?;
    Ok("ok".to_owned())
}

/// Clippy runs beside the tests, once they are built: Cargo does one of these at a time.
fn test_and_lint(selected: &[&Package]) -> Result<String, String> {
    // The programs that tests start.
    if let Some(args) = arguments(selected, |_, it| it.kind == "example" && !it.is_tested) {
        Program::cargo("build", &args).run()?;
    }
    let suites = arguments(selected, is_quick).map(|args| build(&args)).transpose()?;
    std::thread::scope(|scope| {
        let lint = scope.spawn(|| {
            clippy_args(selected).iter().try_for_each(|args| {
                let clippy = Program::cargo("clippy", &["--quiet"]).args(args);
                let (output, status) = clippy.capture(LINT_LIMIT)?;
                print!("{output}");
                if status.success() { Ok(()) } else { Err("clippy warns".to_owned()) }
            })
        });
        let tested = run_all(suites.unwrap_or_default());
        match lint.join().map_err(|_| "clippy was not started")? {
            Ok(()) => tested,
            Err(warns) => Err(format!("{}; {warns}", tested.unwrap_or_else(|counts| counts))),
        }
    })
}

/// The arguments of clippy for examples, and for everything else: with the profile of tests it checks unit tests, too, but would
/// compile every example as a test.
fn clippy_args<'p>(selected: &[&'p Package]) -> Vec<Vec<&'p str>> {
    let is_example = |target: &Target| target.kind == "example" && !target.is_tested;
    let examples = arguments(selected, |_, target| is_example(target));
    let others = arguments(selected, |_, target| !is_example(target));
    let profiles = [(&[][..], examples), (&["--profile", "test"][..], others)];
    let of_profile = |(profile, targets): (&[_], Option<Vec<_>>)| {
        Some([profile, &targets?[..], &["--", "-D", "warnings"]].concat())
    };
    profiles.into_iter().filter_map(of_profile).collect()
}

/// The tests that run. Those of the root that mostly wait are left to `test`.
fn is_quick(package: &Package, target: &Target) -> bool {
    target.is_tested && !is_waiting(&package.name, &target.name)
}

/// The arguments of Cargo for targets of these packages; `None` if there is no such target.
fn arguments<'p>(
    selected: &[&'p Package],
    is_wanted: impl Fn(&Package, &Target) -> bool,
) -> Option<Vec<&'p str>> {
    let mut args = vec!["--all-features", "--package", ROOT_PACKAGE];
    args.extend(selected.iter().flat_map(|package| ["--package", &package.name]));
    let without_targets = args.len();
    for package in selected {
        for target in package.targets.iter().filter(|target| is_wanted(package, target)) {
            let name = target.name.as_str();
            match target.kind.as_str() {
                // Of all packages, and Cargo rejects it if it is repeated.
                "lib" if args.contains(&"--lib") => {}
                "lib" => args.push("--lib"),
                "bin" => args.extend(["--bin", name]),
                "example" => args.extend(["--example", name]),
                "test" => args.extend(["--test", name]),
                "bench" => args.extend(["--bench", name]),
                _ => {}
            }
        }
    }
    (args.len() > without_targets).then_some(args)
}

/// The packages with these names; `schema` stands for `toolwright-schema`.
fn named<'p>(packages: &'p [Package], names: &[&str]) -> Result<Vec<&'p Package>, String> {
    let short = |package: &'p Package| package.name.trim_start_matches("toolwright-");
    let find = |name: &&str| {
        let found = packages.iter().find(|it| it.name == **name || short(it) == *name);
        let names = || packages.iter().map(short).collect::<Vec<_>>();
        found.ok_or_else(|| names::unknown("crate", name, &names()))
    };
    names.iter().map(find).collect()
}

/// The packages with files that differ from those of the last commit of `main` that this branch has.
fn changed(packages: &[Package]) -> Result<Vec<&Package>, String> {
    let base = Program::git(&["merge-base", "HEAD", "main"]).stdout();
    let base = base.unwrap_or_else(|_| "HEAD".to_owned());
    let tracked = Program::git(&["diff", "--name-only", base.trim()]).stdout()?;
    let new = Program::git(&["ls-files", "--others", "--exclude-standard"]).stdout()?;
    let files: Vec<&str> = tracked.lines().chain(new.lines()).collect();
    for (start, command) in ELSEWHERE {
        if files.iter().any(|file| file.starts_with(start)) {
            println!("{start} has changed: {command}");
        }
    }
    Ok(owners(packages, &files))
}

/// The packages that these files belong to.
fn owners<'p>(packages: &'p [Package], files: &[&str]) -> Vec<&'p Package> {
    let is_code = |file: &&&str| {
        !file.ends_with(".md") && !ELSEWHERE.iter().any(|(start, _)| file.starts_with(start))
    };
    let owner = |file: &&str| {
        let is_below =
            |it: &&Package| it.folder.is_empty() || file.starts_with(&format!("{}/", it.folder));
        packages.iter().filter(is_below).max_by_key(|package| package.folder.len())
    };
    let mut owners: Vec<&Package> = files.iter().filter(is_code).filter_map(owner).collect();
    owners.sort_by_key(|package| &package.name);
    owners.dedup_by_key(|package| &package.name);
    owners
}

/// Fails if `quick` would compile something for a package of which nothing has changed since everything was compiled. The tests of
/// a crate of macros need crates of ours for the host, too, whose features depend on the other packages.
pub(crate) fn check_reuse() -> Result<String, String> {
    build(&EVERYTHING)?;
    checks::clippy()?;
    let (packages, mut count) = (packages()?, 0);
    for package in packages.iter().filter(|package| package.name != MACROS) {
        let mut artifacts = Vec::new();
        for args in clippy_args(&[package]) {
            artifacts.extend(messages("clippy", &args)?);
        }
        if let Some(args) = arguments(&[package], is_quick) {
            artifacts.extend(messages("test", &[&["--no-run"], &args[..]].concat())?);
        }
        let compiled = artifacts.iter().filter(|it| it.get("fresh").is_some_and(|it| it == false));
        for artifact in compiled {
            println!("compiled again for {}: {}", package.name, text(artifact, "package_id"));
            count += 1;
        }
    }
    match count {
        0 => Ok(format!("{} packages", packages.len())),
        _ => Err("other features: name them in the dev-dependencies of the root".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace() -> [Package; 3] {
        let target = |(kind, name): (&str, &str)| Target {
            kind: kind.to_owned(),
            name: name.to_owned(),
            is_tested: !["example", "bench"].contains(&kind),
        };
        [
            (ROOT_PACKAGE, "", [("example", "shop"), ("test", "browser")]),
            ("toolwright-core", "crates/core", [("lib", "c"), ("test", "main")]),
            ("xtask", "xtask", [("bin", "xtask"), ("bench", "b")]),
        ]
        .map(|(name, folder, targets)| Package {
            name: name.to_owned(),
            folder: folder.to_owned(),
            targets: targets.map(target).into(),
            ..Package::default()
        })
    }

    #[test]
    fn a_file_belongs_to_the_package_in_the_nearest_folder() {
        for (file, expected) in [
            ("crates/core/src/lib.rs", Some("toolwright-core")),
            ("tests/program/main.rs", Some(ROOT_PACKAGE)),
            ("xtask/src/main.rs", Some("xtask")),
            ("crates/core/README.md", None),
            ("bridges/rig/src/lib.rs", None),
        ] {
            let packages = workspace();
            let owners = owners(&packages, &[file, file]);
            let names: Vec<&str> = owners.iter().map(|package| package.name.as_str()).collect();
            assert_eq!(names, expected.into_iter().collect::<Vec<_>>(), "{file}");
        }
    }

    #[test]
    fn short_names_are_known_and_near_ones_suggested() {
        let packages = workspace();
        assert_eq!(named(&packages, &["core", "toolwright-core"]).unwrap().len(), 2);
        let error = named(&packages, &["cor"]).err().unwrap_or_default();
        assert_eq!(error, "no crate `cor`: did you mean `core`?");
    }

    #[test]
    fn the_root_is_asked_for_and_targets_are_those_of_the_crates() {
        let [root, core, xtask] = workspace();
        let start = format!("--all-features --package {ROOT_PACKAGE} --package ");
        let args = arguments(&[&core], is_quick).map(|args| args.join(" "));
        assert_eq!(args, Some(format!("{start}toolwright-core --lib --test main")));
        let twice = arguments(&[&core, &core], is_quick).unwrap_or_default();
        assert_eq!(twice.iter().filter(|arg| **arg == "--lib").count(), 1);
        let args = arguments(&[&xtask], is_quick).map(|args| args.join(" "));
        assert_eq!(args, Some(format!("{start}xtask --bin xtask")));
        assert_eq!(arguments(&[&root], is_quick), None);
        let args: Vec<String> =
            clippy_args(&[&root, &xtask]).iter().map(|args| args.join(" ")).collect();
        assert_eq!(args.len(), 2);
        assert!(args[0].ends_with("--package xtask --example shop -- -D warnings"), "{args:?}");
        assert!(args[1].starts_with("--profile test "), "{args:?}");
        assert!(args[1].ends_with("--test browser --bin xtask --bench b -- -D warnings"));
    }
}
