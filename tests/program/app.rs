//! A program made with `app!`: its name, its own commands, and its state, which is opened when a tool may be called.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::process::Stdio;
use std::thread;

use serde_json::{Value, json};
use test_support::CommandOutput;
use test_support::programs::test_program;

/// Runs the program in an empty directory.
fn run(arguments: &[&str], variables: &[(&str, &str)], stdin: &str) -> CommandOutput {
    let home = tempfile::tempdir().unwrap();
    let mut command = test_program("app");
    command.args(arguments).envs(variables.iter().copied()).env("HOME", home.path());
    command.env_remove("XDG_DATA_HOME").current_dir(home.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}

#[test]
fn help_has_the_description_the_tools_and_the_commands_of_the_program() {
    let help = run(&["--help"], &[], "");
    assert_eq!(help.code, Some(0));
    let expected = [
        "Sells books.",
        "report         Report the stock after sales",
        "tools show count_books",
        "tools call count_books sold=1",
    ];
    for expected in expected {
        assert!(help.out.contains(expected), "{}", help.out);
    }
}

#[test]
fn tools_are_listed_and_checked_without_opening_the_state() {
    for arguments in [&["tools", "list"][..], &["tools", "show", "count_books"], &["check"]] {
        let output = run(arguments, &[], "");
        assert_eq!((output.code, &*output.err), (Some(0), ""), "{arguments:?}");
        assert!(output.out.contains("count_books"), "{}", output.out);
    }
}

#[test]
fn the_state_is_opened_before_a_call() {
    let output = run(&["tools", "call", "count_books", "sold=2"], &[], "");
    assert_eq!((output.code, &*output.out, &*output.err), (Some(0), "10\n", "the shop opens\n"));
}

#[test]
fn a_state_that_cannot_be_opened_is_named() {
    let stock = [("TOOLWRIGHT_SHOP_STOCK", "many")];
    let output = run(&["tools", "call", "count_books", "sold=2"], &stock, "");
    assert_eq!(output.code, Some(1));
    let expected = "error: the state `test_programs::app::Shop` cannot be opened: ";
    assert!(output.err.contains(expected), "{}", output.err);
    assert!(output.err.contains("TOOLWRIGHT_SHOP_STOCK"), "{}", output.err);
}

#[test]
fn an_own_command_gets_its_arguments_and_the_started_app() {
    let output = run(&["report", "2", "5"], &[], "");
    assert_eq!(
        (output.code, &*output.out),
        (Some(0), "2 sold: 10 left\n5 sold: 7 left\n"),
        "{}",
        output.err
    );
    let output = run(&["report", "many"], &[], "");
    assert_eq!(output.code, Some(1));
    assert!(output.err.ends_with("error: invalid digit found in string\n"), "{}", output.err);
}

#[test]
fn requests_to_a_vendor_have_the_name_of_the_program() {
    let vendor = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", vendor.local_addr().unwrap());
    let request = thread::spawn(move || {
        let (stream, _) = vendor.accept().unwrap();
        let head = BufReader::new(&stream).lines().map(Result::unwrap);
        let head: Vec<String> = head.take_while(|line| !line.is_empty()).collect();
        (&stream).write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").unwrap();
        head.join("\n")
    });
    let variables = [("OPENAI_API_KEY", "a key"), ("TOOLWRIGHT_MODELS_OPENAI_BASE_URL", &url)];
    let output = run(&["chat", "--model", "openai:gpt-5", "--once", "Hi"], &variables, "");
    assert_eq!(output.code, Some(1), "{}", output.err);
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!("user-agent: bookshop/{version} toolwright/{version}");
    let head = request.join().unwrap();
    assert!(head.contains(&expected), "{head}");
}

/// The first request of an MCP client.
fn initialize() -> Value {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })
}

#[test]
fn the_mcp_server_has_the_name_of_the_program() {
    let output = run(&["mcp"], &[], &format!("{}\n", initialize()));
    let response: Value = serde_json::from_str(output.out.lines().next().unwrap()).unwrap();
    assert_eq!(response.pointer("/result/serverInfo/name"), Some(&json!("bookshop")));
}

#[test]
fn the_mcp_server_lists_two_tools_if_it_is_told_to_search() {
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {} });
    let requests = format!("{}\n{list}\n", initialize());
    let settings = [("TOOLWRIGHT_MCP_SEARCH", "true")];
    for (arguments, variables) in [(&["mcp", "--search"][..], &[][..]), (&["mcp"], &settings)] {
        let output = run(arguments, variables, &requests);
        let response: Value = serde_json::from_str(output.out.lines().nth(1).unwrap()).unwrap();
        let name = |at: usize| response.pointer(&format!("/result/tools/{at}/name"));
        assert_eq!(name(0), Some(&json!("search_tools")), "{}", output.out);
        assert_eq!(name(1), Some(&json!("call_tool")));
        assert_eq!(name(2), None);
    }
}
