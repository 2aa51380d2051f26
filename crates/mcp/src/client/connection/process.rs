//! Runs a server as a child process, which ends when the connection is closed.

use std::io;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, ReadBuf};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use crate::client::setup::ancestors::SELF_ATTACH_MESSAGE;
use crate::client::setup::sent_secrets::SentSecrets;
use crate::client::setup::validated_server::ServerCommand;
use crate::import::excerpt;
use crate::lock::lock;

/// The environment variables that a server inherits: those of a login shell, which contain no API keys.
const INHERITED_VARIABLES: [&str; 16] = [
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    // On Windows.
    "APPDATA",
    "SYSTEMROOT",
    "TEMP",
    "USERPROFILE",
    "PATHEXT",
];

/// The time that a server has to exit by itself, and again after a signal.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// Only the end of a longer stderr output is kept.
const MAX_STDERR_BYTES: usize = 2 << 10;

pub(crate) struct ServerProcess {
    child: Child,
    /// The process group, which includes the children of the server.
    process_group: Option<u32>,
    /// Completes when stderr is closed.
    stderr_task: Option<JoinHandle<()>>,
}

/// Output of a server beside the protocol, for error messages.
#[derive(Clone, Default)]
pub(crate) struct ProcessDiagnostics(Arc<Mutex<DiagnosticsState>>);

#[derive(Default)]
struct DiagnosticsState {
    /// Why reading stdout stopped.
    read_error: Option<String>,
    /// The first line of stdout that is not JSON.
    non_json_line: Option<String>,
    stderr_tail: Vec<u8>,
    /// What is masked in the output.
    secrets: SentSecrets,
}

impl ProcessDiagnostics {
    fn update<T>(&self, change: impl FnOnce(&mut DiagnosticsState) -> T) -> T {
        change(&mut lock(&self.0))
    }

    /// Returns why reading stdout stopped, if it did.
    pub(crate) fn read_error(&self) -> Option<String> {
        self.update(|state| state.read_error.clone())
    }

    /// Returns true if the server reported on stderr that it attaches itself.
    pub(crate) fn reports_self_attach(&self) -> bool {
        self.update(|state| {
            String::from_utf8_lossy(&state.stderr_tail).contains(SELF_ATTACH_MESSAGE)
        })
    }

    /// Returns the output as the end of a sentence; empty if there is none.
    pub(crate) fn summary(&self) -> String {
        self.update(|state| {
            let mut summary = String::new();
            if let Some(line) = &state.non_json_line {
                let line = excerpt(&state.secrets.mask(line));
                summary = format!("; it printed `{line}` where JSON is expected");
            }
            let stderr = state.secrets.mask(&String::from_utf8_lossy(&state.stderr_tail));
            let lines: Vec<&str> = stderr.trim().lines().collect();
            if let Some(last) = lines.rchunks(3).next() {
                summary = format!("{summary}; its last output: {}", excerpt(&last.join(" ")));
            }
            summary
        })
    }
}

