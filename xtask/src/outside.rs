//! Builds and tests, outside of the workspace, what users write: projects that name a version of the packages and nothing else.
//!
//! The packages come from a [local registry](crate::local_registry), into an empty cargo home. So a file, a feature or a dependency
//! that a package lacks is found here, and not by the first user.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::command_runner::{CommandRunner, workspace_root};
use crate::files::{copy, read, remove_dir, write};
use crate::packages::{self, Crate, FOLDER, LockFiles};
use crate::{local_registry, packages::published_crates};

/// The program that makes the projects: every command, from the packages.
const PROGRAM: &str = "maker";
const PROGRAM_MAIN: &str = "//! Every command.

fn main() -> std::process::ExitCode {
    toolwright::app!().run()
}
";
/// Long enough for a program that only writes files.
const TIMEOUT: Duration = Duration::from_secs(60);
/// What a manifest says about dependencies of tests.
const TOKIO: &str =
    "\n[dev-dependencies]\ntokio = { version = \"1\", features = [\"macros\", \"rt\"] }\n";

/// Packages everything, then builds and tests the projects; `only` names some of them.
pub(crate) fn check(only: &[&str]) -> Result<(), String> {
    let crates = published_crates()?;
    packages::package_all(&crates, LockFiles::Included)?;
    packages::check_contents(&crates)?;
    println!("{} packages have their files", crates.len());
    check_packaged(&crates, only)
}

/// Builds and tests the projects with crates that are packaged already.
pub(crate) fn check_packaged(crates: &[Crate], only: &[&str]) -> Result<(), String> {
    let count = local_registry::write_registry(crates)?;
    println!("{count} packages in {}", local_registry::folder().display());
    let outside = Outside::new(crates)?;
    let templates = outside.make_templates()?;
    let projects =
        [&templates[..], &[outside.make_tools()?, outside.make_bridges(crates)?]].concat();
    let known: Vec<String> = projects.iter().map(|it| name_of(it)).collect();
    if let Some(unknown) = only.iter().find(|name| !known.iter().any(|it| it == *name)) {
        return Err(format!("no project `{unknown}`; projects: {}", known.join(", ")));
    }
    let mut report = Vec::new();
    for (project, name) in projects.iter().zip(&known) {
        if only.is_empty() || only.contains(&name.as_str()) {
            let passed = outside.test(project)?;
            report.push(format!("  {name:<14} {passed} tests passed"));
        }
    }
    println!("outside of the workspace, with an empty cargo home:\n{}", report.join("\n"));
    // Kept after a failure, to be looked at.
    remove_dir(&outside.folder)
}

