//! The programs of `examples/` that a new user starts with: those that serve are run, and all are short.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// An example that runs in an empty directory, and is ended with this value.
struct Program {
    child: Child,
    _home: TempDir,
}

impl Program {
    fn start(name: &str, arguments: &[&str]) -> Self {
        let program = Path::new(env!("CARGO_BIN_EXE_toolwright"));
        let program = program.with_file_name(format!("examples/{name}"));
        assert!(program.exists(), "it is not built: cargo build --example {name}");
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new(program);
        command.args(arguments).env_clear().env("HOME", home.path()).current_dir(home.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        Self { child: command.spawn().unwrap(), _home: home }
    }

    /// The lines that it prints.
    fn lines(&mut self) -> impl Iterator<Item = String> + use<> {
        BufReader::new(self.child.stdout.take().unwrap()).lines().map(Result::unwrap)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_mcp_client_places_an_order_with_nested_arguments() {
    let mut program = Program::start("22_mcp_server", &["mcp"]);
    let mut lines = program.lines();
    let mut stdin = program.child.stdin.take().unwrap();
    let mut request = |id: u32, method: &str, params: Value| -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(stdin, "{request}").unwrap();
        serde_json::from_str(&lines.next().unwrap()).unwrap()
    };
    let client = json!({ "name": "test", "version": "1" });
    let hello =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    request(1, "initialize", hello);
    let lines = json!([{ "item": "tea", "count": 2 }, { "item": "milk", "count": 1 }]);
    let call = json!({ "name": "place_order", "arguments": { "lines": lines } });
    let response = request(2, "tools/call", call);
    let text = response.pointer("/result/content/0/text");
    assert_eq!(text, Some(&json!("order 1: 2 × tea, 1 × milk")), "{response}");
}

/// Sends a request, and returns the stream of the response.
fn request(addr: &str, head: &str, body: &Value) -> TcpStream {
    let mut stream = TcpStream::connect(addr).unwrap();
    let body = body.to_string();
    let length = body.len();
    let text = format!(
        "{head} HTTP/1.1\r\nhost: {addr}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(text.as_bytes()).unwrap();
    stream
}

fn response(addr: &str, head: &str, body: &Value) -> String {
    let mut text = String::new();
    request(addr, head, body).read_to_string(&mut text).unwrap();
    text
}

#[test]
fn rooms_in_an_axum_application_have_their_tools_and_no_others() {
    let mut program = Program::start("23_rooms_in_axum", &[]);
    let url = program.lines().next().unwrap();
    let addr = url.strip_prefix("http://").unwrap();
    assert!(response(addr, "GET /", &Value::Null).contains("Welcome to the shop."));
    // The parts that were not mounted have no routes.
    for path in ["/ai/", "/ai/api/tools", "/ai/v1/models", "/ai/metrics", "/ai/api/conversations"] {
        let response = response(addr, &format!("GET {path}"), &Value::Null);
        assert!(response.starts_with("HTTP/1.1 404"), "{path}: {response}");
    }
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    } } });
    let listed = response(addr, "POST /ai/mcp", &list);
    assert!(!listed.contains("refund"), "{listed}");

    let message = json!({ "text": "Send a voucher of 20 euros" });
    let accepted = response(addr, "POST /ai/support/7/prompt", &message);
    assert!(accepted.starts_with("HTTP/1.1 202"), "{accepted}");
    let events = request(addr, "GET /ai/support/7/events?after=0", &Value::Null);
    let mut lines = BufReader::new(events).lines().map(Result::unwrap);
    let mut next_event = |kind: &str| -> Value {
        let event = lines.find_map(|line| {
            let event: Value = serde_json::from_str(line.strip_prefix("data: ")?).unwrap();
            (event["event"]["type"] == kind).then(|| event["event"].clone())
        });
        event.unwrap()
    };
    let asked = next_event("asked");
    assert_eq!(asked["tool"]["name"], "send_voucher", "{asked}");
    let decision = json!({ "call": asked["call"], "token": asked["token"], "verdict": "approve" });
    let decided = response(addr, "POST /ai/support/7/decide", &decision);
    assert!(decided.starts_with("HTTP/1.1 202"), "{decided}");
    let result = next_event("result").to_string();
    assert!(result.contains("a voucher of 20 euros is sent"), "{result}");
}

/// The programs of a new user: the example, the most code lines, and the most names that it imports from toolwright.
const PROGRAMS: [(&str, usize, usize); 5] = [
    ("21_real_model", 20, 3),
    ("22_mcp_server", 35, 3),
    ("23_rooms_in_axum", 35, 4),
    ("24_attached_server", 15, 4),
    ("25_testing", 40, 6),
];

/// The names that a program imports from toolwright.
fn imported_names(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    for import in source.split("use toolwright::").skip(1) {
        let import = import.split(';').next().unwrap();
        let names_of = import.rsplit("::").next().unwrap().trim_matches(['{', '}']);
        names.extend(names_of.split(',').map(|name| name.trim().to_owned()));
    }
    names
}

#[test]
fn the_programs_of_a_new_user_are_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, max_lines, max_imports) in PROGRAMS {
        let source = fs::read_to_string(root.join(format!("examples/{name}.rs"))).unwrap();
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
        let lines = source.lines().filter(is_code).count();
        assert!(lines <= max_lines, "{name} has {lines} lines of code");
        let imports = imported_names(&source);
        assert!(imports.len() <= max_imports, "{name} imports {imports:?}");
    }
    // A tool and a call: a program of the first hour. An approval: the one of the guide.
    for (file, program, max) in
        [("docs/first-hour.md", "registry.call(", 3), ("docs/designing-a-tool.md", ".approver(", 4)]
    {
        let text = fs::read_to_string(root.join(file)).unwrap();
        let mut programs = text.split("```rust\n").skip(1);
        let program = programs.find(|source| source.contains(program)).unwrap();
        let imports = imported_names(program.split("```").next().unwrap());
        assert!(!imports.is_empty() && imports.len() <= max, "{file} imports {imports:?}");
    }
}

/// The pages that show an example as the reader's own program, whose commands they run.
const SHOWN_PROGRAMS: [(&str, &str); 2] =
    [("README.md", "27_ten_lines"), ("docs/first-hour.md", "26_first_hour")];

#[test]
fn pages_show_the_examples_that_their_commands_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (page, example) in SHOWN_PROGRAMS {
        let source = fs::read_to_string(root.join(format!("examples/{example}.rs"))).unwrap();
        let program = source.find("use toolwright").map(|start| &source[start..]).unwrap();
        let page_text = fs::read_to_string(root.join(page)).unwrap();
        assert!(page_text.contains(program), "{page} does not show examples/{example}.rs as it is");
    }
}
