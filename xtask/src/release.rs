//! `cargo xtask release VERSION`: checks, packages and builds everything that a release consists of.
//!
//! Nothing is uploaded, tagged or pushed: these need keys, and cannot be undone. They are printed as the next commands.

use crate::files::{clear, read};
use crate::metadata::published;
use crate::process::{Program, workspace_root};
use crate::{Error, api, gates, names, outside, packages, sbom, steps};

const HELP: &str = "Checks, packages and builds a release.

Usage:
  cargo xtask release VERSION --dry-run    everything, in a copy of the tree; the tree stays as it is
  cargo xtask release VERSION              the same, and the tree has the new version and its section of CHANGELOG.md
  cargo xtask release VERSION STEP…        only these steps

Variables:
  SIGN_KEY    an SSH key that signs the checksums; without one, nothing is signed
  MCP_NAME    the name in the MCP registry, as io.github.ada/toolwright; without one, there is no server.json
  IMAGE       the container image of server.json, with its tag
  OUT         the folder that everything is written to [default: target/release-VERSION]

Steps:
@steps@
Nothing is uploaded, tagged or pushed; the commands for that are printed at the end. Before it, `cargo xtask all` has to pass: it is
not part of it.";

type Step = (&'static str, &'static str, fn(&Release) -> Result<String, String>);

#[rustfmt::skip]
const STEPS: [Step; 12] = [
    ("versions", "the version of every crate, and the section of CHANGELOG.md", |it| it.script("versions")),
    ("licences", "licences, bans, sources, advisories", |_| gates::deny()),
    ("api", "the public items are those in api/", |_| api::check()),
    ("semver", "the version promises no more than is kept since the last release", |_| gates::semver(None)),
    ("packages", "the files for crates.io, each with all that it needs", |it| {
        packages::package(&published()?, &[])?;
        it.script("packages")
    }),
    ("outside", "projects that have nothing but these packages, built and tested", |_| outside::check_packaged(&[])),
    ("archive", "the program with completions and manual pages, where binstall finds it", |it| it.script("archive")),
    ("sbom", "what the program consists of, as CycloneDX", |it| sbom::write(&it.folder, &it.target)),
    ("container", "the file that builds the image", |it| it.script("container")),
    ("server-json", "the entry of the MCP registry, with MCP_NAME and IMAGE", |it| it.script("server_json")),
    ("checksums", "SHA-256 of every file", |it| it.script("checksums")),
    ("signature", "of the checksums, with SIGN_KEY", |it| it.script("signature")),
];

/// Reads `1.2.3`, without pre-release or build parts.
fn parse_version(text: &str) -> Result<[u64; 3], String> {
    let numbers = text.split('.').map(|part| part.parse().ok());
    let version: Option<[u64; 3]> =
        numbers.collect::<Option<Vec<_>>>().and_then(|numbers| numbers.try_into().ok());
    // Not as it was written: it has a leading zero or a plus sign.
    let version =
        version.filter(|[major, minor, patch]| format!("{major}.{minor}.{patch}") == text);
    version.ok_or_else(|| format!("`{text}` is not a version: write three numbers, as 0.2.0"))
}

pub(crate) fn help() -> String {
    let steps = STEPS.iter().map(|(name, what, _)| format!("  {name:<12} {what}\n"));
    HELP.replace("@steps@", &steps.collect::<String>())
}

/// A release that is being made.
struct Release {
    version: String,
    /// Where everything is written.
    folder: String,
    /// The target of this machine, as `x86_64-unknown-linux-gnu`.
    target: String,
}

impl Release {
    /// Runs a function of the script; returns what it prints.
    fn script(&self, function: &str) -> Result<String, String> {
        let Self { version, folder, target } = self;
        let script = Program::new("sh").args(&["xtask/scripts/release.sh", function]);
        let script = script.env("VERSION", version).env("TARGET", target).env("OUT", folder);
        script.stdout().map(|output| output.trim().to_owned())
    }
}

/// Makes a release, or tries to in a copy; `wanted` names some steps.
pub(crate) fn run(version: &str, wanted: &[&str]) -> Result<(), Error> {
    parse_version(version).map_err(Error::Usage)?;
    let (wanted, dry): (Vec<&str>, Vec<&str>) = wanted.iter().partition(|it| **it != "--dry-run");
    let known = STEPS.map(|(name, ..)| name);
    if let Some(step) = wanted.iter().find(|step| !known.contains(step)) {
        return Err(Error::Usage(names::unknown("step", step, &known)));
    }
    check_start(version)?;
    let folder = format!("{}/target/release-{version}", workspace_root().display());
    let folder = std::env::var("OUT").unwrap_or(folder);
    let target = Program::new("rustc").args(&["--print", "host-tuple"]).stdout()?;
    let target = target.trim().to_owned();
    let release = &Release { version: version.to_owned(), folder, target };
    if !dry.is_empty() {
        let source = workspace_root().join(release.script("copy")?);
        let copied = Program::new("cargo").args(&["xtask", "release", version]).args(&wanted);
        copied.env("OUT", &release.folder).folder(&source).run()?;
        println!("this was a dry run: the tree is as it was");
        return Ok(());
    }
    clear(release.folder.as_ref())?;
    let is_wanted = |(name, ..): &&Step| wanted.is_empty() || wanted.contains(name);
    let rows = STEPS.iter().filter(is_wanted);
    steps::run_rows(rows.map(|(name, what, run)| (*name, *what, || run(release))), false)?;
    println!("{}", release.script("list")?);
    Ok(())
}

/// Fails if a release of this version cannot begin here.
fn check_start(version: &str) -> Result<(), String> {
    let changes = Program::git(&["status", "--porcelain"]).stdout()?.lines().count();
    if changes > 0 {
        return Err(format!("the tree has {changes} uncommitted changes: commit or stash them"));
    }
    if let Some(tag) = gates::last_release()?
        && parse_version(version)? <= parse_version(tag.trim_start_matches('v'))?
    {
        return Err(format!("{version} is not newer than the last release, {tag}"));
    }
    check_changes(&read("CHANGELOG.md")?, version)
}

/// Fails if the changelog names no change of a version.
fn check_changes(changelog: &str, version: &str) -> Result<(), String> {
    let section = |name: &str| changelog.split_once(&format!("\n## {name}\n"));
    let section = section(version).or_else(|| section("Unreleased"));
    let section = section.map_or("", |(_, rest)| rest.split("\n## ").next().unwrap_or_default());
    match section.contains("\n- ") {
        true => Ok(()),
        false => Err(format!("CHANGELOG.md names no change of {version} below `## Unreleased`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_answered_with_what_to_write() {
        for (version, step, answer) in [
            ("v1.2.3", "api", "as 0.2.0"),
            ("1.02.3", "api", "as 0.2.0"),
            ("0.2.0", "packagez", "did you mean `packages`?"),
        ] {
            let error = run(version, &[step]).unwrap_err();
            assert!(
                matches!(&error, Error::Usage(message) if message.contains(answer)),
                "{error:?}"
            );
        }
    }

    #[test]
    fn versions_sort_by_number_and_need_a_section() {
        assert!(parse_version("0.10.0") > parse_version("0.9.9"));
        let changelog = "# Changelog\n\n## Unreleased\n\n- A.\n\n## 0.0.1\n\n- B.\n";
        assert_eq!(check_changes(changelog, "0.1.0"), Ok(()));
        assert!(check_changes(&changelog.replace("- A.", ""), "0.1.0").is_err());
    }
}
