//! A slow tool, which reports progress.

use std::time::Duration;

use toolwright::{Progress, ToolError, tool};

/// The parts of every report.
const PARTS: [&str; 4] = ["collecting figures", "checking them", "drawing charts", "writing up"];

/// Writes a short report on a topic; takes a moment and reports progress.
#[tool(read_only, title = "Write report", timeout = "30s")]
pub async fn write_report(
    /// What the report is about.
    topic: String,
    /// How long each of its four parts takes, in milliseconds; 0 to 2000.
    #[param(default = 200)]
    pace_ms: i64,
    progress: Progress,
) -> Result<String, ToolError> {
    // The schema of an unsigned number has a minimum, which not every provider can express.
    let pace = u64::try_from(pace_ms).ok().filter(|pace| *pace <= 2_000);
    let pace = pace.ok_or_else(|| ToolError::retry("pace_ms must be from 0 to 2000"))?;
    for (done, part) in PARTS.iter().enumerate() {
        progress.report(done as f64, PARTS.len() as f64, *part);
        tokio::time::sleep(Duration::from_millis(pace)).await;
    }
    progress.report(PARTS.len() as f64, PARTS.len() as f64, "done");
    Ok(format!("Report on {topic}: {} parts, nothing unusual.", PARTS.len()))
}
