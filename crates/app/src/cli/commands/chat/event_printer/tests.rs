//! The printed form of events.

use std::sync::{Arc, Mutex};

use toolwright_chat::{StopReason, Usage};
use toolwright_core::Content;

use super::*;

#[derive(Clone, Default)]
struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SharedBuffer {
    fn contents(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// The text on stdout and stderr after these events.
fn print_events(colours: bool, events: &[ChatEvent]) -> (String, String) {
    let (out, err) = (SharedBuffer::default(), SharedBuffer::default());
    let mut printer =
        EventPrinter::with_writers(Box::new(out.clone()), Box::new(err.clone()), colours);
    for event in events {
        printer.print_event(event).unwrap();
    }
    (out.contents(), err.contents())
}

fn text(delta: &str) -> ChatEvent {
    let delta = delta.to_owned();
    ChatEvent::Text { delta }
}

fn call(id: &str, arguments: &str) -> ChatEvent {
    let call = ToolCall::new("get_weather", arguments).with_id(id);
    ChatEvent::Call { call }
}

fn result(id: &str, result: ToolResult) -> ChatEvent {
    let mut result = result;
    (result.call_id, result.tool) = (id.into(), "get_weather".into());
    ChatEvent::Result { result, millis: 12 }
}

fn step() -> ChatEvent {
    ChatEvent::Step { stop: StopReason::End, usage: Usage::default(), cost: None }
}

fn ended(end: TurnEnd, answer: &str) -> ChatEvent {
    ChatEvent::TurnEnded {
        end,
        content: vec![Content::text(answer)],
        usage: Usage::default(),
        cost: None,
    }
}

#[test]
fn the_answer_is_on_stdout_and_calls_are_on_stderr() {
    let (out, err) = print_events(
        false,
        &[
            text("Let me "),
            text("look."),
            call("1", "{\"city\": \"Tokyo\"}"),
            step(),
            result("1", ToolResult::success("Tokyo: Rainy")),
            text("It rains."),
            step(),
            ended(TurnEnd::Answered, "It rains."),
        ],
    );
    assert_eq!(out, "Let me look.\nIt rains.\n");
    assert_eq!(err, "→ get_weather {\"city\":\"Tokyo\"}\n← Tokyo: Rainy (12 ms)\n");
}

#[test]
fn an_answer_that_was_not_streamed_is_shown_once() {
    let (out, _) = print_events(false, &[step(), ended(TurnEnd::Answered, "I will not.")]);
    assert_eq!(out, "I will not.\n");
    let direct = [text("One moment."), step(), ended(TurnEnd::Direct, "the report")];
    assert_eq!(print_events(false, &direct).0, "One moment.\nthe report\n");
    let streamed = [text("Hello"), step(), ended(TurnEnd::Answered, "Hello")];
    assert_eq!(print_events(false, &streamed).0, "Hello\n");
}

#[test]
fn with_several_running_calls_a_result_names_its_tool() {
    let (_, err) = print_events(
        false,
        &[
            call("1", "{}"),
            call("2", "not json"),
            result("2", ToolResult::failure("no city\nat all")),
            result("1", ToolResult::success("sunny")),
        ],
    );
    assert_eq!(
        err,
        "→ get_weather {}\n→ get_weather not json\n\
         ← get_weather: failed: no city ⏎ at all (12 ms)\n← sunny (12 ms)\n"
    );
}

#[test]
fn nothing_from_outside_reaches_the_terminal_raw() {
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{7f}\r\u{8}";
    let mut failure = ToolResult::failure(evil);
    failure.notes.push(evil.to_owned());
    let arguments = serde_json::json!({ "city": evil }).to_string();
    let mut events = vec![
        text(evil),
        ChatEvent::Reasoning { delta: evil.into() },
        call("1", &arguments),
        call("2", evil),
        result("1", ToolResult::success(evil)),
        result("2", failure),
        step(),
        ended(TurnEnd::Direct, evil),
    ];
    events.push(ChatEvent::HostedCall {
        tool: evil.into(),
        input: evil.into(),
        output: evil.into(),
        failed: true,
    });
    events.push(ChatEvent::Progress {
        call: "1".into(),
        done: None,
        total: None,
        message: Some(evil.into()),
    });
    let verdict = ApprovalVerdict::Edit { arguments: serde_json::json!(evil) };
    let call = "1".into();
    events.push(ChatEvent::ApprovalDecided { call, verdict });
    let (out, err) = print_events(false, &events);
    let obeyed = |c: char| c.is_control() && c != '\n' && c != '\t';
    assert!(!out.contains(obeyed), "{out:?}");
    assert!(!err.contains(obeyed), "{err:?}");
}

#[test]
fn thoughts_are_dim_and_end_before_the_answer_begins() {
    let thought = |delta: &str| ChatEvent::Reasoning { delta: delta.to_owned() };
    let events = [thought("Hm"), thought("…"), text("Yes.")];
    assert_eq!(print_events(false, &events), ("Yes.".to_owned(), "thinking: Hm…\n".to_owned()));
    let (_, err) = print_events(true, &events);
    assert!(err.contains("\u{1b}[2mHm\u{1b}[0m"), "{err:?}");
}
