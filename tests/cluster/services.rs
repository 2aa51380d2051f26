//! The services that the nodes of a cluster use: NATS, Toxiproxy in front of it and of PostgreSQL, and HAProxy.

use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http;
use super::process::{Process, free_port, loopback};
use super::real;

/// A service that does not listen after this time does not work.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Waits until a service accepts connections.
fn wait_until_listening(process: &mut Process, address: SocketAddr, log: &Path) {
    let began = Instant::now();
    while TcpStream::connect(address).is_err() {
        let has_ended = process.child().try_wait().unwrap().is_some();
        let is_late = began.elapsed() > START_TIMEOUT;
        let log = || std::fs::read_to_string(log).unwrap_or_default();
        assert!(!has_ended && !is_late, "nothing listens on {address}:\n{}", log());
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

/// A program that `cargo xtask test setup` installs; `None` without it, and a panic in CI.
pub(crate) fn installed_program(name: &str) -> Option<PathBuf> {
    let folders = [real::root().join("target/real/bin"), "/usr/sbin".into(), "/usr/bin".into()];
    let found = folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file());
    if found.is_none() {
        let needs = format!("needs {name}: `cargo xtask test setup` installs it");
        assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{needs}");
        eprintln!("skipped: {needs}");
    }
    found
}

/// Sends the output of a process to a file.
fn log_to(command: &mut Command, file: &Path) {
    let log = std::fs::File::options().create(true).append(true).open(file).unwrap();
    command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
}

/// A NATS server.
pub(crate) struct Nats {
    program: PathBuf,
    directory: PathBuf,
    pub(crate) address: SocketAddr,
    /// Where it serves its counters over HTTP.
    monitoring: SocketAddr,
    process: Option<Process>,
}

/// The messages and bytes that a NATS server has received and sent.
#[derive(Clone, Copy, Default)]
pub(crate) struct NatsTraffic {
    pub(crate) received: u64,
    pub(crate) received_bytes: u64,
    pub(crate) sent: u64,
}

impl Nats {
    pub(crate) fn start(directory: &Path) -> Option<Self> {
        let program = installed_program("nats-server")?;
        let directory = directory.join("nats");
        std::fs::create_dir(&directory).unwrap();
        let (address, monitoring) = (loopback(free_port()), loopback(free_port()));
        let mut nats = Self { program, directory, address, monitoring, process: None };
        nats.start_again();
        Some(nats)
    }

    pub(crate) fn kill(&mut self) {
        self.process = None;
    }

    pub(crate) fn start_again(&mut self) {
        let port = self.address.port().to_string();
        let monitoring_port = self.monitoring.port().to_string();
        let log = self.directory.join("log");
        let mut process = Process::spawn(&self.program, |command| {
            command.args(["--addr", "127.0.0.1", "--port", &port]);
            command.args(["--http_port", &monitoring_port]);
            log_to(command, &log);
        });
        wait_until_listening(&mut process, self.address, &log);
        self.process = Some(process);
    }

    pub(crate) fn id(&self) -> Option<u32> {
        self.process.as_ref().map(Process::id)
    }

    /// Reads its counters.
    pub(crate) fn traffic(&self) -> NatsTraffic {
        let mut stream = TcpStream::connect(self.monitoring).unwrap();
        stream.write_all(b"GET /varz HTTP/1.0\r\n\r\n").unwrap();
        // A long response has no length, and ends with the connection.
        let response = std::io::read_to_string(stream).unwrap();
        let (_, counters) = response.split_once("\r\n\r\n").unwrap();
        let counters: Value = serde_json::from_str(counters).unwrap();
        let read = |name: &str| counters[name].as_u64().unwrap();
        NatsTraffic {
            received: read("in_msgs"),
            received_bytes: read("in_bytes"),
            sent: read("out_msgs"),
        }
    }
}

/// A Toxiproxy server.
pub(crate) struct Toxiproxy {
    _process: Process,
    api: SocketAddr,
}

impl Toxiproxy {
    pub(crate) fn start(directory: &Path) -> Option<Self> {
        // `go install` names it after its folder.
        let program = installed_program("server")?;
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
pub(crate) struct Link {
    api: SocketAddr,
    name: String,
    pub(crate) address: SocketAddr,
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
    pub(crate) fn repair(&self, fault: LinkFault) {
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
    pub(crate) fn disturb(&self, fault: LinkFault) {
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
pub(crate) enum LinkFault {
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
        let program = installed_program("haproxy")?;
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
