//! The FastMCP server, and what it reports.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;
use test_support::HANG_TIMEOUT;
use test_support::real::{is_installed, root};

/// A running server.
pub(crate) struct Shop {
    child: Child,
    stdin: ChildStdin,
    reports: Receiver<Value>,
    secrets: Arc<Mutex<Vec<String>>>,
    refreshes: Arc<Mutex<usize>>,
    pub(crate) port: u64,
}

impl Shop {
    /// Starts it; `None` if FastMCP is not installed.
    pub(crate) fn start() -> Option<Self> {
        if !is_installed() {
            return None;
        }
        let mut command = Command::new(root().join("target/real/python/bin/python"));
        command.arg(root().join("tests/program/credentials/oauth_shop.py"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (secrets, refreshes) = (Arc::default(), Arc::default());
        let (sender, reports) = channel();
        let (all_secrets, count): (Arc<Mutex<Vec<String>>>, Arc<Mutex<usize>>) =
            (Arc::clone(&secrets), Arc::clone(&refreshes));
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let report: Value = serde_json::from_str(&line).unwrap();
                if let Some(secret) = report.get("secret").and_then(Value::as_str) {
                    all_secrets.lock().unwrap().push(secret.to_owned());
                } else if report.get("refreshed").is_some() {
                    *count.lock().unwrap() += 1;
                } else if sender.send(report).is_err() {
                    return;
                }
            }
        });
        let mut shop = Self { child, stdin, reports, secrets, refreshes, port: 0 };
        shop.port = shop.wait_for("port").as_u64().unwrap();
        Some(shop)
    }

    /// Waits for a report, and returns its value.
    pub(crate) fn wait_for(&self, key: &str) -> Value {
        loop {
            let mut report = self.reports.recv_timeout(HANG_TIMEOUT).unwrap();
            if let Some(value) = report.get_mut(key) {
                return value.take();
            }
        }
    }

    /// Sends a command, and waits until it has taken effect.
    pub(crate) fn send(&mut self, command: &str) {
        writeln!(self.stdin, "{command}").unwrap();
        assert_eq!(self.wait_for("done"), command);
    }

    /// The secrets that were issued: tokens, codes, client secrets.
    pub(crate) fn secrets(&self) -> Vec<String> {
        self.secrets.lock().unwrap().clone()
    }

    /// How often tokens were refreshed.
    pub(crate) fn refreshes(&self) -> usize {
        *self.refreshes.lock().unwrap()
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
