//! Third-party software for tests, installed by `cargo xtask test setup`; without it, the test is skipped.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::{env, fs};

/// The folder of the workspace.
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().find(|folder| folder.join("tests/real").is_dir());
    root.expect("tests/real is part of every checkout")
}

/// The JSON-Schema-Test-Suite, with its folders `tests/draft2020-12` and `remotes`.
pub fn suite() -> Option<PathBuf> {
    is_installed().then(|| installed("suite"))
}

/// The responses of real MCP servers to `tools/list`, one file each, sorted by name.
pub fn lists() -> Option<Vec<PathBuf>> {
    if !is_installed() {
        return None;
    }
    print!("{}", python("capture.py", &[]));
    let entries = fs::read_dir(installed("lists")).expect("capture.py made it");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    Some(files)
}

/// Runs a script of `tests/real` and returns its stdout; panics if it fails.
pub fn python(script: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(installed("python/bin/python"));
    command.arg(root().join("tests/real").join(script)).args(arguments);
    let output = command.output().expect("the interpreter starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script} failed:\n{printed}{complaint}");
    printed
}

/// Returns true if all packages for Node and Python are installed.
pub fn is_installed() -> bool {
    static INSTALLED: LazyLock<bool> = LazyLock::new(|| {
        let check = ["tests/real/install.py", "--check"];
        let status = Command::new("python3").args(check).current_dir(root()).status();
        status.is_ok_and(|status| status.success())
    });
    if !*INSTALLED {
        skip("the software of tests/real");
    }
    *INSTALLED
}

/// A program that `cargo xtask test setup` has built.
pub fn built_program(name: &str) -> Option<PathBuf> {
    let program = installed("bin").join(name);
    if program.is_file() {
        return Some(program);
    }
    skip(&format!("{}", program.display()));
    None
}

/// The program of a Debian package, in `PATH` or where Debian has those of administrators.
pub fn debian_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders = env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let found = folders.find_map(|folder| Some(folder.join(name)).filter(|it| it.is_file()));
    if found.is_none() {
        skip(&format!("Debian's {name}"));
    }
    found
}

/// Returns true if there is a Python interpreter, without any packages.
pub fn has_python() -> bool {
    let version = Command::new("python3").arg("--version").output();
    let is_there = version.is_ok_and(|version| version.status.success());
    if !is_there {
        skip("python3");
    }
    is_there
}

/// The library that moves the clock of a program, by `LD_PRELOAD`.
pub fn libfaketime() -> Option<PathBuf> {
    let folders = fs::read_dir("/usr/lib").expect("Linux has it");
    let mut libraries = folders.filter_map(|folder| {
        let library = folder.ok()?.path().join("faketime/libfaketimeMT.so.1");
        library.is_file().then_some(library)
    });
    let found = libraries.next();
    if found.is_none() {
        skip("libfaketime");
    }
    found
}

/// Prints that a test is skipped because something is not installed; panics in CI.
pub fn skip(missing: &str) {
    let needs = format!("needs {missing}; `cargo xtask test setup` installs it");
    assert!(env::var_os("CI").is_none_or(|ci| ci != "true"), "{needs}");
    println!("skipped: {needs}");
}

fn installed(part: &str) -> PathBuf {
    root().join("target/real").join(part)
}
