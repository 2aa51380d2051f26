//! Standard input, and standard output reserved for the protocol.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite};
#[cfg(target_os = "linux")]
use tokio::net::unix::pipe::OpenOptions;

type Input = Box<dyn AsyncRead + Send + Unpin>;
type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Opens standard input; without a blocking thread if it is a pipe and the system allows that.
pub(super) fn open_stdin() -> Input {
    #[cfg(target_os = "linux")]
    if let Ok(pipe) = OpenOptions::new().open_receiver(fd_path(0)) {
        return Box::new(pipe);
    }
    Box::new(tokio::io::stdin())
}

/// Returns standard output, and redirects the process's to standard error, where other output then goes.
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

/// Returns standard output; other output of the process would break the protocol.
#[cfg(not(unix))]
pub(super) fn take_stdout() -> io::Result<Output> {
    Ok(Box::new(tokio::io::stdout()))
}

/// The path to open a file descriptor again, as another file description: flags that are set on it do not affect the first.
#[cfg(target_os = "linux")]
fn fd_path(file: std::os::fd::RawFd) -> String {
    format!("/proc/self/fd/{file}")
}
