//! The connection that all tools of one server share, and its state.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::watch;

use crate::client::catalogue::remote_call::ongoing::ParkedCalls;
use crate::client::connection::RemotePeer;

pub(crate) struct SharedConnection {
    pub(crate) server: Arc<str>,
    state: watch::Sender<ConnectionState>,
    /// Of the last response, in microseconds; `u64::MAX` before the first.
    latency: AtomicU64,
    /// The calls that wait for the next run of their turns.
    pub(crate) parked: ParkedCalls,
}

#[derive(Clone)]
pub(crate) enum ConnectionState {
    Connected(Arc<RemotePeer>),
    /// With the reason; a new connection is being made.
    Disconnected(Arc<str>),
    Detached,
}

impl SharedConnection {
    pub(crate) fn new(server: Arc<str>) -> Arc<Self> {
        Arc::new(Self {
            server,
            state: watch::Sender::new(ConnectionState::Disconnected(
                "it was never connected".into(),
            )),
            latency: AtomicU64::new(u64::MAX),
            parked: ParkedCalls::default(),
        })
    }

    pub(crate) fn set(&self, state: ConnectionState) {
        if matches!(state, ConnectionState::Detached) {
            self.parked.clear();
        }
        self.state.send_replace(state);
    }

    /// Sets the state to disconnected, unless there is a newer connection.
    pub(crate) fn mark_broken(&self, remote: &Arc<RemotePeer>, reason: &str) {
        self.state.send_if_modified(|state| {
            let is_current =
                matches!(state, ConnectionState::Connected(current) if Arc::ptr_eq(current, remote));
            if is_current {
                *state = ConnectionState::Disconnected(reason.into());
            }
            is_current
        });
    }

    /// Waits until a call has marked the connection as broken, and returns the reason.
    pub(crate) async fn wait_broken(&self) -> String {
        let mut states = self.state.subscribe();
        let state = states.wait_for(|state| !matches!(state, ConnectionState::Connected(_))).await;
        match state.as_deref() {
            Ok(ConnectionState::Disconnected(reason)) => reason.to_string(),
            _ => "it was detached".to_owned(),
        }
    }

    pub(crate) fn state(&self) -> ConnectionState {
        self.state.borrow().clone()
    }

    /// Wakes the subscribers without a change of the state.
    pub(crate) fn notify_subscribers(&self) {
        self.state.send_modify(|_| {});
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<ConnectionState> {
        self.state.subscribe()
    }

    /// Returns the connected server, or the error message for a call.
    pub(crate) fn connected(&self) -> Result<Arc<RemotePeer>, String> {
        let server = &self.server;
        match &*self.state.borrow() {
            ConnectionState::Connected(remote) => Ok(Arc::clone(remote)),
            ConnectionState::Disconnected(reason) => Err(format!(
                "the MCP server `{server}` is not connected ({reason}); it is being connected again, try later or do without"
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
