//! Parsing of transcripts, and matching of output.

use super::*;

fn transcript_expecting(expected: &[&str]) -> Transcript {
    Transcript {
        line: 1,
        command: "cargo run".to_owned(),
        expected: expected.iter().map(|line| (*line).to_owned()).collect(),
    }
}

fn words(command: &str) -> Vec<String> {
    split_command(command).expect("the command is well formed").words
}

#[test]
fn console_blocks_hold_commands_and_their_output() {
    let text = "\
# Title

```console
$ cargo run -q -- tools list
add
echo

$ cargo run -q -- nonsense # exit 2
error: no such command

```

```sh
$ not a transcript
```
";
    let found = find_in_markdown(text).expect("well formed");
    assert_eq!(found.len(), 2);
    assert_eq!(
        found[0],
        Transcript {
            line: 4,
            command: "cargo run -q -- tools list".to_owned(),
            expected: vec!["add".to_owned(), "echo".to_owned()],
        }
    );
    assert_eq!(found[1].line, 8);
    assert_eq!(found[1].expected, ["error: no such command"]);
}

#[test]
fn a_command_in_a_console_block_may_promise_silence() {
    let found = find_in_markdown("```console\n$ true\n```\n").expect("well formed");
    assert_eq!(found[0].expected, Vec::<String>::new());
    assert!(found[0].matches_output(""));
    assert!(!found[0].matches_output("something\n"));
}

#[test]
fn output_before_any_command_is_a_mistake() {
    let text = "```console\n$ true\n```\n\n```console\noutput\n```\n";
    let error = find_in_markdown(text).expect_err("refused");
    assert!(error.starts_with("line 6:"), "{error}");
}

#[test]
fn a_header_shows_its_transcript_in_a_fence() {
    let source = "\
//! Adds two numbers.
//!
//! ```console
//! $ cargo run -q --example 01-add
//! 5
//!
//! done
//! ```
//!
//! $ cargo run is explained above.

fn main() {}
// $ cargo run --not-in-the-header
// 1
";
    let found = find_in_doc_header(source);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].line, 4);
    assert_eq!(found[0].command, "cargo run -q --example 01-add");
    assert_eq!(found[0].expected, ["5", "", "done"]);
}

#[test]
fn a_header_shows_its_transcript_indented() {
    let source = "\
//! Adds two numbers.
//!
//!     $ cargo run -q --example 01-add
//!     sum:
//!       5
//!     $ cargo run -q --example 01-add -- 1
//!     one
//!     $ ls
//!     files
//!
//! More text.
#![allow(dead_code)]
";
    let found = find_in_doc_header(source);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[0].expected, ["sum:", "  5"]);
    assert_eq!(found[1].expected, ["one"]);
}

#[test]
fn an_unfenced_transcript_at_the_margin_ends_at_a_blank_line() {
    let found = find_in_doc_header("// $ cargo run -q\n// hello\n//\n// Prose.\n");
    assert_eq!(found[0].expected, ["hello"]);
}

#[test]
fn a_header_command_without_output_is_no_transcript() {
    assert!(find_in_doc_header("//!     $ cargo run\n\nfn main() {}\n").is_empty());
}

#[test]
fn the_same_lines_are_accepted_and_others_are_not() {
    let promised = transcript_expecting(&["one", "two"]);
    assert!(promised.matches_output("one\ntwo\n"));
    assert!(promised.matches_output("one  \ntwo\n\n"));
    assert!(!promised.matches_output("one\n"));
    assert!(!promised.matches_output("one\ntwo\nthree\n"));
    assert!(!promised.matches_output(" one\ntwo\n"));
}

#[test]
fn an_ellipsis_stands_for_any_lines() {
    let promised = transcript_expecting(&["first", "…", "last"]);
    assert!(promised.matches_output("first\nlast"));
    assert!(promised.matches_output("first\nlast\nx\nlast"));
    assert!(!promised.matches_output("first\nlast\nx"));
    assert!(transcript_expecting(&["…"]).matches_output(""));
    assert!(transcript_expecting(&["a", "…"]).matches_output("a\nb\nc"));
    assert!(transcript_expecting(&["…", "b", "…", "d"]).matches_output("a\nb\nc\nb\nd"));
    assert!(!transcript_expecting(&["…", "b", "…", "d"]).matches_output("a\nd\nb"));
}

#[test]
fn quotes_keep_words_together() {
    assert_eq!(
        words(r#"cargo run -- call add '{"a": 1}' "b \"c\"" d\ e x="y z" """#),
        ["cargo", "run", "--", "call", "add", r#"{"a": 1}"#, r#"b "c""#, "d e", "x=y z", ""]
    );
}

#[test]
fn a_comment_after_the_command_promises_an_exit_code() {
    assert_eq!(split_command("cargo run # exit 2").map(|line| line.expected_exit_code), Ok(2));
    assert_eq!(split_command("cargo run # look").map(|line| line.expected_exit_code), Ok(0));
    assert_eq!(words("cargo run a#b '#' # exit 2").len(), 4);
    assert!(split_command("cargo run # exit two").is_err());
}

#[test]
fn what_only_a_shell_can_do_is_refused() {
    for command in
        ["cargo run | sort", "cargo run > file", "echo $PATH", "echo \"$PATH\"", "ls *.rs", "a; b"]
    {
        let error = split_command(command).expect_err(command);
        assert!(error.contains("needs a shell"), "{error}");
    }
    for command in ["echo 'open", "echo \"open", "echo \\", "", "# exit 1"] {
        split_command(command).expect_err(command);
    }
}

#[test]
fn a_block_of_an_example_runs_that_example() {
    let text = "```console example:26_shop\n$ cargo run -q -- tools list --json\n[]\n$ cargo run -q -- check --mcp 'target/debug/shop mcp'\nok\n```\n";
    let found = find_in_markdown(text).expect("two transcripts");
    let commands: Vec<&str> = found.iter().map(|it| it.command.as_str()).collect();
    assert_eq!(
        commands,
        [
            "cargo run -q --example 26_shop -- tools list --json",
            "cargo run -q --example 26_shop -- check --mcp 'target/debug/examples/26_shop mcp'",
        ]
    );
}
