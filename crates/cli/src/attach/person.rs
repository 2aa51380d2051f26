//! A server's question in the middle of a call in, what the person at the terminal answers out.

use std::io::{self, IsTerminal as _};
use std::sync::{Arc, OnceLock};

use futures::future::BoxFuture;
use serde_json::{Map, Value};
use toolwright_core::schema::{Schema, coerce};
use toolwright_mcp::{ElicitAnswer, ElicitHandler, ElicitInput, ElicitRequest};

use crate::approve::{Lines, Stdin, discard_typed};
use crate::clean::{json, label, one_line, strict};

/// More of a description is not asked with.
const MOST: usize = 300;

/// The person at the terminal; where there is none, every question is declined.
#[derive(Default)]
pub(crate) struct Person {
    lines: OnceLock<Arc<dyn Lines>>,
    approved: OnceLock<Approved>,
}

/// A tool that the person has approved a call of already.
struct Approved {
    server: String,
    /// What its server calls it when it asks.
    title: String,
}

impl Person {
    /// Asks through these lines from now on, not through stdin: whoever edits lines has the terminal to itself.
    pub(crate) fn through(&self, lines: Arc<dyn Lines>) {
        // Whoever was first has the terminal.
        let _ = self.lines.set(lines);
    }

    /// Says yes where this server asks whether the tool of this title may run, and to nothing else.
    pub(crate) fn approve(&self, server: String, title: String) {
        // A command line names one tool.
        let _ = self.approved.set(Approved { server, title });
    }

    fn has_approved(&self, question: &ElicitRequest<'_>) -> bool {
        let Some(approved) = self.approved.get() else {
            return false;
        };
        // As a server of ours asks: nothing but yes or no, with the tool in the first line.
        let fields = match question.input {
            ElicitInput::Form(form) => form.get("properties").and_then(Value::as_object),
            _ => None,
        };
        let asks = format!("May `{}` run?", approved.title);
        question.server == approved.server
            && question.message.lines().next() == Some(&asks)
            && fields.is_some_and(Map::is_empty)
    }
}

impl ElicitHandler for Person {
    fn elicit<'a>(&'a self, question: ElicitRequest<'a>) -> BoxFuture<'a, ElicitAnswer> {
        Box::pin(async move {
            if self.has_approved(&question) {
                return ElicitAnswer::Accept(Value::Object(Map::new()));
            }
            // Who cannot see the question must not be taken to have answered it.
            if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
                return ElicitAnswer::Decline;
            }
            let lines = self.lines.get().cloned().unwrap_or_else(|| Arc::new(Stdin));
            let asks = format!(
                "server `{}` asks: {}\n",
                label(question.server),
                strict(question.message).replace('\n', "\n  ")
            );
            let answering: Box<dyn FnOnce() -> io::Result<ElicitAnswer> + Send> =
                match question.input {
                    ElicitInput::Form(form) => {
                        let form = form.clone();
                        Box::new(move || fill_in(&*lines, &asks, form))
                    }
                    ElicitInput::Url(page) => {
                        let page = label(page).into_owned();
                        Box::new(move || visit(&*lines, &asks, &page))
                    }
                    _ => return ElicitAnswer::Decline,
                };
            let asked = move || {
                discard_typed();
                answering()
            };
            // Reading a line blocks, so it is left to a thread that may.
            match tokio::task::spawn_blocking(asked).await {
                Ok(Ok(answer)) => answer,
                _ => ElicitAnswer::Cancel,
            }
        })
    }
}

