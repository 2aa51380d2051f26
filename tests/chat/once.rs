//! One question: the answer on stdout, everything else on stderr, and the exit code.

use std::io::Read as _;
use std::process::{Command, Stdio};

use serde_json::json;

use super::vendor::{Answer, Vendor};
use super::{TestHome, command_output, events, run_with_stdin};

#[test]
fn the_answer_is_alone_on_stdout_and_the_first_line_of_stderr_says_who_answers() {
    let vendor = Vendor::answering([
        Answer::Calls("get_weather", json!({ "city": "Tokyo" })),
        Answer::Says(&["It ", "rains."]),
    ]);
    let home = TestHome::new();
    let told = command_output(
        &home
            .ask(&vendor, &["--once", "Rain in Tokyo?"])
            .output()
            .unwrap(),
    );
    assert_eq!((told.code, told.out.as_str()), (Some(0), "It rains.\n"));
    let lines: Vec<&str> = told.err.lines().collect();
    assert_eq!(lines[0], "openai-chat:test: chosen by TOOLWRIGHT_MODEL");
    assert_eq!(lines[1], "→ get_weather {\"city\":\"Tokyo\"}");
    assert!(
        lines[2].starts_with("← Tokyo: Rainy, 22C / 72F, 90% humidity ("),
        "{told:?}"
    );
    let system = &vendor.asked()["messages"][0];
    assert!(
        system["content"]
            .as_str()
            .unwrap()
            .starts_with("You are a helpful assistant."),
        "{system}"
    );
}

#[test]
fn json_lines_have_every_event_and_the_wire_only_when_asked_for() {
    let answers = || {
        [
            Answer::Calls("get_weather", json!({ "city": "Tokyo" })),
            Answer::Says(&["It rains."]),
        ]
    };
    let home = TestHome::new();
    for (flag, sent) in [(&["--json"][..], 0), (&["--json", "--wire"], 2)] {
        let vendor = Vendor::answering(answers());
        let mut command = home.ask(&vendor, &["--once", "Rain?"]);
        let told = command_output(&command.args(flag).output().unwrap());
        assert_eq!(told.code, Some(0), "{told:?}");
        let events = events(&told.out);
        let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
        assert_eq!((of("call"), of("result"), of("sent")), (1, 1, sent));
        let last = events.last().unwrap();
        assert_eq!(
            (&last["type"], &last["end"]),
            (&json!("ended"), &json!("answered"))
        );
        assert_eq!(last["content"][0]["text"], "It rains.");
    }
}

#[test]
fn nothing_from_a_model_or_a_tool_is_obeyed_by_a_terminal() {
    let evil = "\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}31m";
    for format in [&[][..], &["--json"]] {
        let vendor = Vendor::answering([
            Answer::Calls("get_weather", json!({ "city": evil })),
            Answer::Says(&["\u{1b}", "[31mred\u{9b}", "\rfake\u{7f}"]),
        ]);
        let home = TestHome::new();
        let mut command = home.ask(&vendor, &["--once", "Rain?"]);
        let told = command_output(&command.args(format).output().unwrap());
        let obeyed = |c: char| c.is_control() && c != '\n';
        assert!(!told.out.contains(obeyed), "{told:?}");
        assert!(!told.err.contains(obeyed), "{told:?}");
        assert!(told.out.contains("[31mred"), "{told:?}");
    }
}

#[test]
fn a_model_that_fails_is_a_finding_that_says_what_to_do() {
    let home = TestHome::new();
    let refusal = || Vendor::answering([Answer::Refuses(401, "wrong key")]);
    let text = command_output(&home.ask(&refusal(), &["--once", "Hi"]).output().unwrap());
    assert_eq!((text.code, text.out.as_str()), (Some(1), ""));
    assert!(text.err.contains("wrong key"), "{text:?}");
    assert!(text.err.contains("check the key"), "{text:?}");
    let mut json = home.ask(&refusal(), &["--once", "Hi", "--json"]);
    let json = command_output(&json.output().unwrap());
    assert_eq!(json.code, Some(1));
    let last = events(&json.out).pop().unwrap();
    assert_eq!(
        (&last["type"], &last["kind"]),
        (&json!("error"), &json!("auth"))
    );
}

