//! A journal as the server exports it.

use serde_json::Value;

/// A turn: a message, and the entries up to the next one.
pub(crate) struct Turn {
    /// The text of the message: `TOOL ORDER`.
    pub(crate) message: String,
    pub(crate) entries: Vec<Value>,
}

impl Turn {
    /// The body of the entries of one kind.
    pub(crate) fn entries_of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> + 'a {
        self.entries.iter().filter_map(move |entry| entry["what"].get(kind))
    }

    pub(crate) fn tool(&self) -> &str {
        self.message.split(' ').next().unwrap()
    }

    /// Why it ended; `None` if it has not.
    pub(crate) fn end(&self) -> Option<&str> {
        self.entries_of("ended").next().map(|ended| ended["end"]["end"].as_str().unwrap())
    }

    /// The text of its last step.
    pub(crate) fn answer(&self) -> String {
        let step = self.entries_of("step").last();
        step.map(|step| text_of(&step["step"])).unwrap_or_default()
    }
}

/// All strings of a value under `text`, joined.
fn text_of(value: &Value) -> String {
    match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| match value {
                Value::String(text) if name == "text" => text.clone(),
                value => text_of(value),
            })
            .collect(),
        Value::Array(items) => items.iter().map(text_of).collect(),
        _ => String::new(),
    }
}

pub(crate) struct Journal {
    pub(crate) entries: Vec<Value>,
    pub(crate) turns: Vec<Turn>,
}

impl Journal {
    pub(crate) fn parse(exported: &str) -> Self {
        let lines = exported.lines().skip(1);
        let entries: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut turns: Vec<Turn> = Vec::new();
        for entry in &entries {
            if let Some(message) = entry["what"].get("user") {
                turns.push(Turn { message: text_of(message), entries: Vec::new() });
            }
            let turn = turns.last_mut().expect("a journal begins with a message");
            turn.entries.push(entry.clone());
        }
        Self { entries, turns }
    }

    /// The number of entries whose time is at least half an hour away from that of the entry before.
    pub(crate) fn clock_jumps(&self) -> usize {
        let times: Vec<u64> = self.entries.iter().map(|it| it["at"].as_u64().unwrap()).collect();
        times.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) > 1_800_000).count()
    }

    pub(crate) fn turn_of(&self, message: &str) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.message == message)
    }

    pub(crate) fn open_turn(&self) -> Option<&Turn> {
        self.turns.last().filter(|turn| turn.end().is_none())
    }
}
