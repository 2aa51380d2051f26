//! How far a long check is, for whoever waits at a terminal.

use std::io::{IsTerminal as _, Write as _, stderr};

/// Fewer tools are checked before anybody looks.
const MANY: usize = 200;

pub(super) struct Progress {
    done: usize,
    all: usize,
    shown: bool,
}

impl Progress {
    pub(super) fn new(all: usize) -> Self {
        Self {
            done: 0,
            all,
            shown: all > MANY && stderr().is_terminal(),
        }
    }

    pub(super) fn step(&mut self) {
        self.done += 1;
        if self.shown && self.done.is_multiple_of(50) {
            let mut out = stderr().lock();
            // A terminal that is gone misses nothing.
            let _ = write!(out, "\rchecked {} of {} tools", self.done, self.all)
                .and_then(|()| out.flush());
        }
    }

    pub(super) fn end(self) {
        if self.shown {
            eprint!("\r\x1b[K");
        }
    }
}
