//! The conformance fixture as a process of its own.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use test_support::programs;

/// The conformance fixture on a port of the system's choice; ended when it is dropped.
pub(crate) struct Fixture {
    child: Child,
    /// Kept open: tools may print.
    _output: BufReader<ChildStdout>,
    pub(crate) url: String,
}

/// The arguments of a server with one node, and of one whose two nodes take turns.
pub(crate) const NODES: [&[&str]; 2] = [&[], &["--nodes", "2"]];

/// The program of the fixture.
pub(crate) fn example() -> PathBuf {
    programs::example("conformance_server")
}

impl Fixture {
    /// Starts it with more arguments, such as one of [`NODES`].
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(example())
            .args(["--addr", "127.0.0.1:0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening at ").unwrap().to_owned();
        Self { child, _output: output, url }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
