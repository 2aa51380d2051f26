//! The gates of a release whose programs take minutes to compile: `cargo deny` and `cargo semver-checks`.

use std::time::Duration;

use crate::api;
use crate::command_runner::{CommandRunner, workspace_root};
use crate::files::remove_dir;
use crate::packages::published_crates;
use crate::steps::BRIDGES_MANIFEST;
use crate::tools::Tool;

const DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };
const SEMVER: Tool = Tool { name: "cargo-semver-checks", version: "0.51.0" };
/// The sources of the release to compare with.
const BASELINE: &str = "target/semver/baseline";
/// The database of advisories is fetched within this time, or not at all.
const FETCH_TIMEOUT: Duration = Duration::from_secs(120);

/// Licences, bans, sources and, where the database can be had, advisories; of the workspace and of the bridges.
pub(crate) fn deny() -> Result<(), String> {
    let deny = DENY.find()?;
    let config = workspace_root().join("deny.toml").display().to_string();
    // Frameworks behind bridges choose their dependencies themselves.
    for (manifest, checks) in [
        ("Cargo.toml", ["bans", "licenses", "sources"].as_slice()),
        (BRIDGES_MANIFEST, &["licenses", "sources"]),
    ] {
        let run = |command: &str| {
            CommandRunner::new(&deny)
                .args(&[
                    "--manifest-path",
                    manifest,
                    "--workspace",
                    "--locked",
                    "--config",
                    &config,
                ])
                .arg(command)
        };
        // Duplicates are listed by `cargo deny check bans`; here they would hide what matters.
        run("check")
            .args(&["--allow", "duplicate", "--hide-inclusion-graph"])
            .args(checks)
            .run_inherited()?;
        let fetched = run("fetch").arg("db").capture(FETCH_TIMEOUT);
        match fetched {
            Ok(fetch) if fetch.exit == Some(0) => {
                run("check").arg("advisories").run_inherited()?;
            }
            _ => println!("skipped: advisories of {manifest}, whose database cannot be fetched"),
        }
    }
    Ok(())
}

/// Compares the public items with those of a revision, by default the last release; fails if the version promises more.
pub(crate) fn semver(revision: Option<&str>) -> Result<(), String> {
    let Some(revision) = revision.map(str::to_owned).or(last_release()?) else {
        println!(
            "skipped: cargo semver-checks, because nothing has been released; the files in api/ are the baseline"
        );
        return Ok(());
    };
    let semver = SEMVER.find()?;
    let baseline = workspace_root().join(BASELINE);
    remove_dir(&baseline)?;
    let folder = baseline.display().to_string();
    let git = |args: &[&str]| CommandRunner::new("git").args(args);
    git(&["worktree", "prune"]).run_inherited()?;
    git(&["worktree", "add", "--quiet", "--force", "--detach", &folder, &revision])
        .run_inherited()?;
    let compared = compare(&semver, &revision);
    git(&["worktree", "remove", "--force", &folder]).run_inherited()?;
    compared
}

fn compare(semver: &str, revision: &str) -> Result<(), String> {
    let baseline = workspace_root().join(BASELINE);
    let before = workspace_root().join("target/semver/before");
    let now = workspace_root().join("target/semver/now");
    let build = workspace_root().join("target/semver/build");
    api::write_rustdoc_json(&baseline, &build, &before)?;
    api::write_rustdoc_json(&workspace_root(), &api::target_folder()?, &now)?;
    let mut failed = Vec::new();
    for it in published_crates()? {
        let file = format!("{}.json", it.name.replace('-', "_"));
        let (old, new) = (before.join(&file), now.join(&file));
        if !old.is_file() {
            println!("{} is new since {revision}", it.name);
            continue;
        }
        println!("== {}", it.name);
        let check = CommandRunner::new(semver)
            .args(&["semver-checks", "--baseline-rustdoc", &old.display().to_string()])
            .args(&["--current-rustdoc", &new.display().to_string()]);
        if check.run_inherited().is_err() {
            failed.push(it.name);
        }
    }
    match failed.as_slice() {
        [] => Ok(()),
        names => Err(format!("the version has to rise more for {}", names.join(", "))),
    }
}

/// The tag of the newest release, as `v0.1.0`.
pub(crate) fn last_release() -> Result<Option<String>, String> {
    let tags = CommandRunner::new("git")
        .args(&["tag", "--list", "v[0-9]*", "--sort=-version:refname", "--merged"])
        .stdout()?;
    Ok(tags.lines().next().map(str::to_owned))
}
