//! One message: the answer on stdout, everything else on stderr, and the exit code.

use std::io::Read as _;
use std::process::{Command, Stdio};

use serde_json::json;

use super::{CommandOutput, TestHome, events, run_with_stdin};
use crate::vendor::{MockAnswer, MockVendor};

#[test]
fn stdout_has_the_answer_only_and_the_first_line_of_stderr_names_the_model() {
    let vendor = MockVendor::answering([
        MockAnswer::Call("get_weather", json!({ "city": "Tokyo" })),
        MockAnswer::Text(&["It ", "rains."]),
    ]);
    let home = TestHome::new();
    let output =
        CommandOutput::from(home.ask(&vendor, &["--once", "Rain in Tokyo?"]).output().unwrap());
    assert_eq!((output.code, output.out.as_str()), (Some(0), "It rains.\n"));
    let lines: Vec<&str> = output.err.lines().collect();
    assert_eq!(lines[0], "openai-chat:test: chosen by TOOLWRIGHT_MODEL");
    assert_eq!(lines[1], "→ get_weather {\"city\":\"Tokyo\"}");
    assert!(lines[2].starts_with("← Tokyo: Rainy, 22C / 72F, 90% humidity ("), "{output:?}");
    let system = &vendor.asked()["messages"][0];
    assert!(
        system["content"].as_str().unwrap().starts_with("You are a helpful assistant."),
        "{system}"
    );
}

#[test]
fn json_lines_have_every_event_and_the_wire_only_when_asked_for() {
    let answers = || {
        [
            MockAnswer::Call("get_weather", json!({ "city": "Tokyo" })),
            MockAnswer::Text(&["It rains."]),
        ]
    };
    let home = TestHome::new();
    for (flag, sent) in [(&["--json"][..], 0), (&["--json", "--wire"], 2)] {
        let vendor = MockVendor::answering(answers());
        let mut command = home.ask(&vendor, &["--once", "Rain?"]);
        let output = CommandOutput::from(command.args(flag).output().unwrap());
        assert_eq!(output.code, Some(0), "{output:?}");
        let events = events(&output.out);
        let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
        assert_eq!((of("call"), of("result"), of("sent")), (1, 1, sent));
        let last = events.last().unwrap();
        assert_eq!((&last["type"], &last["end"]), (&json!("ended"), &json!("answered")));
        assert_eq!(last["content"][0]["text"], "It rains.");
    }
}

#[test]
fn nothing_from_a_model_or_a_tool_is_obeyed_by_a_terminal() {
    let evil = "\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}31m";
    for format in [&[][..], &["--json"]] {
        let vendor = MockVendor::answering([
            MockAnswer::Call("get_weather", json!({ "city": evil })),
            MockAnswer::Text(&["\u{1b}", "[31mred\u{9b}", "\rfake\u{7f}"]),
        ]);
        let home = TestHome::new();
        let mut command = home.ask(&vendor, &["--once", "Rain?"]);
        let output = CommandOutput::from(command.args(format).output().unwrap());
        let obeyed = |c: char| c.is_control() && c != '\n';
        assert!(!output.out.contains(obeyed), "{output:?}");
        assert!(!output.err.contains(obeyed), "{output:?}");
        assert!(output.out.contains("[31mred"), "{output:?}");
    }
}

#[test]
fn a_model_error_exits_with_1_and_gives_advice() {
    let home = TestHome::new();
    let refusal = || MockVendor::answering([MockAnswer::Error(401, "wrong key")]);
    let text = CommandOutput::from(home.ask(&refusal(), &["--once", "Hi"]).output().unwrap());
    assert_eq!((text.code, text.out.as_str()), (Some(1), ""));
    assert!(text.err.contains("wrong key"), "{text:?}");
    assert!(text.err.contains("error: openai-chat: "), "{text:?}");
    assert!(text.err.contains("check the key"), "{text:?}");
    assert!(text.err.contains("docs/reference/errors.md#auth"), "{text:?}");
    let mut json = home.ask(&refusal(), &["--once", "Hi", "--json"]);
    let json = CommandOutput::from(json.output().unwrap());
    assert_eq!(json.code, Some(1));
    let last = events(&json.out).pop().unwrap();
    assert_eq!((&last["type"], &last["kind"]), (&json!("error"), &json!("auth")));
}

