//! Starts the server, and ends it by a signal.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use serde_json::Value;
use test_support::programs::test_program;
use test_support::real;

/// How the server is started.
pub(crate) struct Launcher {
    /// The URL of its store.
    pub(crate) url: String,
    /// The file to which its tools append.
    pub(crate) effects: PathBuf,
    /// The holder of its leases; `None` for another one in each process.
    pub(crate) node: Option<&'static str>,
    pub(crate) clock: Option<FakeClock>,
}

impl Launcher {
    pub(crate) fn start(&self) -> ServerProcess {
        let mut command = test_program("kill");
        command.args(["serve", "--json", "--addr", "127.0.0.1:0", "--log", "error", "--store"]);
        command.arg(&self.url);
        // No settings of this machine: no file in the current directory.
        command.current_dir(self.effects.parent().unwrap());
        command.env("TOOLWRIGHT_EFFECTS_FILE", &self.effects);
        command.envs(self.node.map(|node| ("TOOLWRIGHT_CLUSTER_NODE", node)));
        if let Some(clock) = &self.clock {
            command.env("LD_PRELOAD", &clock.library);
            command.env("FAKETIME_TIMESTAMP_FILE", &clock.offset);
            command.env("FAKETIME_NO_CACHE", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = announced_address(&line);
        let address = address.unwrap_or_else(|| panic!("`{line}`, then {:?}", child.wait()));
        ServerProcess { child, address }
    }
}

/// The address in the line that `serve --json` prints when it listens.
fn announced_address(line: &str) -> Option<SocketAddr> {
    let line: Value = serde_json::from_str(line).ok()?;
    line["url"].as_str()?.strip_prefix("http://")?.strip_suffix('/')?.parse().ok()
}

/// A running server, which is killed on drop.
pub(crate) struct ServerProcess {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl ServerProcess {
    /// Sends SIGTERM, and waits for its end.
    pub(crate) fn terminate(mut self) -> ExitStatus {
        let killed = Command::new("kill").arg(self.child.id().to_string()).status();
        assert!(killed.unwrap().success());
        self.child.wait().unwrap()
    }

    pub(crate) fn assert_alive(&mut self) {
        assert_eq!(self.child.try_wait().unwrap(), None, "the server has ended");
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // SIGKILL, which cannot be handled.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The wall clock of a server, which Debian's libfaketime moves.
pub(crate) struct FakeClock {
    library: PathBuf,
    /// The file with the offset in seconds.
    offset: PathBuf,
}

impl FakeClock {
    /// A clock that shows the time; `None` where libfaketime is not installed.
    pub(crate) fn new(directory: &Path) -> Option<Self> {
        let library = real::libfaketime()?;
        let clock = Self { library, offset: directory.join("clock") };
        clock.set_offset(0);
        Some(clock)
    }

    pub(crate) fn set_offset(&self, seconds: i64) {
        let new = self.offset.with_extension("new");
        std::fs::write(&new, format!("{seconds:+}\n")).unwrap();
        // Never half written.
        std::fs::rename(&new, &self.offset).unwrap();
    }
}
