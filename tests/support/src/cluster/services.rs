//! Toxiproxy in front of the services of a cluster, and HAProxy in front of its nodes.

use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::process::{Process, loopback};
use crate::servers::free_port;
use crate::{HANG_TIMEOUT, http, real};

/// Waits until a service accepts connections.
fn wait_until_listening(process: &mut Process, address: SocketAddr, log: &Path) {
    let began = Instant::now();
    while TcpStream::connect(address).is_err() {
        let has_ended = process.child().try_wait().unwrap().is_some();
        let is_late = began.elapsed() > HANG_TIMEOUT;
        let log = || std::fs::read_to_string(log).unwrap_or_default();
        assert!(!has_ended && !is_late, "nothing listens on {address}:\n{}", log());
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

/// Sends the output of a process to a file.
fn log_to(command: &mut Command, file: &Path) {
    let log = std::fs::File::options().create(true).append(true).open(file).unwrap();
    command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
}

/// A Toxiproxy server.
pub(crate) struct Toxiproxy {
    _process: Process,
    api: SocketAddr,
}

impl Toxiproxy {
    pub(crate) fn start(directory: &Path) -> Option<Self> {
        // `go install` names it after its folder.
        let program = real::built_program("server")?;
        let api = loopback(free_port());
        let port = api.port().to_string();
        let log = directory.join("toxiproxy.log");
        let mut process = Process::spawn(&program, |command| {
            command.args(["-host", "127.0.0.1", "-port", &port]);
            log_to(command, &log);
        });
        wait_until_listening(&mut process, api, &log);
        Some(Self { _process: process, api })
    }

    /// Creates a proxy in front of a server.
    pub(crate) fn create_proxy(&self, name: &str, upstream: SocketAddr) -> Link {
        let address = loopback(free_port());
        let link = Link { api: self.api, name: name.to_owned(), address };
        let proxy = json!({
            "name": name,
            "listen": address.to_string(),
            "upstream": upstream.to_string(),
            "enabled": true,
        });
        link.post("/proxies", &proxy);
        link
    }
}

/// A connection of one node to one service, which can be cut.
pub struct Link {
    api: SocketAddr,
    name: String,
    /// What the node connects to.
    pub address: SocketAddr,
}

impl Link {
    /// A connection without a proxy, which cannot be cut.
    pub(crate) fn direct(address: SocketAddr) -> Self {
        Self { api: address, name: String::new(), address }
    }

    fn post(&self, path: &str, body: &Value) {
        let response = http::send(self.api, "POST", path, &body.to_string()).unwrap();
        assert!(response.status < 300, "{path}: {} {:?}", response.status, response.body);
    }

    fn add_toxic(&self, kind: &str, stream: &str, attributes: &Value) {
        let toxic = json!({
            "name": format!("{kind}_{stream}"),
            "type": kind,
            "stream": stream,
            "attributes": attributes,
        });
        self.post(&format!("/proxies/{}/toxics", self.name), &toxic);
    }

    /// Ends the faults; the connections of a link that lost something are closed.
    pub fn repair(&self, fault: LinkFault) {
        let toxic = match fault {
            LinkFault::Cut => None,
            LinkFault::Silence => Some("timeout"),
            LinkFault::Delay => Some("latency"),
        };
        if fault == LinkFault::Silence {
            self.set_enabled(false);
        }
        for (kind, stream) in
            toxic.into_iter().flat_map(|kind| STREAMS.map(|stream| (kind, stream)))
        {
            let path = format!("/proxies/{}/toxics/{kind}_{stream}", self.name);
            let response = http::send(self.api, "DELETE", &path, "").unwrap();
            assert!(response.status < 300, "{path}: {}", response.status);
        }
        self.set_enabled(true);
    }

    fn set_enabled(&self, enabled: bool) {
        self.post(&format!("/proxies/{}", self.name), &json!({ "enabled": enabled }));
    }

    /// Begins a fault.
    pub fn disturb(&self, fault: LinkFault) {
        let (kind, attributes) = match fault {
            LinkFault::Cut => return self.set_enabled(false),
            LinkFault::Silence => ("timeout", json!({ "timeout": 0 })),
            LinkFault::Delay => ("latency", json!({ "latency": 150, "jitter": 75 })),
        };
        STREAMS.iter().for_each(|stream| self.add_toxic(kind, stream, &attributes));
    }
}

const STREAMS: [&str; 2] = ["upstream", "downstream"];

/// What happens to a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkFault {
    /// Connections are closed, and new ones refused.
    Cut,
    /// Nothing is delivered any more, while connections stay open.
    Silence,
    /// Everything is delivered later.
    Delay,
}

/// HAProxy in front of the nodes: round robin, without stickiness, to the nodes that are ready.
pub(crate) struct Balancer {
    _process: Process,
    pub(crate) address: SocketAddr,
}

impl Balancer {
    pub(crate) fn start(directory: &Path, nodes: &[SocketAddr]) -> Option<Self> {
        let program = real::debian_program("haproxy")?;
        let address = loopback(free_port());
        let servers = nodes.iter().enumerate();
        let servers: String =
            servers.map(|(n, node)| format!("    server node{n} {node}\n")).collect();
        // What `deploy` has, with these nodes in place of those that a name server knows.
        let settings = std::fs::read_to_string(real::root().join("deploy/haproxy.cfg")).unwrap();
        let lines = settings.lines().map(|line| match line.trim() {
            "bind :8787" => format!("    bind {address}\n"),
            line if line.starts_with("server-template ") => servers.clone(),
            _ => format!("{line}\n"),
        });
        let settings: String = lines.collect();
        assert!(settings.contains(&servers) && settings.contains(&address.to_string()));
        let file = directory.join("haproxy.cfg");
        std::fs::write(&file, settings).unwrap();
        let log = directory.join("haproxy.log");
        let mut process = Process::spawn(&program, |command| {
            command.arg("-db").arg("-f").arg(&file);
            log_to(command, &log);
        });
        wait_until_listening(&mut process, address, &log);
        Some(Self { _process: process, address })
    }
}
