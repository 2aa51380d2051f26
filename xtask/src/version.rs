//! The version of the workspace: read, compared, set; and its section of CHANGELOG.md.

use std::fmt;

use crate::command_runner::{CommandRunner, cargo_command, workspace_root};
use crate::files::{read, write};
use crate::steps::{BRIDGES_MANIFEST, FUZZ_MANIFEST, PEERS_MANIFEST};

const MANIFEST: &str = "Cargo.toml";
const CHANGELOG: &str = "CHANGELOG.md";

/// A version without pre-release or build parts, which sorts as Cargo sorts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version([u64; 3]);

impl Version {
    /// Reads `1.2.3`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let is_number = |part: &&str| !part.is_empty() && (*part == "0" || !part.starts_with('0'));
        let numbers: Vec<u64> =
            text.split('.').filter(is_number).filter_map(|part| part.parse().ok()).collect();
        match (<[u64; 3]>::try_from(numbers), text.split('.').count()) {
            (Ok(numbers), 3) => Ok(Self(numbers)),
            _ => Err(format!("`{text}` is not a version: write three numbers, as 0.2.0")),
        }
    }

    /// That of the workspace.
    pub(crate) fn current() -> Result<Self, String> {
        let manifest = read(MANIFEST)?;
        let table = manifest.split("[workspace.package]").nth(1).unwrap_or_default();
        let line = table.lines().find_map(|line| line.strip_prefix("version = "));
        Self::parse(line.unwrap_or_default().trim_matches('"'))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([major, minor, patch]) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// Sets the version of all crates, and what they require of each other; returns how many lines have changed.
pub(crate) fn set(from: Version, to: Version) -> Result<usize, String> {
    let manifest = read(MANIFEST)?;
    let (changed, count) = with_version(&manifest, from, to);
    if count == 0 {
        return Err(format!("{MANIFEST} does not have the version {from}"));
    }
    write(&workspace_root().join(MANIFEST), changed.as_bytes())?;
    for manifest in [MANIFEST, BRIDGES_MANIFEST, FUZZ_MANIFEST, PEERS_MANIFEST] {
        // Only the entries of the workspace's own crates change.
        let update = ["update", "--workspace", "--offline", "--quiet", "--manifest-path", manifest];
        CommandRunner::new("cargo").args(&update).run_inherited()?;
    }
    cargo_command("metadata", &["--no-deps", "--format-version", "1"]).stdout()?;
    Ok(count)
}

/// The manifest with another version in `[workspace.package]` and in the lines of its own crates.
fn with_version(manifest: &str, from: Version, to: Version) -> (String, usize) {
    let (old, new) = (format!("version = \"{from}\""), format!("version = \"{to}\""));
    let mut count = 0;
    let mut replace = |line: &str| {
        let is_ours = line == old || line.contains("path = \"crates/");
        match is_ours && line.contains(&old) {
            true => {
                count += 1;
                format!("{}\n", line.replace(&old, &new))
            }
            false => format!("{line}\n"),
        }
    };
    let changed = manifest.lines().map(&mut replace).collect();
    (changed, count)
}

/// Gives the section `Unreleased` of CHANGELOG.md the version, unless the version has one; fails if it says nothing.
pub(crate) fn name_changes(version: Version) -> Result<usize, String> {
    let (changed, lines) = with_section(&read(CHANGELOG)?, version)?;
    write(&workspace_root().join(CHANGELOG), changed.as_bytes())?;
    Ok(lines)
}

/// Fails if the version would have no section.
pub(crate) fn check_changes(version: Version) -> Result<usize, String> {
    with_section(&read(CHANGELOG)?, version).map(|(_, lines)| lines)
}

fn with_section(changelog: &str, version: Version) -> Result<(String, usize), String> {
    let heading = format!("## {version}");
    let is_heading = |line: &str, wanted: &str| {
        line.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let has_own = changelog.lines().any(|line| is_heading(line, &heading));
    let wanted = if has_own { heading.as_str() } else { "## Unreleased" };
    let section = changelog.lines().skip_while(|line| !is_heading(line, wanted)).skip(1);
    let section = section.take_while(|line| !line.starts_with("## "));
    let lines = section.filter(|line| line.starts_with("- ")).count();
    if lines == 0 {
        return Err(format!(
            "{CHANGELOG} names no change of {version}: write `- …` lines below `## Unreleased` or `{heading}`"
        ));
    }
    if has_own {
        return Ok((changelog.to_owned(), lines));
    }
    let heading = format!("{heading}\n");
    Ok((changelog.replacen("## Unreleased\n", &heading, 1), lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        Version::parse(text).expect("a version")
    }

    #[test]
    fn versions_sort_by_number() {
        assert!(version("0.10.0") > version("0.9.9"));
        assert_eq!(version("1.2.3").to_string(), "1.2.3");
    }

    #[test]
    fn what_is_no_version_is_refused_with_what_to_write() {
        for text in ["", "1", "1.2", "v1.2.3", "1.2.3-rc.1", "1.02.3", "1.2.3.4", "1.2.x"] {
            let error = Version::parse(text).expect_err("refused");
            assert!(error.contains("as 0.2.0"), "{error}");
        }
    }

    #[test]
    fn only_our_own_versions_are_set() {
        let manifest = "[workspace.package]\nversion = \"0.1.0\"\n\
                        toolwright-guard = { path = \"crates/guard\", version = \"0.1.0\", default-features = false }\n\
                        other = { version = \"0.1.0\" }\n";
        let (changed, count) = with_version(manifest, version("0.1.0"), version("0.2.0"));
        assert_eq!(count, 2);
        assert!(changed.contains("crates/guard\", version = \"0.2.0\", default"), "{changed}");
        assert!(changed.contains("other = { version = \"0.1.0\" }"), "{changed}");
    }

    #[test]
    fn unreleased_changes_become_those_of_the_version() {
        let (changed, lines) =
            with_section("# Changelog\n\n## Unreleased\n\n- A.\n- B.\n", version("0.1.0"))
                .expect("a section");
        assert_eq!((changed.as_str(), lines), ("# Changelog\n\n## 0.1.0\n\n- A.\n- B.\n", 2));
        let (same, _) = with_section(&changed, version("0.1.0")).expect("a section");
        assert_eq!(same, changed);
    }

    #[test]
    fn a_version_without_changes_is_refused() {
        let changelog = "# Changelog\n\n## Unreleased\n\n## 0.1.0\n\n- A.\n";
        let error = with_section(changelog, version("0.2.0")).expect_err("refused");
        assert!(error.contains("names no change of 0.2.0"), "{error}");
    }
}
