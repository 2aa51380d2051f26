//! What a cluster has spent so far: CPU time, transactions, bytes and messages.

use std::ops::AddAssign;
use std::time::Duration;

use sqlx::Row as _;
use test_support::cluster::Cluster;
use toolwright_bench::cpu_time;

/// Sums since the cluster was started, or between two moments.
#[derive(Clone, Copy, Default)]
pub(crate) struct Totals {
    pub(crate) node_cpu: Duration,
    pub(crate) store_cpu: Duration,
    pub(crate) nats_cpu: Duration,
    /// All transactions. The database counts them late: see [`Totals::read_settled`].
    pub(crate) transactions: u64,
    /// The transactions that have written, and so wait for the disk.
    pub(crate) writes: u64,
    /// The size of all entries of journals, with their indexes.
    pub(crate) journal_bytes: u64,
    /// The size of the database, with rows that are dead and not vacuumed yet.
    pub(crate) database_bytes: u64,
    /// The messages to NATS, and their bytes.
    pub(crate) nats_received: u64,
    pub(crate) nats_received_bytes: u64,
    /// The messages from NATS: one for each node that receives a message.
    pub(crate) nats_sent: u64,
}

impl Totals {
    pub(crate) fn read(cluster: &Cluster) -> Self {
        let [transactions, writes, journal_bytes, database_bytes] = read_database(cluster);
        let traffic = cluster.nats.traffic();
        let nodes = (0..cluster.nodes.len()).filter_map(|n| cluster.process_id(n));
        Self {
            node_cpu: nodes.map(cpu_time::of_tree).sum(),
            store_cpu: cpu_time::of_tree(cluster.postgres.supervisor.process_id()),
            nats_cpu: cpu_time::of_tree(cluster.nats.supervisor.process_id()),
            transactions,
            writes,
            journal_bytes,
            database_bytes,
            nats_received: traffic.received,
            nats_received_bytes: traffic.received_bytes,
            nats_sent: traffic.sent,
        }
    }

    /// As [`read`](Self::read), once the connections of idle nodes have reported their transactions: after 10 seconds.
    pub(crate) fn read_settled(cluster: &Cluster) -> Self {
        std::thread::sleep(Duration::from_secs(11));
        Self::read(cluster)
    }

    /// What was spent since `before`.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let difference = |field: fn(&Self) -> u64| field(self).saturating_sub(field(before));
        let time = |field: fn(&Self) -> Duration| field(self).saturating_sub(field(before));
        Self {
            node_cpu: time(|it| it.node_cpu),
            store_cpu: time(|it| it.store_cpu),
            nats_cpu: time(|it| it.nats_cpu),
            transactions: difference(|it| it.transactions),
            writes: difference(|it| it.writes),
            journal_bytes: difference(|it| it.journal_bytes),
            database_bytes: difference(|it| it.database_bytes),
            nats_received: difference(|it| it.nats_received),
            nats_received_bytes: difference(|it| it.nats_received_bytes),
            nats_sent: difference(|it| it.nats_sent),
        }
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.node_cpu += other.node_cpu;
        self.store_cpu += other.store_cpu;
        self.nats_cpu += other.nats_cpu;
        self.transactions += other.transactions;
        self.writes += other.writes;
        self.journal_bytes += other.journal_bytes;
        self.database_bytes += other.database_bytes;
        self.nats_received += other.nats_received;
        self.nats_received_bytes += other.nats_received_bytes;
        self.nats_sent += other.nats_sent;
    }
}

/// The transactions, those that have written, the bytes of the journals and of the database.
fn read_database(cluster: &Cluster) -> [u64; 4] {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let row = runtime.block_on(async {
        let mut connection = cluster.postgres.connect("postgres").await;
        // Only transactions that write have a number.
        sqlx::query(
            "SELECT xact_commit, pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
                 pg_total_relation_size('toolwright_entries'), pg_database_size(datname)
             FROM pg_stat_database WHERE datname = current_database()",
        )
        .fetch_one(&mut connection)
        .await
        .unwrap()
    });
    [0, 1, 2, 3].map(|column| u64::try_from(row.get::<i64, _>(column)).unwrap())
}
