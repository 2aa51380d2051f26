//! The view that a client has of a conversation, built from snapshots and events as the console builds it.

use std::collections::BTreeMap;

use serde_json::Value;

/// The turns of a conversation, as a client shows them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct View {
    turns: Vec<TurnView>,
}

#[derive(Clone, Debug, Default)]
struct TurnView {
    message: String,
    steps: Vec<StepView>,
    calls: BTreeMap<String, CallView>,
    end: Option<String>,
}

impl PartialEq for TurnView {
    fn eq(&self, other: &Self) -> bool {
        // A step without output is not shown.
        let shown = |turn: &Self| -> Vec<Vec<Part>> {
            let steps = turn.steps.iter().filter(|step| !step.parts.is_empty());
            steps.map(|step| step.parts.clone()).collect()
        };
        self.message == other.message
            && self.end == other.end
            && self.calls == other.calls
            && shown(self) == shown(other)
    }
}

#[derive(Clone, Debug, Default)]
struct StepView {
    parts: Vec<Part>,
    has_ended: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text { kind: &'static str, text: String },
    Call(String),
}

#[derive(Clone, Debug, Default, PartialEq)]
struct CallView {
    tool: String,
    arguments: Value,
    decision: Option<String>,
    result: Option<Value>,
}

impl TurnView {
    /// The step that is being streamed; begins one if the last has ended.
    fn open_step(&mut self) -> &mut StepView {
        if self.steps.last().is_none_or(|step| step.has_ended) {
            self.steps.push(StepView::default());
        }
        self.steps.last_mut().unwrap()
    }

    fn append_delta(&mut self, kind: &'static str, delta: &str) {
        let parts = &mut self.open_step().parts;
        match parts.last_mut() {
            Some(Part::Text { kind: last, text }) if *last == kind => text.push_str(delta),
            _ => parts.push(Part::Text { kind, text: delta.to_owned() }),
        }
    }

    fn call(&mut self, id: &Value) -> &mut CallView {
        self.calls.entry(id.as_str().unwrap().to_owned()).or_default()
    }

    /// Adds a call to the step that is being streamed, unless a step has it.
    fn ensure_part(&mut self, id: &Value) {
        let part = Part::Call(id.as_str().unwrap().to_owned());
        if !self.steps.iter().any(|step| step.parts.contains(&part)) {
            self.open_step().parts.push(part);
        }
    }

    fn add_call(&mut self, call: &Value) {
        self.ensure_part(&call["id"]);
        let view = self.call(&call["id"]);
        view.tool = call["name"].as_str().unwrap().to_owned();
        view.arguments = call["arguments"].clone();
    }

    fn apply_step(&mut self, step: &Value) {
        for item in step["items"].as_array().unwrap() {
            if item.get("call").is_some() {
                self.add_call(&item["call"]);
            } else if let (Some(kind), Some(text)) =
                (text_kind(&item["type"]), item["text"].as_str())
                && !text.is_empty()
            {
                self.append_delta(kind, text);
            }
        }
        self.open_step().has_ended = true;
    }
}

fn text_kind(kind: &Value) -> Option<&'static str> {
    match kind.as_str()? {
        "text" => Some("text"),
        "reasoning" => Some("reasoning"),
        _ => None,
    }
}

/// The text of a message.
fn message_text(content: &Value) -> String {
    let items = content.as_array().into_iter().flatten();
    items.filter_map(|item| item["text"].as_str()).collect()
}

impl View {
    /// The view of a journal.
    pub(crate) fn from_entries(entries: &[Value]) -> Self {
        let mut view = Self::default();
        entries.iter().for_each(|entry| view.apply_entry(&entry["what"]));
        view
    }

    /// The view of a snapshot, without the events that follow it.
    pub(crate) fn from_snapshot(snapshot: &Value) -> Self {
        let entries = snapshot["entries"].as_array();
        let mut view = Self::from_entries(entries.map(Vec::as_slice).unwrap_or_default());
        for approval in snapshot["pending"].as_array().into_iter().flatten() {
            if let Some(turn) = view.turns.last_mut() {
                turn.add_call(&approval["call"]);
            }
        }
        for kind in ["reasoning", "text"] {
            if let Some(text) = snapshot["partial"][kind].as_str().filter(|it| !it.is_empty()) {
                view.current_turn().append_delta(kind, text);
            }
        }
        view
    }

    fn current_turn(&mut self) -> &mut TurnView {
        if self.turns.is_empty() {
            self.turns.push(TurnView::default());
        }
        self.turns.last_mut().unwrap()
    }

    fn begin_turn(&mut self, content: &Value) {
        self.turns.push(TurnView { message: message_text(content), ..TurnView::default() });
    }

    /// The turn of a call: the last one, or the one before if the call has no result there.
    fn turn_of_call(&mut self, id: &Value) -> &mut TurnView {
        let id = id.as_str().unwrap();
        let count = self.turns.len();
        let has_call = |at: Option<usize>| at.and_then(|at| self.turns[at].calls.get(id));
        let is_in_last = has_call(count.checked_sub(1)).is_some();
        let is_before = has_call(count.checked_sub(2)).is_some_and(|call| call.result.is_none());
        match !is_in_last && is_before {
            true => &mut self.turns[count - 2],
            false => self.current_turn(),
        }
    }

    fn apply_entry(&mut self, entry: &Value) {
        let (kind, body) = entry.as_object().unwrap().iter().next().unwrap();
        match kind.as_str() {
            "user" => self.begin_turn(&body["content"]),
            "step" => self.current_turn().apply_step(&body["step"]),
            "decided" => self.decide(&body["call"], &body["verdict"]["verdict"]),
            "finished" => self.finish_call(&body["result"]),
            "ended" => self.current_turn().end = body["end"]["end"].as_str().map(str::to_owned),
            _ => {}
        }
    }

    fn decide(&mut self, call: &Value, verdict: &Value) {
        self.turn_of_call(call).call(call).decision = verdict.as_str().map(str::to_owned);
    }

    fn finish_call(&mut self, result: &Value) {
        let call = &result["callId"];
        self.turn_of_call(call).call(call).result = Some(result.clone());
    }

    /// Applies an event of a stream.
    pub(crate) fn apply_event(&mut self, event: &Value) {
        match event["type"].as_str().unwrap() {
            "snapshot" => *self = Self::from_snapshot(event),
            "said" => self.begin_turn(&event["content"]),
            "text" => self.current_turn().append_delta("text", event["delta"].as_str().unwrap()),
            "reasoning" => {
                self.current_turn().append_delta("reasoning", event["delta"].as_str().unwrap());
            }
            "call_begins" => {
                let turn = self.current_turn();
                turn.call(&event["call"]).tool = event["tool"].as_str().unwrap().to_owned();
                turn.ensure_part(&event["call"]);
            }
            "call" => self.current_turn().add_call(&event["call"]),
            "step" => self.current_turn().open_step().has_ended = true,
            "decided" => self.decide(&event["call"], &event["verdict"]),
            "result" => self.finish_call(&event["result"]),
            "ended" => self.current_turn().end = event["end"].as_str().map(str::to_owned),
            _ => {}
        }
    }

    /// Returns the first turn that differs, as text; `None` if the views are equal.
    pub(crate) fn difference(&self, expected: &Self) -> Option<String> {
        let count = self.turns.len().max(expected.turns.len());
        let at = (0..count).find(|at| self.turns.get(*at) != expected.turns.get(*at))?;
        let (found, expected) = (self.turns.get(at), expected.turns.get(at));
        Some(format!("turn {at} of {count}:\n{found:#?}\nin place of\n{expected:#?}"))
    }
}
