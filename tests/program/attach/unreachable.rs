//! Servers that are unreachable, silent, or not MCP servers: each is a warning, and the command runs without it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::process::Command;

use serde_json::json;
use toolwright::{Config, ConfigSources};
use toolwright_mcp::RemoteServer;

use super::terminal::project as rude;
use super::{TOOLWRIGHT, TestProject};
use crate::stdio_server::StdioServer;

/// A listener on this machine, and its address.
fn listener() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    (listener, url)
}

/// Serves every request with this status.
fn answering(status: &'static str) -> String {
    let (listener, url) = listener();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            // The client may have closed the connection.
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
        }
    });
    url
}

/// An address without a listener.
fn unused_address() -> String {
    listener().1
}

#[test]
fn a_dead_server_costs_a_warning_and_its_own_tools() {
    let url = unused_address();
    let settings = format!(
        "[mcp.servers.dead]\nurl = {url:?}\n[mcp.servers.gone]\ncommand = \"no-such-program\"\n\
         [tools.dead_thing]\napproval = \"never\"\n[bundles.dead]\ntimeout = \"5s\"\n"
    );
    let project = TestProject::with(&settings);
    for command in [
        &["tools", "list"][..],
        &["prompts", "list"],
        &["chat", "--model", "demo", "--once", "Convert 100 C to Fahrenheit"],
    ] {
        let output = project.run(command);
        assert_eq!(output.code, Some(0), "{output:?}");
        for warning in [
            &*format!("warning: server `dead` cannot be attached: {url}"),
            "warning: server `gone`: cannot start `no-such-program`",
        ] {
            assert_eq!(output.err.matches(warning).count(), 1, "{output:?}");
        }
    }
    // An unknown tool may belong to an unreachable server; a missing config file is still an error.
    let call = project.run(&["tools", "call", "dead_thing"]);
    assert_eq!(call.code, Some(1), "{call:?}");
    assert!(call.err.contains("may belong to `dead` or `gone`"), "{call:?}");
    let wrong = project.run(&["tools", "list", "--config", "none.toml"]);
    assert_ne!(wrong.code, Some(0));
    // A server that could not be checked fails the check.
    let checked = project.run(&["check", "--for", "gemini"]);
    assert_eq!(checked.code, Some(1), "{checked:?}");
    assert!(checked.out.contains("get_weather"), "{checked:?}");
    let listed = project.run(&["mcp", "list"]);
    assert_eq!(listed.code, Some(1), "{listed:?}");
    assert!(listed.err.starts_with("error: server `dead`"), "{listed:?}");
}

