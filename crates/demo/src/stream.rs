//! A decision in, the events of an answer out.

use toolwright_chat::{Item, Message, ModelEvent, ModelRequest, Stop, Usage};
use toolwright_core::ToolCall;

use crate::Decision;

/// How many bytes a token has, about.
const TOKEN: usize = 4;

/// How many words a piece of text has, and how many bytes a piece of arguments.
const WORDS: usize = 3;
const BYTES: usize = 24;

const ID: &str = "demo_";

/// Tells a decision as a model would.
pub(crate) fn events(request: &ModelRequest, decision: Decision, tools: usize) -> Vec<ModelEvent> {
    let mut events = Vec::new();
    let mut written = 0;
    let stop = match decision {
        Decision::Answer(text) => {
            written += text.len();
            events.extend(pieces(&text).map(ModelEvent::Text));
            events.push(ModelEvent::Item(Item::text(text)));
            Stop::End
        }
        Decision::Call(calls) => {
            let step = next_step(&request.messages);
            for (index, (name, arguments)) in calls.into_iter().enumerate() {
                written += name.len() + arguments.len();
                let call = ToolCall::new(name, arguments).with_id(format!("{ID}{step}_{index}"));
                let (id, name) = (call.id.clone(), call.name.clone());
                events.push(ModelEvent::CallStarted { index, id, name });
                let text = call.arguments.as_str();
                let mut rest = text;
                while let Some((delta, after)) =
                    rest.split_at_checked(rest.floor_char_boundary(BYTES))
                {
                    if delta.is_empty() {
                        break;
                    }
                    let delta = delta.to_owned();
                    events.push(ModelEvent::CallDelta { index, delta });
                    rest = after;
                }
                events.push(ModelEvent::Item(Item::call(call)));
            }
            Stop::Calls
        }
    };
    let mut usage = Usage::new(tokens(read(request) + tools), tokens(written));
    usage.estimated = true;
    events.push(ModelEvent::Finished { stop, usage });
    events
}

/// Cuts a text behind every few words.
fn pieces(text: &str) -> impl Iterator<Item = String> {
    let words: Vec<&str> = text.split_inclusive(' ').collect();
    let pieces: Vec<String> = words.chunks(WORDS).map(<[&str]>::concat).collect();
    pieces.into_iter()
}

/// Numbers a step so that its ids differ from all before, even from those of messages that are told no more.
fn next_step(messages: &[Message]) -> usize {
    let steps = messages.iter().filter_map(|message| match message {
        Message::Step(step) => Some(step),
        _ => None,
    });
    let numbers = steps
        .clone()
        .flat_map(|step| step.calls())
        .filter_map(|call| {
            let (number, _) = call.id.as_str().strip_prefix(ID)?.split_once('_')?;
            number.parse::<usize>().ok()
        });
    let highest = numbers.max().unwrap_or_default();
    highest.max(steps.count()).saturating_add(1)
}

fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(TOKEN) as u64
}

/// How many bytes a request asks to be read, its tools aside.
fn read(request: &ModelRequest) -> usize {
    let said = request.messages.iter().map(|message| match message {
        Message::User(contents) | Message::Assistant(contents) => {
            contents.iter().map(|it| it.len()).sum()
        }
        Message::Step(step) => {
            let calls = step
                .calls()
                .map(|call| call.name.as_str().len() + call.arguments.as_str().len());
            step.text().len() + calls.sum::<usize>()
        }
        Message::Results(results) => {
            let contents = results.iter().flat_map(|result| &result.content);
            contents.map(|content| content.len()).sum()
        }
        _ => 0,
    });
    said.sum::<usize>() + request.system.as_ref().map_or(0, String::len)
}
