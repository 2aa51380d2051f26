//! A PostgreSQL server that belongs to the tests.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use super::{Supervisor, free_port, skip};

const SETUP: &str =
    r#"$bin/initdb -D "$dir/data" -U toolwright -A trust -E UTF8 --locale=C --no-sync"#;
// Without fsync it is faster, and a crash of the machine ends the tests, too.
const RUN: &str = r#"$bin/postgres -D "$dir/data" -k "$dir" -p $port -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=300"#;
const READY: &str = r#"$bin/pg_isready -q -h 127.0.0.1 -p $port -d postgres -U toolwright"#;

pub(crate) struct PostgresServer {
    pub(crate) supervisor: Supervisor,
    pub(crate) port: u16,
    databases: AtomicUsize,
}

/// The server that all tests share; `None` where PostgreSQL is not installed.
pub(crate) fn shared() -> Option<&'static PostgresServer> {
    static SHARED: OnceLock<Option<PostgresServer>> = OnceLock::new();
    SHARED.get_or_init(PostgresServer::start).as_ref()
}

impl PostgresServer {
    /// Starts a server of its own; `None` where PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            skip("needs Debian's postgresql; `cargo xtask test setup` installs it");
            return None;
        };
        // Another process may take the port before the server does.
        for _ in 0..5 {
            let directory = tempfile::tempdir().unwrap();
            let port = free_port();
            let mut shell = unprivileged_shell(&directory);
            shell.env("bin", &programs).env("port", port.to_string());
            let supervisor = Supervisor::new(shell, directory, "QUIT", [SETUP, RUN, READY]);
            if supervisor.try_run("start") {
                return Some(Self { supervisor, port, databases: AtomicUsize::new(0) });
            }
            eprintln!("{}", supervisor.log());
        }
        panic!("PostgreSQL cannot be started");
    }

    /// The URL of a database, perhaps at a proxy.
    pub(crate) fn url_at(&self, port: u16, database: &str) -> String {
        format!("postgres://toolwright@127.0.0.1:{port}/{database}")
    }

    /// Creates a database for one test and returns its name.
    pub(crate) async fn create_named_database(&self) -> String {
        let name = format!("t{}", self.databases.fetch_add(1, Ordering::SeqCst));
        self.execute("postgres", &format!("CREATE DATABASE {name}")).await;
        name
    }

    /// Creates a database for one test and returns its URL.
    pub(crate) async fn create_database(&self) -> String {
        let name = self.create_named_database().await;
        self.url_at(self.port, &name)
    }

    pub(crate) async fn execute(&self, database: &str, sql: &str) {
        let mut connection =
            PgConnection::connect(&self.url_at(self.port, database)).await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
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
fn unprivileged_shell(directory: &tempfile::TempDir) -> Command {
    let id = Command::new("id").arg("-u").output().unwrap();
    if id.stdout.trim_ascii() != b"0" {
        return Command::new("sh");
    }
    let owned = Command::new("chown").arg("postgres").arg(directory.path()).status();
    assert!(owned.unwrap().success());
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "sh"]);
    command
}