fn name_of(project: &Path) -> String {
    project.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A folder outside of the workspace, and a cargo home that knows the registry only.
struct Outside {
    folder: PathBuf,
    cargo_home: PathBuf,
    /// Of the packages.
    version: String,
}

impl Outside {
    fn new(crates: &[Crate]) -> Result<Self, String> {
        // A name of its own for each run: others may run this at the same time.
        let folder = format!("toolwright-outside-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let version = crates.first().map(|it| it.version.clone()).unwrap_or_default();
        let cargo_home = workspace_root().join(FOLDER).join("cargo-home");
        remove_dir(&folder)?;
        remove_dir(&cargo_home)?;
        forget_compiled_packages(crates)?;
        write(&cargo_home.join("config.toml"), local_registry::cargo_settings().as_bytes())?;
        Ok(Self { folder, cargo_home, version })
    }

    /// A Cargo command in a project.
    fn cargo(&self, project: &Path, args: &[&str]) -> CommandRunner {
        CommandRunner::new("cargo")
            .args(args)
            .in_folder(project)
            .env("CARGO_HOME", &self.cargo_home.display().to_string())
            .env("CARGO_TARGET_DIR", &build_folder().display().to_string())
            // Debug information of the dependencies takes gigabytes.
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CARGO_INCREMENTAL", "0")
            .env("CI", "")
    }

    /// Runs the tests of a project; returns how many there are.
    fn test(&self, project: &Path) -> Result<usize, String> {
        let mut passed = 0;
        let args = ["test", "--workspace", "--no-fail-fast"];
        self.cargo(project, &args).run_with_lines(|line| passed += passed_tests(line))?;
        match passed {
            0 => Err(format!("{} has no test", name_of(project))),
            count => Ok(count),
        }
    }

    /// Writes a manifest that depends on toolwright by its version.
    fn write_manifest(&self, project: &Path, features: &str, rest: &str) -> Result<(), String> {
        let (name, version) = (name_of(project), &self.version);
        let manifest = format!(
            "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [dependencies]\ntoolwright = {{ version = {version:?}{features} }}\n{rest}"
        );
        write(&project.join("Cargo.toml"), manifest.as_bytes())
    }

    /// Makes a project of every template, with a program that is itself built from the packages.
    fn make_templates(&self) -> Result<Vec<PathBuf>, String> {
        let program = self.folder.join(PROGRAM);
        // Those of the template `app`, so that they are compiled once.
        let features = ", features = [\"cli\", \"mcp-client\", \"sqlite\", \"tls\"]";
        self.write_manifest(&program, features, "")?;
        write(&program.join("src/main.rs"), PROGRAM_MAIN.as_bytes())?;
        self.cargo(&program, &["build"]).run_inherited()?;
        let binary = build_folder().join("debug").join(PROGRAM).display().to_string();
        let run = |args: &[&str]| CommandRunner::new(&binary).args(args).in_folder(&self.folder);
        // The error for a template that does not exist lists those that do.
        let mistaken = run(&["new", "mistake", "--template", "?"]).capture(TIMEOUT)?;
        let names = possible_values(&mistaken.output);
        if names.is_empty() {
            return Err(format!("`new` lists no templates: {}", mistaken.output));
        }
        let mut projects = Vec::new();
        for name in names {
            let project = format!("template-{name}");
            run(&["new", &project, "--template", &name, "--published"]).run_inherited()?;
            projects.push(self.folder.join(project));
        }
        Ok(projects)
    }

    /// Makes a crate of tools with the default features: the tools of a template, as a library.
    fn make_tools(&self) -> Result<PathBuf, String> {
        let project = self.folder.join("tools");
        self.write_manifest(&project, "", TOKIO)?;
        let tools = self.folder.join("template-app/src/tools.rs");
        copy(&tools, &project.join("src/lib.rs"))?;
        Ok(project)
    }

    /// Copies the bridges, and the tools that their tests use; they depend on the packages instead of the workspace.
    fn make_bridges(&self, crates: &[Crate]) -> Result<PathBuf, String> {
        let root = self.folder.join("with-bridges");
        let files = CommandRunner::new("git")
            .args(&["ls-files", "bridges", "examples/assistant-tools", "docs/other-frameworks.md"])
            // The software of `tests/real` is not installed there: tests that need it are skipped, as `cargo xtask test bridges` runs them.
            .args(&["tests/real", "tests/support"])
            .stdout()?;
        for file in files.lines().filter(|file| workspace_root().join(file).is_file()) {
            if file.ends_with("Cargo.toml") {
                let manifest = without_paths(&read(file)?, &self.version);
                write(&root.join(file), manifest.as_bytes())?;
            } else if file.ends_with("Cargo.lock") {
                let checksum = |it: &Crate| local_registry::checksum(&it.package());
                let lock = with_packages(&read(file)?, crates, checksum)?;
                write(&root.join(file), lock.as_bytes())?;
            } else {
                copy(&workspace_root().join(file), &root.join(file))?;
            }
        }
        // Its dependencies are those of the table of the workspace.
        let manifest = read("Cargo.toml")?;
        let workspace = manifest.split("\n[package]\n").next().unwrap_or_default();
        let members = |line: &str| match line.starts_with("members = ") {
            true => "members = [\"examples/assistant-tools\"]\n".to_owned(),
            false => format!("{line}\n"),
        };
        let workspace: String = workspace.lines().map(members).collect();
        let workspace = without_paths(&workspace, &self.version);
        write(&root.join("Cargo.toml"), workspace.as_bytes())?;
        Ok(root.join("bridges"))
    }
}

/// Locks our crates to their packages. Where a lock file has them without a source, Cargo would choose other versions anew, too.
fn with_packages(
    lock: &str,
    crates: &[Crate],
    checksum: impl Fn(&Crate) -> Result<String, String>,
) -> Result<String, String> {
    let source = lock.lines().find(|line| line.starts_with("source = \"registry+"));
    let source = source.ok_or("Cargo.lock has no package of a registry")?;
    let mut locked = String::new();
    let mut lines = lock.lines();
    while let Some(line) = lines.next() {
        locked.push_str(&format!("{line}\n"));
        let name = line.strip_prefix("name = \"").and_then(|rest| rest.strip_suffix('"'));
        if let Some(ours) = crates.iter().find(|it| Some(it.name.as_str()) == name) {
            // The line of its version.
            lines.next();
            let (version, checksum) = (&ours.version, checksum(ours)?);
            locked.push_str(&format!("version = {version:?}\n{source}\nchecksum = {checksum:?}\n"));
        }
    }
    Ok(locked)
}

fn build_folder() -> PathBuf {
    workspace_root().join(FOLDER).join("build")
}

/// Lets Cargo compile our packages once more: it takes what a registry has published for unchangeable, and these have changed.
fn forget_compiled_packages(crates: &[Crate]) -> Result<(), String> {
    let folder = build_folder().join("debug/.fingerprint");
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|error| format!("{}: {error}", folder.display()))?,
    };
    for entry in entries {
        let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
        let name = name_of(&path);
        // Named by the package and a digest.
        let package = name.rsplit_once('-').map_or("", |(package, _)| package);
        if crates.iter().any(|it| it.name == package) {
            remove_dir(&path)?;
        }
    }
    Ok(())
}

