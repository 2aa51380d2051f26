//! A name in, a tool or prompt out; or a result that says which names there are.

use toolwright_schema::nearest;

use crate::call::context::Caller;
use crate::call::result::{Outcome, ToolResult};
use crate::error::ErrorKind;
use crate::registry::{IndexedItem, NameIndex, NameMatch};

/// How many names an unknown-tool result lists.
const MAX_LISTED_NAMES: usize = 20;

/// Finds what a name means, with a note where it had to be read generously.
pub(super) fn resolve_name<'a, T: IndexedItem>(
    shelf: &'a NameIndex<T>,
    name: &str,
    caller: &Caller,
) -> Result<(&'a T, Option<String>), ToolResult> {
    match shelf.find(name) {
        NameMatch::Exact(it) => Ok((it, None)),
        NameMatch::Folded(it) => {
            let note = format!("{} name `{name}` read as `{}`", T::KIND_NAME, it.name());
            Ok((it, Some(note)))
        }
        NameMatch::NotFound => Err(unknown_name_result(shelf, name, caller)),
    }
}

#[cold]
fn unknown_name_result<T: IndexedItem>(
    shelf: &NameIndex<T>,
    name: &str,
    caller: &Caller,
) -> ToolResult {
    let word = T::KIND_NAME;
    // A model can send any text as a name: what is echoed is bounded.
    let shown: String = name.chars().take(64).collect();
    let mut message = format!("there is no {word} `{shown}`");
    // What the caller may not see is not told by the way.
    let shown_to = shelf
        .iter()
        .filter(|it| it.registered_tool().is_visible_to(caller));
    let names: Vec<&str> = shown_to.map(T::name).collect();
    let near = nearest(name, names.iter().copied(), 3);
    if !near.is_empty() {
        let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
        message.push_str(&format!("; did you mean {}?", near.join(" or ")));
    }
    if names.is_empty() {
        message.push_str(&format!("\nno {word}s are available"));
    } else {
        let listed: Vec<&str> = names.iter().copied().take(MAX_LISTED_NAMES).collect();
        message.push_str(&format!("\navailable {word}s: {}", listed.join(", ")));
        let more = names.len().saturating_sub(MAX_LISTED_NAMES);
        if more > 0 {
            message.push_str(&format!(" and {more} more"));
        }
    }
    ToolResult::from_outcome(Outcome::UnknownTool, ErrorKind::Retry, message)
}
