//! `cargo xtask release VERSION`: checks, packages and builds everything that a release consists of.
//!
//! Nothing is uploaded, tagged or pushed: these need keys, and cannot be undone. They are printed as the next commands.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::command_runner::{CommandRunner, workspace_root};
use crate::files::{copy, remove_dir, write};
use crate::packages::{self, LockFiles, published_crates};
use crate::version::{self, Version};
use crate::{api, archive, gates, local_registry, outside, sbom};

/// The copy of the tree in which a dry run works.
const COPY: &str = "target/release-source";
/// Where the copy is built.
const BUILD: &str = "target/release-build";
/// The flag with which a dry run starts the work in the copy.
const IN_COPY: &str = "--in-copy";

pub(crate) const HELP: &str = "Checks, packages and builds a release.

Usage:
  cargo xtask release VERSION --dry-run    everything, in a copy of the tree; the tree stays as it is
  cargo xtask release VERSION              the same, and the tree has the new version and its section of CHANGELOG.md

Options:
  --skip STEP           leave a step out of a dry run; may be repeated
  --sign-key FILE       sign the checksums with this SSH key; without one, nothing is signed
  --mcp-name NAME       the name in the MCP registry, as io.github.ada/toolwright; without one, there is no server.json
  --image IMAGE         the container image of server.json, with its tag

Steps:
@steps@
Everything is written to target/release-VERSION. Nothing is uploaded, tagged or pushed; the commands for that are printed at the end.
Before it, CI has to pass: `cargo xtask test` is not part of it.
Exit: 0 when every step passed, 1 when one failed, 2 for a mistyped command line.
";

/// The command line.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Options {
    version: String,
    dry_run: bool,
    /// Where a dry run wants the files, when this is the work in its copy.
    in_copy: Option<String>,
    skip: Vec<String>,
    sign_key: Option<String>,
    mcp_name: Option<String>,
    image: Option<String>,
}

impl Options {
    /// Reads the words after `release`.
    pub(crate) fn parse(words: &[&str]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || {
                let value = words.next().filter(|value| !value.starts_with('-'));
                value.map(|it| (*it).to_owned()).ok_or_else(|| format!("{word} needs a value"))
            };
            match *word {
                "--dry-run" => options.dry_run = true,
                IN_COPY => options.in_copy = Some(value()?),
                "--skip" => options.skip.push(value()?),
                "--sign-key" => options.sign_key = Some(value()?),
                "--mcp-name" => options.mcp_name = Some(value()?),
                "--image" => options.image = Some(value()?),
                flag if flag.starts_with('-') => {
                    return Err(format!("`release` has no {flag}; see cargo xtask release --help"));
                }
                version if options.version.is_empty() => options.version = version.to_owned(),
                extra => return Err(format!("`release` takes one version, got `{extra}` too")),
            }
        }
        if options.version.is_empty() {
            return Err(
                "which version? for example: cargo xtask release 0.2.0 --dry-run".to_owned()
            );
        }
        Version::parse(&options.version)?;
        let known = || STEPS.iter().map(|step| step.name);
        if let Some(step) = options.skip.iter().find(|skip| !known().any(|name| name == **skip)) {
            let valid: Vec<&str> = known().collect();
            return Err(format!("no step `{step}`; steps: {}", valid.join(", ")));
        }
        if !options.skip.is_empty() && !options.dry_run && options.in_copy.is_none() {
            return Err("--skip is for a dry run: a release has every step".to_owned());
        }
        if options.mcp_name.is_some() != options.image.is_some() {
            return Err("--mcp-name and --image belong together".to_owned());
        }
        Ok(options)
    }
}

/// The help, with the steps.
pub(crate) fn help() -> String {
    let line = |step: &ReleaseStep| format!("  {:<12} {}\n", step.name, step.what);
    HELP.replace("@steps@", &STEPS.iter().map(line).collect::<String>())
}

/// A release that is being made.
struct Release {
    version: Version,
    options: Options,
    /// Where everything is written.
    folder: PathBuf,
}

struct ReleaseStep {
    name: &'static str,
    what: &'static str,
    /// Returns a line about what was done.
    run: fn(&Release) -> Result<String, String>,
}

