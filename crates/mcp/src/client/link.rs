//! The way from a tool to its server, which may be broken at the moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::service::Peer;
use tokio::sync::watch;

use super::handler::Ears;

/// What the tools of one server share.
pub(super) struct Link {
    pub(super) server: Arc<str>,
    state: watch::Sender<State>,
    latency: AtomicU64,
}

/// How things stand.
#[derive(Clone)]
pub(super) enum State {
    Up(Arc<Live>),
    /// The connection is to be made again.
    Down(Arc<str>),
    Detached,
}

/// A connection that works.
pub(super) struct Live {
    pub(super) peer: Peer<RoleClient>,
    pub(super) ears: Arc<Ears>,
    pub(super) revision: String,
    /// What the server calls itself.
    pub(super) implementation: Option<String>,
}

impl Link {
    pub(super) fn new(server: Arc<str>) -> Arc<Self> {
        Arc::new(Self {
            server,
            state: watch::Sender::new(State::Down("it was never connected".into())),
            latency: AtomicU64::new(u64::MAX),
        })
    }

    pub(super) fn set(&self, state: State) {
        self.state.send_replace(state);
    }

    /// Takes note that a connection no longer works, unless there is another by now.
    pub(super) fn broke(&self, live: &Arc<Live>, why: &str) {
        self.state.send_if_modified(|state| {
            let is_this = matches!(state, State::Up(up) if Arc::ptr_eq(up, live));
            if is_this {
                *state = State::Down(why.into());
            }
            is_this
        });
    }

    /// Waits until a call has found that the connection no longer works, and tells why.
    pub(super) async fn broken(&self) -> String {
        let mut states = self.state.subscribe();
        let down = states
            .wait_for(|state| !matches!(state, State::Up(_)))
            .await;
        match down.as_deref() {
            Ok(State::Down(why)) => why.to_string(),
            _ => "it was detached".to_owned(),
        }
    }

    pub(super) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    /// Wakes those who wait for news without a change of the state itself.
    pub(super) fn touch(&self) {
        self.state.send_modify(|_| {});
    }

    pub(super) fn watch(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    /// Returns the connection, or what a call is told instead.
    pub(super) fn live(&self) -> Result<Arc<Live>, String> {
        let server = &self.server;
        match &*self.state.borrow() {
            State::Up(live) => Ok(Arc::clone(live)),
            State::Down(why) => Err(format!(
                "the MCP server `{server}` is not connected ({why}); it is being connected again, try later or do without"
            )),
            State::Detached => Err(format!("the MCP server `{server}` was detached")),
        }
    }

    pub(super) fn took(&self, time: Duration) {
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
