//! `serve`: its first line, its page, and its shutdown.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStderr, Command, Stdio};

const TOKEN: &str = "a-token-that-nobody-guesses";

/// A server process, which is killed on drop.
struct ServerProcess {
    child: Child,
    err: BufReader<ChildStderr>,
    /// Its first line.
    line: String,
    /// Its address, as `127.0.0.1:1234`.
    address: String,
}

fn serve(arguments: &[&str]) -> ServerProcess {
    serve_from(arguments, "memory:")
}

fn serve_from(arguments: &[&str], store: &str) -> ServerProcess {
    serve_with(arguments, store, "")
}

/// Serves behind these proxies.
fn serve_with(arguments: &[&str], store: &str, trusted_proxies: &str) -> ServerProcess {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    command.args(arguments).args(["--model", "demo", "--store", store]);
    command.env("TOOLWRIGHT_SERVER_TRUSTED_PROXIES", trusted_proxies);
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    err.read_line(&mut line).unwrap();
    let rest = line.split_once("http://").map_or("", |(_, rest)| rest);
    let address = rest.split('/').next().unwrap_or_default().to_owned();
    ServerProcess { child, err, line, address }
}

impl ServerProcess {
    /// Sends a request, and returns the head and body of the response.
    fn send_request(&self, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}",
            self.address
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Sends a request for a host with the origin of a page, and returns the status of the response.
    fn status_for(&self, host: &str, origin: &str, more: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "GET /api/info HTTP/1.1\r\nhost: {host}\r\norigin: {origin}\r\nconnection: close\r\n\
             authorization: Bearer {TOKEN}\r\n{more}\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().to_owned()
    }

    /// Sends SIGTERM, and returns the exit code and the rest of stderr.
    fn stop(mut self) -> (Option<i32>, String) {
        let killed = Command::new("kill").arg(self.child.id().to_string()).status();
        assert!(killed.unwrap().success());
        let mut stderr = String::new();
        self.err.read_to_string(&mut stderr).unwrap();
        (self.child.wait().unwrap().code(), stderr)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_first_line_has_the_url_and_the_model() {
    let server = serve(&["serve", "--addr", "127.0.0.1:0"]);
    assert!(server.line.contains("demo: chosen by --model"), "{}", server.line);
    assert!(server.send_request("GET", "/", "").starts_with("HTTP/1.1 200"));
    let health = server.send_request("GET", "/healthz", "");
    assert!(health.ends_with("ok\n"), "{health}");
    let (code, stderr) = server.stop();
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}

#[test]
fn settings_that_only_tools_can_read_are_listed_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("toolwright.toml");
    std::fs::write(&file, "[mail]\nhost = \"a\"\nport = 1\n[quota]\ncost_per_day = 1\n").unwrap();
    let mut server = serve(&["serve", "--port", "0", "--config", file.to_str().unwrap()]);
    assert!(server.line.starts_with("http://"), "{}", server.line);
    let mut note = String::new();
    server.err.read_line(&mut note).unwrap();
    assert_eq!(note, "note: settings that only tools can read: [mail]\n");
    assert!(server.send_request("GET", "/readyz", "").ends_with("ready\n"));
    assert_eq!(server.stop().1, "");
}

#[test]
fn a_question_is_answered_by_the_sample_assistant() {
    let server = serve(&["serve", "--addr", "127.0.0.1:0", "--log", "info"]);
    let asked = r#"{"id":"c","messages":[{"role":"user","parts":[{"type":"text","text":"Convert 100 C to Fahrenheit"}]}]}"#;
    let answer = server.send_request("POST", "/api/chat", asked);
    assert!(answer.contains("100.0C = 212.0F"), "{answer}");
    assert!(answer.contains("[DONE]"), "{answer}");
    let (_, stderr) = server.stop();
    assert!(stderr.contains("info: a turn is over"), "{stderr}");
}

#[test]
fn if_the_default_port_is_in_use_the_next_one_is_announced() {
    // It is in use afterwards, by this test or by another process.
    let _taken = TcpListener::bind("127.0.0.1:8787");
    let server = serve(&["serve"]);
    assert!(server.line.contains("port 8787 is taken"), "{}", server.line);
    assert!(server.send_request("GET", "/healthz", "").ends_with("ok\n"));
}

#[test]
fn without_a_command_it_serves() {
    let server = serve(&[]);
    assert!(server.send_request("GET", "/readyz", "").ends_with("ready\n"));
}

#[test]
fn the_line_and_the_log_are_json_for_machines() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    command.args(["serve", "--json", "--addr", "127.0.0.1:0", "--model", "demo"]);
    command.args(["--store", "memory:"]).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let _ = child.kill();
    let _ = child.wait();
    let announcement: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(announcement["model"]["vendor"], "demo");
    assert!(announcement["url"].as_str().unwrap().starts_with("http://127.0.0.1:"));
}

