//! A server that every person connects to on their own: the turn pauses, the person connects in a browser, the turn goes on.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Child;

use serde_json::{Value, json};

use super::program::{Program, visit};
use super::secret_scan::assert_nothing_secret_is_written;
use super::shop::Shop;

/// A server of the console that runs.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(program: &Program) -> Self {
        let arguments = ["serve", "--json", "--addr", "127.0.0.1:0", "--log", "debug"];
        let mut child = program.start(&arguments);
        program.record_lines(BufReader::new(child.stderr.take().unwrap()).lines());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        let url = line["url"].as_str().unwrap();
        let address = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
        program.record_lines(lines);
        Self { child, address }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a request, and returns the status, the cookie that it sets, and the body.
    fn request(&self, method: &str, path: &str, body: &Value) -> (u16, Option<String>, String) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: "));
        let cookie = cookie.map(|cookie| cookie.split(';').next().unwrap().to_owned());
        (status, cookie, body.to_owned())
    }

    fn get_json(&self, path: &str) -> Value {
        let (status, _, body) = self.request("GET", path, &Value::Null);
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    /// Waits for an event of a conversation after `seq` that has this type; returns it.
    fn wait_for(&self, conversation: &str, seq: u64, kind: &str) -> Value {
        self.wait_until(conversation, seq, |event| event["type"] == kind)
    }

    /// Waits for the result of a call of a tool.
    fn wait_for_result(&self, conversation: &str, seq: u64, tool: &str) -> Value {
        let is_result =
            |event: &Value| event["type"] == "result" && event["result"]["tool"] == tool;
        self.wait_until(conversation, seq, is_result)
    }

    fn wait_until(&self, conversation: &str, seq: u64, is_it: impl Fn(&Value) -> bool) -> Value {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let path = format!("/api/conversations/{conversation}/events?after={seq}");
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", self.address).unwrap();
        let lines = BufReader::new(stream).lines().map(Result::unwrap);
        let events = lines.filter_map(|line| {
            let data = line.strip_prefix("data: ")?.to_owned();
            let mut event: Value = serde_json::from_str(&data).ok()?;
            Some(event["event"].take())
        });
        for event in events {
            assert_ne!(event["type"], "error", "{event}");
            if is_it(&event) {
                return event;
            }
        }
        panic!("the stream has ended")
    }

    /// Sends a message; returns the number of the event before its turn.
    fn say(&self, conversation: &str, text: &str) -> u64 {
        let path = format!("/api/conversations/{conversation}/prompt");
        let (status, _, body) = self.request("POST", &path, &json!({ "text": text }));
        assert_eq!(status, 202, "{body}");
        let accepted: Value = serde_json::from_str(&body).unwrap();
        accepted["seq"].as_u64().unwrap()
    }
}

/// Connects the person to the shop, in a browser.
fn connect(server: &Server) {
    let (status, cookie, body) = server.request("POST", "/api/connections/shop", &Value::Null);
    assert_eq!(status, 200, "{body}");
    let link: Value = serde_json::from_str(&body).unwrap();
    let redirect = visit(link["link"].as_str().unwrap()).1.unwrap();
    assert_eq!(visit_with_cookie(&redirect, &cookie.unwrap()), 200);
}

