//! The events of an answer.

use toolwright_chat::{Item, Message, ModelEvent, ModelRequest, StopReason, Usage};
use toolwright_core::ToolCall;

use crate::Decision;

/// The words of a text delta, and the bytes of an arguments delta.
const WORDS: usize = 3;
const BYTES: usize = 24;

const ID_PREFIX: &str = "demo_";

/// Returns the events of a decision. It reports no usage: the chat estimates it.
pub(crate) fn events(request: &ModelRequest, decision: Decision) -> Vec<ModelEvent> {
    let mut events = Vec::new();
    let stop = match decision {
        Decision::Answer(text) => {
            let words: Vec<&str> = text.split_inclusive(' ').collect();
            events.extend(words.chunks(WORDS).map(|words| ModelEvent::Text(words.concat())));
            events.push(ModelEvent::Item(Item::text(text)));
            StopReason::End
        }
        Decision::Call(calls) => {
            let step = next_step(&request.messages);
            for (index, (name, arguments)) in calls.into_iter().enumerate() {
                let call = ToolCall::new(name, arguments.as_str());
                let call = call.with_id(format!("{ID_PREFIX}{step}_{index}"));
                let (id, name) = (call.id.clone(), call.name.clone());
                events.push(ModelEvent::CallBegins { index, id, name });
                let mut rest = arguments;
                while !rest.is_empty() {
                    let after = rest.split_off(rest.floor_char_boundary(BYTES));
                    let delta = std::mem::replace(&mut rest, after);
                    events.push(ModelEvent::CallDelta { index, delta });
                }
                events.push(ModelEvent::Item(Item::call(call)));
            }
            StopReason::Calls
        }
    };
    events.push(ModelEvent::Finished { stop, usage: Usage::default() });
    events
}

/// Returns a number for the ids of a step's calls that no earlier step has, even one outside the window of history.
fn next_step(messages: &[Message]) -> usize {
    let mut next = 1;
    for message in messages {
        if let Message::Step(step) = message {
            let numbers = step.calls().filter_map(|call| {
                let (number, _) = call.id.as_str().strip_prefix(ID_PREFIX)?.split_once('_')?;
                number.parse::<usize>().ok()
            });
            next = numbers.max().map_or(next, |number| next.max(number)).saturating_add(1);
        }
    }
    next
}
