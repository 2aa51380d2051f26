//! Finds the tool or prompt of a call by name.

use toolwright_schema::nearest;

use crate::call::context::CallScope;
use crate::call::result::{Outcome, ToolResult};
use crate::error::ErrorKind;
use crate::registry::{IndexedItem, NameIndex, NameMatch};

/// The maximum number of names that an unknown-tool result lists.
const MAX_LISTED_NAMES: usize = 20;

/// Finds the item with a name, with a note if the name differs in letter case or punctuation; `Err` is a
/// result that lists the available names.
pub(super) fn resolve_name<'a, T: IndexedItem>(
    index: &'a NameIndex<T>,
    name: &str,
    scope: &CallScope,
) -> Result<(&'a T, Option<String>), ToolResult> {
    let is_open = |item: &T| scope.is_child || !item.registered_tool().policy().internal;
    match index.find(name) {
        NameMatch::Exact(item) if is_open(item) => Ok((item, None)),
        NameMatch::Folded(item) if is_open(item) => {
            let note = format!("{} name `{name}` read as `{}`", T::KIND_NAME, item.name());
            Ok((item, Some(note)))
        }
        _ => Err(unknown_name_result(index, name, scope)),
    }
}

#[cold]
fn unknown_name_result<T: IndexedItem>(
    index: &NameIndex<T>,
    name: &str,
    scope: &CallScope,
) -> ToolResult {
    let kind = T::KIND_NAME;
    // A model can send a text of any length as a name.
    let shown: String = name.chars().take(64).collect();
    let mut message = format!("there is no {kind} `{shown}`");
    // The message must not reveal tools that the caller may not see.
    let visible = index.iter().map(|item| (item, item.registered_tool()));
    let visible = visible.filter(|(_, tool)| tool.is_visible_to(&scope.caller));
    let visible = visible.filter(|(_, tool)| scope.is_child || !tool.policy().internal);
    let names: Vec<&str> = visible.map(|(item, _)| item.name()).collect();
    let similar = nearest(name, names.iter().copied(), 3);
    if !similar.is_empty() {
        let similar: Vec<String> = similar.iter().map(|name| format!("`{name}`")).collect();
        message.push_str(&format!("; did you mean {}?", similar.join(" or ")));
    }
    if names.is_empty() {
        message.push_str(&format!("\nno {kind}s are available"));
    } else {
        let listed: Vec<&str> = names.iter().copied().take(MAX_LISTED_NAMES).collect();
        message.push_str(&format!("\navailable {kind}s: {}", listed.join(", ")));
        let more = names.len().saturating_sub(MAX_LISTED_NAMES);
        if more > 0 {
            message.push_str(&format!(" and {more} more"));
        }
    }
    ToolResult::from_outcome(Outcome::UnknownTool, ErrorKind::Retry, message)
}