/// The manifest with versions in place of the paths into `crates/`.
fn without_paths(manifest: &str, version: &str) -> String {
    let replace = |line: &str| {
        let (before, rest) = line.split_once("path = \"")?;
        let (path, rest) = rest.split_once('"')?;
        path.contains("crates/").then_some(())?;
        match rest.strip_prefix(", version") {
            Some(rest) => Some(format!("{before}version{rest}\n")),
            None => Some(format!("{before}version = {version:?}{rest}\n")),
        }
    };
    manifest.lines().map(|line| replace(line).unwrap_or_else(|| format!("{line}\n"))).collect()
}

/// The values that clap lists in an error.
fn possible_values(error: &str) -> Vec<String> {
    let values = error.split_once("[possible values: ").map_or("", |(_, rest)| rest);
    let values = values.split(']').next().unwrap_or_default();
    values.split(", ").filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// How many tests a line of `cargo test` reports as passed.
fn passed_tests(line: &str) -> usize {
    let count = line.strip_prefix("test result: ok. ").and_then(|rest| rest.split(' ').next());
    count.and_then(|count| count.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_crates_are_locked_to_their_packages() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"registry+r\"\n\n\
             [[package]]\nname = \"ours\"\nversion = \"0.1.0\"\ndependencies = [\n \"a\",\n]\n";
        let ours =
            Crate { name: "ours".to_owned(), version: "0.2.0".to_owned(), folder: String::new() };
        let locked = with_packages(lock, &[ours], |_| Ok("c0".to_owned())).expect("a lock file");
        let package = "name = \"ours\"\nversion = \"0.2.0\"\nsource = \"registry+r\"\nchecksum = \"c0\"\ndependencies";
        assert!(locked.contains(package), "{locked}");
        assert!(with_packages("version = 4\n", &[], |_| Ok(String::new())).is_err());
    }

    #[test]
    fn paths_into_crates_become_versions() {
        let manifest = "toolwright = { path = \"../crates/toolwright\" }\n\
                        toolwright-core = { path = \"crates/core\", version = \"0.1.0\", default-features = false }\n\
                        sample = { path = \"sample\" }\nserde = \"1\"\n";
        assert_eq!(
            without_paths(manifest, "0.1.0"),
            "toolwright = { version = \"0.1.0\" }\n\
             toolwright-core = { version = \"0.1.0\", default-features = false }\n\
             sample = { path = \"sample\" }\nserde = \"1\"\n"
        );
    }

    #[test]
    fn the_templates_are_those_that_the_program_lists() {
        let error =
            "error: invalid value '?' for '--template <TEMPLATE>'\n  [possible values: app, mcp]\n";
        assert_eq!(possible_values(error), ["app", "mcp"]);
        assert!(possible_values("error: other").is_empty());
    }

    #[test]
    fn passed_tests_are_counted() {
        assert_eq!(passed_tests("test result: ok. 12 passed; 0 failed; 0 ignored"), 12);
        assert_eq!(passed_tests("running 12 tests"), 0);
    }
}
