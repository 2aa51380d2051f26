//! Named times in, a printed table of times and ratios out.

use std::fmt;

/// Rows of times in nanoseconds, each compared with the first.
pub struct Table {
    title: String,
    rows: Vec<(String, f64)>,
}

impl Table {
    /// Starts an empty table.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; the first one is what the others are compared with.
    #[must_use]
    pub fn row(mut self, name: impl Into<String>, ns: f64) -> Self {
        self.rows.push((name.into(), ns));
        self
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.rows.first().map_or(1.0, |(_, ns)| *ns);
        let names = self.rows.iter().map(|(name, _)| name.chars().count());
        let width = names.max().unwrap_or_default();
        writeln!(f, "{}", self.title)?;
        for (name, ns) in &self.rows {
            let ratio = ns / first;
            writeln!(f, "  {name:width$}  {:>10}  {ratio:>6.2} ×", readable(*ns))?;
        }
        Ok(())
    }
}

fn readable(ns: f64) -> String {
    match ns {
        ..100.0 => format!("{ns:.1} ns"),
        ..10_000.0 => format!("{ns:.0} ns"),
        ..10_000_000.0 => format!("{:.1} µs", ns / 1e3),
        _ => format!("{:.1} ms", ns / 1e6),
    }
}
