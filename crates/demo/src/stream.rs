//! The events of an answer.

use toolwright_chat::{Item, Message, ModelEvent, ModelRequest, StopReason, Usage};
use toolwright_core::{Content, ToolCall};

use crate::Decision;

/// The bytes of a token, about.
const TOKEN: usize = 4;

/// The words of a text delta, and the bytes of an arguments delta.
const WORDS: usize = 3;
const BYTES: usize = 24;

const ID_PREFIX: &str = "demo_";

/// Returns the events of a decision; `tool_bytes` is the size of the tools in the request.
pub(crate) fn events(
    request: &ModelRequest,
    decision: Decision,
    tool_bytes: usize,
) -> Vec<ModelEvent> {
    let mut events = Vec::new();
    let mut output_bytes = 0;
    let stop = match decision {
        Decision::Answer(text) => {
            output_bytes += text.len();
            let words: Vec<&str> = text.split_inclusive(' ').collect();
            events.extend(words.chunks(WORDS).map(|words| ModelEvent::Text(words.concat())));
            events.push(ModelEvent::Item(Item::text(text)));
            StopReason::End
        }
        Decision::Call(calls) => {
            let step = next_step(&request.messages);
            for (index, (name, arguments)) in calls.into_iter().enumerate() {
                output_bytes += name.len() + arguments.len();
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
    let tokens = |bytes: usize| bytes.div_ceil(TOKEN) as u64;
    let mut usage = Usage::new(tokens(input_bytes(request) + tool_bytes), tokens(output_bytes));
    usage.estimated = true;
    events.push(ModelEvent::Finished { stop, usage });
    events
}

/// The size of the system prompt and the messages of a request, in bytes.
fn input_bytes(request: &ModelRequest) -> usize {
    let messages = request.messages.iter().map(|message| match message {
        Message::User(content) | Message::Assistant(content) => {
            content.iter().map(Content::len).sum()
        }
        Message::Step(step) => {
            let calls =
                step.calls().map(|call| call.name.as_str().len() + call.arguments.as_str().len());
            step.text().len() + calls.sum::<usize>()
        }
        Message::Results(results) => {
            let content = results.iter().flat_map(|result| &result.content);
            content.map(Content::len).sum()
        }
        _ => 0,
    });
    messages.sum::<usize>() + request.system.as_ref().map_or(0, String::len)
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
