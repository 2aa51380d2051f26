//! Runs rustdoc, compares the public items of every published crate with those in `api/`, and wants a word in CHANGELOG.md when they
//! change.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::files::{clear, write};
use crate::metadata::published;
use crate::process::{Program, workspace_root};
use crate::suites::EVERYTHING;

/// A file per crate, with a line per public item.
const FOLDER: &str = "api";
/// The items as they are now.
const CURRENT: &str = "target/api/items";
/// The program that reads the JSON of rustdoc.
pub(crate) const LINES_MANIFEST: &str = "xtask/api-lines/Cargo.toml";
const CHANGELOG: &str = "CHANGELOG.md";

/// Checks every crate; with the variable `UPDATE`, writes the files.
pub(crate) fn check() -> Result<String, String> {
    write_rustdoc_json()?;
    let target = ["--target-dir", "target/api-lines", "--quiet"];
    Program::cargo("build", &["--manifest-path", LINES_MANIFEST]).args(&target).run()?;
    clear(&workspace_root().join(CURRENT))?;
    let mut items = 0;
    for package in published()? {
        let json = format!("target/doc/{}.json", package.name.replace('-', "_"));
        let lines = Program::new("target/api-lines/debug/api-lines").args(&[json]).stdout()?;
        items += lines.lines().count();
        write(format!("{CURRENT}/{}.txt", package.name), &lines)?;
    }
    if std::env::var_os("UPDATE").is_some() {
        Program::shell(&format!("rm -r {FOLDER} && cp -r {CURRENT} {FOLDER}")).run()?;
    }
    let difference = ["diff", "--no-index", "--unified=0", FOLDER, CURRENT];
    Program::git(&difference).run().map_err(|_| {
        format!("if this change is intended, write it into {CHANGELOG}, then UPDATE=1 cargo xtask test api")
    })?;
    check_changelog()?;
    Ok(format!("{items} public items"))
}

/// Writes the JSON of rustdoc for every crate. The passes that make it warn as those that make HTML.
fn write_rustdoc_json() -> Result<String, String> {
    // The format is unstable, so rustdoc wants the variable. Cargo must not see it: build scripts would run again, and with them
    // every crate be compiled once more.
    let wrapper = workspace_root().join("target/api/rustdoc");
    write(&wrapper, "#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc \"$@\"\n")?;
    Program::new("chmod").args(&["+x"]).args(&[&wrapper]).run()?;
    // Cargo looks for HTML to decide whether rustdoc has to run; a flag of its own for each run lets it always run.
    let run = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let flags = format!("-D warnings -Z unstable-options --output-format json --cfg run_{run}");
    // Takes the crates that clippy has checked: its compiler has the arguments of `cargo clippy`, and an example switches on the
    // features of dev-dependencies.
    let sysroot = Program::new("rustc").args(&["--print", "sysroot"]).stdout()?;
    Program::cargo("doc", &EVERYTHING)
        .args(&["--no-deps", "--quiet", "--lib", "--bins", "--example", "01_one_tool"])
        .env("RUSTC_WORKSPACE_WRAPPER", format!("{}/bin/clippy-driver", sysroot.trim()))
        .env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__")
        .env("RUSTDOC", &wrapper)
        .env("RUSTDOCFLAGS", flags)
        .run()
}

/// Fails if CHANGELOG.md is as it was before the files were changed the last time.
fn check_changelog() -> Result<(), String> {
    let is_same = |commit: &str, path: &str| {
        Program::git(&["diff", "--quiet", commit, "--", path]).succeeds()
    };
    let new = Program::git(&["ls-files", "--others", "--exclude-standard", FOLDER]).stdout()?;
    let last = Program::git(&["log", "-1", "--format=%H", "--", FOLDER]).stdout()?;
    let base = match is_same("HEAD", FOLDER) && new.is_empty() {
        true => format!("{}^", last.trim()),
        false => "HEAD".to_owned(),
    };
    if !Program::git(&["rev-parse", "--verify", "--quiet", &base]).succeeds() {
        println!("skipped: whether {CHANGELOG} has changed, because the history is not complete");
    } else if is_same(&base, CHANGELOG) {
        return Err(format!("the public items have changed, and {CHANGELOG} does not mention it"));
    }
    Ok(())
}
