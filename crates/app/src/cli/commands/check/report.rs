//! Formats the results of `check`: a table, then the losses of each tool.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use toolwright_core::schema::{Dialect, Loss};

use super::dialect_result::{CheckedTool, DialectResult, LoweringVerdict};
use super::tool_sources::ToolsToCheck;

/// The output of `--json`.
pub(super) fn to_json(checked: &[CheckedTool<'_>], sources: &ToolsToCheck) -> Value {
    let tools: Vec<Value> = checked
        .iter()
        .map(|checked| {
            let dialects: Map<String, Value> = checked
                .dialect_results
                .iter()
                .map(|verdict| (verdict.dialect.name().to_owned(), json!(verdict)))
                .collect();
            json!({
                "name": checked.tool.candidate.name,
                "source": checked.tool.source,
                "notes": checked.tool.notes,
                "undescribed": undescribed_parameters(checked),
                "dialects": dialects,
            })
        })
        .collect();
    json!({"tools": tools, "refused": sources.rejected})
}

/// The output without `--json`.
pub(super) fn to_text(
    checked: &[CheckedTool<'_>],
    dialects: &[Dialect],
    sources: &ToolsToCheck,
) -> String {
    let mut out = format_table(checked, dialects);
    for checked in checked {
        out.push_str(&format_details(checked));
    }
    for refused in &sources.rejected {
        let word = if refused.is_error() { "refused" } else { "skipped" };
        let _ = writeln!(out, "\n{word}: {refused}");
    }
    out.push_str(&format_summary(checked, dialects.len(), sources));
    out
}

/// One row per tool, one column per dialect; the header has two rows, for the two parts of a dialect's name.
fn format_table(checked: &[CheckedTool<'_>], dialects: &[Dialect]) -> String {
    let mut columns: Vec<Vec<String>> = vec![
        ["", "tool"]
            .into_iter()
            .chain(checked.iter().map(|checked| checked.tool.candidate.name))
            .map(str::to_owned)
            .collect(),
    ];
    for (at, dialect) in dialects.iter().enumerate() {
        let (above, below) = dialect.name().split_once('-').unwrap_or(("", dialect.name()));
        let cells = checked
            .iter()
            .filter_map(|checked| checked.dialect_results.get(at))
            .map(DialectResult::label);
        columns.push([above.to_owned(), below.to_owned()].into_iter().chain(cells).collect());
    }
    let widths: Vec<usize> = columns
        .iter()
        .map(|column| column.iter().map(|cell| cell.chars().count()).max().unwrap_or_default())
        .collect();
    let mut out = String::new();
    for row in 0..checked.len() + 2 {
        let mut line = String::new();
        for (column, width) in columns.iter().zip(&widths) {
            let cell = column.get(row).map(String::as_str).unwrap_or_default();
            let _ = write!(line, "{cell:width$}  ");
        }
        let line = line.trim_end();
        if !line.is_empty() {
            let _ = writeln!(out, "{line}");
        }
    }
    out
}

/// The losses of a tool; dialects with the same losses are grouped.
fn format_details(checked: &CheckedTool<'_>) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for verdict in &checked.dialect_results {
        let mut details = String::new();
        if let Some(reason) = &verdict.reason {
            let _ = writeln!(details, "    impossible: {reason}");
        }
        details.push_str(&format_losses(verdict));
        for refusal in &verdict.refused {
            let _ = writeln!(details, "    would still be refused: {refusal}");
        }
        if details.is_empty() {
            continue;
        }
        match groups.iter_mut().find(|(known, _)| *known == details) {
            Some((_, dialects)) => dialects.push(verdict.dialect.name()),
            None => groups.push((details, vec![verdict.dialect.name()])),
        }
    }
    let undescribed = undescribed_parameters(checked);
    if groups.is_empty() && checked.tool.notes.is_empty() && undescribed.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{} ({})\n", checked.tool.candidate.name, checked.tool.source);
    for note in checked.tool.notes {
        let _ = writeln!(out, "  read as: {note}");
    }
    if !undescribed.is_empty() {
        let _ = writeln!(out, "  without a description: {}", undescribed.join(", "));
    }
    for (details, dialects) in groups {
        let _ = write!(out, "  {}\n{details}", dialects.join(", "));
    }
    out
}

/// More locations of the same loss are only counted.
const MAX_LOCATIONS: usize = 3;

/// Each loss with its first locations.
fn format_losses(verdict: &DialectResult<'_>) -> String {
    let mut out = String::new();
    let mut groups: Vec<(&Loss, usize)> = Vec::new();
    for loss in verdict.significant_losses() {
        let same = |other: &Loss| {
            (&other.keyword, other.severity, &other.described_as)
                == (&loss.keyword, loss.severity, &loss.described_as)
        };
        let times = match groups.iter_mut().find(|(other, _)| same(other)) {
            Some((_, times)) => {
                *times += 1;
                *times
            }
            None => {
                groups.push((loss, 1));
                1
            }
        };
        if times <= MAX_LOCATIONS {
            let _ = writeln!(out, "    {loss}");
        }
    }
    for (loss, times) in groups.iter().filter(|(_, times)| *times > MAX_LOCATIONS) {
        let more = times - MAX_LOCATIONS;
        let _ = writeln!(out, "    … {} ({}) at {more} more places", loss.keyword, loss.severity);
    }
    out
}

/// The parameters without a description.
fn undescribed_parameters<'f>(checked: &CheckedTool<'f>) -> Vec<&'f str> {
    let properties = checked.tool.candidate.input.as_value().get("properties");
    let is_described = |part: &Value| {
        // The target of a reference may have a description.
        part.get("$ref").is_some()
            || part
                .get("description")
                .and_then(Value::as_str)
                .is_some_and(|text| !text.trim().is_empty())
    };
    let properties = properties.and_then(Value::as_object).into_iter().flatten();
    properties.filter(|(_, part)| !is_described(part)).map(|(name, _)| name.as_str()).collect()
}

fn format_summary(checked: &[CheckedTool<'_>], dialects: usize, sources: &ToolsToCheck) -> String {
    let (mut lossless, mut lossy, mut impossible) = (0, 0, 0);
    for verdict in checked.iter().flat_map(|checked| &checked.dialect_results) {
        match verdict.verdict {
            LoweringVerdict::Lossless => lossless += 1,
            LoweringVerdict::Lossy => lossy += 1,
            LoweringVerdict::Impossible => impossible += 1,
        }
    }
    let mut out = format!(
        "\n{} × {}: {lossless} lossless, {lossy} lossy, {impossible} impossible",
        pluralize(checked.len(), "tool"),
        pluralize(dialects, "dialect"),
    );
    let refused = sources.rejected.iter().filter(|refused| refused.is_error());
    match refused.count() {
        0 => {}
        count => out.push_str(&format!("; {} refused", pluralize(count, "definition"))),
    }
    if lossy > 0 {
        out.push_str("\nwider: a model may send more than is valid, and such a call is refused; narrower: it cannot send all that is valid");
    }
    out.push('\n');
    out
}

fn pluralize(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
