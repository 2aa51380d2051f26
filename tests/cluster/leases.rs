//! Reads the leases of conversations, and the clock that they expire by, from the database.

use sqlx::Row as _;
use test_support::HANG_TIMEOUT;
use test_support::cluster::Cluster;

/// The lease of a conversation, at one moment of the database's clock.
#[derive(Clone, Debug)]
pub(crate) struct LeaseRow {
    /// The name of the node that holds it.
    pub(crate) holder: Option<String>,
    pub(crate) term: i64,
    /// Milliseconds since 1970.
    pub(crate) now: i64,
}

/// Reads the lease of a conversation of the operator.
pub(crate) async fn read_lease(cluster: &Cluster, conversation: &str) -> LeaseRow {
    let mut connection = cluster.postgres.connect("postgres").await;
    let row = sqlx::query(
        "SELECT convert_from(holder, 'UTF8'), term, (extract(epoch FROM clock_timestamp()) * 1000)::bigint
         FROM toolwright_conversations WHERE convert_from(name, 'UTF8') = $1",
    )
    .bind(conversation)
    .fetch_one(&mut connection)
    .await
    .unwrap();
    LeaseRow { holder: row.get(0), term: row.get(1), now: row.get(2) }
}

/// Waits until another node holds the lease, and returns it.
pub(crate) async fn wait_until_taken_over(
    cluster: &Cluster,
    conversation: &str,
    before: &LeaseRow,
) -> LeaseRow {
    let began = std::time::Instant::now();
    loop {
        let lease = read_lease(cluster, conversation).await;
        if lease.term > before.term && lease.holder.is_some() {
            assert_ne!(lease.holder, before.holder, "the same node: {lease:?}");
            return lease;
        }
        let logs = || (0..cluster.nodes.len()).map(|n| cluster.log_of(n)).collect::<String>();
        assert!(began.elapsed() < HANG_TIMEOUT, "{before:?}, and then {lease:?}\n{}", logs());
    }
}
