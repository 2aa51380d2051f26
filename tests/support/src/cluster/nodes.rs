//! A cluster: nodes behind HAProxy, with PostgreSQL and NATS, behind Toxiproxy if the links to them are to fail.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::process::{Process, loopback};
use super::services::{Balancer, Link, Toxiproxy};
use crate::programs::{TEST_PROGRAM, binary, example};
use crate::servers::free_port;
use crate::servers::nats::NatsServer;
use crate::servers::postgres::PostgresServer;
use crate::{HANG_TIMEOUT, http, real};

/// Locked by the cluster that runs: beside another one on the same cores, its nodes would lose their leases.
static RUNNING: Mutex<()> = Mutex::new(());

/// The program of the nodes.
#[derive(Clone, Copy, PartialEq)]
pub enum Program {
    /// `tests/test_programs/cluster.rs`.
    Test,
    /// The assistant, with the demo model.
    Assistant,
    /// The test's program of an older build, which `TEST_CLUSTER_OLD_NODE` names; without it, that of this build.
    Older,
}

impl Program {
    fn path(self) -> PathBuf {
        if self == Self::Older
            && let Some(program) = std::env::var_os("TEST_CLUSTER_OLD_NODE")
        {
            return program.into();
        }
        match self {
            Self::Assistant => binary("toolwright"),
            Self::Test | Self::Older => example("test_programs"),
        }
    }
}

/// How the nodes reach each other.
#[derive(Clone, Copy, PartialEq)]
pub enum BusKind {
    /// They do not: there is one.
    None,
    /// Over NATS.
    Nats,
    /// Over the database.
    Postgres,
}

/// How a cluster is started.
pub struct ClusterSettings {
    /// How many nodes it has.
    pub nodes: usize,
    /// What they run.
    pub program: Program,
    /// How they reach each other.
    pub bus: BusKind,
    /// Whether nodes reach their services without a proxy, so that no link can be disturbed.
    pub direct: bool,
    /// More environment variables of the nodes.
    pub variables: Vec<(&'static str, String)>,
}

impl Default for ClusterSettings {
    fn default() -> Self {
        Self {
            nodes: 3,
            program: Program::Test,
            bus: BusKind::Nats,
            direct: false,
            variables: Vec::new(),
        }
    }
}

/// A node of a cluster.
pub struct Node {
    process: Option<Process>,
    /// The number of processes that it has had; the name of each has its own, so that none takes the leases of another one.
    starts: usize,
    /// Where it listens.
    pub address: SocketAddr,
    /// Its connections to NATS.
    pub bus: Link,
    /// Its connections to the database.
    pub store: Link,
}

/// A running cluster; its fields are dropped in this order.
pub struct Cluster {
    settings: ClusterSettings,
    /// The nodes, running or not.
    pub nodes: Vec<Node>,
    balancer: Balancer,
    _toxiproxy: Option<Toxiproxy>,
    /// The bus, if the nodes use it.
    pub nats: NatsServer,
    /// The store.
    pub postgres: PostgresServer,
    directory: tempfile::TempDir,
    _running: MutexGuard<'static, ()>,
}

impl Drop for Cluster {
    /// Keeps the logs of the nodes and the leases if the test fails.
    fn drop(&mut self) {
        if !thread::panicking() {
            return;
        }
        let kept = real::root().join("target/tmp/cluster");
        let _ = std::fs::remove_dir_all(&kept);
        std::fs::create_dir_all(&kept).unwrap();
        let nodes = (0..self.nodes.len()).map(|n| format!("node{n}.log"));
        for log in nodes.chain(["haproxy.log".to_owned()]) {
            let _ = std::fs::copy(self.directory.path().join(&log), kept.join(&log));
        }
        let url = self.postgres.url("postgres");
        let query = "SELECT convert_from(name, 'UTF8') AS name, convert_from(holder, 'UTF8') AS holder, until, term, turn,
                            (SELECT string_agg(kind, ' ' ORDER BY position) FROM toolwright_inbox
                             WHERE conversation = number) AS inbox, clock_timestamp() AS now
                     FROM toolwright_conversations ORDER BY number";
        if let Ok(leases) = Command::new("psql").args([&url, "-c", query]).output() {
            let _ = std::fs::write(kept.join("leases"), leases.stdout);
        }
        eprintln!("logs and leases are in {}", kept.display());
    }
}

impl Cluster {
    /// Starts a cluster when no other one runs, and waits until all nodes are ready; `None` if a program is not installed.
    pub fn start(settings: ClusterSettings) -> Option<Self> {
        let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path();
        let postgres = PostgresServer::start(&[])?;
        let nats = NatsServer::start("")?;
        let toxiproxy = match settings.direct {
            true => None,
            false => Some(Toxiproxy::start(folder)?),
        };
        let link = |name: String, upstream| match &toxiproxy {
            Some(toxiproxy) => toxiproxy.create_proxy(&name, upstream),
            None => Link::direct(upstream),
        };
        let nodes = (0..settings.nodes).map(|n| Node {
            process: None,
            starts: 0,
            address: loopback(free_port()),
            bus: link(format!("bus{n}"), loopback(nats.port)),
            store: link(format!("store{n}"), loopback(postgres.port)),
        });
        let nodes: Vec<Node> = nodes.collect();
        let addresses: Vec<SocketAddr> = nodes.iter().map(|node| node.address).collect();
        let balancer = Balancer::start(folder, &addresses)?;
        let mut cluster = Self {
            settings,
            nodes,
            balancer,
            _toxiproxy: toxiproxy,
            nats,
            postgres,
            directory,
            _running: running,
        };
        for n in 0..cluster.nodes.len() {
            cluster.start_node(n);
        }
        cluster.wait_until_ready();
        Some(cluster)
    }

