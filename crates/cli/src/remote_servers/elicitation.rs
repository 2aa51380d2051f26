//! A server's question in the middle of a call in, what the person at the terminal answers out.

use std::io::{self, IsTerminal as _};
use std::sync::{Arc, OnceLock};

use futures::future::BoxFuture;
use serde_json::{Map, Value};
use toolwright_core::schema::{Schema, coerce};
use toolwright_mcp::{ElicitHandler, ElicitInput, ElicitRequest, ElicitResponse};

use crate::approval::{LineReader, StdinReader, discard_typeahead};
use crate::sanitize::{sanitize_label, sanitize_strict, to_safe_json, to_single_line};

/// More of a description is not asked with.
const MAX_DESCRIPTION_CHARS: usize = 300;

/// The person at the terminal; where there is none, every question is declined.
#[derive(Default)]
pub(crate) struct TerminalElicitor {
    reader: OnceLock<Arc<dyn LineReader>>,
    preapproved: OnceLock<PreapprovedTool>,
}

/// A tool that the person has approved a call of already.
struct PreapprovedTool {
    server: String,
    /// What its server calls it when it asks.
    title: String,
}

impl TerminalElicitor {
    /// Asks through these lines from now on, not through stdin: whoever edits lines has the terminal to itself.
    pub(crate) fn set_reader(&self, lines: Arc<dyn LineReader>) {
        // Whoever was first has the terminal.
        let _ = self.reader.set(lines);
    }

    /// Says yes where this server asks whether the tool of this title may run, and to nothing else.
    pub(crate) fn preapprove(&self, server: String, title: String) {
        // A command line names one tool.
        let _ = self.preapproved.set(PreapprovedTool { server, title });
    }

    fn is_preapproved(&self, question: &ElicitRequest<'_>) -> bool {
        let Some(approved) = self.preapproved.get() else {
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

impl ElicitHandler for TerminalElicitor {
    fn elicit<'a>(&'a self, question: ElicitRequest<'a>) -> BoxFuture<'a, ElicitResponse> {
        Box::pin(async move {
            if self.is_preapproved(&question) {
                return ElicitResponse::Accept(Value::Object(Map::new()));
            }
            // Who cannot see the question must not be taken to have answered it.
            if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
                return ElicitResponse::Decline;
            }
            let lines = self
                .reader
                .get()
                .cloned()
                .unwrap_or_else(|| Arc::new(StdinReader));
            let asks = format!(
                "server `{}` asks: {}\n",
                sanitize_label(question.server),
                sanitize_strict(question.message).replace('\n', "\n  ")
            );
            let answering: Box<dyn FnOnce() -> io::Result<ElicitResponse> + Send> =
                match question.input {
                    ElicitInput::Form(form) => {
                        let form = form.clone();
                        Box::new(move || fill_form(&*lines, &asks, form))
                    }
                    ElicitInput::Url(page) => {
                        let page = sanitize_label(page).into_owned();
                        Box::new(move || confirm_url(&*lines, &asks, &page))
                    }
                    _ => return ElicitResponse::Decline,
                };
            let asked = move || {
                discard_typeahead();
                answering()
            };
            // Reading a line blocks, so it is left to a thread that may.
            match tokio::task::spawn_blocking(asked).await {
                Ok(Ok(answer)) => answer,
                _ => ElicitResponse::Cancel,
            }
        })
    }
}

/// Asks for each field of a form; an empty line leaves one out.
fn fill_form(lines: &dyn LineReader, asks: &str, form: Value) -> io::Result<ElicitResponse> {
    let consent = format!("{asks}Answer it? [y]es, [N]o: ");
    if !is_yes(lines.read_line(&consent, "")?.as_deref()) {
        return Ok(ElicitResponse::Decline);
    }
    let required = form.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
    let fields = form.get("properties").and_then(Value::as_object);
    let mut filled = Map::new();
    for (name, field) in fields.into_iter().flatten() {
        let Some(line) = lines.read_line(&field_prompt(name, field, is_required(name)), "")? else {
            return Ok(ElicitResponse::Cancel);
        };
        if !line.trim().is_empty() {
            filled.insert(name.clone(), line.trim().into());
        }
    }
    let mut filled = Value::Object(filled);
    if let Ok(form) = Schema::check(form) {
        coerce(&mut filled, &form);
    }
    Ok(ElicitResponse::Accept(filled))
}

fn field_prompt(name: &str, field: &Value, is_required: bool) -> String {
    let text = |key: &str| field.get(key).and_then(Value::as_str).map(str::to_owned);
    let choices = field
        .get("enum")
        .map(|choices| format!("one of {}", to_safe_json(choices)));
    let default = field
        .get("default")
        .map(|default| format!("else {}", to_safe_json(default)));
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
        to_single_line(name, MAX_DESCRIPTION_CHARS),
        to_single_line(&told.join("; "), MAX_DESCRIPTION_CHARS)
    )
}

/// Shows an address whole, and asks whether it was visited.
fn confirm_url(lines: &dyn LineReader, asks: &str, page: &str) -> io::Result<ElicitResponse> {
    let asks = format!("{asks}  {page}\nOpen it in a browser if you trust it. Done? [y]es, [N]o: ");
    Ok(match is_yes(lines.read_line(&asks, "")?.as_deref()) {
        true => ElicitResponse::Accept(Value::Null),
        false => ElicitResponse::Decline,
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
    struct ScriptedLines(Mutex<(VecDeque<&'static str>, String)>);

    impl LineReader for ScriptedLines {
        fn read_line(&self, prompt: &str, _: &str) -> io::Result<Option<String>> {
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

    fn fill_form_with(lines: &[&'static str]) -> (ElicitResponse, String) {
        let typed = ScriptedLines(Mutex::new((lines.iter().copied().collect(), String::new())));
        let answer = fill_form(&typed, "server `shop` asks: Who?\n", form()).unwrap();
        (answer, typed.0.into_inner().unwrap().1)
    }

    #[test]
    fn a_form_is_filled_in_field_by_field() {
        let (answer, shown) = fill_form_with(&["y", "Ada", "36", ""]);
        assert_eq!(
            answer,
            ElicitResponse::Accept(json!({ "name": "Ada", "age": 36 }))
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
            assert_eq!(fill_form_with(no).0, ElicitResponse::Decline, "{no:?}");
        }
        assert_eq!(fill_form_with(&["y", "Ada"]).0, ElicitResponse::Cancel);
    }
}
