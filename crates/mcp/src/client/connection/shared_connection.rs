//! The way from a tool to its server, which may be broken at the moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::service::Peer;
use tokio::sync::watch;

use crate::client::connection::handler::HandlerState;

/// What the tools of one server share.
pub(crate) struct SharedConnection {
    pub(crate) server: Arc<str>,
    state: watch::Sender<ConnectionState>,
    latency: AtomicU64,
}

/// How things stand.
#[derive(Clone)]
pub(crate) enum ConnectionState {
    Connected(Arc<LiveConnection>),
    /// The connection is to be made again.
    Disconnected(Arc<str>),
    Detached,
}

/// A connection that works.
pub(crate) struct LiveConnection {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) handler_state: Arc<HandlerState>,
    pub(crate) revision: String,
    /// What the server calls itself.
    pub(crate) implementation: Option<String>,
}

impl SharedConnection {
    pub(crate) fn new(server: Arc<str>) -> Arc<Self> {
        Arc::new(Self {
            server,
            state: watch::Sender::new(ConnectionState::Disconnected(
                "it was never connected".into(),
            )),
            latency: AtomicU64::new(u64::MAX),
        })
    }

    pub(crate) fn set(&self, state: ConnectionState) {
        self.state.send_replace(state);
    }

    /// Takes note that a connection no longer works, unless there is another by now.
    pub(crate) fn mark_broken(&self, live: &Arc<LiveConnection>, why: &str) {
        self.state.send_if_modified(|state| {
            let is_this = matches!(state, ConnectionState::Connected(up) if Arc::ptr_eq(up, live));
            if is_this {
                *state = ConnectionState::Disconnected(why.into());
            }
            is_this
        });
    }

    /// Waits until a call has found that the connection no longer works, and tells why.
    pub(crate) async fn wait_broken(&self) -> String {
        let mut states = self.state.subscribe();
        let down = states
            .wait_for(|state| !matches!(state, ConnectionState::Connected(_)))
            .await;
        match down.as_deref() {
            Ok(ConnectionState::Disconnected(why)) => why.to_string(),
            _ => "it was detached".to_owned(),
        }
    }

    pub(crate) fn state(&self) -> ConnectionState {
        self.state.borrow().clone()
    }

    /// Wakes those who wait for news without a change of the state itself.
    pub(crate) fn notify_subscribers(&self) {
        self.state.send_modify(|_| {});
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<ConnectionState> {
        self.state.subscribe()
    }

    /// Returns the connection, or what a call is told instead.
    pub(crate) fn connected(&self) -> Result<Arc<LiveConnection>, String> {
        let server = &self.server;
        match &*self.state.borrow() {
            ConnectionState::Connected(live) => Ok(Arc::clone(live)),
            ConnectionState::Disconnected(why) => Err(format!(
                "the MCP server `{server}` is not connected ({why}); it is being connected again, try later or do without"
            )),
            ConnectionState::Detached => Err(format!("the MCP server `{server}` was detached")),
        }
    }

    pub(crate) fn record_latency(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX - 1);
        self.latency.store(micros, Ordering::Relaxed);
    }

    pub(crate) fn latency(&self) -> Option<Duration> {
        match self.latency.load(Ordering::Relaxed) {
            u64::MAX => None,
            micros => Some(Duration::from_micros(micros)),
        }
    }
}
