//! Processes of a cluster: each ends when it is dropped, and with the test.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

/// An address on this machine.
pub(crate) fn loopback(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// A process that is killed when it is dropped.
///
/// It is killed too when the thread ends that has started it, so that a test that is killed leaves nothing behind.
pub(crate) struct Process(Child);

impl Process {
    /// Starts a program; `configure` sets its arguments, variables and streams.
    pub(crate) fn spawn(program: &Path, configure: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]).arg(program);
        configure(&mut command);
        Self(command.spawn().unwrap_or_else(|error| panic!("{}: {error}", program.display())))
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.0
    }

    /// Sends a signal, as `-TERM`.
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Sends SIGTERM, and waits for the end.
    pub(crate) fn terminate(mut self) -> ExitStatus {
        self.signal("-TERM");
        self.0.wait().unwrap()
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // SIGKILL, which ends a suspended process, too.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
