//! A limit on failed logins per client address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use toolwright_core::SharedState;

/// The maximum number of failures per address and window.
const MAX_FAILURES: u32 = 10;

/// The window in which failures are counted.
const FAILURE_WINDOW: Duration = Duration::from_secs(60);

/// The maximum number of addresses that are counted separately; further ones share one count.
const MAX_TRACKED_ADDRESSES: usize = 4096;

/// The space of the shared state; the key is an address.
const SPACE: &str = "login_attempt";

/// The maximum number of sign-ins that are begun per address and window: behind a proxy, all people have the same one.
const MAX_SIGN_INS: u64 = 1000;

/// The space of the shared state for sign-ins that are begun.
const SIGN_IN_SPACE: &str = "sign_in_attempt";

/// Recent failed logins: of all nodes, and of this one, which counts while the shared state cannot be reached.
pub(crate) struct LoginAttempts {
    shared: Arc<dyn SharedState>,
    counts: Mutex<HashMap<Option<IpAddr>, AttemptCount>>,
}

struct AttemptCount {
    failures: u32,
    resets_at: Instant,
}

impl LoginAttempts {
    pub(crate) fn new(shared: &Arc<dyn SharedState>) -> Self {
        Self { shared: Arc::clone(shared), counts: Mutex::default() }
    }

    /// Counts an attempt before the token is verified, so that concurrent attempts count, too; returns the time to wait if
    /// the limit is reached.
    pub(crate) async fn record_attempt(&self, from: Option<IpAddr>) -> Result<(), Duration> {
        let counted_as = self.count_here(from.map(network))?;
        let limit = u64::from(MAX_FAILURES);
        match self.shared.count(SPACE, &key(counted_as), 1, limit, FAILURE_WINDOW).await {
            Ok(count) if !count.is_admitted => Err(count.resets_in),
            Ok(_) => Ok(()),
            Err(error) => {
                tracing::warn!(%error, "failed logins are counted by this node alone");
                Ok(())
            }
        }
    }

    /// Counts a sign-in that is begun, which takes room in the shared state; returns the time to wait if the limit is reached.
    pub(crate) async fn record_sign_in(&self, from: Option<IpAddr>) -> Result<(), Duration> {
        let key = key(from.map(network));
        let count = self.shared.count(SIGN_IN_SPACE, &key, 1, MAX_SIGN_INS, FAILURE_WINDOW).await;
        match count {
            Ok(count) if !count.is_admitted => Err(count.resets_in),
            // Without the shared state, no sign-in can begin anyway.
            _ => Ok(()),
        }
    }

    /// Uncounts an attempt whose token was right.
    pub(crate) async fn undo_attempt(&self, from: Option<IpAddr>) {
        let counted_as = {
            let mut counts = self.counts();
            let from = from.map(network);
            let from = from.filter(|_| counts.contains_key(&from));
            if let Some(count) = counts.get_mut(&from) {
                count.failures = count.failures.saturating_sub(1);
            }
            from
        };
        // The count restarts by itself.
        let _ = self.shared.uncount(SPACE, &key(counted_as), 1).await;
    }

    /// Counts an attempt at this node; returns the address that it was counted for.
    fn count_here(&self, from: Option<IpAddr>) -> Result<Option<IpAddr>, Duration> {
        let now = Instant::now();
        let mut counts = self.counts();
        counts.retain(|_, count| count.resets_at > now);
        let from =
            from.filter(|_| counts.len() < MAX_TRACKED_ADDRESSES || counts.contains_key(&from));
        let count = counts
            .entry(from)
            .or_insert(AttemptCount { failures: 0, resets_at: now + FAILURE_WINDOW });
        if count.failures >= MAX_FAILURES {
            return Err(count.resets_at.saturating_duration_since(now));
        }
        count.failures += 1;
        Ok(from)
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<Option<IpAddr>, AttemptCount>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The address that is counted: of IPv6, the network, because a client has all addresses of one.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

fn key(address: Option<IpAddr>) -> String {
    address.map_or_else(|| "others".to_owned(), |address| address.to_string())
}

#[cfg(test)]
mod tests {
    use toolwright_core::MemorySharedState;

    use super::*;

    /// Two nodes that share their state.
    fn nodes() -> [LoginAttempts; 2] {
        let shared: Arc<dyn SharedState> = Arc::new(MemorySharedState::new());
        [LoginAttempts::new(&shared), LoginAttempts::new(&shared)]
    }

    #[tokio::test(start_paused = true)]
    async fn too_many_failures_block_an_address_and_no_other() {
        let [attempts, _] = nodes();
        let (one, two) = ([192, 0, 2, 1].into(), [192, 0, 2, 2].into());
        for _ in 0..100 {
            assert_eq!(attempts.record_attempt(Some(one)).await, Ok(()));
            attempts.undo_attempt(Some(one)).await;
        }
        for _ in 0..MAX_FAILURES {
            assert_eq!(attempts.record_attempt(Some(one)).await, Ok(()));
        }
        assert_eq!(attempts.record_attempt(Some(one)).await, Err(FAILURE_WINDOW));
        assert_eq!(attempts.record_attempt(Some(two)).await, Ok(()));
        tokio::time::advance(FAILURE_WINDOW).await;
        assert_eq!(attempts.record_attempt(Some(one)).await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn failures_at_all_nodes_count_together() {
        let nodes = nodes();
        let address = Some([192, 0, 2, 1].into());
        for n in 0..MAX_FAILURES as usize {
            assert_eq!(nodes[n % 2].record_attempt(address).await, Ok(()));
        }
        for node in nodes {
            assert_eq!(node.record_attempt(address).await, Err(FAILURE_WINDOW));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn addresses_of_one_ipv6_network_count_together() {
        let [attempts, _] = nodes();
        let address =
            |host: u128| Some(IpAddr::from(Ipv6Addr::from_bits((0x2001_0db8 << 96) | host)));
        for n in 0..MAX_FAILURES {
            assert_eq!(attempts.record_attempt(address(u128::from(n))).await, Ok(()));
        }
        assert_eq!(
            attempts.record_attempt(address(u128::from(u64::MAX))).await,
            Err(FAILURE_WINDOW)
        );
        assert_eq!(attempts.record_attempt(address(1 << 64)).await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn sign_ins_that_are_begun_are_limited_per_address_at_all_nodes() {
        let nodes = nodes();
        let (one, two) = (Some([192, 0, 2, 1].into()), Some([192, 0, 2, 2].into()));
        for n in 0..MAX_SIGN_INS as usize {
            assert_eq!(nodes[n % 2].record_sign_in(one).await, Ok(()));
        }
        assert_eq!(nodes[0].record_sign_in(one).await, Err(FAILURE_WINDOW));
        assert_eq!(nodes[0].record_sign_in(two).await, Ok(()));
        assert_eq!(nodes[0].record_attempt(one).await, Ok(()), "tokens are counted separately");
    }

    #[tokio::test(start_paused = true)]
    async fn many_addresses_take_no_more_room_and_are_limited_together() {
        let [attempts, _] = nodes();
        for at in 0..8_192_u32 {
            let _ = attempts.record_attempt(Some(IpAddr::from(at.to_be_bytes()))).await;
        }
        assert!(attempts.counts().len() <= MAX_TRACKED_ADDRESSES + 1);
        let wait = attempts.record_attempt(Some([255, 0, 0, 1].into())).await;
        assert_eq!(wait, Err(FAILURE_WINDOW));
    }
}
