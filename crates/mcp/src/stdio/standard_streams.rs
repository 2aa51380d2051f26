//! Standard input, and standard output for the protocol alone.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite};
#[cfg(target_os = "linux")]
use tokio::net::unix::pipe::OpenOptions;

type Input = Box<dyn AsyncRead + Send + Unpin>;
type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Opens standard input; where it is a pipe and the system lets us, without a thread that waits.
pub(super) fn open_stdin() -> Input {
    #[cfg(target_os = "linux")]
    if let Ok(pipe) = OpenOptions::new().open_receiver(fd_path(0)) {
        return Box::new(pipe);
    }
    Box::new(tokio::io::stdin())
}

/// Takes standard output away from everybody else: whatever else prints, prints to standard error.
#[cfg(unix)]
pub(super) fn take_stdout() -> io::Result<Output> {
    let output = rustix::io::dup(rustix::stdio::stdout())?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd as _;
        if let Ok(pipe) = OpenOptions::new().open_sender(fd_path(output.as_raw_fd())) {
            return Ok(Box::new(pipe));
        }
    }
    Ok(Box::new(tokio::fs::File::from_std(output.into())))
}

/// Takes standard output as it is; nobody else should print.
#[cfg(not(unix))]
pub(super) fn take_stdout() -> io::Result<Output> {
    Ok(Box::new(tokio::io::stdout()))
}

/// Where an open file can be opened once more: what is set on that one, its other holders do not notice.
#[cfg(target_os = "linux")]
fn fd_path(file: std::os::fd::RawFd) -> String {
    format!("/proc/self/fd/{file}")
}