const STEPS: &[ReleaseStep] = &[
    ReleaseStep {
        name: "versions",
        what: "the version of every crate, and the section of CHANGELOG.md",
        run: set_versions,
    },
    ReleaseStep { name: "deny", what: "licences, bans, sources, advisories", run: check_licences },
    ReleaseStep { name: "api", what: "the public items are those in api/", run: check_api },
    ReleaseStep {
        name: "semver",
        what: "the version promises no more than is kept since the last release",
        run: check_semver,
    },
    ReleaseStep {
        name: "packages",
        what: "the files for crates.io, each with all that it needs",
        run: write_packages,
    },
    ReleaseStep {
        name: "outside",
        what: "projects that have nothing but these packages, built and tested",
        run: try_packages,
    },
    ReleaseStep {
        name: "archive",
        what: "the program with completions and manual pages",
        run: write_archive,
    },
    ReleaseStep {
        name: "sbom",
        what: "what the program consists of, as CycloneDX",
        run: write_sbom,
    },
    ReleaseStep {
        name: "container",
        what: "the file that builds the image",
        run: copy_container_file,
    },
    ReleaseStep {
        name: "server-json",
        what: "the entry of the MCP registry, with --mcp-name and --image",
        run: write_server_json,
    },
    ReleaseStep { name: "checksums", what: "SHA-256 of every file", run: write_checksums },
    ReleaseStep { name: "signature", what: "of the checksums, with --sign-key", run: sign },
];

/// Makes a release, or tries to in a copy.
pub(crate) fn run(options: Options) -> Result<(), String> {
    let version = Version::parse(&options.version)?;
    if options.in_copy.is_none() {
        check_start(version)?;
    }
    if options.dry_run {
        return run_in_copy(&options, &output_folder(version));
    }
    let folder = match &options.in_copy {
        Some(folder) => PathBuf::from(folder),
        None => output_folder(version),
    };
    remove_dir(&folder)?;
    let release = Release { version, options, folder };
    let mut report = Vec::new();
    for (index, step) in STEPS.iter().enumerate() {
        let name = step.name;
        println!("== {}/{} {name}: {}", index + 1, STEPS.len(), step.what);
        if release.options.skip.iter().any(|skip| skip == name) {
            println!("== {name}: skipped, as asked");
            report.push((name, "skipped, as asked".to_owned(), 0.0));
            continue;
        }
        let start = Instant::now();
        let done = (step.run)(&release).map_err(|error| format!("step `{name}`: {error}"))?;
        let seconds = start.elapsed().as_secs_f64();
        println!("== {name}: {done}, {seconds:.1} s");
        report.push((name, done, seconds));
    }
    println!("\nsteps:");
    for (name, done, seconds) in report {
        println!("  {name:<12} {seconds:>7.1} s  {done}");
    }
    println!("\ntarget/release-{version}:");
    print_files(&release.folder)?;
    if release.options.in_copy.is_none() {
        println!("{}", next_commands(version));
    }
    Ok(())
}

fn output_folder(version: Version) -> PathBuf {
    workspace_root().join(format!("target/release-{version}"))
}

/// Fails if a release of this version cannot begin here.
fn check_start(version: Version) -> Result<(), String> {
    let changes = CommandRunner::new("git").args(&["status", "--porcelain"]).stdout()?;
    if !changes.is_empty() {
        let count = changes.lines().count();
        return Err(format!("the tree has {count} uncommitted changes: commit or stash them"));
    }
    let current = Version::current()?;
    if version < current {
        return Err(format!("{version} is older than the version in Cargo.toml, {current}"));
    }
    if let Some(tag) = gates::last_release()? {
        let last = Version::parse(tag.trim_start_matches('v'))?;
        if version <= last {
            return Err(format!("{version} is not newer than the last release, {last}"));
        }
    }
    let lines = version::check_changes(version)?;
    println!("{current} becomes {version}, with {lines} lines in CHANGELOG.md");
    Ok(())
}

