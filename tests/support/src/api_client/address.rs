//! The address that clients send their requests to, which changes or is away while no server runs.

use std::net::SocketAddr;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// The address of the server that runs now, for the clients.
#[derive(Default)]
pub struct CurrentAddress(Mutex<State>, Condvar);

#[derive(Clone, Copy, Default)]
struct State {
    address: Option<SocketAddr>,
    /// True if no other server follows for these clients.
    is_last: bool,
}

impl CurrentAddress {
    /// Sets the address; `None` while no server runs.
    pub fn set(&self, address: Option<SocketAddr>) {
        self.0.lock().unwrap().address = address;
        self.1.notify_all();
    }

    /// Ends the waiting of clients that are left.
    pub fn end(&self) {
        *self.0.lock().unwrap() = State { address: None, is_last: true };
        self.1.notify_all();
    }

    /// Waits for a server; `None` if no other one follows.
    pub fn wait(&self) -> Option<SocketAddr> {
        let state = self.0.lock().unwrap();
        let is_down = |state: &mut State| state.address.is_none() && !state.is_last;
        self.1.wait_while(state, is_down).unwrap().address
    }

    /// Waits before the next poll, shorter if the server changes.
    pub fn pause(&self, interval: Duration) {
        let state = self.0.lock().unwrap();
        drop(self.1.wait_timeout(state, interval).unwrap());
    }
}
