//! The programs that tests start, which are examples: `cargo test` builds them beside the tests.

use std::path::PathBuf;
use std::process::Command;

/// Names the program that the example `test_programs` runs as.
pub const TEST_PROGRAM: &str = "TEST_PROGRAM";

/// The folder of the executables with the profile of this test; its folder `deps` has the tests.
fn profile_folder() -> PathBuf {
    let this = std::env::current_exe().expect("a test has a file");
    this.ancestors().nth(2).expect("a test is in a folder").to_owned()
}

fn built(program: PathBuf, target: &str) -> PathBuf {
    let folder = profile_folder();
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    assert!(
        program.exists(),
        "{} is not built: cargo build --profile {profile} --workspace --all-features {target}",
        program.display()
    );
    program
}

/// The executable of a program of the workspace, with the profile of this test.
pub fn binary(name: &str) -> PathBuf {
    built(profile_folder().join(name), &format!("--bin {name}"))
}

/// The executable of an example, with the profile of this test.
pub fn example(name: &str) -> PathBuf {
    built(profile_folder().join("examples").join(name), &format!("--example {name}"))
}

/// A command that runs one of the programs of `tests/test_programs`, without the variables of this process.
pub fn test_program(name: &str) -> Command {
    let mut command = Command::new(example("test_programs"));
    command.env_clear().env(TEST_PROGRAM, name);
    command
}
