//! The checks of dependencies and of compatibility, whose programs take minutes to compile: `cargo deny` and `cargo semver-checks`.

use crate::process::Program;
use crate::programs::tool;

/// Frameworks behind bridges choose their dependencies themselves. Duplicates are listed by `cargo deny check bans`; here they would
/// hide what matters.
const DENY: &str = r#"
deny() { $DENY --workspace --locked --config deny.toml --manifest-path "$@"; }
deny Cargo.toml check --allow duplicate --hide-inclusion-graph bans licenses sources
deny bridges/Cargo.toml check --allow duplicate --hide-inclusion-graph licenses sources
if timeout 120 $DENY --config deny.toml fetch db; then
    deny Cargo.toml check advisories
    deny bridges/Cargo.toml check advisories
else
    echo 'skipped: advisories, whose database cannot be fetched'
fi
"#;

/// Licences, bans, sources and, where the database can be had, advisories; of the workspace and of the bridges.
pub(crate) fn deny() -> Result<String, String> {
    Program::shell(DENY).env("DENY", tool("cargo-deny", "0.20.2")?).run()
}

/// Compares the public items with those of a revision, by default the last release; fails if the version promises more.
pub(crate) fn semver(revision: Option<&str>) -> Result<String, String> {
    let Some(revision) = revision.map(str::to_owned).or(last_release()?) else {
        return Ok("skipped: nothing is released, the files in api/ are the baseline".to_owned());
    };
    let semver = ["semver-checks", "--workspace", "--all-features", "--baseline-rev", &revision];
    Program::new(tool("cargo-semver-checks", "0.51.0")?).args(&semver).run()
}

/// The tag of the newest release, as `v0.1.0`.
pub(crate) fn last_release() -> Result<Option<String>, String> {
    let tags = ["tag", "--list", "v[0-9]*", "--sort=-version:refname", "--merged"];
    Ok(Program::git(&tags).stdout()?.lines().next().map(str::to_owned))
}