#[test]
fn a_call_that_needs_approval_is_denied_without_a_terminal_and_runs_with_yes() {
    let refund = json!({ "order": "A-1042", "amount": 5 });
    let home = TestHome::new();
    for (flags, shown) in [
        (&[][..], "← denied: "),
        (&["--yes"], "← Refunded 5.00 EUR for order A-1042"),
    ] {
        let answers = [
            Answer::Calls("issue_refund", refund.clone()),
            Answer::Says(&["Done."]),
        ];
        let vendor = Vendor::answering(answers);
        let mut command = home.ask(&vendor, &["--once", "Refund A-1042"]);
        let told = command_output(&command.args(flags).output().unwrap());
        // The model has read it and answered.
        assert_eq!((told.code, told.out.as_str()), (Some(0), "Done.\n"));
        assert!(told.err.contains(shown), "{told:?}");
    }
    let answers = [
        Answer::Calls("get_weather", json!({ "city": "Oslo" })),
        Answer::Says(&["?"]),
    ];
    let vendor = Vendor::answering(answers);
    let mut command = home.ask(&vendor, &["--once", "Rain?", "--ask"]);
    let told = command_output(&command.output().unwrap());
    assert!(told.err.contains("pass --yes"), "{told:?}");
}

#[test]
fn a_limit_ends_the_turn_and_is_a_finding() {
    let call = || Answer::Calls("get_weather", json!({ "city": "Oslo" }));
    let vendor = Vendor::answering([call(), call(), call(), call()]);
    let home = TestHome::new();
    let mut command = home.ask(&vendor, &["--once", "Rain?", "--max-calls", "1"]);
    let told = command_output(&command.arg("--json").output().unwrap());
    assert_eq!(told.code, Some(1), "{told:?}");
    let last = events(&told.out).pop().unwrap();
    assert_eq!(
        (&last["type"], &last["end"]),
        (&json!("ended"), &json!("limit"))
    );
    assert!(told.err.contains("--max-calls"), "{told:?}");
}

#[test]
fn what_cannot_be_asked_is_a_usage_error() {
    let home = TestHome::new();
    for (arguments, shown) in [
        (
            &["--once", "x", "--model", "opnai:gpt"][..],
            "did you mean `openai`?",
        ),
        (
            &["--once", "x", "--model", "openai:gpt"],
            "set OPENAI_API_KEY",
        ),
        (&["--once", "x", "--model", "mistral"], "write mistral:NAME"),
        (
            &["--once", "x", "--store", "papyrus:x"],
            "there are `memory:`, `sqlite:FILE`",
        ),
        (&["--once", "  "], "the question is empty"),
        (&["--json"], "pass --once"),
        (&["--once", "x", "--yes", "--ask"], "cannot be used with"),
    ] {
        let told = home.run(arguments);
        assert_eq!((told.code, told.out.as_str()), (Some(2), ""), "{told:?}");
        assert!(told.err.contains(shown), "{told:?}");
    }
}

#[test]
fn the_question_may_come_from_stdin() {
    let vendor = Vendor::answering([Answer::Says(&["Read."])]);
    let home = TestHome::new();
    let ask = ["--once", "-", "--system", "Review it."];
    let told = run_with_stdin(home.ask(&vendor, &ask), "a diff\nof two lines\n");
    assert_eq!((told.code, told.out.as_str()), (Some(0), "Read.\n"));
    let messages = vendor.asked()["messages"].clone();
    assert_eq!(messages[0]["content"], "Review it.");
    assert_eq!(messages[1]["content"], "a diff\nof two lines");
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let vendor = Vendor::answering([Answer::Says(&["one\n", "two\n"])]);
    let home = TestHome::new();
    for format in [&[][..], &["--json"]] {
        let mut command = home.ask(&vendor, &["--once", "Hi"]);
        command
            .args(format)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let told = command_output(&child.wait_with_output().unwrap());
        assert_eq!(told.code, Some(0), "{told:?}");
        assert_eq!(told.err.lines().count(), 1, "{told:?}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_cancels_the_question() {
    let vendor = Vendor::answering([Answer::Begins("Well")]);
    let home = TestHome::new();
    let mut command = home.ask(&vendor, &["--once", "Hi"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut said = [0; 4];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut said)
        .unwrap();
    let pid = child.id().to_string();
    let interrupt = Command::new("kill").args(["-INT", &pid]).status();
    assert!(interrupt.unwrap().success());
    let told = command_output(&child.wait_with_output().unwrap());
    assert_eq!((&said, told.code), (b"Well", Some(130)), "{told:?}");
    assert!(told.err.ends_with("cancelled\n"), "{told:?}");
}
