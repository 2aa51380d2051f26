//! Faults of a cluster, in a random order: each begins, lasts for a while, and ends.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use test_support::cluster::Cluster;
use test_support::cluster::LinkFault;
use toolwright::testing::SeededRng;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    /// A node is killed.
    Kill,
    /// A node is suspended, sometimes for longer than its leases last.
    Suspend,
    /// A node is terminated: it drains.
    Drain,
    /// NATS is killed.
    BusRestart,
    /// PostgreSQL is stopped.
    StoreRestart,
    /// PostgreSQL crashes.
    StoreCrash,
    /// The connection of a node to NATS fails.
    BusLink(LinkFault),
    /// The connection of a node to PostgreSQL fails.
    StoreLink(LinkFault),
}

impl Fault {
    pub(crate) const ALL: [Self; 12] = [
        Self::Kill,
        Self::Suspend,
        Self::Drain,
        Self::BusRestart,
        Self::StoreRestart,
        Self::StoreCrash,
        Self::BusLink(LinkFault::Cut),
        Self::BusLink(LinkFault::Silence),
        Self::BusLink(LinkFault::Delay),
        Self::StoreLink(LinkFault::Cut),
        Self::StoreLink(LinkFault::Silence),
        Self::StoreLink(LinkFault::Delay),
    ];

    /// The name without its details, for totals.
    fn name(self) -> String {
        format!("{self:?}")
    }
}

/// Causes faults, and counts them.
pub(crate) struct FaultDriver {
    rng: SeededRng,
    pub(crate) counts: BTreeMap<String, usize>,
}

impl FaultDriver {
    pub(crate) fn new(seed: u64) -> Self {
        Self { rng: SeededRng::new(seed), counts: BTreeMap::new() }
    }

    /// Causes these faults, one after the other.
    pub(crate) fn cause_each(&mut self, cluster: &mut Cluster, faults: &[Fault]) {
        for fault in faults {
            self.cause(cluster, *fault);
            cluster.assert_alive();
            self.wait(500);
        }
    }

    /// The faults so far, and how often each was caused.
    pub(crate) fn report(&self) -> String {
        let faults = self.counts.iter().map(|(name, n)| format!("{n} {name}"));
        faults.collect::<Vec<_>>().join(", ")
    }

    /// Causes every fault once, and then more of them until the time is over.
    pub(crate) fn run(&mut self, cluster: &mut Cluster, duration: Duration) {
        let began = Instant::now();
        let mut faults = Fault::ALL.to_vec();
        while !faults.is_empty() || began.elapsed() < duration {
            if faults.is_empty() {
                faults = Fault::ALL.to_vec();
            }
            let fault = faults.swap_remove(self.rng.below(faults.len()));
            self.cause(cluster, fault);
            cluster.assert_alive();
            self.wait(500);
        }
    }

    /// Lets the clients work for a random time.
    fn wait(&mut self, max_millis: usize) {
        let until = Instant::now() + Duration::from_millis(self.rng.below(max_millis) as u64);
        while let Some(rest) = until.checked_duration_since(Instant::now()) {
            std::thread::park_timeout(rest);
        }
    }

    fn cause(&mut self, cluster: &mut Cluster, fault: Fault) {
        let n = self.rng.below(cluster.nodes.len());
        if !matches!(fault, Fault::Kill | Fault::Suspend) {
            // A node that is about to start ends by the signal, or with an error because it lacks its store or bus, as it should.
            cluster.wait_until_nodes_are_ready();
        }
        match fault {
            Fault::Kill => {
                cluster.kill(n);
                self.wait(2_000);
                cluster.start_node(n);
            }
            Fault::Suspend => {
                cluster.suspend(n);
                self.wait(8_000);
                cluster.resume(n);
            }
            Fault::Drain => {
                let status = cluster.terminate(n);
                assert!(status.success(), "node {n} ended with {status}\n{}", cluster.log_of(n));
                self.wait(1_000);
                cluster.start_node(n);
            }
            Fault::BusRestart => {
                cluster.nats.supervisor.run("crash");
                let is_used = cluster.uses_nats();
                if is_used {
                    cluster.wait_until_bus_is(false);
                }
                self.wait(2_000);
                cluster.nats.supervisor.run("start");
                if is_used {
                    cluster.wait_until_bus_is(true);
                }
            }
            Fault::StoreRestart => {
                cluster.postgres.supervisor.run("stop");
                self.wait(1_000);
                cluster.postgres.supervisor.run("start");
            }
            Fault::StoreCrash => {
                cluster.postgres.supervisor.run("crash");
                cluster.postgres.supervisor.run("start");
            }
            Fault::BusLink(kind) => {
                cluster.nodes[n].bus.disturb(kind);
                self.wait(4_000);
                cluster.nodes[n].bus.repair(kind);
            }
            Fault::StoreLink(kind) => {
                cluster.nodes[n].store.disturb(kind);
                self.wait(4_000);
                cluster.nodes[n].store.repair(kind);
            }
        }
        *self.counts.entry(fault.name()).or_default() += 1;
    }
}
