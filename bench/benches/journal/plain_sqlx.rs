//! The baseline with plain sqlx: a table with a number and a text, one insert, one select.

use std::str::FromStr as _;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{PgPool, Row as _, SqlitePool};

/// A table of texts in order.
pub(crate) enum PlainSqlx {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

const SELECT_ENTRIES: &str = "SELECT entry FROM plain WHERE room = 1 ORDER BY seq";

impl PlainSqlx {
    /// As durable as the store.
    pub(crate) async fn sqlite(url: &str) -> Self {
        let options = SqliteConnectOptions::from_str(url).unwrap();
        let options = options
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full);
        let pool = SqlitePool::connect_with(options).await.unwrap();
        let create = "CREATE TABLE plain (seq INTEGER PRIMARY KEY, room INTEGER, entry TEXT)";
        sqlx::query(create).execute(&pool).await.unwrap();
        Self::Sqlite(pool)
    }

    pub(crate) async fn postgres(url: &str) -> Self {
        let pool = PgPool::connect(url).await.unwrap();
        let create = "CREATE TABLE plain (seq bigserial PRIMARY KEY, room int, entry text)";
        sqlx::query(create).execute(&pool).await.unwrap();
        Self::Postgres(pool)
    }

    pub(crate) async fn insert(&self, room: i32, text: &str) {
        let insert = "INSERT INTO plain (room, entry) VALUES ($1, $2)";
        match self {
            Self::Sqlite(pool) => {
                let insert = sqlx::query(insert).bind(room).bind(text);
                insert.execute(pool).await.unwrap();
            }
            Self::Postgres(pool) => {
                let insert = sqlx::query(insert).bind(room).bind(text);
                insert.execute(pool).await.unwrap();
            }
        }
    }

    /// All at once.
    pub(crate) async fn fill(&self, texts: &[String]) {
        let insert = "INSERT INTO plain (room, entry) VALUES (1, $1)";
        match self {
            Self::Sqlite(pool) => {
                let mut work = pool.begin().await.unwrap();
                for text in texts {
                    let insert = sqlx::query(insert).bind(text);
                    insert.execute(&mut *work).await.unwrap();
                }
                work.commit().await.unwrap();
            }
            Self::Postgres(pool) => {
                let mut work = pool.begin().await.unwrap();
                for text in texts {
                    let insert = sqlx::query(insert).bind(text);
                    insert.execute(&mut *work).await.unwrap();
                }
                work.commit().await.unwrap();
            }
        }
    }

    pub(crate) async fn select(&self) -> Vec<String> {
        match self {
            Self::Sqlite(pool) => {
                let rows = sqlx::query(SELECT_ENTRIES).fetch_all(pool).await.unwrap();
                rows.iter().map(|row| row.get(0)).collect()
            }
            Self::Postgres(pool) => {
                let rows = sqlx::query(SELECT_ENTRIES).fetch_all(pool).await.unwrap();
                rows.iter().map(|row| row.get(0)).collect()
            }
        }
    }
}
