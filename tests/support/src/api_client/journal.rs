//! A journal as the server exports it.

use serde_json::Value;

/// A turn: a message, and the entries up to the next one.
pub struct Turn {
    /// The text of the message: `TOOL ORDER`.
    pub message: String,
    /// All entries, the message included.
    pub entries: Vec<Value>,
}

impl Turn {
    /// The body of the entries of one kind.
    pub fn entries_of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> + 'a {
        self.entries.iter().filter_map(move |entry| entry["what"].get(kind))
    }

    /// The tool that the message names.
    pub fn tool(&self) -> &str {
        self.message.split(' ').next().unwrap()
    }

    /// Why it ended; `None` if it has not.
    pub fn end(&self) -> Option<&str> {
        self.entries_of("ended").next().map(|ended| ended["end"]["end"].as_str().unwrap())
    }

    /// The text of its last step.
    pub fn answer(&self) -> String {
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

/// The entries of a conversation, in order.
pub struct Journal {
    /// All entries.
    pub entries: Vec<Value>,
    /// The entries by turn.
    pub turns: Vec<Turn>,
}

impl Journal {
    /// Parses the lines of an export.
    pub fn parse(exported: &str) -> Self {
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
    pub fn clock_jumps(&self) -> usize {
        let times: Vec<u64> = self.entries.iter().map(|it| it["at"].as_u64().unwrap()).collect();
        times.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) > 1_800_000).count()
    }

    /// The turn of a message.
    pub fn turn_of(&self, message: &str) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.message == message)
    }

    /// The last turn, if it has not ended.
    pub fn open_turn(&self) -> Option<&Turn> {
        self.turns.last().filter(|turn| turn.end().is_none())
    }
}