/// Asks for each field of a form; an empty line leaves one out.
fn fill_in(lines: &dyn Lines, asks: &str, form: Value) -> io::Result<ElicitAnswer> {
    let consent = format!("{asks}Answer it? [y]es, [N]o: ");
    if !is_yes(lines.line(&consent, "")?.as_deref()) {
        return Ok(ElicitAnswer::Decline);
    }
    let required = form.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
    let fields = form.get("properties").and_then(Value::as_object);
    let mut filled = Map::new();
    for (name, field) in fields.into_iter().flatten() {
        let Some(line) = lines.line(&prompt(name, field, is_required(name)), "")? else {
            return Ok(ElicitAnswer::Cancel);
        };
        if !line.trim().is_empty() {
            filled.insert(name.clone(), line.trim().into());
        }
    }
    let mut filled = Value::Object(filled);
    if let Ok(form) = Schema::check(form) {
        coerce(&mut filled, &form);
    }
    Ok(ElicitAnswer::Accept(filled))
}

fn prompt(name: &str, field: &Value, is_required: bool) -> String {
    let text = |key: &str| field.get(key).and_then(Value::as_str).map(str::to_owned);
    let choices = field
        .get("enum")
        .map(|choices| format!("one of {}", json(choices)));
    let default = field
        .get("default")
        .map(|default| format!("else {}", json(default)));
    let need = match (is_required, &default) {
        (true, None) => None,
        _ => Some("may be left out".to_owned()),
    };
    let told = [
        text("description").or(text("title")),
        text("type"),
        choices,
        need,
        default,
    ];
    let told: Vec<String> = told.into_iter().flatten().collect();
    format!(
        "  {} ({}): ",
        one_line(name, MOST),
        one_line(&told.join("; "), MOST)
    )
}

/// Shows an address whole, and asks whether it was visited.
fn visit(lines: &dyn Lines, asks: &str, page: &str) -> io::Result<ElicitAnswer> {
    let asks = format!("{asks}  {page}\nOpen it in a browser if you trust it. Done? [y]es, [N]o: ");
    Ok(match is_yes(lines.line(&asks, "")?.as_deref()) {
        true => ElicitAnswer::Accept(Value::Null),
        false => ElicitAnswer::Decline,
    })
}

fn is_yes(line: Option<&str>) -> bool {
    matches!(
        line.map(|line| line.trim().to_lowercase()).as_deref(),
        Some("y" | "yes")
    )
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;

    /// Types these lines, then leaves; keeps what it was shown.
    struct Typed(Mutex<(VecDeque<&'static str>, String)>);

    impl Lines for Typed {
        fn line(&self, prompt: &str, _: &str) -> io::Result<Option<String>> {
            let mut typed = self.0.lock().unwrap();
            typed.1.push_str(prompt);
            Ok(typed.0.pop_front().map(str::to_owned))
        }
    }

    fn form() -> Value {
        json!({ "type": "object", "required": ["name"], "properties": {
            "name": { "type": "string", "description": "Yours.\u{1b}[8m" },
            "age": { "type": "integer" },
            "size": { "type": "string", "enum": ["S", "L"], "default": "L" } } })
    }

    fn filled(lines: &[&'static str]) -> (ElicitAnswer, String) {
        let typed = Typed(Mutex::new((lines.iter().copied().collect(), String::new())));
        let answer = fill_in(&typed, "server `shop` asks: Who?\n", form()).unwrap();
        (answer, typed.0.into_inner().unwrap().1)
    }

    #[test]
    fn a_form_is_filled_in_field_by_field() {
        let (answer, shown) = filled(&["y", "Ada", "36", ""]);
        assert_eq!(
            answer,
            ElicitAnswer::Accept(json!({ "name": "Ada", "age": 36 }))
        );
        assert!(shown.contains("  name (Yours.␛[8m; string): "), "{shown}");
        assert!(
            shown.contains("one of [\"S\",\"L\"]; may be left out; else \"L\""),
            "{shown}"
        );
    }

    #[test]
    fn only_a_yes_answers_and_who_leaves_answers_nothing() {
        for no in [&["n"][..], &[""], &[]] {
            assert_eq!(filled(no).0, ElicitAnswer::Decline, "{no:?}");
        }
        assert_eq!(filled(&["y", "Ada"]).0, ElicitAnswer::Cancel);
    }
}
