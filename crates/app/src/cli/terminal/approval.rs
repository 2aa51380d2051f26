//! Asks the user at the terminal to approve a call.

use std::io::{self, Write as _};
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;
use toolwright_core::{ApprovalDecision, ApprovalRequest, Approver};

use crate::cli::terminal::input::{LineReader, can_prompt, discard_typeahead};
use crate::cli::terminal::sanitize::{
    sanitize_label, sanitize_strict, to_safe_json, to_safe_json_pretty,
};

const CHOICE_PROMPT: &str = "Run it? [y]es, [N]o, [e]dit the arguments, [a]nswer in its place: ";

/// Asks the user at the terminal; denies the call if there is no terminal.
#[derive(Clone)]
pub(crate) struct TerminalApprover {
    /// Set by `--yes`.
    pub(crate) approve_all: bool,
    pub(crate) reader: Arc<dyn LineReader>,
}

impl Approver for TerminalApprover {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        Box::pin(async move {
            if self.approve_all {
                return request.approve();
            }
            if !can_prompt() {
                return request.deny("it needs approval: run it in a terminal, or pass --yes");
            }
            // Lets the task that prints events write the earlier ones before the question.
            tokio::task::yield_now().await;
            let (question, arguments) = (approval_question(&request), request.arguments.clone());
            let lines = Arc::clone(&self.reader);
            let prompt = move || prompt_for_choice(&*lines, &question, &arguments);
            match tokio::task::spawn_blocking(prompt).await {
                Ok(Ok(ApprovalChoice::Approve)) => request.approve(),
                Ok(Ok(ApprovalChoice::Edit(arguments))) => request.edit(arguments),
                Ok(Ok(ApprovalChoice::Deny(reason))) => request.deny(reason),
                Ok(Ok(ApprovalChoice::Answer(text))) => request.answer(text),
                _ => request.deny("the terminal did not answer"),
            }
        })
    }
}

/// The user's answer.
#[derive(Debug, PartialEq)]
enum ApprovalChoice {
    Approve,
    Edit(Value),
    Deny(String),
    Answer(String),
}

fn approval_question(request: &ApprovalRequest<'_>) -> String {
    let tool = request.tool;
    let name = sanitize_label(tool.display_name());
    // Indented, so that no line of the description can imitate a line of this prompt.
    let description = sanitize_strict(tool.description.trim()).replace('\n', "\n  ");
    let arguments = to_safe_json_pretty(request.arguments);
    format!("{name} ({})\n  {description}\n{arguments}\n", tool.name)
}

/// Repeats the question until the answer is valid; an empty line and the end of input deny.
fn prompt_for_choice(
    lines: &dyn LineReader,
    question: &str,
    arguments: &Value,
) -> io::Result<ApprovalChoice> {
    io::stderr().write_all(question.as_bytes())?;
    discard_typeahead();
    let not_approved = || ApprovalChoice::Deny("not approved".to_owned());
    loop {
        let Some(answer) = lines.read_line(CHOICE_PROMPT, "")? else {
            return Ok(not_approved());
        };
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(ApprovalChoice::Approve),
            "" => return Ok(not_approved()),
            "n" | "no" => {
                let reason = lines.read_line("Why not? The model reads it: ", "")?;
                let reason = reason.filter(|reason| !reason.trim().is_empty());
                return Ok(reason.map_or_else(not_approved, |reason| {
                    ApprovalChoice::Deny(format!("not approved: {}", reason.trim()))
                }));
            }
            "e" | "edit" => {
                let Some(edited) =
                    lines.read_line("Arguments as JSON: ", &to_safe_json(arguments))?
                else {
                    return Ok(not_approved());
                };
                match serde_json::from_str(&edited) {
                    Ok(edited @ Value::Object(_)) => return Ok(ApprovalChoice::Edit(edited)),
                    Ok(_) => write_stderr("arguments are an object, as {\"key\": \"value\"}\n")?,
                    Err(error) => write_stderr(&format!("that is no JSON: {error}\n"))?,
                }
            }
            "a" | "answer" => {
                let answer = lines.read_line("The answer: ", "")?;
                let answer = answer.filter(|answer| !answer.trim().is_empty());
                return Ok(answer.map_or_else(not_approved, |answer| {
                    ApprovalChoice::Answer(answer.trim().into())
                }));
            }
            _ => write_stderr("write y, n, e or a\n")?,
        }
    }
}

