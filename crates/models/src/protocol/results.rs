//! Finds the results of an earlier step's calls: every API rejects a call without its result, and most a result without its call.

use toolwright_chat::Message;
use toolwright_core::{CallId, ToolResult};

/// The results between the step at `index` and the next one.
pub(crate) fn results_of_step(messages: &[Message], index: usize) -> Vec<&ToolResult> {
    let later = messages.iter().skip(index.saturating_add(1));
    let until_next_step = later.take_while(|message| !matches!(message, Message::Step(_)));
    let results = until_next_step.filter_map(|message| match message {
        Message::Results(results) => Some(results),
        _ => None,
    });
    results.flatten().collect()
}

/// Removes and returns the result of a call, so that a second call with the same id does not get it again.
pub(crate) fn take_result<'a>(
    results: &mut Vec<&'a ToolResult>,
    call_id: &CallId,
) -> Option<&'a ToolResult> {
    let index = results.iter().position(|result| result.call_id == *call_id)?;
    Some(results.remove(index))
}
