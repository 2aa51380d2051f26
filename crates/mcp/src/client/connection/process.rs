//! A command in, a running server and its two pipes out; it ends when we do.

use std::io;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, ReadBuf};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use crate::client::setup::ancestors::SELF_ATTACH_MESSAGE;
use crate::client::setup::validated_server::ServerCommand;
use crate::import::excerpt;

/// What a server may know of our environment: the usual of a login, and no keys of ours.
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
    // What the same things are called elsewhere.
    "APPDATA",
    "SYSTEMROOT",
    "TEMP",
    "USERPROFILE",
    "PATHEXT",
];

/// How long a server may take to end by itself, and again after it was told to.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// As much as is kept of what a server complains about.
const MAX_STDERR_BYTES: usize = 2 << 10;

/// A server that is a process of ours.
pub(crate) struct ServerProcess {
    child: Child,
    /// The process group, which holds what the server starts itself.
    process_group: Option<u32>,
    /// Done when all that it complained about was read.
    stderr_task: Option<JoinHandle<()>>,
}

/// What a server has said beside the protocol, for the one who asks why it does not work.
#[derive(Clone, Default)]
pub(crate) struct ProcessDiagnostics(Arc<Mutex<DiagnosticsState>>);

#[derive(Default)]
struct DiagnosticsState {
    /// Why we stopped listening.
    read_error: Option<String>,
    /// The first line that cannot be part of the protocol.
    non_json_line: Option<String>,
    /// The end of what was complained.
    stderr_tail: Vec<u8>,
}

impl ProcessDiagnostics {
    fn update<T>(&self, use_it: impl FnOnce(&mut DiagnosticsState) -> T) -> T {
        use_it(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns why we stopped listening, if we did.
    pub(crate) fn read_error(&self) -> Option<String> {
        self.update(|heard| heard.read_error.clone())
    }

    /// Tells whether the server complained that it was started by itself.
    pub(crate) fn reports_self_attach(&self) -> bool {
        self.update(|heard| {
            String::from_utf8_lossy(&heard.stderr_tail).contains(SELF_ATTACH_MESSAGE)
        })
    }

    /// Tells all of it as the end of a sentence, or nothing.
    pub(crate) fn summary(&self) -> String {
        self.update(|heard| {
            let mut told = String::new();
            if let Some(stray) = &heard.non_json_line {
                told = format!("; it printed `{}` where JSON is expected", excerpt(stray));
            }
            let complaint = String::from_utf8_lossy(&heard.stderr_tail);
            let last = complaint.trim().lines().rev().take(3);
            let last: Vec<&str> = last.collect();
            if !last.is_empty() {
                let last: Vec<&str> = last.into_iter().rev().collect();
                told = format!("{told}; it complained: {}", excerpt(&last.join(" ")));
            }
            told
        })
    }
}

impl ServerProcess {
    pub(crate) fn spawn(
        program: &ServerCommand,
        most: usize,
    ) -> io::Result<(Self, BoundedStdout, ChildStdin, ProcessDiagnostics)> {
        let mut command = Command::new(&program.path);
        command
            .args(&program.args)
            .env_clear()
            .envs(
                INHERITED_VARIABLES
                    .iter()
                    .filter_map(|name| Some((name, std::env::var_os(name)?))),
            )
            .envs(
                program
                    .env
                    .iter()
                    .map(|(name, value)| (name, value.expose())),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let taken = || io::Error::other("the pipes are gone");
        let stdin = child.stdin.take().ok_or_else(taken)?;
        let stdout = child.stdout.take().ok_or_else(taken)?;
        let aside = ProcessDiagnostics::default();
        let stderr = child.stderr.take();
        let complaints = stderr.map(|stderr| tokio::spawn(read_stderr(stderr, aside.clone())));
        let listening = BoundedStdout {
            stdout,
            max_message_bytes: most,
            line_bytes: 0,
            non_json_line: None,
            diagnostics: aside.clone(),
        };
        let group = child.id();
        let server = Self {
            child,
            process_group: group,
            stderr_task: complaints,
        };
        Ok((server, listening, stdin, aside))
    }

    /// Waits until it ends; its pipes are closed, so it should.
    pub(crate) async fn stop(mut self) {
        if tokio::time::timeout(STOP_TIMEOUT, self.child.wait())
            .await
            .is_err()
        {
            self.signal(StopSignal::Terminate);
            // What does not end now is killed when we are dropped.
            let _ = tokio::time::timeout(STOP_TIMEOUT, self.child.wait()).await;
        }
    }

    /// Waits until it ends, and until all that it complained about was read.
    pub(crate) async fn stop_and_drain_stderr(mut self) {
        let complaints = self.stderr_task.take();
        self.stop().await;
        if let Some(complaints) = complaints {
            let _ = tokio::time::timeout(STOP_TIMEOUT, complaints).await;
        }
    }

    /// Ends what the server has started itself, too.
    #[cfg(unix)]
    fn signal(&self, how: StopSignal) {
        use rustix::process::{Pid, Signal, kill_process_group};
        let signal = match how {
            StopSignal::Terminate => Signal::TERM,
            StopSignal::Kill => Signal::KILL,
        };
        let group = self.process_group.and_then(|id| i32::try_from(id).ok());
        if let Some(group) = group.and_then(Pid::from_raw) {
            // It may be gone already, which is what we want.
            let _ = kill_process_group(group, signal);
        }
    }

    #[cfg(not(unix))]
    fn signal(&self, _: StopSignal) {}
}

/// How a server is told to end.
enum StopSignal {
    Terminate,
    Kill,
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.signal(StopSignal::Kill);
    }
}

/// Keeps the end of what a server complains.
async fn read_stderr(mut pipe: impl AsyncRead + Unpin, aside: ProcessDiagnostics) {
    let mut piece = [0; 1024];
    while let Ok(read) = pipe.read(&mut piece).await {
        let Some(read) = piece.get(..read).filter(|read| !read.is_empty()) else {
            return;
        };
        aside.update(|heard| {
            heard.stderr_tail.extend_from_slice(read);
            let extra = heard.stderr_tail.len().saturating_sub(MAX_STDERR_BYTES);
            heard.stderr_tail.drain(..extra);
        });
    }
}

/// A server's output, which ends with a message that is too large.
///
/// Without an end, a call whose answer was dropped for its size would wait for it until it times out.
pub(crate) struct BoundedStdout {
    stdout: ChildStdout,
    max_message_bytes: usize,
    /// How much of the current line was read.
    line_bytes: usize,
    /// The current line, while it is one that cannot be JSON.
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
            if let Some(stray) = self
                .non_json_line
                .as_mut()
                .filter(|stray| stray.len() < 120)
            {
                stray.push(*byte);
            }
            self.line_bytes += 1;
            if self.line_bytes > self.max_message_bytes {
                let trouble = format!(
                    "it sent a message of more than {} bytes",
                    self.max_message_bytes
                );
                self.diagnostics
                    .update(|heard| heard.read_error = Some(trouble.clone()));
                return Err(io::Error::new(io::ErrorKind::InvalidData, trouble));
            }
        }
        Ok(())
    }

    fn record_non_json_line(&mut self) {
        if let Some(stray) = self.non_json_line.take() {
            let stray = String::from_utf8_lossy(&stray).into_owned();
            self.diagnostics
                .update(|heard| heard.non_json_line.get_or_insert(stray).len());
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
