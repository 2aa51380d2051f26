//! Prints named times and their ratios as a table.

use std::fmt;

/// Rows of times in nanoseconds, each compared with the first.
pub struct Table {
    title: String,
    rows: Vec<(String, f64)>,
    remarks: Vec<String>,
}

impl Table {
    /// Starts an empty table.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), rows: Vec::new(), remarks: Vec::new() }
    }

    /// Adds a row; the others are compared with the first one.
    #[must_use]
    pub fn row(mut self, name: impl Into<String>, ns: f64) -> Self {
        self.rows.push((name.into(), ns));
        self
    }

    /// Adds a column of remarks, in the order of the rows.
    #[must_use]
    pub fn remarks(mut self, remarks: impl IntoIterator<Item = String>) -> Self {
        self.remarks.extend(remarks);
        self
    }

    /// Divides all times by the number of parts of a row.
    #[must_use]
    pub fn divide_by(mut self, parts: usize) -> Self {
        for (_, ns) in &mut self.rows {
            *ns /= parts as f64;
        }
        self
    }

    /// Sets another title.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// The times in the order of the rows.
    pub fn times(&self) -> impl Iterator<Item = f64> {
        self.rows.iter().map(|(_, ns)| *ns)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.rows.first().map_or(1.0, |(_, ns)| *ns);
        let names = self.rows.iter().map(|(name, _)| name.chars().count());
        let width = names.max().unwrap_or_default();
        writeln!(f, "{}", self.title)?;
        for (at, (name, ns)) in self.rows.iter().enumerate() {
            let ratio = ns / first;
            write!(f, "  {name:width$}  {:>10}  {ratio:>6.2} ×", format_ns(*ns))?;
            match self.remarks.get(at) {
                Some(remark) => writeln!(f, "  {remark}")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}

fn format_ns(ns: f64) -> String {
    match ns {
        ..100.0 => format!("{ns:.1} ns"),
        ..10_000.0 => format!("{ns:.0} ns"),
        ..10_000_000.0 => format!("{:.1} µs", ns / 1e3),
        _ => format!("{:.1} ms", ns / 1e6),
    }
}
