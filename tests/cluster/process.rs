//! Processes of a cluster: each ends when it is dropped, and with the test.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicU16, Ordering};

/// Ports from here on are not in the range from which the system takes the ports of outgoing connections: a server that is
/// started again finds its port free.
const FIRST_PORT: u16 = 20_000;
const PORT_COUNT: u16 = 12_000;

/// A port that no socket of this machine has.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Tests of other processes begin elsewhere.
    let offset = (std::process::id() % u32::from(PORT_COUNT)) as u16;
    loop {
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = FIRST_PORT + (offset + n) % PORT_COUNT;
        if TcpListener::bind(loopback(port)).is_ok() {
            return port;
        }
    }
}

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
