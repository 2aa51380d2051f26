//! Conversations that are gone on with: later, after a crash, and by many at once.

use std::io::Read as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::look::typed;
use super::vendor::{Answer, Vendor};
use super::{TestHome, command_output, entry_kinds};

fn asking(home: &TestHome, vendor: &Vendor, question: &str) -> Command {
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
    let vendor = Vendor::answering([
        Answer::Calls("get_weather", json!({ "city": "Tokyo" })),
        Answer::Says(&["It rains."]),
        Answer::Says(&["72F."]),
    ]);
    command_output(&asking(&home, &vendor, "Rain?").output().unwrap()).assert_success();
    let second = command_output(
        &asking(&home, &vendor, "How warm is that?")
            .output()
            .unwrap(),
    )
    .assert_success();
    assert_eq!(second.out, "72F.\n");
    assert_eq!(second.err.lines().count(), 1, "{second:?}");
    let heard: Vec<Value> = (0..3).map(|_| vendor.asked()).collect();
    let heard = heard[2]["messages"].to_string();
    for said in ["Rain?", "22C / 72F", "It rains.", "How warm is that?"] {
        assert!(heard.contains(said), "`{said}` is not in {heard}");
    }
}

#[test]
fn a_turn_that_a_kill_interrupted_is_finished_first() {
    let home = TestHome::new();
    let vendor = Vendor::answering([
        Answer::Begins("Well"),
        Answer::Says(&["It rains."]),
        Answer::Says(&["72F."]),
    ]);
    let mut command = asking(&home, &vendor, "Rain?");
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut said = [0; 4];
    let out = child.stdout.as_mut().unwrap();
    out.read_exact(&mut said).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(entry_kinds(&home.export("a")), ["user"]);
    let second =
        command_output(&asking(&home, &vendor, "How warm?").output().unwrap()).assert_success();
    assert_eq!(second.out, "72F.\n", "{second:?}");
    let told = "the last turn was interrupted: finishing it first\nIt rains.\n";
    assert!(second.err.ends_with(told), "{second:?}");
    let kinds = entry_kinds(&home.export("a"));
    assert_eq!(kinds, ["user", "step", "ended", "user", "step", "ended"]);
}

/// A conversation whose process died while it waited for a decision about a refund.
fn undecided(home: &TestHome) {
    let refund = json!({ "order": "A-1042", "amount": 5 });
    let vendor = Vendor::answering([
        Answer::Calls("issue_refund", refund),
        Answer::Says(&["No."]),
    ]);
    command_output(&asking(home, &vendor, "Refund A-1042").output().unwrap()).assert_success();
    let exported = home.export("a");
    let asked = entry_kinds(&exported)
        .iter()
        .position(|kind| kind == "asked");
    // The header and all until somebody was asked.
    let lines: Vec<&str> = exported.lines().take(asked.unwrap() + 2).collect();
    home.import_entries(&lines, "b");
}

#[test]
fn somebody_is_asked_again_about_a_call_that_waited_when_the_process_died() {
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
    let told = home.ask("b", "Convert 100 C to Fahrenheit");
    assert_eq!(told.out, "100.0C = 212.0F\n");
    assert!(told.err.contains("← denied: "), "{told:?}");
    let json = [
        "chat",
        "--once",
        "Convert 1 C",
        "--conversation",
        "b",
        "--json",
    ];
    let events = home.run(&json).assert_success().out;
    assert_eq!(events.matches(r#""type":"began""#).count(), 1, "{events}");
}

#[test]
fn a_call_that_had_started_when_the_process_died_is_told_to_have_an_unknown_outcome() {
    let home = TestHome::new();
    undecided(&home);
    let exported = home.export("b");
    let decided =
        r#"{"id":"d","at":1,"what":{"decided":{"call":"call_1","verdict":{"verdict":"approve"}}}}"#;
    let started = r#"{"id":"s","at":2,"what":{"started":{"call":"call_1"}}}"#;
    let lines: Vec<&str> = exported.lines().chain([decided, started]).collect();
    home.import_entries(&lines, "c");
    let told = home.ask("c", "Convert 100 C to Fahrenheit");
    assert!(told.err.contains("outcome is unknown"), "{told:?}");
    assert!(!told.err.contains("Refunded"), "{told:?}");
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
        let told = command_output(&child.wait_with_output().unwrap()).assert_success();
        assert!(told.out.starts_with(&format!("{n}.0C = ")), "{told:?}");
        assert!(!told.err.contains("interrupted"), "{told:?}");
    }
    let kinds = entry_kinds(&home.export("a"));
    let turn = ["user", "step", "started", "finished", "step", "ended"];
    assert_eq!(kinds, [turn, turn, turn, turn].concat());
}