#[test]
fn a_call_that_needs_approval_is_denied_without_a_terminal_and_runs_with_yes() {
    let refund = json!({ "order": "A-1042", "amount": 5 });
    let home = TestHome::new();
    for (flags, shown) in
        [(&[][..], "← denied: "), (&["--yes"], "← Refunded 5.00 EUR for order A-1042")]
    {
        let answers =
            [MockAnswer::Call("issue_refund", refund.clone()), MockAnswer::Text(&["Done."])];
        let vendor = MockVendor::answering(answers);
        let mut command = home.ask(&vendor, &["--once", "Refund A-1042"]);
        let output = CommandOutput::from(command.args(flags).output().unwrap());
        // The answer of the model after the denial.
        assert_eq!((output.code, output.out.as_str()), (Some(0), "Done.\n"));
        assert!(output.err.contains(shown), "{output:?}");
    }
    let answers =
        [MockAnswer::Call("get_weather", json!({ "city": "Oslo" })), MockAnswer::Text(&["?"])];
    let vendor = MockVendor::answering(answers);
    let mut command = home.ask(&vendor, &["--once", "Rain?", "--ask"]);
    let output = CommandOutput::from(command.output().unwrap());
    assert!(output.err.contains("pass --yes"), "{output:?}");
}

#[test]
fn a_limit_ends_the_turn_and_is_a_finding() {
    let call = || MockAnswer::Call("get_weather", json!({ "city": "Oslo" }));
    let vendor = MockVendor::answering([call(), call(), call(), call()]);
    let home = TestHome::new();
    let mut command = home.ask(&vendor, &["--once", "Rain?", "--max-calls", "1"]);
    let output = CommandOutput::from(command.arg("--json").output().unwrap());
    assert_eq!(output.code, Some(1), "{output:?}");
    let last = events(&output.out).pop().unwrap();
    assert_eq!((&last["type"], &last["end"]), (&json!("ended"), &json!("limit")));
    assert!(output.err.contains("--max-calls"), "{output:?}");
}

#[test]
fn what_cannot_be_asked_is_a_usage_error() {
    let home = TestHome::new();
    for (arguments, shown) in [
        (&["--once", "x", "--model", "opnai:gpt"][..], "did you mean `openai`?"),
        (&["--once", "x", "--model", "openai:gpt"], "set OPENAI_API_KEY"),
        (&["--once", "x", "--model", "mistral"], "write mistral:NAME"),
        (&["--once", "x", "--store", "papyrus:x"], "there are `memory:`, `sqlite:FILE`"),
        (&["--once", "  "], "the question is empty"),
        (&["--json"], "pass --once"),
        (&["--once", "x", "--yes", "--ask"], "cannot be used with"),
    ] {
        let output = home.run(arguments);
        assert_eq!((output.code, output.out.as_str()), (Some(2), ""), "{output:?}");
        assert!(output.err.contains(shown), "{output:?}");
    }
}

#[test]
fn the_question_may_come_from_stdin() {
    let vendor = MockVendor::answering([MockAnswer::Text(&["Read."])]);
    let home = TestHome::new();
    let ask = ["--once", "-", "--system", "Review it."];
    let output = run_with_stdin(home.ask(&vendor, &ask), "a diff\nof two lines\n");
    assert_eq!((output.code, output.out.as_str()), (Some(0), "Read.\n"));
    let messages = vendor.asked()["messages"].clone();
    assert_eq!(messages[0]["content"], "Review it.");
    assert_eq!(messages[1]["content"], "a diff\nof two lines");
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let vendor = MockVendor::answering([MockAnswer::Text(&["one\n", "two\n"])]);
    let home = TestHome::new();
    for format in [&[][..], &["--json"]] {
        let mut command = home.ask(&vendor, &["--once", "Hi"]);
        command.args(format).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = CommandOutput::from(child.wait_with_output().unwrap());
        assert_eq!(output.code, Some(0), "{output:?}");
        assert_eq!(output.err.lines().count(), 1, "{output:?}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_cancels_the_question() {
    let vendor = MockVendor::answering([MockAnswer::Unfinished("Well")]);
    let home = TestHome::new();
    let mut command = home.ask(&vendor, &["--once", "Hi"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut streamed = [0; 4];
    child.stdout.as_mut().unwrap().read_exact(&mut streamed).unwrap();
    let pid = child.id().to_string();
    let interrupt = Command::new("kill").args(["-INT", &pid]).status();
    assert!(interrupt.unwrap().success());
    let output = CommandOutput::from(child.wait_with_output().unwrap());
    assert_eq!((&streamed, output.code), (b"Well", Some(130)), "{output:?}");
    assert!(output.err.ends_with("cancelled\n"), "{output:?}");
}
