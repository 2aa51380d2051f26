//! Rows in, a table in Markdown out.

use std::time::Duration;

use crate::{comparison::Measurement, servers::Transport, workload::Workload};

/// Writes one table; ratios are of rates, to the first row and to the fastest of rmcp's.
pub fn format_table(way: Transport, load: &Workload, rows: &[Measurement]) -> String {
    let floor = rows.first().map_or(1.0, |row| row.rate);
    let rmcp = rows.iter().filter(|row| row.name.starts_with("rmcp"));
    let rmcp = rmcp.map(|row| row.rate).fold(0.0, f64::max);
    let (name, title, at_once) = (way.name(), load.title, load.concurrency);
    let mut text = format!(
        "**{title}, {name}, {at_once} at once**\n\n\
         | server | revision | per second | × floor | × rmcp | p50 | p99 | CPU each | memory | first answer |\n\
         |---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n"
    );
    for row in rows {
        let revision = match row.name {
            "floor" => "–",
            _ => row.generation.revision(),
        };
        text += &format!(
            "| {} | {revision} | {:.*} | {:.2} | {:.2} | {} | {} | {} | {:.1} MB | {} |\n",
            row.name,
            usize::from(row.rate < 100.0),
            row.rate,
            row.rate / floor,
            row.rate / rmcp,
            format_duration(row.median),
            format_duration(row.p99),
            format_duration(row.cpu_time_per_request),
            row.memory as f64 / 1e6,
            format_duration(row.first_answer),
        );
    }
    text
}

fn format_duration(time: Duration) -> String {
    match time.as_secs_f64() * 1e6 {
        us @ ..1000.0 => format!("{us:.0} µs"),
        us @ ..10_000.0 => format!("{:.1} ms", us / 1e3),
        us => format!("{:.0} ms", us / 1e3),
    }
}
