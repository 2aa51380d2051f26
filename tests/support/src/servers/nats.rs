//! A NATS server that belongs to the tests.

use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::{Supervisor, free_port, toxiproxy};
use crate::real;

const RUN: &str = r#""$program" -a 127.0.0.1 -p $port -m $monitoring_port $arguments"#;
const READY: &str = r#"grep -q "Server is ready" "$dir/log""#;

/// A running server.
pub struct NatsServer {
    /// Stops and starts it.
    pub supervisor: Supervisor,
    /// The port that it listens on.
    pub port: u16,
    /// The port of its monitoring over HTTP.
    pub monitoring_port: u16,
    prefixes: AtomicUsize,
}

/// The messages and bytes that a NATS server has received and sent.
#[derive(Clone, Copy, Default)]
pub struct NatsTraffic {
    /// The messages that it has received.
    pub received: u64,
    /// The bytes of these.
    pub received_bytes: u64,
    /// The messages that it has sent: one for each node that receives a message.
    pub sent: u64,
}

/// The server that all tests of a process share; `None` where NATS is not installed.
pub fn shared() -> Option<&'static NatsServer> {
    static SHARED: OnceLock<Option<NatsServer>> = OnceLock::new();
    SHARED.get_or_init(|| NatsServer::start("")).as_ref()
}

impl NatsServer {
    /// Starts a server of its own with arguments, which have no spaces in them; `None` where NATS is not installed.
    pub fn start(arguments: &str) -> Option<Self> {
        let program = real::built_program("nats-server")?;
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

    /// The URL of the server.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Reads its counters.
    pub fn traffic(&self) -> NatsTraffic {
        let counters = toxiproxy::request(self.monitoring_port, "GET", "/varz", &Value::Null);
        let counters = counters.unwrap();
        let read = |name: &str| counters[name].as_u64().unwrap();
        NatsTraffic {
            received: read("in_msgs"),
            received_bytes: read("in_bytes"),
            sent: read("out_msgs"),
        }
    }

    /// A URL with subjects that no other test has.
    pub fn url_with_new_prefix(&self) -> String {
        format!("{}/t{}", self.url(), self.prefixes.fetch_add(1, Ordering::SeqCst))
    }
}
