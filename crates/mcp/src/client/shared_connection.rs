//! The way from a tool to its server, which may be broken at the moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::service::Peer;
use tokio::sync::watch;

use super::handler::HandlerState;

/// What the tools of one server share.
pub(super) struct SharedConnection {
    pub(super) server: Arc<str>,
    state: watch::Sender<ConnectionState>,
    latency: AtomicU64,
}

/// How things stand.
#[derive(Clone)]
pub(super) enum ConnectionState {
    Connected(Arc<LiveConnection>),
    /// The connection is to be made again.
    Disconnected(Arc<str>),
    Detached,
}

/// A connection that works.
pub(super) struct LiveConnection {
    pub(super) peer: Peer<RoleClient>,
    pub(super) handler_state: Arc<HandlerState>,
    pub(super) revision: String,
    /// What the server calls itself.
    pub(super) implementation: Option<String>,
}

impl SharedConnection {
    pub(super) fn new(server: Arc<str>) -> Arc<Self> {
        Arc::new(Self {
            server,
            state: watch::Sender::new(ConnectionState::Disconnected(
                "it was never connected".into(),
            )),
            latency: AtomicU64::new(u64::MAX),
        })
    }

    pub(super) fn set(&self, state: ConnectionState) {
        self.state.send_replace(state);
    }

    /// Takes note that a connection no longer works, unless there is another by now.
    pub(super) fn mark_broken(&self, live: &Arc<LiveConnection>, why: &str) {
        self.state.send_if_modified(|state| {
            let is_this = matches!(state, ConnectionState::Connected(up) if Arc::ptr_eq(up, live));
            if is_this {
                *state = ConnectionState::Disconnected(why.into());
            }
            is_this
        });
    }

    /// Waits until a call has found that the connection no longer works, and tells why.
    pub(super) async fn wait_broken(&self) -> String {
        let mut states = self.state.subscribe();
        let down = states
            .wait_for(|state| !matches!(state, ConnectionState::Connected(_)))
            .await;
        match down.as_deref() {
            Ok(ConnectionState::Disconnected(why)) => why.to_string(),
            _ => "it was detached".to_owned(),
        }
    }

    pub(super) fn state(&self) -> ConnectionState {
        self.state.borrow().clone()
    }

    /// Wakes those who wait for news without a change of the state itself.
    pub(super) fn notify_subscribers(&self) {
        self.state.send_modify(|_| {});
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<ConnectionState> {
        self.state.subscribe()
    }

    /// Returns the connection, or what a call is told instead.
    pub(super) fn connected(&self) -> Result<Arc<LiveConnection>, String> {
        let server = &self.server;
        match &*self.state.borrow() {
            ConnectionState::Connected(live) => Ok(Arc::clone(live)),
            ConnectionState::Disconnected(why) => Err(format!(
                "the MCP server `{server}` is not connected ({why}); it is being connected again, try later or do without"
            )),
            ConnectionState::Detached => Err(format!("the MCP server `{server}` was detached")),
        }
    }

    pub(super) fn record_latency(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX - 1);
        self.latency.store(micros, Ordering::Relaxed);
    }

    pub(super) fn latency(&self) -> Option<Duration> {
        match self.latency.load(Ordering::Relaxed) {
            u64::MAX => None,
            micros => Some(Duration::from_micros(micros)),
        }
    }
}
