//! A rolling upgrade: one node after the other is replaced by one of the next build, while conversations go on.
//!
//! By default both are this build, which tests the replacement and not the versions. With two builds, as before a release:
//!
//! ```sh
//! git worktree add ../before v0.1.0
//! (cd ../before && cargo build --all-features --example test_programs)
//! cargo build --all-features --example test_programs
//! TOOLWRIGHT_CLUSTER_OLD_NODE=$PWD/../before/target/debug/examples/test_programs \
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
    let seed = setting("TOOLWRIGHT_CLUSTER_SEED", 7);
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
