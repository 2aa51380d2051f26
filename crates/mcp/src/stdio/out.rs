//! Standard output for the protocol alone.

use std::io;

use tokio::io::AsyncWrite;

/// Takes standard output away from everybody else: whatever else prints, prints to standard error.
#[cfg(unix)]
pub(super) fn take() -> io::Result<impl AsyncWrite + Send + Unpin + 'static> {
    use std::fs::File;

    let output = rustix::io::dup(rustix::stdio::stdout())?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok(tokio::fs::File::from_std(File::from(output)))
}

/// Takes standard output as it is; nobody else should print.
#[cfg(not(unix))]
pub(super) fn take() -> io::Result<impl AsyncWrite + Send + Unpin + 'static> {
    Ok(tokio::io::stdout())
}
