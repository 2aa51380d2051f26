//! A PostgreSQL server that belongs to the tests: in a temporary directory, reached by a socket in it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

/// Starts and stops the server by commands on its standard input; stops it at the end of input, when the tests are gone.
const SUPERVISOR: &str = r#"
bin=$1; dir=$2; shift 2
"$bin/initdb" -D "$dir/data" -U toolwright -A trust -E UTF8 --locale=C --no-sync >"$dir/log" 2>&1 || exit 1
start() {
    "$bin/postgres" -D "$dir/data" -k "$dir" -c listen_addresses= -c max_connections=300 "$@" >>"$dir/log" 2>&1 &
    pid=$!
    until "$bin/pg_isready" -q -h "$dir" -d postgres -U toolwright; do
        kill -0 "$pid" || exit 1
        sleep 0.05
    done
}
while read -r command; do
    case $command in
        start) start "$@" ;;
        stop) kill -INT "$pid"; wait "$pid"; pid= ;;
        crash) kill -QUIT "$pid"; wait "$pid"; start "$@" ;;
    esac
    echo "$command"
done
if [ -n "$pid" ]; then kill -INT "$pid"; wait "$pid"; fi
rm -rf "$dir"
"#;

/// Names the socket of a server that does not listen on TCP.
const DEFAULT_PORT: u16 = 5432;

pub(crate) struct Server {
    directory: tempfile::TempDir,
    port: u16,
    supervisor: Mutex<Supervisor>,
    databases: AtomicUsize,
}

struct Supervisor {
    child: Child,
    /// Closed before the child is waited for.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// The server that all tests share; `None` where PostgreSQL is not installed.
pub(crate) fn shared() -> Option<&'static Server> {
    static SHARED: OnceLock<Option<Server>> = OnceLock::new();
    // Faster; a crash of the machine ends the tests, too.
    SHARED.get_or_init(|| Server::start(&["-c", "fsync=off"])).as_ref()
}

impl Server {
    /// Starts a server of its own; `None` where PostgreSQL is not installed.
    pub(crate) fn start(settings: &[&str]) -> Option<Self> {
        Self::start_on_port(DEFAULT_PORT, settings)
    }

    /// Starts a server that listens on this port of the loopback address, too; `None` where PostgreSQL is not installed.
    #[allow(dead_code, reason = "only the tests of clusters need it")]
    pub(crate) fn start_with_tcp(port: u16) -> Option<Self> {
        Self::start_on_port(port, &["-c", "listen_addresses=127.0.0.1"])
    }

    fn start_on_port(port: u16, settings: &[&str]) -> Option<Self> {
        let Some(programs) = programs() else {
            let ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
            assert!(!ci, "needs postgresql: install Debian's package");
            eprintln!("skipped: needs postgresql");
            return None;
        };
        let directory = tempfile::tempdir().unwrap();
        let mut command = match unprivileged_shell(&directory) {
            Some(command) => command,
            None => Command::new("sh"),
        };
        command.args(["-c", SUPERVISOR, "supervisor"]).arg(programs);
        command.arg(directory.path()).args(settings);
        // All its programs read the port from there.
        command.current_dir("/").env("LC_ALL", "C").env("PGPORT", port.to_string());
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let server = Self {
            directory,
            port,
            supervisor: Mutex::new(Supervisor { child, input, output }),
            databases: AtomicUsize::new(0),
        };
        server.run("start");
        Some(server)
    }

    /// Sends `start`, `stop` or `crash`, which starts it again, to the supervisor, and waits until it is done.
    pub(crate) fn run(&self, command: &str) {
        let mut supervisor = self.supervisor.lock().unwrap();
        writeln!(supervisor.input.as_mut().unwrap(), "{command}").unwrap();
        let mut done = String::new();
        supervisor.output.read_line(&mut done).unwrap();
        let log = || std::fs::read_to_string(self.directory.path().join("log"));
        assert_eq!(done.trim(), command, "{:?}", log());
    }

    /// The id of the process whose descendants are the server.
    #[allow(dead_code, reason = "only the benchmark of clusters needs it")]
    pub(crate) fn process_id(&self) -> u32 {
        self.supervisor.lock().unwrap().child.id()
    }

    /// The URL of a database.
    pub(crate) fn url(&self, database: &str) -> String {
        let directory = self.directory.path().display();
        format!("postgres:///{database}?host={directory}&port={}&user=toolwright", self.port)
    }

    /// Opens a connection that belongs to no store.
    pub(crate) async fn connect(&self, database: &str) -> PgConnection {
        PgConnection::connect(&self.url(database)).await.unwrap()
    }

    /// Creates a database for one test and returns its URL.
    pub(crate) async fn create_database(&self) -> String {
        let name = format!("t{}", self.databases.fetch_add(1, Ordering::SeqCst));
        let mut connection = self.connect("postgres").await;
        let create = AssertSqlSafe(format!("CREATE DATABASE {name}"));
        sqlx::raw_sql(create).execute(&mut connection).await.unwrap();
        self.url(&name)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let supervisor = self.supervisor.get_mut().unwrap();
        supervisor.input = None;
        let _ = supervisor.child.wait();
    }
}

/// The directory of the newest PostgreSQL that Debian's packages installed.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let programs = versions.filter_map(|version| {
        let path = version.ok()?.path();
        let number: u32 = path.file_name()?.to_str()?.parse().ok()?;
        let programs = path.join("bin");
        programs.join("initdb").is_file().then_some((number, programs))
    });
    programs.max().map(|(_, programs)| programs)
}

/// A shell of the user `postgres` if the tests run as root, because the server refuses to run as root.
fn unprivileged_shell(directory: &tempfile::TempDir) -> Option<Command> {
    let id = Command::new("id").arg("-u").output().unwrap();
    if id.stdout.trim_ascii() != b"0" {
        return None;
    }
    let owned = Command::new("chown").arg("postgres").arg(directory.path()).status();
    assert!(owned.unwrap().success());
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "sh"]);
    Some(command)
}