/// Clones the tree below `target`, and makes the release there.
fn run_in_copy(options: &Options, folder: &Path) -> Result<(), String> {
    let copy = workspace_root().join(COPY);
    remove_dir(&copy)?;
    let source = workspace_root().display().to_string();
    CommandRunner::new("git")
        .args(&["clone", "--quiet", &source, &copy.display().to_string()])
        .run_inherited()?;
    link_target_folders(&copy)?;
    let mut command = CommandRunner::new("cargo")
        .args(&["xtask", "release", &options.version, IN_COPY, &folder.display().to_string()])
        .env("CARGO_TARGET_DIR", &workspace_root().join(BUILD).display().to_string())
        .in_folder(&copy);
    for skip in &options.skip {
        command = command.args(&["--skip", skip]);
    }
    let sign_key = match &options.sign_key {
        Some(key) => {
            Some(fs::canonicalize(key).map_err(|error| format!("--sign-key {key}: {error}"))?)
        }
        None => None,
    };
    let sign_key = sign_key.map(|key| key.display().to_string());
    for (flag, value) in
        [("--sign-key", &sign_key), ("--mcp-name", &options.mcp_name), ("--image", &options.image)]
    {
        if let Some(value) = value {
            command = command.args(&[flag, value]);
        }
    }
    command.run_inherited()?;
    println!("this was a dry run: the tree is as it was");
    Ok(())
}

