//! Answers the questions that MCP servers ask during a call (elicitation), at the terminal.

use std::io;
use std::sync::{Arc, OnceLock};

use futures::future::BoxFuture;
use serde_json::{Map, Value};
use toolwright_core::schema::{Schema, coerce};
use toolwright_mcp::{ElicitHandler, ElicitInput, ElicitRequest, ElicitResponse};

use crate::cli::terminal::input::{LineReader, StdinReader, can_prompt, discard_typeahead, is_yes};
use crate::cli::terminal::sanitize::{
    sanitize_label, sanitize_strict, to_safe_json, to_single_line,
};

/// Field names and descriptions are truncated here.
const MAX_DESCRIPTION_CHARS: usize = 300;

/// Asks the user at the terminal; declines every question if there is no terminal.
#[derive(Default)]
pub(crate) struct TerminalElicitor {
    reader: OnceLock<Arc<dyn LineReader>>,
    preapproved: OnceLock<PreapprovedTool>,
}

/// A tool whose call the user has already approved.
struct PreapprovedTool {
    server: String,
    /// The title in the question of its server.
    title: String,
}

impl TerminalElicitor {
    /// Reads answers from the line editor of a session instead of stdin; only the first call has an effect.
    pub(crate) fn set_reader(&self, lines: Arc<dyn LineReader>) {
        let _ = self.reader.set(lines);
    }

    /// Accepts if this server asks whether the tool of this title may run. Only the first call has an effect: a command line
    /// names one tool.
    pub(crate) fn preapprove(&self, server: String, title: String) {
        let _ = self.preapproved.set(PreapprovedTool { server, title });
    }

    fn is_preapproved(&self, question: &ElicitRequest<'_>) -> bool {
        let Some(approved) = self.preapproved.get() else {
            return false;
        };
        // The approval question of a Toolwright server: a form without fields, and the tool in the first line.
        let fields = match question.input {
            ElicitInput::Form(form) => form.get("properties").and_then(Value::as_object),
            _ => None,
        };
        let approval_question = format!("May `{}` run?", approved.title);
        question.server == approved.server
            && question.message.lines().next() == Some(&approval_question)
            && fields.is_some_and(Map::is_empty)
    }
}

impl ElicitHandler for TerminalElicitor {
    fn elicit<'a>(&'a self, question: ElicitRequest<'a>) -> BoxFuture<'a, ElicitResponse> {
        Box::pin(async move {
            if self.is_preapproved(&question) {
                return ElicitResponse::Accept(Value::Object(Map::new()));
            }
            if !can_prompt() {
                return ElicitResponse::Decline;
            }
            let lines = self.reader.get().cloned().unwrap_or_else(|| Arc::new(StdinReader));
            let intro = format!(
                "server `{}` asks: {}\n",
                sanitize_label(question.server),
                sanitize_strict(question.message).replace('\n', "\n  ")
            );
            let prompt: Box<dyn FnOnce() -> io::Result<ElicitResponse> + Send> =
                match question.input {
                    ElicitInput::Form(form) => {
                        let form = form.clone();
                        Box::new(move || fill_form(&*lines, &intro, form))
                    }
                    ElicitInput::Url(page) => {
                        let page = sanitize_label(page).into_owned();
                        Box::new(move || confirm_url(&*lines, &intro, &page))
                    }
                    _ => return ElicitResponse::Decline,
                };
            let prompt = move || {
                discard_typeahead();
                prompt()
            };
            match tokio::task::spawn_blocking(prompt).await {
                Ok(Ok(answer)) => answer,
                _ => ElicitResponse::Cancel,
            }
        })
    }
}

/// Prompts for each field of a form; an empty line omits the field.
fn fill_form(lines: &dyn LineReader, intro: &str, form: Value) -> io::Result<ElicitResponse> {
    let consent = format!("{intro}Answer it? [y]es, [N]o: ");
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
    let choices = field.get("enum").map(|choices| format!("one of {}", to_safe_json(choices)));
    let default = field.get("default").map(|default| format!("else {}", to_safe_json(default)));
    let need = match (is_required, &default) {
        (true, None) => None,
        _ => Some("may be left out".to_owned()),
    };
    let details = [text("description").or(text("title")), text("type"), choices, need, default];
    let details: Vec<String> = details.into_iter().flatten().collect();
    format!(
        "  {} ({}): ",
        to_single_line(name, MAX_DESCRIPTION_CHARS),
        to_single_line(&details.join("; "), MAX_DESCRIPTION_CHARS)
    )
}

/// Shows a URL without truncation, and asks whether the user has visited it.
fn confirm_url(lines: &dyn LineReader, intro: &str, page: &str) -> io::Result<ElicitResponse> {
    let question =
        format!("{intro}  {page}\nOpen it in a browser if you trust it. Done? [y]es, [N]o: ");
    Ok(match is_yes(lines.read_line(&question, "")?.as_deref()) {
        true => ElicitResponse::Accept(Value::Null),
        false => ElicitResponse::Decline,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::terminal::input::ScriptedLines;

    fn form() -> Value {
        json!({ "type": "object", "required": ["name"], "properties": {
            "name": { "type": "string", "description": "Yours.\u{1b}[8m" },
            "age": { "type": "integer" },
            "size": { "type": "string", "enum": ["S", "L"], "default": "L" } } })
    }

    fn fill_form_with(lines: &[&'static str]) -> (ElicitResponse, String) {
        let lines = ScriptedLines::new(lines);
        let answer = fill_form(&lines, "server `shop` asks: Who?\n", form()).unwrap();
        (answer, lines.into_prompts())
    }

    #[test]
    fn a_form_is_filled_in_field_by_field() {
        let (answer, shown) = fill_form_with(&["y", "Ada", "36", ""]);
        assert_eq!(answer, ElicitResponse::Accept(json!({ "name": "Ada", "age": 36 })));
        assert!(shown.contains("  name (Yours.␛[8m; string): "), "{shown}");
        assert!(shown.contains("one of [\"S\",\"L\"]; may be left out; else \"L\""), "{shown}");
    }

    #[test]
    fn anything_but_yes_declines_and_the_end_of_input_cancels() {
        for no in [&["n"][..], &[""], &[]] {
            assert_eq!(fill_form_with(no).0, ElicitResponse::Decline, "{no:?}");
        }
        assert_eq!(fill_form_with(&["y", "Ada"]).0, ElicitResponse::Cancel);
    }
}
