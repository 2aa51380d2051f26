//! A NATS server that belongs to the tests.

use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Supervisor, free_port, installed_program};

const RUN: &str = r#""$program" -a 127.0.0.1 -p $port -m $monitoring_port $arguments"#;
const READY: &str = r#"grep -q "Server is ready" "$dir/log""#;

pub(crate) struct NatsServer {
    pub(crate) supervisor: Supervisor,
    pub(crate) port: u16,
    /// The port of its monitoring over HTTP.
    pub(crate) monitoring_port: u16,
    prefixes: AtomicUsize,
}

/// The server that all tests share; `None` where NATS is not installed.
pub(crate) fn shared() -> Option<&'static NatsServer> {
    static SHARED: OnceLock<Option<NatsServer>> = OnceLock::new();
    SHARED.get_or_init(|| NatsServer::start("")).as_ref()
}

impl NatsServer {
    /// Starts a server of its own with arguments, which have no spaces in them; `None` where NATS is not installed.
    pub(crate) fn start(arguments: &str) -> Option<Self> {
        let program = installed_program("nats-server")?;
        // Another process may take a port before the server does.
        for _ in 0..5 {
            let (port, monitoring_port) = (free_port(), free_port());
            let mut shell = Command::new("sh");
            shell.env("program", &program).env("arguments", arguments);
            shell.env("port", port.to_string()).env("monitoring_port", monitoring_port.to_string());
            let directory = tempfile::tempdir().unwrap();
            let supervisor = Supervisor::new(shell, directory, "KILL", ["true", RUN, READY]);
            if supervisor.try_run("start") {
                return Some(Self {
                    supervisor,
                    port,
                    monitoring_port,
                    prefixes: AtomicUsize::new(0),
                });
            }
            eprintln!("{}", supervisor.log());
        }
        panic!("NATS cannot be started");
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// A URL with subjects that no other test has.
    pub(crate) fn url_with_new_prefix(&self) -> String {
        format!("{}/t{}", self.url(), self.prefixes.fetch_add(1, Ordering::SeqCst))
    }
}
