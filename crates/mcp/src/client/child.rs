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

use super::ancestors::ITSELF;
use super::plan::Program;
use crate::import::short;

/// What a server may know of our environment: the usual of a login, and no keys of ours.
const INHERITED: [&str; 16] = [
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
const GRACE: Duration = Duration::from_secs(2);

/// As much as is kept of what a server complains about.
const COMPLAINT: usize = 2 << 10;

/// A server that is a process of ours.
pub(super) struct Server {
    child: Child,
    /// The process group, which holds what the server starts itself.
    group: Option<u32>,
    /// Done when all that it complained about was read.
    complaints: Option<JoinHandle<()>>,
}

/// What a server has said beside the protocol, for the one who asks why it does not work.
#[derive(Clone, Default)]
pub(super) struct Aside(Arc<Mutex<Heard>>);

#[derive(Default)]
struct Heard {
    /// Why we stopped listening.
    trouble: Option<String>,
    /// The first line that cannot be part of the protocol.
    stray: Option<String>,
    /// The end of what was complained.
    complaint: Vec<u8>,
}

impl Aside {
    fn with<T>(&self, use_it: impl FnOnce(&mut Heard) -> T) -> T {
        use_it(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns why we stopped listening, if we did.
    pub(super) fn trouble(&self) -> Option<String> {
        self.with(|heard| heard.trouble.clone())
    }

    /// Tells whether the server complained that it was started by itself.
    pub(super) fn is_itself(&self) -> bool {
        self.with(|heard| String::from_utf8_lossy(&heard.complaint).contains(ITSELF))
    }

    /// Tells all of it as the end of a sentence, or nothing.
    pub(super) fn told(&self) -> String {
        self.with(|heard| {
            let mut told = String::new();
            if let Some(stray) = &heard.stray {
                told = format!("; it printed `{}` where JSON is expected", short(stray));
            }
            let complaint = String::from_utf8_lossy(&heard.complaint);
            let last = complaint.trim().lines().rev().take(3);
            let last: Vec<&str> = last.collect();
            if !last.is_empty() {
                let last: Vec<&str> = last.into_iter().rev().collect();
                told = format!("{told}; it complained: {}", short(&last.join(" ")));
            }
            told
        })
    }
}

impl Server {
    pub(super) fn start(
        program: &Program,
        most: usize,
    ) -> io::Result<(Self, Listening, ChildStdin, Aside)> {
        let mut command = Command::new(&program.path);
        command
            .args(&program.args)
            .env_clear()
            .envs(
                INHERITED
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
        let aside = Aside::default();
        let stderr = child.stderr.take();
        let complaints = stderr.map(|stderr| tokio::spawn(overhear(stderr, aside.clone())));
        let listening = Listening {
            pipe: stdout,
            most,
            line: 0,
            stray: None,
            aside: aside.clone(),
        };
        let group = child.id();
        let server = Self {
            child,
            group,
            complaints,
        };
        Ok((server, listening, stdin, aside))
    }

    /// Waits until it ends; its pipes are closed, so it should.
    pub(super) async fn end(mut self) {
        if tokio::time::timeout(GRACE, self.child.wait())
            .await
            .is_err()
        {
            self.signal(How::Asking);
            // What does not end now is killed when we are dropped.
            let _ = tokio::time::timeout(GRACE, self.child.wait()).await;
        }
    }

    /// Waits until it ends, and until all that it complained about was read.
    pub(super) async fn end_heard(mut self) {
        let complaints = self.complaints.take();
        self.end().await;
        if let Some(complaints) = complaints {
            let _ = tokio::time::timeout(GRACE, complaints).await;
        }
    }

    /// Ends what the server has started itself, too.
    #[cfg(unix)]
    fn signal(&self, how: How) {
        use rustix::process::{Pid, Signal, kill_process_group};
        let signal = match how {
            How::Asking => Signal::TERM,
            How::Killing => Signal::KILL,
        };
        let group = self.group.and_then(|id| i32::try_from(id).ok());
        if let Some(group) = group.and_then(Pid::from_raw) {
            // It may be gone already, which is what we want.
            let _ = kill_process_group(group, signal);
        }
    }

    #[cfg(not(unix))]
    fn signal(&self, _: How) {}
}

/// How a server is told to end.
enum How {
    Asking,
    Killing,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.signal(How::Killing);
    }
}

/// Keeps the end of what a server complains.
async fn overhear(mut pipe: impl AsyncRead + Unpin, aside: Aside) {
    let mut piece = [0; 1024];
    while let Ok(read) = pipe.read(&mut piece).await {
        let Some(read) = piece.get(..read).filter(|read| !read.is_empty()) else {
            return;
        };
        aside.with(|heard| {
            heard.complaint.extend_from_slice(read);
            let extra = heard.complaint.len().saturating_sub(COMPLAINT);
            heard.complaint.drain(..extra);
        });
    }
}

/// A server's output, which ends with a message that is too large.
///
/// Without an end, a call whose answer was dropped for its size would wait for it until it times out.
pub(super) struct Listening {
    pipe: ChildStdout,
    most: usize,
    /// How much of the current line was read.
    line: usize,
    /// The current line, while it is one that cannot be JSON.
    stray: Option<Vec<u8>>,
    aside: Aside,
}

impl Listening {
    fn hear(&mut self, read: &[u8]) -> io::Result<()> {
        for byte in read {
            if *byte == b'\n' {
                self.line = 0;
                self.keep_stray();
                continue;
            }
            if self.line == 0 && !matches!(byte, b'{' | b'[' | b' ' | b'\t' | b'\r') {
                self.stray.get_or_insert_default();
            }
            if let Some(stray) = self.stray.as_mut().filter(|stray| stray.len() < 120) {
                stray.push(*byte);
            }
            self.line += 1;
            if self.line > self.most {
                let trouble = format!("it sent a message of more than {} bytes", self.most);
                self.aside
                    .with(|heard| heard.trouble = Some(trouble.clone()));
                return Err(io::Error::new(io::ErrorKind::InvalidData, trouble));
            }
        }
        Ok(())
    }

    fn keep_stray(&mut self) {
        if let Some(stray) = self.stray.take() {
            let stray = String::from_utf8_lossy(&stray).into_owned();
            self.aside
                .with(|heard| heard.stray.get_or_insert(stray).len());
        }
    }
}

impl AsyncRead for Listening {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.pipe).poll_read(cx, buffer))?;
        let read = buffer.filled().get(before..).unwrap_or_default();
        Poll::Ready(self.hear(read))
    }
}
