//! An OpenTelemetry collector on a loopback port, which keeps every byte that it receives.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use test_support::HANG_TIMEOUT;

/// What was received, and the signal that there is more.
type Received = Arc<(Mutex<Vec<u8>>, Condvar)>;

pub(crate) struct Collector {
    /// The value of `OTEL_EXPORTER_OTLP_ENDPOINT`.
    pub(crate) url: String,
    received: Received,
}

impl Collector {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let received = Received::default();
        let all = Arc::clone(&received);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let all = Arc::clone(&all);
                thread::spawn(move || serve(stream, &all));
            }
        });
        Self { url, received }
    }

    /// Everything that was received: heads and bodies of requests.
    pub(crate) fn received(&self) -> Vec<u8> {
        self.received.0.lock().unwrap().clone()
    }

    /// Returns true if the program sends spans; else prints what is missing, and panics in CI.
    pub(crate) fn is_used() -> bool {
        if !cfg!(feature = "otlp") {
            let ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
            assert!(!ci, "needs the feature `otlp`");
            eprintln!("skipped: telemetry needs the feature `otlp`");
        }
        cfg!(feature = "otlp")
    }

    /// Waits until a text was received, if the program sends spans.
    pub(crate) fn wait_for(&self, text: &str) {
        if !Self::is_used() {
            return;
        }
        let (bytes, more) = &*self.received;
        let is_missing = |bytes: &mut Vec<u8>| {
            !bytes.windows(text.len()).any(|window| window == text.as_bytes())
        };
        let locked = bytes.lock().unwrap();
        let (locked, waited) = more.wait_timeout_while(locked, HANG_TIMEOUT, is_missing).unwrap();
        drop(locked);
        assert!(!waited.timed_out(), "no span contains {text}");
    }
}

/// Reads the requests of a connection, and accepts each. Ends with the connection, whose process may be killed.
fn serve(stream: TcpStream, received: &Received) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    loop {
        let mut request = Vec::new();
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            request.extend_from_slice(line.as_bytes());
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let head = request.len();
        request.resize(head + length, 0);
        reader.read_exact(&mut request[head..]).ok()?;
        received.0.lock().unwrap().extend_from_slice(&request);
        received.1.notify_all();
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(head.as_bytes()).ok()?;
    }
}
