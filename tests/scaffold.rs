//! `toolwright new`: the created project compiles, and its test passes.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A temporary folder outside of the workspace, so that Cargo does not find the workspace.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("toolwright-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Files that remain in the temporary directory do no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn new(directory: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    command.arg("new").arg(directory).output().unwrap()
}

/// Runs Cargo in a project, with the lock file and build directory of the workspace.
fn cargo(project: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO"));
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/scaffold");
    command
        .args(arguments)
        .current_dir(project)
        .env("CARGO_TARGET_DIR", target)
        // Debug information of the dependencies takes gigabytes.
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "0");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

#[test]
fn a_new_project_lists_its_tool_and_passes_its_test() {
    let folder = Folder::new("scaffold");
    let project = folder.0.join("hello-tools");
    let made = new(&project);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock");
    fs::copy(lock, project.join("Cargo.lock")).unwrap();
    let listed = cargo(&project, &["run", "--quiet", "--", "tools", "list"]);
    assert_eq!(
        String::from_utf8_lossy(&listed.stdout),
        "hello_tools::tools\n  greet  Greets somebody by name.\n"
    );
    let tested = cargo(&project, &["test", "--quiet"]);
    let stdout = String::from_utf8_lossy(&tested.stdout).into_owned();
    assert!(stdout.contains("1 passed"), "{stdout}");
}

#[test]
fn a_directory_that_is_not_empty_is_left_alone() {
    let folder = Folder::new("taken");
    let project = folder.0.join("taken");
    fs::create_dir(&project).unwrap();
    fs::write(project.join("mine.txt"), "mine").unwrap();
    let refused = new(&project);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("choose another"));
    assert_eq!(fs::read_dir(&project).unwrap().count(), 1);
}

#[test]
fn a_name_that_cargo_would_refuse_is_refused_with_what_to_use() {
    let folder = Folder::new("named");
    let refused = new(&folder.0.join("My Tools"));
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("lower-case"));
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0);
}