impl ServerProcess {
    pub(crate) fn spawn(
        program: &ServerCommand,
        secrets: &SentSecrets,
        max_message_bytes: usize,
    ) -> io::Result<(Self, BoundedStdout, ChildStdin, ProcessDiagnostics)> {
        let mut command = Command::new(&program.path);
        command
            .args(&program.args)
            .env_clear()
            .envs(
                INHERITED_VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))),
            )
            .envs(program.env.iter().map(|(name, value)| (name, value.expose())))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let missing = || io::Error::other("the pipes are gone");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let diagnostics = ProcessDiagnostics::default();
        diagnostics.update(|state| state.secrets = secrets.clone());
        let stderr = child.stderr.take();
        let stderr_task =
            stderr.map(|stderr| tokio::spawn(read_stderr(stderr, diagnostics.clone())));
        let stdout = BoundedStdout {
            stdout,
            max_message_bytes,
            line_bytes: 0,
            non_json_line: None,
            diagnostics: diagnostics.clone(),
        };
        let process_group = child.id();
        let process = Self { child, process_group, stderr_task };
        Ok((process, stdout, stdin, diagnostics))
    }

    /// Waits until the process exits, which it should since its pipes are closed; after a timeout it is terminated.
    pub(crate) async fn stop(mut self) {
        if tokio::time::timeout(STOP_TIMEOUT, self.child.wait()).await.is_err() {
            self.signal(StopSignal::Terminate);
            // If it still runs, dropping `self` kills it.
            let _ = tokio::time::timeout(STOP_TIMEOUT, self.child.wait()).await;
        }
    }

    /// Stops the process, and waits until its stderr was read completely.
    pub(crate) async fn stop_and_drain_stderr(mut self) {
        let stderr_task = self.stderr_task.take();
        self.stop().await;
        if let Some(stderr_task) = stderr_task {
            let _ = tokio::time::timeout(STOP_TIMEOUT, stderr_task).await;
        }
    }

    /// Signals the process group, so the children of the server as well.
    #[cfg(unix)]
    fn signal(&self, signal: StopSignal) {
        use rustix::process::{Pid, Signal, kill_process_group};
        let signal = match signal {
            StopSignal::Terminate => Signal::TERM,
            StopSignal::Kill => Signal::KILL,
        };
        let group = self.process_group.and_then(|id| i32::try_from(id).ok());
        if let Some(group) = group.and_then(Pid::from_raw) {
            // Fails if the group has ended already, which is fine.
            let _ = kill_process_group(group, signal);
        }
    }

    #[cfg(not(unix))]
    fn signal(&self, _: StopSignal) {}
}

enum StopSignal {
    Terminate,
    Kill,
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.signal(StopSignal::Kill);
    }
}

/// Reads stderr, and keeps its end.
async fn read_stderr(mut pipe: impl AsyncRead + Unpin, diagnostics: ProcessDiagnostics) {
    let mut buffer = [0; 1024];
    while let Ok(read) = pipe.read(&mut buffer).await {
        let Some(read) = buffer.get(..read).filter(|read| !read.is_empty()) else {
            return;
        };
        diagnostics.update(|state| {
            state.stderr_tail.extend_from_slice(read);
            let extra = state.stderr_tail.len().saturating_sub(MAX_STDERR_BYTES);
            state.stderr_tail.drain(..extra);
        });
    }
}

/// The stdout of a server, which fails at a message over the size limit.
///
/// Otherwise a call whose response was dropped for its size would wait until it times out.
pub(crate) struct BoundedStdout {
    stdout: ChildStdout,
    max_message_bytes: usize,
    /// The bytes of the current line so far.
    line_bytes: usize,
    /// The current line, if it cannot be JSON.
    non_json_line: Option<Vec<u8>>,
    diagnostics: ProcessDiagnostics,
}

impl BoundedStdout {
    fn check_bytes(&mut self, read: &[u8]) -> io::Result<()> {
        for byte in read {
            if *byte == b'\n' {
                self.line_bytes = 0;
                self.record_non_json_line();
                continue;
            }
            if self.line_bytes == 0 && !matches!(byte, b'{' | b'[' | b' ' | b'\t' | b'\r') {
                self.non_json_line.get_or_insert_default();
            }
            if let Some(line) = self.non_json_line.as_mut().filter(|line| line.len() < 120) {
                line.push(*byte);
            }
            self.line_bytes += 1;
            if self.line_bytes > self.max_message_bytes {
                let message =
                    format!("it sent a message of more than {} bytes", self.max_message_bytes);
                self.diagnostics.update(|state| state.read_error = Some(message.clone()));
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
        }
        Ok(())
    }

    fn record_non_json_line(&mut self) {
        if let Some(line) = self.non_json_line.take() {
            let line = String::from_utf8_lossy(&line).into_owned();
            self.diagnostics.update(|state| state.non_json_line.get_or_insert(line).len());
        }
    }
}

impl AsyncRead for BoundedStdout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stdout).poll_read(cx, buffer))?;
        let read = buffer.filled().get(before..).unwrap_or_default();
        Poll::Ready(self.check_bytes(read))
    }
}