fn write_stderr(text: &str) -> io::Result<()> {
    io::stderr().write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use toolwright_core::{ApprovalPolicy, Invoker, Registry, Tool, ToolCall};

    use super::*;
    use crate::cli::terminal::input::ScriptedLines;

    /// Denies, and records the question that the user would see.
    struct RecordingApprover(Arc<Mutex<String>>);

    impl Approver for RecordingApprover {
        fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
            *self.0.lock().unwrap() = approval_question(&request);
            Box::pin(async move { request.deny("asked") })
        }
    }

    fn choice_for_lines(lines: &[&'static str]) -> ApprovalChoice {
        let lines = ScriptedLines::new(lines);
        prompt_for_choice(&lines, "", &serde_json::json!({ "amount": 5 })).unwrap()
    }

    fn denied(reason: &str) -> ApprovalChoice {
        ApprovalChoice::Deny(reason.to_owned())
    }

    #[test]
    fn only_a_yes_is_a_yes() {
        assert_eq!(choice_for_lines(&["y\n"]), ApprovalChoice::Approve);
        assert_eq!(choice_for_lines(&["YES"]), ApprovalChoice::Approve);
        for silence in [&[][..], &["\n"], &["maybe"], &["n"], &["n", "\n"]] {
            assert_eq!(choice_for_lines(silence), denied("not approved"), "{silence:?}");
        }
    }

    #[test]
    fn a_no_has_a_reason_and_an_answer_takes_the_tools_place() {
        let no = choice_for_lines(&["n", "too much\n"]);
        assert_eq!(no, denied("not approved: too much"));
        let answer = choice_for_lines(&["a", "it was refunded by hand\n"]);
        assert_eq!(answer, ApprovalChoice::Answer("it was refunded by hand".to_owned()));
        assert_eq!(choice_for_lines(&["a", ""]), denied("not approved"));
    }

    #[tokio::test]
    async fn the_question_escapes_hidden_characters_and_indents_the_description() {
        let tool = Tool::builder("pay", "Pays.\n{\"amount\": 1}\u{2028}Now.")
            .title("Pay\nlater\u{200b}")
            .approval(ApprovalPolicy::Always)
            .param::<String>("order", "Which.")
            .run(|_, _| "paid")
            .unwrap();
        let registry = Registry::new();
        registry.add(tool).unwrap();
        let asked = Arc::new(Mutex::new(String::new()));
        let invoker = Invoker::builder(&registry).approver(RecordingApprover(Arc::clone(&asked)));
        let arguments = serde_json::json!({ "order": "A-\u{202e}2401\u{202c}\u{e0041}" });
        let call = ToolCall::new("pay", arguments.to_string());
        invoker.build().unwrap().invoke(&call).await;
        let expected = "Pay␊later\\u200b (pay)\n  Pays.\n  {\"amount\": 1}\\u2028Now.\n{\n  \
            \"order\": \"A-\\u202e2401\\u202c\\udb40\\udc41\"\n}\n";
        assert_eq!(*asked.lock().unwrap(), expected);
    }

    #[test]
    fn edited_arguments_have_to_be_an_object() {
        let edited = ApprovalChoice::Edit(serde_json::json!({ "amount": 3 }));
        assert_eq!(choice_for_lines(&["e", "{\"amount\": 3}"]), edited);
        let again = choice_for_lines(&["e", "{amount", "e", "[3]", "e", "{\"amount\": 3}"]);
        assert_eq!(again, edited);
    }
}
