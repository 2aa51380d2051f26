//! A PostgreSQL server that belongs to the tests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use super::{Supervisor, free_port};
use crate::real;

/// Without it the server is faster; a crash of the machine ends the tests, too.
pub const NO_FSYNC: &[&str] = &["-c", "fsync=off"];

const SETUP: &str =
    r#"$bin/initdb -D "$dir/data" -U toolwright -A trust -E UTF8 --locale=C --no-sync"#;
const RUN: &str = r#"$bin/postgres -D "$dir/data" -k "$dir" -p $port -c listen_addresses=127.0.0.1 -c max_connections=300 $settings"#;
const READY: &str = r#"$bin/pg_isready -q -h "$dir" -p $port -d postgres -U toolwright"#;

/// A running server, which listens on a socket in its directory, and on a port of the loopback address.
pub struct PostgresServer {
    /// Stops and starts it.
    pub supervisor: Supervisor,
    /// The port that it listens on.
    pub port: u16,
    databases: AtomicUsize,
}

/// The server that all tests of a process share; `None` where PostgreSQL is not installed.
pub fn shared() -> Option<&'static PostgresServer> {
    static SHARED: OnceLock<Option<PostgresServer>> = OnceLock::new();
    SHARED.get_or_init(|| PostgresServer::start(NO_FSYNC)).as_ref()
}

impl PostgresServer {
    /// Starts a server of its own with settings, which have no spaces in them; `None` where PostgreSQL is not installed.
    pub fn start(settings: &[&str]) -> Option<Self> {
        let Some(programs) = programs() else {
            real::skip("Debian's postgresql");
            return None;
        };
        // Another process may take the port before the server does.
        for _ in 0..5 {
            let directory = tempfile::tempdir().unwrap();
            let port = free_port();
            let mut shell = unprivileged_shell(directory.path());
            shell.env("bin", &programs).env("port", port.to_string());
            shell.env("settings", settings.join(" "));
            let supervisor = Supervisor::new(shell, directory, "QUIT", [SETUP, RUN, READY]);
            if supervisor.try_run("start") {
                return Some(Self { supervisor, port, databases: AtomicUsize::new(0) });
            }
            eprintln!("{}", supervisor.log());
        }
        panic!("PostgreSQL cannot be started");
    }

    /// The URL of a database at the server's socket.
    pub fn url(&self, database: &str) -> String {
        let directory = self.supervisor.directory().display();
        format!("postgres:///{database}?host={directory}&port={}&user=toolwright", self.port)
    }

    /// The socket in the server's directory.
    pub fn socket(&self) -> PathBuf {
        self.supervisor.directory().join(format!(".s.PGSQL.{}", self.port))
    }

    /// The URL of a database at a port: the server's, or that of a proxy.
    pub fn url_at(&self, port: u16, database: &str) -> String {
        format!("postgres://toolwright@127.0.0.1:{port}/{database}")
    }

    /// Opens a connection that belongs to no store and no bus.
    pub async fn connect(&self, database: &str) -> PgConnection {
        PgConnection::connect(&self.url(database)).await.unwrap()
    }

    /// Runs statements in a database.
    pub async fn execute(&self, database: &str, sql: &str) {
        let mut connection = self.connect(database).await;
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    }

    /// Creates a database for one test and returns its name.
    pub async fn create_named_database(&self) -> String {
        let name = format!("t{}", self.databases.fetch_add(1, Ordering::SeqCst));
        self.execute("postgres", &format!("CREATE DATABASE {name}")).await;
        name
    }

    /// Creates a database for one test and returns its URL at the server's socket.
    pub async fn create_database(&self) -> String {
        self.url(&self.create_named_database().await)
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

/// A shell, of the user `postgres` if the tests run as root, because the server refuses to run as root.
fn unprivileged_shell(directory: &Path) -> Command {
    let id = Command::new("id").arg("-u").output().unwrap();
    if id.stdout.trim_ascii() != b"0" {
        return Command::new("sh");
    }
    let owned = Command::new("chown").arg("postgres").arg(directory).status();
    assert!(owned.unwrap().success());
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "sh"]);
    command
}
