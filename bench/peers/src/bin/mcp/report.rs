//! Rows in, a table in Markdown out.

use std::time::Duration;

use crate::{contender::Way, load::Load, race::Row};

/// Writes one table; ratios are of rates, to the first row and to the fastest of rmcp's.
pub fn table(way: Way, load: &Load, rows: &[Row]) -> String {
    let floor = rows.first().map_or(1.0, |row| row.rate);
    let rmcp = rows.iter().filter(|row| row.name.starts_with("rmcp"));
    let rmcp = rmcp.map(|row| row.rate).fold(0.0, f64::max);
    let (name, title, at_once) = (way.name(), load.title, load.at_once);
    let mut text = format!(
        "**{title}, {name}, {at_once} at once**\n\n\
         | server | revision | per second | × floor | × rmcp | p50 | p99 | CPU each | memory | first answer |\n\
         |---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n"
    );
    for row in rows {
        let revision = match row.name {
            "floor" => "–",
            _ => row.era.revision(),
        };
        text += &format!(
            "| {} | {revision} | {:.*} | {:.2} | {:.2} | {} | {} | {} | {:.1} MB | {} |\n",
            row.name,
            usize::from(row.rate < 100.0),
            row.rate,
            row.rate / floor,
            row.rate / rmcp,
            readable(row.median),
            readable(row.slowest_of_a_hundred),
            readable(row.busy),
            row.memory as f64 / 1e6,
            readable(row.first_answer),
        );
    }
    text
}

fn readable(time: Duration) -> String {
    match time.as_secs_f64() * 1e6 {
        us @ ..1000.0 => format!("{us:.0} µs"),
        us @ ..10_000.0 => format!("{:.1} ms", us / 1e3),
        us => format!("{:.0} ms", us / 1e3),
    }
}
