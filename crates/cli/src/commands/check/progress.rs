//! How far a long check is, for whoever waits at a terminal.

use std::io::{IsTerminal as _, Write as _, stderr};

/// Fewer tools are checked before anybody looks.
const MIN_TOOLS_TO_SHOW: usize = 200;

pub(super) struct Progress {
    checked: usize,
    total: usize,
    is_enabled: bool,
}

impl Progress {
    pub(super) fn new(all: usize) -> Self {
        Self {
            checked: 0,
            total: all,
            is_enabled: all > MIN_TOOLS_TO_SHOW && stderr().is_terminal(),
        }
    }

    pub(super) fn increment(&mut self) {
        self.checked += 1;
        if self.is_enabled && self.checked.is_multiple_of(50) {
            let mut out = stderr().lock();
            // A terminal that is gone misses nothing.
            let _ = write!(out, "\rchecked {} of {} tools", self.checked, self.total)
                .and_then(|()| out.flush());
        }
    }

    pub(super) fn clear_line(self) {
        if self.is_enabled {
            eprint!("\r\x1b[K");
        }
    }
}
