//! A person at the terminal, asked before a dangerous call.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;
use toolwright_core::{ApprovalDecision, ApprovalRequest, Approver};

use crate::terminal::sanitize::{
    sanitize_label, sanitize_strict, to_safe_json, to_safe_json_pretty,
};

const CHOICE_PROMPT: &str = "Run it? [y]es, [N]o, [e]dit the arguments, [a]nswer in its place: ";

/// Whoever reads lines that a person types.
pub(crate) trait LineReader: Send + Sync {
    /// Shows a prompt and reads a line, which starts out as `initial` where the terminal can do that; nothing when the
    /// person does not answer any more.
    fn read_line(&self, prompt: &str, initial: &str) -> io::Result<Option<String>>;
}

/// Asks on stderr and reads from stdin.
pub(crate) struct StdinReader;

impl LineReader for StdinReader {
    fn read_line(&self, prompt: &str, _: &str) -> io::Result<Option<String>> {
        let mut err = io::stderr().lock();
        err.write_all(prompt.as_bytes())?;
        err.flush()?;
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line)?;
        Ok((read > 0).then_some(line))
    }
}

/// Discards what was typed before a question is asked: an answer to a question that was not shown yet is none.
///
/// What is typed waits in the terminal alone. Neither `StdinReader`, to which a terminal hands one line at a time, nor the editor
/// of lines keeps any of it from one read to the next.
pub(crate) fn discard_typeahead() {
    #[cfg(unix)]
    {
        use rustix::termios::{QueueSelector, tcflush};
        // It fails where stdin is no terminal, and nothing is to be discarded there.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }
}

/// Asks the person at the terminal; without one the answer is no.
#[derive(Clone)]
pub(crate) struct TerminalApprover {
    /// `--yes` was given: the person has answered already.
    pub(crate) approve_all: bool,
    pub(crate) reader: Arc<dyn LineReader>,
}

impl Approver for TerminalApprover {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        Box::pin(async move {
            if self.approve_all {
                return request.approve();
            }
            // Who cannot see the question must not be taken to have answered it.
            if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
                return request.deny("it needs approval: run it in a terminal, or pass --yes");
            }
            // What was told before is shown before: whoever shows it is polled first.
            tokio::task::yield_now().await;
            let (question, arguments) = (approval_question(&request), request.arguments.clone());
            let lines = Arc::clone(&self.reader);
            // Reading a line blocks, so it is left to a thread that may.
            let asked = move || prompt_for_choice(&*lines, &question, &arguments);
            match tokio::task::spawn_blocking(asked).await {
                Ok(Ok(ApprovalChoice::Approve)) => request.approve(),
                Ok(Ok(ApprovalChoice::Edit(arguments))) => request.edit(arguments),
                Ok(Ok(ApprovalChoice::Deny(reason))) => request.deny(reason),
                Ok(Ok(ApprovalChoice::Answer(text))) => request.answer(text),
                _ => request.deny("the terminal did not answer"),
            }
        })
    }
}

/// What a person chose.
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
    // Indented, so that no line of it passes for a line of ours.
    let description = sanitize_strict(tool.description.trim()).replace('\n', "\n  ");
    let arguments = to_safe_json_pretty(request.arguments);
    format!("{name} ({})\n  {description}\n{arguments}\n", tool.name)
}

/// Asks until the answer is one; silence is a no.
fn prompt_for_choice(
    lines: &dyn LineReader,
    question: &str,
    arguments: &Value,
) -> io::Result<ApprovalChoice> {
    io::stderr().write_all(question.as_bytes())?;
    discard_typeahead();
    let gone = || ApprovalChoice::Deny("not approved".to_owned());
    loop {
        let Some(answer) = lines.read_line(CHOICE_PROMPT, "")? else {
            return Ok(gone());
        };
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(ApprovalChoice::Approve),
            "" => return Ok(gone()),
            "n" | "no" => {
                let why = lines.read_line("Why not? The model reads it: ", "")?;
                let why = why.filter(|why| !why.trim().is_empty());
                return Ok(why.map_or_else(gone, |why| {
                    ApprovalChoice::Deny(format!("not approved: {}", why.trim()))
                }));
            }
            "e" | "edit" => {
                let Some(edited) =
                    lines.read_line("Arguments as JSON: ", &to_safe_json(arguments))?
                else {
                    return Ok(gone());
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
                return Ok(
                    answer.map_or_else(gone, |answer| ApprovalChoice::Answer(answer.trim().into()))
                );
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
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use toolwright_core::{ApprovalPolicy, Invoker, Registry, Tool, ToolCall};

    use super::*;

    /// Types these lines, then leaves.
    struct ScriptedLines(Mutex<VecDeque<&'static str>>);

    impl LineReader for ScriptedLines {
        fn read_line(&self, _: &str, _: &str) -> io::Result<Option<String>> {
            let line = self.0.lock().unwrap().pop_front();
            Ok(line.map(str::to_owned))
        }
    }

    /// Keeps what a person would be asked.
    struct RecordingApprover(Arc<Mutex<String>>);

    impl Approver for RecordingApprover {
        fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
            *self.0.lock().unwrap() = approval_question(&request);
            Box::pin(async move { request.deny("asked") })
        }
    }

    fn choice_for_lines(lines: &[&'static str]) -> ApprovalChoice {
        let typed = ScriptedLines(Mutex::new(lines.iter().copied().collect()));
        prompt_for_choice(&typed, "", &serde_json::json!({ "amount": 5 })).unwrap()
    }

    fn denied(reason: &str) -> ApprovalChoice {
        ApprovalChoice::Deny(reason.to_owned())
    }

    #[test]
    fn only_a_yes_is_a_yes() {
        assert_eq!(choice_for_lines(&["y\n"]), ApprovalChoice::Approve);
        assert_eq!(choice_for_lines(&["YES"]), ApprovalChoice::Approve);
        for silence in [&[][..], &["\n"], &["maybe"], &["n"], &["n", "\n"]] {
            assert_eq!(
                choice_for_lines(silence),
                denied("not approved"),
                "{silence:?}"
            );
        }
    }

    #[test]
    fn a_no_has_a_reason_and_an_answer_takes_the_tools_place() {
        let no = choice_for_lines(&["n", "too much\n"]);
        assert_eq!(no, denied("not approved: too much"));
        let answer = choice_for_lines(&["a", "it was refunded by hand\n"]);
        assert_eq!(
            answer,
            ApprovalChoice::Answer("it was refunded by hand".to_owned())
        );
        assert_eq!(choice_for_lines(&["a", ""]), denied("not approved"));
    }

    #[tokio::test]
    async fn what_is_asked_shows_every_hidden_character_and_no_line_that_passes_for_ours() {
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
