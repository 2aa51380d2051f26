//! Where conversations are stored, and the permissions of the file.

use std::io::Write as _;
use std::process::Stdio;

use super::{CommandOutput, TestHome, mode};

pub(super) const FILE: &str = ".local/share/toolwright/conversations.sqlite";

#[test]
fn a_single_message_is_stored_only_on_request() {
    let home = TestHome::new();
    home.run(&["chat", "--once", "Convert 100 C"]).assert_success();
    assert!(!home.path(FILE).exists());
    home.ask("a", "Convert 100 C");
    assert_eq!(mode(&home.path(FILE)), 0o600);
    assert_eq!(mode(home.path(FILE).parent().unwrap()), 0o700);
    let named = ["chat", "--once", "Convert 1 C", "--store", "sqlite:here.db"];
    home.run(&named).assert_success();
    assert_eq!(mode(&home.path("here.db")), 0o600);
}

#[test]
fn a_session_is_kept_among_the_users_data() {
    let home = TestHome::new();
    let mut command = home.command(&["chat"]);
    command.env("XDG_DATA_HOME", home.path("data"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines =
        b"Convert 100 C to Fahrenheit\n/conversations\n/conversations chet\n/clear\nConvert 1 C\n";
    child.stdin.take().unwrap().write_all(lines).unwrap();
    let session = CommandOutput::from(child.wait_with_output().unwrap()).assert_success();
    assert!(session.err.contains("kept in"), "{session:?}");
    assert!(session.err.contains("there is no conversation `chet`"), "{session:?}");
    assert!(session.out.contains("     6  Convert 100 C to Fahrenheit"), "{session:?}");
    assert!(!home.path(FILE).exists());
    let file = home.path("data/toolwright/conversations.sqlite");
    let store = format!("sqlite:{}", file.display());
    let list = home.run(&["conversations", "list", "--store", &store]).assert_success();
    assert_eq!(list.out.lines().count(), 2, "{list:?}");
}

#[test]
fn memory_stores_nothing_and_warns_of_it() {
    let home = TestHome::new();
    let list = home.run(&["conversations", "list", "--store", "memory:"]).assert_success();
    assert_eq!(list.out, "");
    assert!(list.err.contains("keeps nothing"), "{list:?}");
    let import = ["conversations", "import", "a.jsonl", "--store", "memory:"];
    home.run(&import).assert_failure(2, "keeps nothing");
    let mut session = home.command(&["chat", "--store", "memory:"]);
    let session = CommandOutput::from(session.output().unwrap()).assert_success();
    assert!(session.err.contains("not kept"), "{session:?}");
}

#[test]
fn a_store_that_cannot_be_opened_is_named_with_what_to_do() {
    let home = TestHome::new();
    let list = ["conversations", "list", "--store"];
    let at = |url: &str| home.run(&[&list[..], &[url]].concat());
    at("papyrus:x").assert_failure(2, "--store: no store is called `papyrus:`");
    at("sqlite:").assert_failure(1, "write `sqlite:FILE`");
    at("sqlite:.").assert_failure(1, "is a directory");
    std::fs::write(home.path("text.db"), "no database at all, ".repeat(100)).unwrap();
    at("sqlite:text.db").assert_failure(1, "text.db");
    for missing in ["sqlite:nope/x.db", "sqlite://nope.db"] {
        at(missing).assert_failure(1, "--store: there is no file `nope");
        at(missing).assert_failure(1, "check the path");
        for command in ["show", "export", "delete"] {
            let output = home.run(&["conversations", command, "a", "--store", missing]);
            output.assert_failure(1, "--store: there is no file `nope");
        }
    }
    assert!(!home.path("nope").exists() && !home.path("nope.db").exists());
    let unreachable = at("postgres://me:hunter2@127.0.0.1:1/x");
    unreachable.assert_failure(1, "--store: ");
    assert!(!unreachable.err.contains("hunter2"), "{unreachable:?}");
    let mut command = home.command(&["conversations", "list"]);
    let named = command.env("TOOLWRIGHT_STORE", "papyrus:x").output();
    CommandOutput::from(named.unwrap()).assert_failure(1, "TOOLWRIGHT_STORE: no store");
    let mut command = home.command(&["conversations", "list"]);
    let homeless = command.env_remove("HOME").output();
    CommandOutput::from(homeless.unwrap()).assert_failure(1, "set HOME");
}
