//! Three nodes on one bus: some publish the events of conversations, one of them subscribes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::future::join_all;
use tokio::sync::Semaphore;
use toolwright_bus::{Bus, Delivery};

use toolwright_bench::cpu_time;

/// The length of an event: a delta of a few words, as JSON.
pub(crate) const EVENT_BYTES: usize = 200;

/// The conversations that events belong to, each a channel.
const CONVERSATIONS: usize = 50;

/// Three nodes on one bus.
pub(crate) struct Cluster {
    pub(crate) name: &'static str,
    /// The process whose descendants are the server.
    server: Option<u32>,
    nodes: [Arc<dyn Bus>; 3],
}

/// What was measured in a round.
pub(crate) struct RoundResult {
    pub(crate) time_per_event: Duration,
    /// CPU time of all three nodes per event.
    pub(crate) node_cpu: Duration,
    /// CPU time of the server per event.
    pub(crate) server_cpu: Duration,
}

impl RoundResult {
    pub(crate) fn cpu_per_event(&self) -> Duration {
        self.node_cpu + self.server_cpu
    }
}

impl Cluster {
    pub(crate) fn new(name: &'static str, server: Option<u32>, nodes: [Arc<dyn Bus>; 3]) -> Self {
        Self { name, server, nodes }
    }

    /// Publishes for a while from the first nodes to the last, with so many events of each on their way.
    pub(crate) async fn run_round(
        &self,
        publishers: usize,
        window: usize,
        duration: Duration,
    ) -> RoundResult {
        let (publishing, subscriber) = (&self.nodes[..publishers], &self.nodes[2]);
        let is_over = AtomicBool::new(false);
        let start = Instant::now();
        let cpu = self.cpu_time();
        let runs = publishing.iter().enumerate().map(|(number, node)| {
            let channels = (0..CONVERSATIONS).map(|n| format!("conversation {number} {n}"));
            publish_and_receive(node, subscriber, channels.collect(), window, &is_over)
        });
        let stop = async {
            tokio::time::sleep(duration).await;
            is_over.store(true, Ordering::Relaxed);
        };
        let (events, ()) = tokio::join!(join_all(runs), stop);
        let time = start.elapsed();
        let (node_cpu, server_cpu) = self.cpu_time();
        let events: u32 = events.into_iter().sum();
        RoundResult {
            time_per_event: time / events,
            node_cpu: (node_cpu - cpu.0) / events,
            server_cpu: (server_cpu - cpu.1) / events,
        }
    }

    /// The CPU time of the nodes and of the server so far.
    fn cpu_time(&self) -> (Duration, Duration) {
        let server = self.server.map(cpu_time::of_tree);
        (cpu_time::of_this_process(), server.unwrap_or_default())
    }
}

/// Publishes to channels in turn until the round is over, and receives everything; returns the number of events.
async fn publish_and_receive(
    from: &Arc<dyn Bus>,
    to: &Arc<dyn Bus>,
    channels: Vec<String>,
    window: usize,
    is_over: &AtomicBool,
) -> u32 {
    let permits = Arc::new(Semaphore::new(window));
    let mut receivers = Vec::new();
    for channel in &channels {
        let mut subscription = to.subscribe(channel).await.unwrap();
        let permits = Arc::clone(&permits);
        receivers.push(tokio::spawn(async move {
            while let Some(Delivery::Message(text)) = subscription.next().await {
                if text.is_empty() {
                    return;
                }
                permits.add_permits(1);
            }
            panic!("an event was lost");
        }));
    }
    let event = "x".repeat(EVENT_BYTES);
    let mut events = 0;
    while !is_over.load(Ordering::Relaxed) {
        permits.acquire().await.unwrap().forget();
        from.publish(&channels[events as usize % CONVERSATIONS], event.clone());
        events += 1;
    }
    for channel in &channels {
        from.publish(channel, String::new());
    }
    for receiver in receivers {
        receiver.await.unwrap();
    }
    events
}
