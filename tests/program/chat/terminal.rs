//! A session in a terminal, with simulated typing.

use std::net::TcpListener;
use std::process::Command;

use serde_json::{Value, json};
use test_support::real;

use super::{CommandOutput, TestHome, use_vendor};
use crate::vendor::{MockAnswer, MockVendor};

const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";

/// Types the text of each step once the terminal shows what the step waits for; `None` without Python.
fn run_in_terminal(
    home: &TestHome,
    vendor: &MockVendor,
    steps: &[(&str, &str)],
) -> Option<CommandOutput> {
    drive_terminal(home, vendor, &["chat"], &json!(steps))
}

/// The same with any command, and steps in the format of `terminal.py`.
fn drive_terminal(
    home: &TestHome,
    vendor: &MockVendor,
    arguments: &[&str],
    steps: &Value,
) -> Option<CommandOutput> {
    if !real::has_python() {
        return None;
    }
    let mut command = Command::new("python3");
    let path = std::env::var_os("PATH").unwrap_or_default();
    home.set_environment(&mut command);
    command.env("PATH", path);
    use_vendor(&mut command, vendor);
    Some(crate::terminal::run_in_terminal(command, steps, arguments))
}

#[cfg(unix)]
#[test]
fn a_session_is_typed_remembered_and_left() {
    use std::os::unix::fs::PermissionsExt as _;

    let vendor = MockVendor::answering([MockAnswer::Text(&["Hel", "lo."])]);
    let home = TestHome::new();
    let steps = [
        ("> ", "Hi the\t\r"),
        ("Hello.", ""),
        ("> ", "/us\t\r"),
        ("price unknown", ""),
        ("> ", CTRL_D),
    ];
    let Some(shown) = run_in_terminal(&home, &vendor, &steps) else {
        return;
    };
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(shown.out.contains("/help says what to type"), "{shown:?}");
    let history = home.0.path().join(".local/share/toolwright/history");
    let remembered = std::fs::read_to_string(&history).unwrap();
    assert!(remembered.contains("Hi the\n/usage"), "{remembered}");
    let mode = history.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_person_sees_a_dangerous_call_and_edits_it_denies_it_or_answers_it() {
    let vendor = MockVendor::answering([
        refund(),
        MockAnswer::Text(&["Refused."]),
        refund(),
        MockAnswer::Text(&["Edited."]),
        refund(),
        MockAnswer::Text(&["Answered."]),
    ]);
    let home = TestHome::new();
    let steps = [
        ("> ", "one\r"),
        ("Refunds an order to the customer's card.", ""),
        ("\"amount\": 500", ""),
        ("Run it?", "n\r"),
        ("Why not?", "too much\r"),
        ("Refused.", ""),
        ("> ", "two\r"),
        ("Run it?", "e\r"),
        // Ctrl-U clears the line.
        ("Arguments as JSON: ", "\u{15}{\"order\":\"A-1042\",\"amount\":5}\r"),
        ("Edited.", ""),
        ("> ", "three\r"),
        ("Run it?", "a\r"),
        ("The answer: ", "done by hand\r"),
        ("Answered.", ""),
        ("> ", CTRL_D),
    ];
    let Some(shown) = run_in_terminal(&home, &vendor, &steps) else {
        return;
    };
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(shown.out.contains("denied: "), "{shown:?}");
    assert!(shown.out.contains("Refunded 5.00 EUR for order A-1042"), "{shown:?}");
    let read: Vec<String> = (0..6).map(|_| vendor.asked().to_string()).collect();
    assert!(read[1].contains("not approved: too much"), "{}", read[1]);
    assert!(read[5].contains("done by hand"), "{}", read[5]);
}

fn refund() -> MockAnswer {
    MockAnswer::Call("issue_refund", json!({ "order": "A-1042", "amount": 500 }))
}

#[test]
fn a_yes_typed_while_the_model_answers_approves_nothing() {
    let gate = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = gate.local_addr().unwrap().port();
    let vendor = MockVendor::answering([
        MockAnswer::Call("get_weather", json!({ "city": "Tokyo" })),
        MockAnswer::After(gate, Box::new(refund())),
        MockAnswer::Text(&["Refused."]),
    ]);
    let steps = json!([
        ["> ", "one\r"],
        ["humidity", "yes\r"],
        // The model continues only after the terminal has echoed the typed text.
        ["yes", "", port],
        ["Run it?", "n\r"],
        ["Why not?", "\r"],
        ["Refused.", ""],
        ["> ", CTRL_D],
    ]);
    let Some(shown) = drive_terminal(&TestHome::new(), &vendor, &["chat"], &steps) else {
        return;
    };
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(!shown.out.contains("Refunded"), "{shown:?}");
}

#[test]
fn a_yes_typed_before_one_question_is_asked_approves_nothing() {
    let once = ["chat", "--once", "Refund it."];
    let call = ["tools", "call", "issue_refund", "order=A-1042", "amount=500"];
    for command in [&once[..], &call] {
        let vendor = MockVendor::answering([refund(), MockAnswer::Text(&["Refused."])]);
        let steps = json!([["", "yes\r"], ["Run it?", "n\r"], ["Why not?", "\r"]]);
        let Some(shown) = drive_terminal(&TestHome::new(), &vendor, command, &steps) else {
            return;
        };
        assert!(shown.out.contains("not approved"), "{command:?}: {shown:?}");
        assert!(!shown.out.contains("Refunded"), "{command:?}: {shown:?}");
    }
}

#[test]
fn ctrl_c_ends_the_turn_then_at_an_empty_prompt_the_session() {
    let refund = MockAnswer::Call("issue_refund", json!({ "order": "A-1042", "amount": 5 }));
    let vendor = MockVendor::answering([MockAnswer::Unfinished("Well"), refund]);
    let home = TestHome::new();
    let steps = [
        ("> ", "one\r"),
        ("Well", CTRL_C),
        ("cancelled", ""),
        ("> ", "two\r"),
        ("Run it?", CTRL_C),
        ("cancelled", ""),
        ("> ", CTRL_C),
        ("Ctrl-C again", ""),
        ("> ", CTRL_C),
    ];
    let Some(shown) = run_in_terminal(&home, &vendor, &steps) else {
        return;
    };
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(!shown.out.contains("Refunded"), "{shown:?}");
}

#[test]
fn the_progress_of_a_long_tool_is_shown_before_its_result() {
    let arguments = json!({ "topic": "rain", "pace_ms": 0 });
    let report = MockAnswer::Call("write_report", arguments);
    let vendor = MockVendor::answering([report, MockAnswer::Text(&["Done."])]);
    let home = TestHome::new();
    let steps = [
        ("> ", "one\r"),
        ("[ 25%] checking them", ""),
        ("[100%] done", ""),
        ("← Report on rain", ""),
        ("Done.", ""),
        ("> ", "/quit\r"),
    ];
    let Some(shown) = run_in_terminal(&home, &vendor, &steps) else {
        return;
    };
    assert_eq!(shown.code, Some(0), "{shown:?}");
}
