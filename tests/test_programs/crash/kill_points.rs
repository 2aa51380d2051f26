//! The points where the program may be killed.

use std::fmt;
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

/// The stage of a turn, as far as it matters for the outcome after a kill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stage {
    /// No call has started.
    Before,
    During,
    After,
    Waiting,
    Answering,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Before => "before start",
            Self::During => "during the call",
            Self::After => "after the call",
            Self::Waiting => "waiting for approval",
            Self::Answering => "during the final answer",
        })
    }
}

/// Prints each point, and blocks at the selected one.
#[derive(Clone)]
pub(crate) struct KillPoints(Arc<Mutex<Option<(String, usize)>>>);

impl KillPoints {
    /// Parses the selected point: `STAGE:N`, or `-` for none.
    pub(crate) fn new(hold: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let hold = match hold.rsplit_once(':') {
            Some((stage, number)) => Some((stage.to_owned(), number.parse()?)),
            None => None,
        };
        Ok(Self(Arc::new(Mutex::new(hold))))
    }

    /// Prints the point that the program has reached.
    pub(crate) fn reach(&self, stage: Stage, what: &str) {
        // The lock is held, so that all other tasks block too.
        let mut hold = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        print_line(&format!("{stage}: {what}"));
        let Some((wanted, left)) = &mut *hold else {
            return;
        };
        if *wanted != stage.to_string() {
            return;
        }
        *left = left.saturating_sub(1);
        if *left == 0 {
            print_line("held");
            loop {
                std::thread::park();
            }
        }
    }
}

/// Writes a line and flushes it.
pub(crate) fn print_line(line: &str) {
    let mut out = std::io::stdout().lock();
    // If the pipe is closed, the parent is about to kill this process.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
