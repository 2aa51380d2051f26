//! Listing, showing and deleting.

use std::process::Command;

use serde_json::{Value, json};
use test_support::real;

use super::{CommandOutput, TestHome};
use crate::terminal::run_in_terminal;
use crate::vendor::{MockAnswer, MockVendor};

#[test]
fn a_list_has_the_latest_first_and_json_has_all_of_it() {
    let home = TestHome::new();
    let empty = home.run(&["conversations", "list"]).assert_success();
    assert!(empty.err.contains("no conversations yet"), "{empty:?}");
    home.ask("first", "Convert 100 C to Fahrenheit");
    home.ask("second", "What is the weather in Paris?");
    let list = home.run(&["conversations", "list"]).assert_success();
    let lines: Vec<&str> = list.out.lines().collect();
    assert!(lines[0].starts_with("second  "), "{list:?}");
    assert!(lines[0].ends_with("      6  What is the weather in Paris?"), "{list:?}");
    assert!(lines[1].starts_with("first   "), "{list:?}");
    let list = home.run(&["conversations", "list", "--json"]).assert_success();
    let list: Value = serde_json::from_str(&list.out).unwrap();
    assert_eq!(list[1]["title"], "Convert 100 C to Fahrenheit");
    assert_eq!(list[1]["entries"], 6);
}

#[test]
fn a_transcript_shows_messages_calls_and_usage() {
    let home = TestHome::new();
    let refund = json!({ "order": "A-1042", "amount": 5 });
    let vendor = MockVendor::answering([
        MockAnswer::Call("issue_refund", refund),
        MockAnswer::Text(&["It was ", "not allowed.\n\u{1b}[2J"]),
    ]);
    let mut command = home.command(&["chat", "--once", "Refund\nA-1042", "--conversation", "a"]);
    command.env("TOOLWRIGHT_MODEL", "openai-chat:test");
    command.env("OPENAI_BASE_URL", &vendor.base).env("OPENAI_API_KEY", "a key");
    CommandOutput::from(command.output().unwrap()).assert_success();
    let shown = home.run(&["conversations", "show", "a"]).assert_success().out;
    let arguments = r#"{"order":"A-1042","amount":5"#;
    for line in [
        "you: Refund\n    A-1042\n".to_owned(),
        format!("→ issue_refund {arguments}"),
        format!("? issue_refund needs approval: {arguments}"),
        "! issue_refund was denied: it needs approval".to_owned(),
        "← issue_refund: denied: ".to_owned(),
        "openai-chat:test: It was not allowed.\n    ␛[2J\n".to_owned(),
        "tokens  20 in, 2 out".to_owned(),
        "price unknown".to_owned(),
    ] {
        assert!(shown.contains(&line), "`{line}` is not in {shown}");
    }
    let whole = home.run(&["conversations", "show", "a", "--json"]).assert_success().out;
    assert!(!whole.contains('\u{1b}'));
    let whole: Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(whole[0]["what"]["user"]["content"][0]["text"], "Refund\nA-1042");
}

#[test]
fn an_unknown_id_suggests_the_nearest() {
    let home = TestHome::new();
    home.ask("holiday", "Convert 1 C");
    for command in ["show", "export", "delete"] {
        let output = home.run(&["conversations", command, "holyday"]);
        output.assert_failure(2, "there is no conversation `holyday`; did you mean `holiday`?");
    }
    let output = home.run(&["conversations", "show", "xyz"]);
    output.assert_failure(2, "`conversations list` shows all there are");
}

#[test]
fn a_deletion_is_confirmed_first_and_is_permanent() {
    let home = TestHome::new();
    home.ask("a", "Convert 1 C");
    home.run(&["conversations", "delete", "a"]).assert_failure(2, "pass --yes");
    home.run(&["conversations", "delete", "a", "--yes"]).assert_success();
    home.run(&["conversations", "show", "a"]).assert_failure(2, "there is no conversation `a`");
    home.ask("a", "Convert 2 C");
    for (answer, code) in [("\r", 1), ("n\r", 1), ("y\r", 0)] {
        let Some(shown) = typed(&home, &[("[y/N]", answer)], &["conversations", "delete", "a"])
        else {
            return;
        };
        assert_eq!(shown.code, Some(code), "{shown:?}");
    }
    home.run(&["conversations", "show", "a"]).assert_failure(2, "there is no conversation `a`");
}

/// Types the text of each step once the terminal shows what the step waits for; `None` without Python.
pub(super) fn typed(
    home: &TestHome,
    steps: &[(&str, &str)],
    arguments: &[&str],
) -> Option<CommandOutput> {
    if !real::has_python() {
        return None;
    }
    let mut command = Command::new("python3");
    let path = std::env::var_os("PATH").unwrap_or_default();
    home.set_environment(&mut command);
    command.env("PATH", path);
    Some(run_in_terminal(command, &json!(steps), arguments))
}
