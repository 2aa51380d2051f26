//! A client of a program that serves MCP on stdio.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

/// A running `PROGRAM mcp`, which is killed on drop.
pub(crate) struct StdioServer {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl StdioServer {
    /// Starts it in a folder.
    pub(crate) fn start(mut command: Command, folder: &Path) -> Self {
        command.arg("mcp").current_dir(folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    /// Sends a message.
    pub(crate) fn send_message(&mut self, message: &Value) {
        writeln!(self.input.as_ref().unwrap(), "{message}").unwrap();
    }

    /// Sends a request, and returns its response.
    pub(crate) fn send_request(&mut self, request: &Value) -> Value {
        self.send_message(request);
        loop {
            let message = self.read_message();
            if message.get("id") == request.get("id") {
                return message;
            }
        }
    }

    /// Reads the next message.
    pub(crate) fn read_message(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line:?}"))
    }
}

impl Drop for StdioServer {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
