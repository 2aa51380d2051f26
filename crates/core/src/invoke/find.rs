//! A name in, a tool out; or a result that says which names there are.

use toolwright_schema::nearest;

use crate::context::Caller;
use crate::error::ErrorKind;
use crate::registry::{Entry, Found, Snapshot};
use crate::result::{Outcome, ToolResult};

/// How many names an unknown-tool result lists.
const LISTED: usize = 20;

/// Finds the tool that a call means, with a note where the name had to be read generously.
pub(super) fn find<'a>(
    snapshot: &'a Snapshot,
    name: &str,
    caller: &Caller,
) -> Result<(&'a Entry, Option<String>), ToolResult> {
    match snapshot.find(name) {
        Found::Exactly(entry) => Ok((entry, None)),
        Found::Alike(entry) => {
            let note = format!("tool name `{name}` read as `{}`", entry.spec().name);
            Ok((entry, Some(note)))
        }
        Found::Not => Err(unknown(snapshot, name, caller)),
    }
}

#[cold]
fn unknown(snapshot: &Snapshot, name: &str, caller: &Caller) -> ToolResult {
    // A model can send any text as a name: what is echoed is bounded.
    let shown: String = name.chars().take(64).collect();
    let mut message = format!("there is no tool `{shown}`");
    // What the caller may not see is not told by the way.
    let shown_to = snapshot.iter().filter(|entry| entry.shows_to(caller));
    let names: Vec<&str> = shown_to.map(|entry| entry.spec().name.as_str()).collect();
    let near = nearest(name, names.iter().copied(), 3);
    if !near.is_empty() {
        let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
        message.push_str(&format!("; did you mean {}?", near.join(" or ")));
    }
    if names.is_empty() {
        message.push_str("\nno tools are available");
    } else {
        let listed: Vec<&str> = names.iter().copied().take(LISTED).collect();
        message.push_str(&format!("\navailable tools: {}", listed.join(", ")));
        let more = names.len().saturating_sub(LISTED);
        if more > 0 {
            message.push_str(&format!(" and {more} more"));
        }
    }
    ToolResult::refused(Outcome::UnknownTool, ErrorKind::Retry, message)
}
