//! A connection in, the same out, except that it breaks when nobody reads what is sent for too long.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

/// A connection whose other side has to read.
pub(crate) struct Stalling {
    stream: TcpStream,
    most: Duration,
    /// Set while something waits to be sent.
    late: Pin<Box<Sleep>>,
    waits: bool,
}

impl Stalling {
    pub(crate) fn new(stream: TcpStream, most: Duration) -> Self {
        Self {
            stream,
            most,
            late: Box::pin(sleep(most)),
            waits: false,
        }
    }

    /// Watches over something that is to be sent.
    fn watched<T>(
        &mut self,
        cx: &mut Context<'_>,
        sent: impl FnOnce(Pin<&mut TcpStream>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if let Poll::Ready(done) = sent(Pin::new(&mut self.stream), cx) {
            self.waits = false;
            return Poll::Ready(done);
        }
        if !std::mem::replace(&mut self.waits, true) {
            let deadline = Instant::now() + self.most;
            self.late.as_mut().reset(deadline);
        }
        ready!(self.late.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Stalling {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Stalling {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.watched(cx, |stream, cx| stream.poll_write(cx, bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.watched(cx, |stream, cx| stream.poll_flush(cx))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.watched(cx, |stream, cx| stream.poll_shutdown(cx))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.watched(cx, |stream, cx| stream.poll_write_vectored(cx, bytes))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
