//! Servers that belong to the tests: in temporary directories, on loopback ports of their own.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

pub mod nats;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod toxiproxy;

/// Starts and stops a server by commands on its standard input; stops it at the end of input, when the tests are gone.
///
/// `$setup`, `$run` and `$ready` are commands: to prepare the directory, to be the server, to succeed when it is ready.
const SUPERVISOR: &str = r#"
export dir=$1 setup=$2 run=$3 ready=$4
sh -c "$setup" >"$dir/log" 2>&1 || exit 1
start() {
    : >"$dir/log"
    sh -c "exec $run" >>"$dir/log" 2>&1 &
    pid=$!
    until sh -c "$ready" >/dev/null 2>&1; do
        kill -0 "$pid" 2>/dev/null || exit 1
        sleep 0.05
    done
}
stop() { kill "-$1" "$pid"; kill -CONT "$pid"; wait "$pid"; pid=; }
while read -r command; do
    case $command in
        start) start ;;
        stop) stop INT ;;
        crash) stop "$crash" ;;
    esac
    echo "$command"
done
if [ -n "$pid" ]; then stop INT; fi
rm -rf "$dir"
"#;

/// A shell that runs one server.
pub struct Supervisor {
    directory: tempfile::TempDir,
    shell: Mutex<Shell>,
}

struct Shell {
    child: Child,
    /// Closed before the child is waited for.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Supervisor {
    /// Prepares a server; `run("start")` starts it. `crash` is the signal that ends it at once.
    pub(crate) fn new(
        mut shell: Command,
        directory: tempfile::TempDir,
        crash: &str,
        [setup, run, ready]: [&str; 3],
    ) -> Self {
        shell
            .args(["-c", SUPERVISOR, "supervisor"])
            .arg(directory.path())
            .args([setup, run, ready]);
        shell.current_dir("/").env("LC_ALL", "C").env("crash", crash);
        let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { directory, shell: Mutex::new(Shell { child, input, output }) }
    }

    /// Sends `start`, `stop` or `crash`, and waits until it is done; false if the server cannot be started.
    pub(crate) fn try_run(&self, command: &str) -> bool {
        let mut shell = self.shell.lock().unwrap();
        let sent = writeln!(shell.input.as_mut().unwrap(), "{command}");
        let mut done = String::new();
        sent.is_ok() && shell.output.read_line(&mut done).is_ok() && done.trim() == command
    }

    /// As `try_run`; fails with the log of the server.
    pub fn run(&self, command: &str) {
        assert!(self.try_run(command), "{}", self.log());
    }

    /// The process whose descendants are those of the server.
    pub fn process_id(&self) -> u32 {
        self.shell.lock().unwrap().child.id()
    }

    #[cfg(feature = "postgres")]
    pub(crate) fn directory(&self) -> &std::path::Path {
        self.directory.path()
    }

    /// What the server has logged since it was started.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        let shell = self.shell.get_mut().unwrap();
        shell.input = None;
        let _ = shell.child.wait();
    }
}

/// A port that is free at this moment, below those that the system gives to outgoing connections: a client that connects again
/// and again to a server that is away would else be given the server's own port one day.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let first = std::process::id().wrapping_mul(97);
    loop {
        let offset = first.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % 20_000;
        let port = u16::try_from(12_000 + offset).unwrap();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
