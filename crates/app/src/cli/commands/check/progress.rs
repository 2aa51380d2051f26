//! The progress line of a long check, on a terminal.

use std::io::{IsTerminal as _, Write as _, stderr};

/// No progress line for fewer tools: they are checked in an instant.
const MIN_TOOLS_TO_SHOW: usize = 200;

pub(super) struct Progress {
    checked: usize,
    total: usize,
    is_enabled: bool,
}

impl Progress {
    pub(super) fn new(total: usize) -> Self {
        Self { checked: 0, total, is_enabled: total > MIN_TOOLS_TO_SHOW && stderr().is_terminal() }
    }

    pub(super) fn increment(&mut self) {
        self.checked += 1;
        if self.is_enabled && self.checked.is_multiple_of(50) {
            let mut out = stderr().lock();
            // A closed terminal is not an error.
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