#[test]
fn a_server_that_never_answers_is_waited_for_so_long_and_no_longer() {
    let (_silent, url) = listener();
    let settings = format!("[mcp.servers.slow]\nurl = {url:?}\nconnect_s = 1\n");
    let output = TestProject::with(&settings).run(&["tools", "list"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let error = format!("server `slow` did not answer within 1 s at {url}");
    assert!(output.err.contains(&error), "{output:?}");
}

#[test]
fn who_needs_no_attached_tool_does_not_connect() {
    let (silent, url) = listener();
    silent.set_nonblocking(true).unwrap();
    let settings =
        format!("[mcp.servers.slow]\nurl = {url:?}\n[tools.slow_thing]\ntimeout = \"5s\"\n");
    let project = TestProject::with(&settings);
    for command in [
        &["tools", "call", "get_weather", "city=Paris"][..],
        &["tools", "show", "get_weather"],
        &["tools", "schema", "get_weather"],
        &["prompts", "render", "summarize_instructions", "topic=bees"],
        &["config", "show"],
        &["conversations", "list"],
        &["check", "--for", "gemini", "tools.json"],
    ] {
        project.write("tools.json", r#"[{"name": "f", "description": "F.", "parameters": {}}]"#);
        let output = project.run(command);
        assert_eq!(output.code, Some(0), "{command:?}: {output:?}");
    }
    let connected = silent.accept().map(drop);
    assert_eq!(connected.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn a_check_of_an_unreachable_server_reports_the_reason() {
    let project = TestProject::with("");
    let (dead, missing, locked) =
        (unused_address(), answering("404 Not Found"), answering("401 Unauthorized"));
    for (server, expected, code) in [
        (dead.as_str(), "Connection refused", 1),
        (&missing, "404", 1),
        (&missing, "check that it runs, and speaks MCP there", 1),
        (&locked, "wants authorization", 1),
        (&locked, "set its `authorization`, or `oauth = \"shared\"`, in toolwright.toml", 1),
        ("ftp://127.0.0.1/mcp", "begins with https:// or http://", 1),
        ("no-such-program", "cannot start `no-such-program`", 1),
        ("true", "check that it runs, and speaks MCP there", 1),
        ("sh -c 'echo hello; read line'", "`hello` where JSON is expected", 1),
        ("sh -c 'echo boom >&2'", "; its last output: boom", 1),
        ("", "write the server's address", 2),
        ("a 'b", "a quote is not closed", 2),
    ] {
        let result = project.run(&["check", "--mcp", server]);
        assert_eq!((result.code, result.out.as_str()), (Some(code), ""), "{server}: {result:?}");
        assert!(result.err.contains(expected), "{server}: {result:?}");
    }
    let both = project.run(&["check", "--mcp", "true", "tools.json"]);
    assert_eq!(both.code, Some(2), "{both:?}");
}

#[test]
fn the_settings_that_the_guide_shows_are_settings() {
    let guide = include_str!("../../../docs/attaching-servers.md");
    let (_, rest) = guide.split_once("```toml\n").unwrap();
    let (settings, _) = rest.split_once("```").unwrap();
    let project = TestProject::with(settings);
    let sources = ConfigSources::new().directory(project.path());
    let config = Config::load(sources).unwrap().config;
    let servers = RemoteServer::from_config(&config).unwrap();
    let names: Vec<&str> = servers.iter().map(RemoteServer::name).collect();
    assert_eq!(names, ["files", "wiki"]);
}

#[test]
fn a_server_that_comes_later_is_attached_then() {
    let Some(project) = rude() else { return };
    let script = std::fs::read_to_string(project.path().join("rude.py")).unwrap();
    let closed = "import os, sys\nif not os.path.exists('open'): sys.exit(1)\n";
    project.write("rude.py", &format!("{closed}{script}"));
    let mut peer = StdioServer::start(Command::new(TOOLWRIGHT), project.path());
    let info = json!({ "name": "test", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
    peer.send_request(
        &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }),
    );
    peer.send_message(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let listed = peer.send_request(&list).to_string();
    assert!(listed.contains("get_weather") && !listed.contains("rude_say"), "{listed}");
    project.write("open", "");
    while peer.read_message()["method"] != "notifications/tools/list_changed" {}
    assert!(peer.send_request(&list).to_string().contains("rude_say"));
}

#[test]
fn a_name_that_several_servers_have_is_not_accepted_for_all() {
    let Some(project) = rude() else { return };
    let server = "command = \"python3\"\nargs = [\"rude.py\"]\n";
    let settings = format!("[mcp.servers.one]\n{server}[mcp.servers.two]\n{server}");
    project.write("toolwright.toml", &settings);
    let listed = project.run(&["tools", "list"]);
    let (one, two) = (listed.out.find("one_say"), listed.out.find("two_say"));
    assert!(one.is_some() && one < two, "in the order of the settings: {listed:?}");
    let script = std::fs::read_to_string(project.path().join("rude.py")).unwrap();
    project.write("rude.py", &script.replace("Says.", "Says more."));
    let several = project.run(&["mcp", "accept", "say"]);
    assert_eq!(several.code, Some(2), "{several:?}");
    assert!(several.err.contains("name `one_say` or `two_say`"), "{several:?}");
    let one = project.run(&["mcp", "accept", "two_say"]);
    assert_eq!(one.code, Some(0), "{one:?}");
    let listed = project.run(&["tools", "list"]);
    assert!(!listed.out.contains("one_say") && listed.out.contains("two_say"), "{listed:?}");
    let other = project.run(&["mcp", "accept", "say"]);
    assert_eq!(other.err, "accepted `say` of one\n", "{other:?}");
    let nothing = project.run(&["mcp", "accept", "say"]);
    assert_eq!(nothing.code, Some(1), "{nothing:?}");
}

#[test]
fn settings_that_make_no_sense_are_refused_by_name() {
    for (settings, expected) in [
        (
            "[mcp.servers.a]\nurl = \"http://127.0.0.1/\"\ncommand = \"b\"\n",
            "`mcp.servers.a.command`",
        ),
        ("[mcp.servers.a]\ncomand = \"b\"\n", "`mcp.servers.a.comand`"),
        (
            "[mcp.servers.a]\ncommand = \"b\"\n[MCP]\nname = \"a\"\nurl = \"http://127.0.0.1/\"\n",
            "two MCP servers are named `a`",
        ),
    ] {
        let result = TestProject::with(settings).run(&["tools", "list"]);
        assert_eq!(result.code, Some(1), "{result:?}");
        assert!(result.err.contains(expected), "{result:?}");
    }
}