    /// The address of the balancer.
    pub fn address(&self) -> SocketAddr {
        self.balancer.address
    }

    /// Returns true if NATS carries messages between the nodes.
    pub fn uses_nats(&self) -> bool {
        self.settings.bus == BusKind::Nats
    }

    /// The file to which the tools of all nodes append.
    pub fn effects(&self) -> PathBuf {
        self.directory.path().join("effects")
    }

    /// Starts a node that does not run, and waits until it listens.
    pub fn start_node(&mut self, n: usize) {
        self.nodes[n].starts += 1;
        let node = &self.nodes[n];
        assert!(node.process.is_none(), "node {n} runs");
        let store = format!("postgres://toolwright@{}/postgres", node.store.address);
        let bus = match self.settings.bus {
            BusKind::None => None,
            BusKind::Nats => Some(format!("nats://{}", node.bus.address)),
            BusKind::Postgres => Some(store.clone()),
        };
        let log = self.directory.path().join(format!("node{n}.log"));
        let log = std::fs::File::options().create(true).append(true).open(log).unwrap();
        let mut process = Process::spawn(&self.settings.program.path(), |command| {
            // No settings of this machine: neither variables nor a file in the current directory.
            command.env_clear().current_dir(self.directory.path());
            command.args(["serve", "--json", "--log", "info", "--addr", &node.address.to_string()]);
            command.args(["--store", &store]);
            command.args(bus.iter().flat_map(|bus| ["--bus", bus]));
            if self.settings.program == Program::Assistant {
                command.args(["--model", "demo"]);
            }
            command.env(TEST_PROGRAM, "cluster");
            command.env("TOOLWRIGHT_EFFECTS_FILE", self.effects());
            command.env("TOOLWRIGHT_CLUSTER_NODE", format!("node{n}-{}", node.starts));
            command.envs(self.settings.variables.iter().map(|(name, value)| (name, value)));
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        });
        let mut line = String::new();
        BufReader::new(process.child().stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("\"url\""), "node {n} printed `{line}`\n{}", self.log_of(n));
        self.nodes[n].process = Some(process);
    }

    /// Sets the program of the nodes that are started from now on.
    pub fn use_program(&mut self, program: Program) {
        self.settings.program = program;
    }

    /// Kills a node.
    pub fn kill(&mut self, n: usize) {
        assert!(self.nodes[n].process.take().is_some(), "node {n} does not run");
    }

