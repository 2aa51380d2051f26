//! The lines that wait to be written.

use std::io;

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

/// How many lines are written together. A system call costs more than most lines, but the client has nothing to read before: with
/// eight requests under way, two are faster than one, and twice as fast as eight.
const MAX_BATCH_LINES: usize = 2;

/// Lines that are written together.
#[derive(Default)]
pub(super) struct OutgoingLines {
    bytes: Vec<u8>,
    lines: usize,
    written: usize,
}

impl OutgoingLines {
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns true if these lines are to be written before there are more.
    pub(super) fn is_full(&self) -> bool {
        self.lines >= MAX_BATCH_LINES
    }

    /// Adds a message. Line breaks become blanks: in JSON they are only white space.
    pub(super) fn push(&mut self, message: Vec<u8>) {
        let start = self.bytes.len();
        match self.bytes.is_empty() {
            true => self.bytes = message,
            false => self.bytes.extend_from_slice(&message),
        }
        // Every byte is written, so that the compiler can do many at a time.
        for byte in self.bytes.get_mut(start..).unwrap_or_default() {
            *byte = match *byte {
                b'\n' | b'\r' => b' ',
                other => other,
            };
        }
        self.bytes.push(b'\n');
        self.lines += 1;
    }

    /// Writes all lines; dropping the future loses nothing.
    pub(super) async fn write_to(
        &mut self,
        output: &mut (impl AsyncWrite + Unpin),
    ) -> io::Result<()> {
        while let Some(rest) = self.bytes.get(self.written..).filter(|rest| !rest.is_empty()) {
            match output.write(rest).await? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                count => self.written += count,
            }
        }
        output.flush().await?;
        self.bytes.clear();
        self.lines = 0;
        self.written = 0;
        Ok(())
    }

    /// Writes all lines, and the messages that still come until the last sender is dropped; dropping the future loses nothing.
    pub(super) async fn write_all(
        &mut self,
        messages: &mut mpsc::Receiver<Vec<u8>>,
        output: &mut (impl AsyncWrite + Unpin),
    ) -> io::Result<()> {
        loop {
            tokio::select! {
                biased;
                message = messages.recv(), if !self.is_full() => match message {
                    Some(message) => self.push(message),
                    None => return self.write_to(output).await,
                },
                written = self.write_to(output), if !self.is_empty() => written?,
            }
        }
    }
}