#[test]
fn a_port_alone_is_one_of_this_machine() {
    for arguments in [
        &["serve", "--port", "0"][..],
        &["serve", "--addr", "0"],
        &["serve", "--addr", ":0"],
        &["serve", "--addr", "localhost:0"],
        &["serve", "--addr", "[::1]:0"],
    ] {
        let server = serve(arguments);
        let host = match arguments {
            [.., "[::1]:0"] => "http://[::1]:",
            _ => "http://127.0.0.1:",
        };
        assert!(server.line.starts_with(host), "{arguments:?}: {}", server.line);
    }
}

#[test]
fn a_host_that_is_not_answered_for_is_told_the_flag() {
    let server = serve(&["serve", "--port", "0"]);
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let request = "GET /api/info HTTP/1.1\r\nhost: tools.example\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("`--host`"), "{answer}");
}

#[test]
fn a_port_in_use_is_named_with_the_flag_for_another() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap();
    let server = serve(&["serve", "--addr", &addr.to_string()]);
    let advice = "another program has this port: choose one with --port";
    assert!(server.line.contains(&addr.to_string()), "{}", server.line);
    assert!(server.line.contains(advice), "{}", server.line);
}

#[test]
fn an_address_that_is_none_is_refused_with_what_to_write() {
    for (address, stderr) in [
        ("127.0.0.1", "127.0.0.1:8787"),
        ("shop.example:80", "0.0.0.0:80"),
        ("localhost:http", "a port is a number from 0 to 65535"),
        ("70000", "a port is a number from 0 to 65535"),
        ("", "127.0.0.1:8787"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
        command.args(["serve", "--addr", address, "--model", "demo"]);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{address}: {err}");
        assert!(err.contains(stderr), "{address}: {err}");
    }
}

#[test]
fn a_page_of_a_named_host_has_to_come_from_the_port_that_it_calls() {
    let arguments = ["serve", "--port", "0", "--token", TOKEN, "--host", "box.example"];
    let proxied = "x-forwarded-proto: https, http\r\n";
    let direct = serve(&arguments);
    let found = direct.status_for("box.example", "http://box.example", proxied);
    assert_eq!(found, "200", "a proxy that is not trusted says nothing");
    let serving = serve_with(&arguments, "memory:", "192.0.2.0/24, 127.0.0.1");
    for (host, origin, more, status) in [
        ("box.example", "https://box.example", "", "200"),
        ("box.example", "http://box.example", "", "200"),
        ("box.example", "https://box.example", proxied, "200"),
        ("box.example", "http://box.example", proxied, "403"),
        ("box.example:8443", "https://box.example:8443", "", "200"),
        ("box.example:8443", "https://box.example", "", "403"),
        ("box.example", "https://box.example:8443", "", "403"),
        ("localhost", "https://box.example", "", "403"),
        (&serving.address, "https://box.example", "", "403"),
    ] {
        let found = serving.status_for(host, origin, more);
        assert_eq!(found, status, "{host} {origin} {more}");
    }
}

#[test]
fn an_address_that_others_reach_needs_a_token() {
    let refused = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
        let command = command.args(arguments).args(["--model", "demo", "--store", "memory:"]);
        let output = command.stdin(Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, stderr) = refused(&["serve", "--addr", "0.0.0.0:0"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("pass --token"), "{stderr}");
    let (code, stderr) = refused(&["serve", "--addr", "127.0.0.1:0", "--token", "short"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(
        stderr.contains("the token from --token has 5 letters: take one of at least 16"),
        "{stderr}"
    );
    let server = serve(&["serve", "--addr", "127.0.0.1:0", "--token", "a-token-of-some-length"]);
    assert!(server.send_request("GET", "/api/info", "").starts_with("HTTP/1.1 401"));
}

/// The body of a response, as JSON.
fn json(answer: &str) -> serde_json::Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

#[test]
fn a_refund_that_waited_when_the_server_was_killed_is_approved_in_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("c.sqlite").display());
    let arguments = ["serve", "--addr", "127.0.0.1:0"];
    let ask = |text: &str| {
        let part = format!(r#"{{"type":"text","text":"{text}"}}"#);
        format!(r#"{{"id":"c","messages":[{{"role":"user","parts":[{part}]}}]}}"#)
    };
    let mut first = serve_from(&arguments, &store);
    let asked = first.send_request("POST", "/api/chat", &ask("Refund 19.99 for order A-1042"));
    assert!(asked.contains("tool-approval-request"), "{asked}");
    first.child.kill().unwrap();
    drop(first);

    let second = serve_from(&arguments, &store);
    let waiting = loop {
        // The turn is resumed when a client connects, and waits again.
        let shown = json(&second.send_request("GET", "/api/conversations/c", ""));
        if let Some(waiting) = shown["pending"].get(0) {
            break waiting.clone();
        }
    };
    let decision = serde_json::json!({
        "call": waiting["call"]["id"], "token": waiting["token"],
        "verdict": "edit", "arguments": { "order": "A-1042", "amount": 5.0 },
    });
    let path = "/api/conversations/c/decide";
    let decided = second.send_request("POST", path, &decision.to_string());
    assert!(decided.starts_with("HTTP/1.1 202"), "{decided}");
    let shown = loop {
        let shown = second.send_request("GET", "/api/conversations/c", "");
        if json(&shown)["running"] == false {
            break shown;
        }
    };
    assert_eq!(shown.matches(r#""finished""#).count(), 1, "{shown}");
    assert!(shown.contains(r#""end":"answered""#), "{shown}");
    let again = second.send_request("POST", path, &decision.to_string());
    assert!(again.starts_with("HTTP/1.1 409"), "{again}");
}

#[test]
fn a_provider_that_cannot_be_reached_is_a_warning_and_a_grant_that_is_misspelt_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("toolwright.toml");
    // Nothing listens there any more.
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let settings = |scope: &str| {
        format!(
            "[login.corp]\nissuer = \"http://{closed}\"\nclient_id = \"me\"\n\
             [login.corp.grants]\n\"*\" = \"{scope}\"\n[scopes.look]\nread_only = true\n"
        )
    };
    let arguments = ["serve", "--addr", "127.0.0.1:0", "--config", file.to_str().unwrap()];
    std::fs::write(&file, settings("look")).unwrap();
    let mut server = serve(&arguments);
    let mut warning = String::new();
    server.err.read_line(&mut warning).unwrap();
    assert!(warning.contains("people cannot sign in"), "{warning}");
    assert!(warning.contains(&closed.to_string()), "{warning}");
    let ready = server.send_request("GET", "/readyz", "");
    assert!(ready.starts_with("HTTP/1.1 200") && ready.contains("cannot be reached"), "{ready}");

    std::fs::write(&file, settings("lok")).unwrap();
    let command = Command::new(env!("CARGO_BIN_EXE_toolwright"))
        .args(arguments)
        .args(["--model", "demo", "--store", "memory:"])
        .output();
    let output = command.unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("`lok`, which does not exist: did you mean `look`?"), "{stderr}");
}