    /// Has a node drain, and waits for its end.
    pub fn terminate(&mut self, n: usize) -> ExitStatus {
        self.nodes[n].process.take().unwrap().terminate()
    }

    /// Waits for the end of a node that ends by itself.
    pub fn wait_for_end(&mut self, n: usize) -> ExitStatus {
        self.nodes[n].process.take().unwrap().child().wait().unwrap()
    }

    /// Suspends a node.
    pub fn suspend(&self, n: usize) {
        self.nodes[n].process.as_ref().unwrap().signal("-STOP");
    }

    /// Lets a suspended node go on.
    pub fn resume(&self, n: usize) {
        self.nodes[n].process.as_ref().unwrap().signal("-CONT");
    }

    /// The id of a node's process.
    pub fn process_id(&self, n: usize) -> Option<u32> {
        self.nodes[n].process.as_ref().map(Process::id)
    }

    /// The number of the node of this name.
    pub fn node_named(&self, name: &str) -> usize {
        let number = name.strip_prefix("node").and_then(|rest| rest.split('-').next());
        number.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{name}"))
    }

    /// Returns true if a node runs.
    pub fn is_running(&self, n: usize) -> bool {
        self.nodes[n].process.is_some()
    }

    /// Asserts that no node has ended by itself.
    pub fn assert_alive(&mut self) {
        for n in 0..self.nodes.len() {
            let process = self.nodes[n].process.as_mut();
            let ended = process.and_then(|process| process.child().try_wait().unwrap());
            assert_eq!(ended, None, "{}", self.log_of(n));
        }
    }

    /// Waits until every node that runs accepts messages, also through the balancer.
    pub fn wait_until_ready(&self) {
        self.wait_until_nodes_are_ready();
        self.wait_until_status(self.address(), "/readyz", 200);
    }

    /// Waits until every node that runs accepts messages.
    pub fn wait_until_nodes_are_ready(&self) {
        for n in 0..self.nodes.len() {
            if self.is_running(n) {
                self.wait_until_status(self.nodes[n].address, "/readyz", 200);
            }
        }
    }

    /// Waits until a path has a status.
    pub fn wait_until_status(&self, address: SocketAddr, path: &str, status: u16) {
        self.wait_for_response(address, path, |response| response.status == status);
    }

    /// Waits until every node that runs reports that the bus can be reached, or that it cannot; it is ready in any case.
    pub fn wait_until_bus_is(&self, connected: bool) {
        let metric = format!("\ntoolwright_bus_connected {}\n", u8::from(connected));
        for n in (0..self.nodes.len()).filter(|n| self.is_running(*n)) {
            let address = self.nodes[n].address;
            let has = |response: &http::Response, text: &str| {
                response.body.as_ref().is_some_and(|body| body.contains(text))
            };
            self.wait_for_response(address, "/metrics", |response| has(response, &metric));
            self.wait_for_response(address, "/readyz", |response| {
                let is_away = has(response, "ready, but the bus to other nodes is away");
                response.status == 200 && is_away != connected
            });
        }
    }

    fn wait_for_response(
        &self,
        address: SocketAddr,
        path: &str,
        is_expected: impl Fn(&http::Response) -> bool,
    ) {
        let began = Instant::now();
        loop {
            let response = http::send(address, "GET", path, "");
            if response.as_ref().is_ok_and(&is_expected) {
                return;
            }
            let found = response.map(|response| (response.status, response.body));
            let logs = || (0..self.nodes.len()).map(|n| self.log_of(n)).collect::<String>();
            assert!(began.elapsed() < HANG_TIMEOUT, "{address}{path}: {found:?}\n{}", logs());
            thread::park_timeout(Duration::from_millis(20));
        }
    }

    /// The end of a node's log.
    pub fn log_of(&self, n: usize) -> String {
        let log = self.directory.path().join(format!("node{n}.log"));
        let log = std::fs::read_to_string(log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let end: Vec<&str> = lines[lines.len().saturating_sub(40)..].to_vec();
        format!("node {n}:\n{}\n", end.join("\n"))
    }
}