/// Follows the redirect after a login to its end.
fn visit_with_cookie(url: &str, cookie: &str) -> u16 {
    let url = url.replace("/api/connect/callback?", "/api/connect/finish?");
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close");
    write!(stream, "{head}\r\ncookie: {cookie}\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_turn_waits_until_the_person_has_connected_and_goes_on_with_the_tools() {
    let Some(mut shop) = Shop::start() else { return };
    let Some(program) = Program::with_mode(&shop, "personal") else { return };
    let server = Server::start(&program);
    let listed = server.get_json("/api/connections");
    let tool = "shop_connect_account";
    let expected = json!([{ "name": "shop", "tool": tool, "isConnected": false, "scopes": [] }]);
    assert_eq!(listed, expected);

    let seq = server.say("one", "Connect my account of shop");
    let asked = server.wait_for("one", seq, "asked");
    assert_eq!(asked["tool"]["name"], tool, "{asked}");
    let (status, cookie, body) = server.request("POST", "/api/connections/shop", &Value::Null);
    assert_eq!(status, 200, "{body}");
    let cookie = cookie.unwrap();
    let link: Value = serde_json::from_str(&body).unwrap();
    let redirect = visit(link["link"].as_str().unwrap()).1.unwrap();
    // Another browser cannot finish it, and neither can this one twice.
    assert_eq!(visit(&redirect).0, 200, "it goes on to the page that finishes the login");
    assert_eq!(visit_with_cookie(&redirect, "toolwright_connect=0000"), 400);
    assert_eq!(visit_with_cookie(&redirect, &cookie), 200);
    assert_eq!(visit_with_cookie(&redirect, &cookie), 400);
    assert_eq!(server.get_json("/api/connections")[0]["isConnected"], true);

    let decision = json!({ "call": asked["call"], "token": asked["token"], "verdict": "approve" });
    let path = "/api/conversations/one/decide";
    let (status, _, body) = server.request("POST", path, &decision);
    assert_eq!(status, 202, "{body}");
    let result = server.wait_for("one", seq, "result");
    assert!(result.to_string().contains("its tools are shop_add"), "{result}");
    server.wait_for("one", seq, "ended");
    let seq = server.say("one", "Add 2 and 3");
    let result = server.wait_for("one", seq, "result");
    assert!(result.to_string().contains("\"5\""), "{result}");
    server.wait_for("one", seq, "ended");

    for path in ["/metrics", "/api/conversations/one", "/api/conversations/one/export", "/api/info"]
    {
        program.record_text(&server.request("GET", path, &Value::Null).2);
    }

    // The connection outlives the process.
    program.collector().wait_for("shop_add");
    server.kill();
    program.advance(&mut shop, 2 * 3_600);
    let server = Server::start(&program);
    let seq = server.say("two", "Add 2 and 3");
    let result = server.wait_for("two", seq, "result");
    assert!(result.to_string().contains("\"5\""), "{result}");
    // The token has expired meanwhile.
    assert_eq!(shop.refreshes(), 1);
    server.wait_for("two", seq, "ended");
    shop.send("revoke");
    let seq = server.say("two", "Add 2 and 3");
    let asked = server.wait_for("two", seq, "asked");
    assert_eq!(asked["tool"]["name"], tool, "{asked}");
    program.record_text(&server.request("GET", "/metrics", &Value::Null).2);
    assert_eq!(server.request("DELETE", "/api/connections/shop", &Value::Null).0, 204);
    assert_eq!(server.request("DELETE", "/api/connections/shop", &Value::Null).0, 404);
    assert_eq!(server.get_json("/api/connections")[0]["isConnected"], false);
    assert_eq!(server.request("POST", "/api/connections/bank", &Value::Null).0, 404);
    server.kill();
    // There is a log beside the spans.
    assert!(program.printed().contains("\"level\":\"debug\""), "{}", program.printed());
    assert_nothing_secret_is_written(&shop, &program);
}

#[test]
fn a_call_whose_login_has_ended_waits_until_the_person_has_connected_again() {
    let Some(mut shop) = Shop::start() else { return };
    let Some(program) = Program::with_mode(&shop, "personal") else { return };
    let server = Server::start(&program);
    connect(&server);
    let seq = server.say("one", "Add 2 and 3");
    let result = server.wait_for_result("one", seq, "shop_add");
    assert!(result.to_string().contains("\"5\""), "{result}");
    server.wait_for("one", seq, "ended");

    shop.send("revoke");
    for (conversation, verdict) in [("one", "approve"), ("two", "deny")] {
        let seq = server.say(conversation, "Add 3 and 4");
        let asked = server.wait_for(conversation, seq, "asked");
        assert_eq!(asked["tool"]["name"], "shop_connect_account", "{asked}");
        assert_eq!(server.get_json("/api/connections")[0]["isConnected"], false);
        if verdict == "approve" {
            connect(&server);
        }
        let (call, token) = (&asked["call"], &asked["token"]);
        let decision = json!({ "call": call, "token": token, "verdict": verdict });
        let path = format!("/api/conversations/{conversation}/decide");
        let (status, _, body) = server.request("POST", &path, &decision);
        assert_eq!(status, 202, "{body}");
        let result = server.wait_for_result(conversation, seq, "shop_add");
        match verdict {
            "approve" => assert!(result.to_string().contains("\"7\""), "{result}"),
            _ => assert_ne!(result["result"]["outcome"], "ok", "{result}"),
        }
        server.wait_for(conversation, seq, "ended");
        shop.send("revoke");
    }
    server.kill();
    assert_nothing_secret_is_written(&shop, &program);
}
