//! Conversations that are continued: later, after a crash, and by several processes at once.

use std::io::Read as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::list_show_delete::typed;
use super::{CommandOutput, TestHome, entry_kinds};
use crate::vendor::{MockAnswer, MockVendor};

fn asking(home: &TestHome, vendor: &MockVendor, question: &str) -> Command {
    let arguments = ["chat", "--once", question, "--conversation", "a"];
    let mut command = home.command(&arguments);
    command.env("TOOLWRIGHT_MODEL", "openai-chat:test");
    command.env("OPENAI_BASE_URL", &vendor.base);
    command.env("OPENAI_API_KEY", "a key");
    command
}

#[test]
fn another_process_goes_on_where_one_has_left_off() {
    let home = TestHome::new();
    let vendor = MockVendor::answering([
        MockAnswer::Call("get_weather", json!({ "city": "Tokyo" })),
        MockAnswer::Text(&["It rains."]),
        MockAnswer::Text(&["72F."]),
    ]);
    CommandOutput::from(asking(&home, &vendor, "Rain?").output().unwrap()).assert_success();
    let second = CommandOutput::from(asking(&home, &vendor, "How warm is that?").output().unwrap())
        .assert_success();
    assert_eq!(second.out, "72F.\n");
    assert_eq!(second.err.lines().count(), 1, "{second:?}");
    let request: Vec<Value> = (0..3).map(|_| vendor.asked()).collect();
    let request = request[2]["messages"].to_string();
    for text in ["Rain?", "22C / 72F", "It rains.", "How warm is that?"] {
        assert!(request.contains(text), "`{text}` is not in {request}");
    }
}

#[test]
fn a_turn_that_a_kill_interrupted_is_finished_first() {
    let home = TestHome::new();
    let vendor = MockVendor::answering([
        MockAnswer::Unfinished("Well"),
        MockAnswer::Text(&["It rains."]),
        MockAnswer::Text(&["72F."]),
    ]);
    let mut command = asking(&home, &vendor, "Rain?");
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut streamed = [0; 4];
    let out = child.stdout.as_mut().unwrap();
    out.read_exact(&mut streamed).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(entry_kinds(&home.export("a")), ["user"]);
    let second =
        CommandOutput::from(asking(&home, &vendor, "How warm?").output().unwrap()).assert_success();
    assert_eq!(second.out, "72F.\n", "{second:?}");
    let note = "the last turn was interrupted: finishing it first\nIt rains.\n";
    assert!(second.err.ends_with(note), "{second:?}");
    let kinds = entry_kinds(&home.export("a"));
    assert_eq!(kinds, ["user", "step", "ended", "user", "step", "ended"]);
}

/// A conversation whose process died while it waited for an approval.
fn undecided(home: &TestHome) {
    let refund = json!({ "order": "A-1042", "amount": 5 });
    let vendor = MockVendor::answering([
        MockAnswer::Call("issue_refund", refund),
        MockAnswer::Text(&["No."]),
    ]);
    CommandOutput::from(asking(home, &vendor, "Refund A-1042").output().unwrap()).assert_success();
    let exported = home.export("a");
    let asked = entry_kinds(&exported).iter().position(|kind| kind == "asked");
    // The header, and all entries up to the approval request.
    let lines: Vec<&str> = exported.lines().take(asked.unwrap() + 2).collect();
    home.import_entries(&lines, "b");
}

#[test]
fn an_approval_that_was_pending_at_a_crash_is_requested_again() {
    let home = TestHome::new();
    undecided(&home);
    let steps = [
        ("the last turn was interrupted: finishing it first", ""),
        ("Refunds an order to the customer's card.", ""),
        ("\"amount\": 5", ""),
        ("Run it?", "y\r"),
        ("Refunded 5.00 EUR for order A-1042", ""),
        ("> ", "\u{4}"),
    ];
    let Some(shown) = typed(&home, &steps, &["chat", "--conversation", "b"]) else {
        return;
    };
    assert_eq!(shown.code, Some(0), "{shown:?}");
    let kinds = entry_kinds(&home.export("b"));
    let after: Vec<&str> = kinds.iter().skip(3).map(String::as_str).collect();
    assert_eq!(after, ["decided", "started", "finished", "step", "ended"]);
}

#[test]
fn without_a_terminal_the_call_that_waited_is_denied_and_the_question_is_asked() {
    let home = TestHome::new();
    undecided(&home);
    let output = home.ask("b", "Convert 100 C to Fahrenheit");
    assert_eq!(output.out, "100.0C = 212.0F\n");
    assert!(output.err.contains("← denied: "), "{output:?}");
    let json = ["chat", "--once", "Convert 1 C", "--conversation", "b", "--json"];
    let events = home.run(&json).assert_success().out;
    assert_eq!(events.matches(r#""type":"began""#).count(), 1, "{events}");
}

#[test]
fn a_call_that_was_running_at_a_crash_has_an_unknown_outcome() {
    let home = TestHome::new();
    undecided(&home);
    let exported = home.export("b");
    let decided =
        r#"{"id":"d","at":1,"what":{"decided":{"call":"call_1","verdict":{"verdict":"approve"}}}}"#;
    let started = r#"{"id":"s","at":2,"what":{"started":{"call":"call_1"}}}"#;
    let lines: Vec<&str> = exported.lines().chain([decided, started]).collect();
    home.import_entries(&lines, "c");
    let output = home.ask("c", "Convert 100 C to Fahrenheit");
    assert!(output.err.contains("outcome is unknown"), "{output:?}");
    assert!(!output.err.contains("Refunded"), "{output:?}");
}

#[test]
fn processes_that_ask_in_one_conversation_at_once_take_turns() {
    let home = TestHome::new();
    let children: Vec<_> = (0..4)
        .map(|n| {
            let question = format!("Convert {n} C to Fahrenheit");
            let arguments = ["chat", "--once", &question, "--conversation", "a"];
            let mut command = home.command(&arguments);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for (n, child) in children.into_iter().enumerate() {
        let output = CommandOutput::from(child.wait_with_output().unwrap()).assert_success();
        assert!(output.out.starts_with(&format!("{n}.0C = ")), "{output:?}");
        assert!(!output.err.contains("interrupted"), "{output:?}");
    }
    let kinds = entry_kinds(&home.export("a"));
    let turn = ["user", "step", "started", "finished", "step", "ended"];
    assert_eq!(kinds, [turn, turn, turn, turn].concat());
}
