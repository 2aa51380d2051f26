//! A limit on wrong tokens per client.
//!
//! The right token is always accepted: behind one address there may be many people. A token has at least 16 letters, so guessing
//! it would take longer than any limit.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use toolwright_core::{MemorySharedState, SharedState};

/// The maximum number of wrong tokens per client and window.
const MAX_FAILURES: u64 = 10;

/// The window in which wrong tokens are counted.
const FAILURE_WINDOW: Duration = Duration::from_secs(60);

/// The space of the shared state; the key is an address.
const SPACE: &str = "login_attempt";

/// Recent wrong tokens, at all nodes.
pub(crate) struct FailedLogins {
    shared: Arc<dyn SharedState>,
    /// Those of this node, which count while the shared state cannot be reached.
    local: MemorySharedState,
}

impl FailedLogins {
    pub(crate) fn new(shared: &Arc<dyn SharedState>) -> Self {
        Self { shared: Arc::clone(shared), local: MemorySharedState::new() }
    }

    /// Counts a wrong token; returns the time to wait if the limit is reached.
    pub(crate) async fn record(&self, client: Option<IpAddr>) -> Result<(), Duration> {
        let client = client.map_or_else(|| "unknown".to_owned(), |it| network(it).to_string());
        let counters: [&dyn SharedState; 2] = [&*self.shared, &self.local];
        for counter in counters {
            match counter.count(SPACE, &client, 1, MAX_FAILURES, FAILURE_WINDOW).await {
                Ok(count) if !count.is_admitted => return Err(count.resets_in),
                Ok(_) => return Ok(()),
                Err(error) => tracing::warn!(%error, "wrong tokens are counted by this node alone"),
            }
        }
        Ok(())
    }
}

/// The address that is counted: of IPv6, the network, because a client has all addresses of one.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two nodes that share their state.
    fn nodes() -> [FailedLogins; 2] {
        let shared: Arc<dyn SharedState> = Arc::new(MemorySharedState::new());
        [FailedLogins::new(&shared), FailedLogins::new(&shared)]
    }

    #[tokio::test(start_paused = true)]
    async fn too_many_failures_at_all_nodes_block_an_address_and_no_other() {
        let nodes = nodes();
        let (one, two) = (Some([192, 0, 2, 1].into()), Some([192, 0, 2, 2].into()));
        for n in 0..MAX_FAILURES as usize {
            assert_eq!(nodes[n % 2].record(one).await, Ok(()));
        }
        for node in &nodes {
            assert_eq!(node.record(one).await, Err(FAILURE_WINDOW));
            assert_eq!(node.record(two).await, Ok(()));
        }
        tokio::time::advance(FAILURE_WINDOW).await;
        assert_eq!(nodes[0].record(one).await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn addresses_of_one_ipv6_network_count_together() {
        let [failed, _] = nodes();
        let address =
            |host: u128| Some(IpAddr::from(Ipv6Addr::from_bits((0x2001_0db8 << 96) | host)));
        for n in 0..MAX_FAILURES {
            assert_eq!(failed.record(address(u128::from(n))).await, Ok(()));
        }
        assert_eq!(failed.record(address(u128::from(u64::MAX))).await, Err(FAILURE_WINDOW));
        assert_eq!(failed.record(address(1 << 64)).await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn many_addresses_leave_room_for_others() {
        let [failed, _] = nodes();
        for at in 0..8_192_u32 {
            let _ = failed.record(Some(IpAddr::from(at.to_be_bytes()))).await;
        }
        assert_eq!(failed.record(Some([255, 0, 0, 1].into())).await, Ok(()));
    }
}
