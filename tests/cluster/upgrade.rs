//! A rolling upgrade: one node after the other is replaced by one of the next build, while conversations go on. Both builds have
//! the same protocol between nodes; a node of another protocol does not start beside them.
//!
//! By default both are this build, which tests the replacement and not the versions. With two builds, as before a release:
//!
//! ```sh
//! git worktree add ../before v0.1.0
//! (cd ../before && cargo build --all-features --example test_programs)
//! cargo build --all-features --example test_programs
//! TEST_CLUSTER_OLD_NODE=$PWD/../before/target/debug/examples/test_programs \
//!     cargo test --test cluster upgrade -- --nocapture
//! ```

use test_support::cluster::{Cluster, ClusterSettings, Program};

use super::chaos::check_conversations;
use super::setting;

#[test]
fn an_upgrade_of_one_node_after_the_other_loses_and_repeats_nothing() {
    let settings = ClusterSettings { program: Program::Older, ..ClusterSettings::default() };
    let Some(cluster) = Cluster::start(settings) else {
        return;
    };
    let seed = setting("TEST_CLUSTER_SEED", 7);
    check_conversations(cluster, 20, seed, |cluster, _| {
        cluster.use_program(Program::Test);
        for n in 0..cluster.nodes.len() {
            let status = cluster.terminate(n);
            assert!(status.success(), "node {n} ended with {status}\n{}", cluster.log_of(n));
            cluster.start_node(n);
            cluster.wait_until_ready();
        }
        format!("{} nodes replaced", cluster.nodes.len())
    });
}

#[test]
fn a_node_does_not_start_beside_a_node_of_another_protocol() {
    let settings = ClusterSettings { nodes: 2, direct: true, ..ClusterSettings::default() };
    let Some(mut cluster) = Cluster::start(settings) else {
        return;
    };
    assert!(cluster.terminate(1).success(), "{}", cluster.log_of(1));
    // The record that a node of a later version would have: a build has one number only.
    execute(
        &cluster,
        r#"INSERT INTO toolwright_shared VALUES ('node', 'later', '{"program":"shop","version":"9.0.0","protocol":99}',
           clock_timestamp() + interval '1 hour')"#,
    );
    cluster.start_node(1);
    let status = cluster.wait_for_end(1);
    let log = cluster.log_of(1);
    assert_eq!(status.code(), Some(1), "{log}");
    assert!(
        log.contains("node `later` (shop 9.0.0) serves from this store with protocol 99"),
        "{log}"
    );
    assert!(log.contains("has protocol 1: stop the nodes of the other version"), "{log}");
    // Those that serve already go on.
    cluster.assert_alive();
    cluster.wait_until_ready();
    // As it does after a crash, the record expires.
    execute(
        &cluster,
        "UPDATE toolwright_shared SET expires = clock_timestamp() WHERE key = 'later'",
    );
    cluster.start_node(1);
    cluster.wait_until_ready();
    cluster.assert_alive();
}

/// Changes the store of a cluster.
fn execute(cluster: &Cluster, sql: &'static str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut connection = cluster.postgres.connect("postgres").await;
        sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    });
}