/// Lets the copy be built beside the tree, because Cargo would take the crates of one for those of the other. A later dry run finds the
/// dependencies compiled; programs are those of the tree.
#[cfg(unix)]
fn link_target_folders(copy: &Path) -> Result<(), String> {
    use std::os::unix::fs::symlink;
    let build = workspace_root().join(BUILD);
    let tools = workspace_root().join(crate::tools::FOLDER);
    for folder in [&build, &tools] {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    if !build.join("tools").exists() {
        symlink(&tools, build.join("tools")).map_err(|error| format!("{BUILD}: {error}"))?;
    }
    symlink(&build, copy.join("target")).map_err(|error| format!("{COPY}: {error}"))
}

#[cfg(not(unix))]
fn link_target_folders(_: &Path) -> Result<(), String> {
    Ok(())
}

fn set_versions(release: &Release) -> Result<String, String> {
    let (current, version) = (Version::current()?, release.version);
    let lines = version::name_changes(version)?;
    let changed = match current == version {
        true => 0,
        false => version::set(current, version)?,
    };
    if release.options.in_copy.is_some() {
        // So that packages and archives have the time of a commit, as those of a release will.
        let identity = ["-c", "user.name=dry run", "-c", "user.email=dry-run@localhost"];
        let commit = ["commit", "--quiet", "--allow-empty", "--no-verify", "-am"];
        let message = format!("release: {version}");
        CommandRunner::new("git").args(&identity).args(&commit).arg(&message).run_inherited()?;
    }
    Ok(format!("{changed} versions set from {current} to {version}, {lines} changes named"))
}

fn check_licences(_: &Release) -> Result<String, String> {
    gates::deny()?;
    Ok("all allowed".to_owned())
}

fn check_api(_: &Release) -> Result<String, String> {
    Ok(format!("{} public items, as in api/", api::check()?))
}

fn check_semver(_: &Release) -> Result<String, String> {
    match gates::last_release()? {
        None => gates::semver(None).map(|()| "skipped: no release to compare with".to_owned()),
        Some(tag) => gates::semver(Some(&tag)).map(|()| format!("compatible with {tag}")),
    }
}

fn write_packages(release: &Release) -> Result<String, String> {
    let crates = published_crates()?;
    packages::package_all(&crates, LockFiles::Included)?;
    packages::check_contents(&crates)?;
    for it in &crates {
        let file = format!("{}-{}.crate", it.name, it.version);
        copy(&it.package(), &release.folder.join("crates").join(file))?;
    }
    Ok(format!("{} packages", crates.len()))
}

fn try_packages(_: &Release) -> Result<String, String> {
    outside::check_packaged(&published_crates()?, &[])?;
    Ok("every project builds, and its tests pass".to_owned())
}

fn write_archive(release: &Release) -> Result<String, String> {
    let target = archive::host_target()?;
    let program = archive::build_program()?;
    let version = release.version.to_string();
    let archive = archive::write_archive(&program, &version, &target, &release.folder)?;
    let printed = CommandRunner::new(&program.display().to_string()).arg("--version").stdout()?;
    if !printed.trim().ends_with(&version) {
        return Err(format!("the program is of another version: {printed}"));
    }
    let name = archive.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(format!("{}, which binstall finds", name.unwrap_or_default()))
}

fn write_sbom(release: &Release) -> Result<String, String> {
    let target = archive::host_target()?;
    let (bill, count) = sbom::bill_of_materials(archive::PACKAGE, &target)?;
    let file = format!("{}-{}-{target}.cdx.json", archive::PROGRAM, release.version);
    let text = serde_json::to_string_pretty(&bill).map_err(|error| error.to_string())?;
    write(&release.folder.join(file), format!("{text}\n").as_bytes())?;
    Ok(format!("{count} components"))
}

fn copy_container_file(release: &Release) -> Result<String, String> {
    let file = workspace_root().join("deploy/Dockerfile");
    copy(&file, &release.folder.join("Dockerfile"))?;
    Ok("copied; the image is built where there is an engine".to_owned())
}

fn write_server_json(release: &Release) -> Result<String, String> {
    let (Some(name), Some(image)) = (&release.options.mcp_name, &release.options.image) else {
        return Ok("skipped: there is no --mcp-name".to_owned());
    };
    let program = archive::build_program()?.display().to_string();
    let file = release.folder.join("server.json").display().to_string();
    CommandRunner::new(&program)
        .args(&["publish", "--name", name, "--image", image, "--out", &file])
        .run_inherited()?;
    Ok(format!("for {name}"))
}

fn write_checksums(release: &Release) -> Result<String, String> {
    let files = files_of(&release.folder)?;
    let mut lines = String::new();
    for file in &files {
        let sum = local_registry::checksum(&release.folder.join(file))?;
        lines.push_str(&format!("{sum}  {file}\n"));
    }
    write(&release.folder.join("SHA256SUMS"), lines.as_bytes())?;
    CommandRunner::new("sha256sum")
        .args(&["--check", "--quiet", "SHA256SUMS"])
        .in_folder(&release.folder)
        .run_inherited()?;
    Ok(format!("{} files", files.len()))
}

/// Signs the checksums, and with them every file.
fn sign(release: &Release) -> Result<String, String> {
    let Some(key) = &release.options.sign_key else {
        return Ok("skipped: nothing is signed without --sign-key".to_owned());
    };
    CommandRunner::new("ssh-keygen")
        .args(&["-Y", "sign", "-f", key, "-n", "toolwright-release", "SHA256SUMS"])
        .in_folder(&release.folder)
        .run_inherited()?;
    Ok("SHA256SUMS.sig; SECURITY.md says how it is verified".to_owned())
}

/// The files below a folder, sorted, as paths from it.
fn files_of(folder: &Path) -> Result<Vec<String>, String> {
    let mut files = std::collections::BTreeSet::new();
    packages::collect_files(folder, folder, &mut files)?;
    Ok(files.into_iter().collect())
}

fn print_files(folder: &Path) -> Result<(), String> {
    for file in files_of(folder)? {
        let size = fs::metadata(folder.join(&file)).map_or(0, |metadata| metadata.len());
        println!("  {size:>10}  {file}");
    }
    Ok(())
}

fn next_commands(version: Version) -> String {
    format!(
        "\nnext, after a look at `git diff`:
  git commit --all --message 'release: {version}'
  git tag --sign v{version} --message v{version} && git push --follow-tags
  cargo publish --workspace
  upload the files of target/release-{version} to the release of the tag
  mcp-publisher publish    in target/release-{version}, if there is a server.json"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(words: &[&str]) -> String {
        Options::parse(words).expect_err("refused")
    }

    #[test]
    fn the_command_line_is_read_in_any_order() {
        let options =
            Options::parse(&["--dry-run", "0.2.0", "--skip", "outside", "--skip", "deny"]);
        let options = options.expect("a command line");
        assert!(options.dry_run);
        assert_eq!((options.version.as_str(), options.skip.len()), ("0.2.0", 2));
    }

    #[test]
    fn mistakes_are_answered_with_what_to_write() {
        assert!(error(&[]).contains("cargo xtask release 0.2.0 --dry-run"));
        assert!(error(&["v1"]).contains("as 0.2.0"));
        assert!(error(&["0.2.0", "0.3.0"]).contains("takes one version"));
        assert!(error(&["0.2.0", "--dry"]).contains("--help"));
        assert!(error(&["0.2.0", "--skip"]).contains("needs a value"));
        assert!(
            error(&["0.2.0", "--dry-run", "--skip", "tests"]).contains("steps: versions, deny")
        );
        assert!(error(&["0.2.0", "--skip", "deny"]).contains("for a dry run"));
        assert!(error(&["0.2.0", "--image", "a.b/c:1"]).contains("belong together"));
    }

    #[test]
    fn the_help_lists_every_step() {
        let help = help();
        assert!(STEPS.iter().all(|step| help.contains(step.what)), "{help}");
    }
}
