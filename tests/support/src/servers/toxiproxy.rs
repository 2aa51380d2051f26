//! A proxy between a node and its server, which delays, stops and cuts connections.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;

use serde_json::{Value, json};

use super::{Supervisor, free_port};
use crate::real;

const RUN: &str = r#""$program" -host 127.0.0.1 -port $port"#;

/// The proxy of one server.
pub struct Toxiproxy {
    _supervisor: Supervisor,
    api_port: u16,
    /// The port that is forwarded to the server.
    pub port: u16,
}

impl Toxiproxy {
    /// Starts a proxy of a port; `None` where toxiproxy is not installed.
    pub fn start(upstream_port: u16) -> Option<Self> {
        // `go install` names it after its folder.
        let program = real::built_program("server")?;
        for _ in 0..5 {
            let api_port = free_port();
            let mut shell = Command::new("sh");
            shell.env("program", &program).env("port", api_port.to_string());
            let directory = tempfile::tempdir().unwrap();
            // It is ready when it answers, which the request below waits for.
            let supervisor = Supervisor::new(shell, directory, "KILL", ["true", RUN, "true"]);
            supervisor.run("start");
            let proxy = json!({
                "name": "server", "listen": "127.0.0.1:0", "upstream": format!("127.0.0.1:{upstream_port}"),
            });
            let created = loop {
                match request(api_port, "POST", "/proxies", &proxy) {
                    Ok(created) => break created,
                    Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                        std::thread::yield_now();
                    }
                    Err(error) => panic!("{error}"),
                }
            };
            let address = created["listen"].as_str().unwrap_or_default();
            if let Some((_, port)) = address.rsplit_once(':') {
                let port = port.parse().unwrap();
                return Some(Self { _supervisor: supervisor, api_port, port });
            }
        }
        panic!("toxiproxy cannot be started");
    }

    /// Closes all connections and refuses new ones, or accepts them again.
    pub fn set_enabled(&self, enabled: bool) {
        self.request("POST", "/proxies/server", json!({ "enabled": enabled }));
    }

    /// Delays every packet, in both directions.
    pub fn delay(&self, milliseconds: u32, jitter: u32) {
        for stream in ["upstream", "downstream"] {
            let attributes = json!({ "latency": milliseconds, "jitter": jitter });
            self.add_toxic("latency", stream, attributes);
        }
    }

    /// Stops all data in both directions; connections stay open.
    pub fn stop_data(&self) {
        for stream in ["upstream", "downstream"] {
            self.add_toxic("timeout", stream, json!({ "timeout": 0 }));
        }
    }

    /// Removes what delays or stops data. Connections whose data was stopped are closed.
    pub fn restore(&self) {
        let toxics = self.request("GET", "/proxies/server/toxics", Value::Null);
        for toxic in toxics.as_array().unwrap() {
            let name = toxic["name"].as_str().unwrap();
            self.request("DELETE", &format!("/proxies/server/toxics/{name}"), Value::Null);
        }
    }

    fn add_toxic(&self, kind: &str, stream: &str, attributes: Value) {
        let toxic = json!({ "type": kind, "stream": stream, "attributes": attributes });
        self.request("POST", "/proxies/server/toxics", toxic);
    }

    fn request(&self, method: &str, path: &str, body: Value) -> Value {
        request(self.api_port, method, path, &body).unwrap()
    }
}

/// Sends a request to a server on this machine; returns the JSON of the response.
pub fn request(port: u16, method: &str, path: &str, body: &Value) -> io::Result<Value> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.0\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}"
    )?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    let (head, body) = response.split_once("\r\n\r\n").expect("a response");
    assert!(head.split(' ').nth(1).is_some_and(|status| status.starts_with('2')), "{response}");
    Ok(serde_json::from_str(body).unwrap_or(Value::Null))
}
