//! Requests that must be rejected, and clients that must not delay others.

use std::time::Duration;

use hyper::Request;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use toolwright::Secret;
use toolwright::testing::FnModel;
use toolwright_mcp::{Claims, StaticTokens};
use toolwright_server::{Endpoint, ListenError, ServerBuilder};

use crate::owners::{HERE, resource_server, token};
use crate::support::{TestServer, joined_text, no_tools, serve, within_timeout};

const PATH: &str = "/api/conversations/c";
const TOKEN: &str = "a-token-that-nobody-guesses";

fn server() -> ServerBuilder {
    ServerBuilder::new(no_tools(), FnModel::echo())
        .endpoint(Endpoint::new("/chat/{room}").open_to_all())
}

/// Sends a message with one more header, and returns the status of the response.
async fn with(server: &TestServer, name: &str, value: &str) -> u16 {
    let request = server.request("POST", &format!("{PATH}/prompt"));
    let request = request.header("content-type", "application/json");
    let answer = server.send(request.header(name, value), r#"{"text":"Hi"}"#).await;
    answer.status
}

#[tokio::test]
async fn pages_of_other_origins_are_refused_at_every_path() {
    let server = serve(server()).await;
    for path in ["/", "/api/info", "/api/tools", PATH, "/chat/x", "/mcp", "/metrics", "/nowhere"] {
        let request = server.request("GET", path).header("origin", "https://evil.example");
        assert_eq!(server.send(request, "").await.status, 403, "{path}");
        let request = hyper::Request::builder().uri(path).header("host", "evil.example");
        assert_eq!(server.send(request, "").await.status, 403, "{path}");
    }
    assert_eq!(with(&server, "origin", "https://evil.example").await, 403);
    assert_eq!(with(&server, "origin", "null").await, 403);
    assert_eq!(with(&server, "origin", "http://localhost.evil.example").await, 403);
    assert_eq!(with(&server, "sec-fetch-site", "cross-site").await, 403);
    assert_eq!(with(&server, "sec-fetch-site", "same-site").await, 403);
    assert_eq!(with(&server, "origin", &format!("http://{}", server.addr)).await, 202);
}

#[tokio::test]
async fn a_websocket_from_another_origin_is_refused() {
    let server = serve(server()).await;
    for path in [PATH, "/chat/x", "/api/chat"] {
        let mut request = format!("ws://{}{path}", server.addr).into_client_request().unwrap();
        let evil = "https://evil.example".parse().unwrap();
        request.headers_mut().insert("origin", evil);
        let refused = within_timeout(connect_async(request)).await.err().unwrap().to_string();
        assert!(refused.contains("403"), "{path}: {refused}");
    }
}

#[tokio::test]
async fn what_a_form_on_some_page_could_send_is_refused() {
    let server = serve(server()).await;
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let request = server.request("POST", &format!("{PATH}/prompt"));
        let request = request.header("content-type", kind);
        assert_eq!(server.send(request, r#"{"text":"Hi"}"#).await.status, 415, "{kind}");
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_or_no_json_is_refused() {
    let server = serve(server().limits(|limits| limits.max_body_bytes = 1000)).await;
    let large = json!({ "text": "x".repeat(2000) });
    let refused = server.post(&format!("{PATH}/prompt"), large).await;
    assert_eq!(refused.status, 413);
    let request = server.request("POST", &format!("{PATH}/prompt"));
    let request = request.header("content-type", "application/json");
    let refused = server.send(request, "{\"text\": ").await;
    assert_eq!(refused.status, 400);
    assert_eq!(server.get("/api/conversations").await.json(), json!([]));
}

#[tokio::test]
async fn only_pages_of_origins_that_were_named_may_read() {
    let server = serve(locked().allowed_origins(["https://app.example"])).await;
    let preflight = |origin: &str| {
        let request = server.request("OPTIONS", &format!("{PATH}/prompt"));
        request.header("origin", origin).header("access-control-request-method", "POST")
    };
    let asked = server.send(preflight("https://app.example"), "").await;
    assert_eq!(asked.status, 204);
    assert_eq!(asked.header("access-control-allow-origin"), "https://app.example");
    for other in ["https://evil.example", "http://localhost:3000"] {
        let asked = server.send(preflight(other), "").await;
        assert_ne!(asked.status, 204, "{other}");
        assert_eq!(asked.header("access-control-allow-origin"), "", "{other}");
    }
    // To be allowed to read is not to be let in.
    assert_eq!(with(&server, "origin", "https://app.example").await, 401);
}

/// Sends bytes and nothing more, and returns what comes back until the connection is cut.
async fn cut_off(server: &TestServer, sent: &str) -> String {
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(sent.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // A connection that is reset has been cut, too.
    let _ = within_timeout(stream.read_to_end(&mut answer)).await;
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn requests_that_take_too_long_to_arrive_are_cut() {
    let slow = |limits: &mut toolwright_server::ServerLimits| {
        limits.read_timeout = Duration::from_millis(50)
    };
    let server = serve(server().limits(slow)).await;
    cut_off(&server, "GET /api/info HTTP/1.1\r\nhost: localhost\r\nx-").await;
    let body = format!(
        "POST {PATH}/prompt HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: 100\r\nconnection: close\r\n\r\n{{\"text\""
    );
    let answer = cut_off(&server, &body).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}

#[tokio::test]
async fn clients_that_never_read_do_not_delay_others() {
    let server = serve(server()).await;
    let mut silent = Vec::new();
    for number in 0..200 {
        let mut stream = TcpStream::connect(server.addr).await.unwrap();
        let request = format!("GET {PATH}/events?n={number} HTTP/1.1\r\nhost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        silent.push(stream);
    }
    // Far more than the buffers of all their connections hold.
    let long = "much".repeat(25_000);
    for _ in 0..5 {
        let events = server.post_and_collect(PATH, &long).await;
        assert_eq!(joined_text(&events), long);
    }
    assert_eq!(joined_text(&server.post_and_collect("/chat/x", "Hi").await), "Hi");
}

#[tokio::test]
async fn a_client_that_reads_too_slowly_receives_a_snapshot() {
    let server = serve(server()).await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    let request = format!("GET {PATH}/events HTTP/1.1\r\nhost: localhost\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    within_timeout(async { while server.get(PATH).await.json()["peers"] != 1 {} }).await;
    let long = "much".repeat(250_000);
    for _ in 0..8 {
        server.post_and_collect(PATH, &long).await;
    }
    server.post_and_collect(PATH, "That is all.").await;
    let (mut snapshots, mut tail, mut buffer) = (0, String::new(), vec![0; 1 << 18]);
    // The end of the text is in the second snapshot: the events between were evicted.
    while !tail.contains("That is all.") {
        let count = within_timeout(stream.read(&mut buffer)).await.unwrap();
        assert!(count > 0, "it was cut");
        let from = tail.len().saturating_sub(20);
        tail = format!("{}{}", &tail[from..], String::from_utf8_lossy(&buffer[..count]));
        snapshots += tail.matches(r#""type":"snapshot""#).count();
    }
    assert!(snapshots >= 2, "{snapshots}");
}

#[tokio::test]
async fn connections_of_clients_that_never_read_are_closed() {
    let stall = |limits: &mut toolwright_server::ServerLimits| {
        limits.write_timeout = Duration::from_millis(400)
    };
    let server = serve(server().limits(stall)).await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    let request = format!("GET {PATH}/events HTTP/1.1\r\nhost: localhost\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let long = "much".repeat(200_000);
    within_timeout(async { while server.get(PATH).await.json()["peers"] != 1 {} }).await;
    for _ in 0..100 {
        server.post_and_collect(PATH, &long).await;
        if server.get(PATH).await.json()["peers"] == 0 {
            return;
        }
    }
    panic!("it was not cut");
}

#[tokio::test]
async fn more_connections_than_allowed_wait_their_turn() {
    let server = serve(server().limits(|limits| limits.max_connections = 2)).await;
    let first = TcpStream::connect(server.addr).await.unwrap();
    let second = TcpStream::connect(server.addr).await.unwrap();
    let waits = async { server.get("/healthz").await.status };
    let leave = async {
        tokio::task::yield_now().await;
        drop((first, second));
    };
    let (status, ()) = tokio::join!(waits, leave);
    assert_eq!(status, 200);
}

fn locked() -> ServerBuilder {
    server().token(Secret::new(TOKEN))
}

/// Prometheus addresses each node by its IP address, which is no host of the server.
#[tokio::test]
async fn metrics_are_read_by_any_address_with_a_token_and_nothing_else_is() {
    let server = serve(locked()).await;
    let bearer = format!("Bearer {TOKEN}");
    let status = async |path: &str, headers: &[(&str, &str)]| {
        let request = hyper::Request::builder().uri(path).header("host", "10.1.2.3:8787");
        let request = headers.iter().fold(request, |it, (name, value)| it.header(*name, *value));
        server.send(request, "").await.status
    };
    let token = ("authorization", bearer.as_str());
    assert_eq!(status("/metrics", &[token]).await, 200);
    assert_eq!(status("/metrics", &[]).await, 403);
    assert_eq!(status("/metrics", &[("authorization", "Bearer guessed")]).await, 403);
    assert_eq!(status("/metrics", &[token, ("origin", "http://10.1.2.3:8787")]).await, 403);
    for path in ["/api/info", "/readyz", "/mcp", "/"] {
        assert_eq!(status(path, &[token]).await, 403, "{path}");
    }
    // Nor by a page that has a cookie.
    let signed_in = server.post("/api/session", json!({ "token": TOKEN })).await;
    let cookie = signed_in.header("set-cookie").split(';').next().unwrap_or_default().to_owned();
    let own = server.request("GET", "/metrics").header("cookie", &cookie);
    assert_eq!(server.send(own, "").await.status, 200, "{signed_in:?}");
    assert_eq!(status("/metrics", &[("cookie", &cookie)]).await, 403);
    assert_eq!(status("/metrics", &[("cookie", &cookie), token]).await, 403);
}

#[tokio::test]
async fn a_token_has_to_be_brought_everywhere_but_to_the_page_that_asks_for_it() {
    let server = serve(locked()).await;
    for path in
        ["/api/info", "/api/tools", "/api/conversations", PATH, "/chat/x", "/metrics", "/mcp"]
    {
        let refused = server.get(path).await;
        assert_eq!(refused.status, 401, "{path}");
        assert!(refused.header("www-authenticate").starts_with("Bearer"), "{path}");
        assert!(!refused.text().contains(TOKEN));
    }
    for path in ["/", "/healthz", "/readyz"] {
        assert_eq!(server.get(path).await.status, 200, "{path}");
    }
    assert_eq!(with(&server, "authorization", "Bearer wrong-token-altogether").await, 401);
    assert_eq!(with(&server, "authorization", &format!("Bearer {TOKEN}")).await, 202);
}

#[tokio::test]
async fn a_page_gets_a_pass_for_the_token_until_it_gives_it_back() {
    let server = serve(locked()).await;
    let wrong = server.post("/api/session", json!({ "token": "wrong-token-altogether" })).await;
    assert_eq!(wrong.status, 401);
    let given = server.post("/api/session", json!({ "token": TOKEN })).await;
    assert_eq!(given.status, 204);
    let cookie = given.header("set-cookie").to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains(TOKEN));
    let pair = cookie.split(';').next().unwrap();
    assert_eq!(with(&server, "cookie", pair).await, 202);
    let back = server.request("DELETE", "/api/session").header("cookie", pair);
    assert_eq!(server.send(back, "").await.status, 204);
    assert_eq!(with(&server, "cookie", pair).await, 401);
}

#[tokio::test]
async fn an_address_that_other_machines_reach_needs_a_token() {
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let open = server().mount_all().build().unwrap();
    let served = open.serve(listener, std::future::ready(())).await;
    assert!(matches!(served, Err(ListenError::NotLoopback { .. })));
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let closed = locked().mount_all().build().unwrap();
    closed.serve(listener, std::future::ready(())).await.unwrap();
}

#[tokio::test]
async fn names_that_are_too_long_or_cannot_be_seen_are_refused() {
    let server = serve(server()).await;
    let long = "x".repeat(200);
    for path in
        [format!("/api/conversations/{long}"), "/chat/a%00b".to_owned(), "/chat/%0a".to_owned()]
    {
        assert_eq!(server.get(&path).await.status, 400, "{path}");
    }
}

#[tokio::test]
async fn what_cannot_be_read_of_a_request_is_an_error_in_json() {
    let server = serve(server()).await;
    for (path, why) in [
        (&*format!("{PATH}/events?after=abc"), "the query: after: invalid digit"),
        (&*format!("{PATH}?after=-1"), "the query: after: invalid digit"),
        (&*format!("{PATH}/export?at=1&at=2"), "the query: duplicate field `at`"),
        ("/api/conversations?all=abc", "the query: all: provided string was not"),
        ("/api/tools?limit=abc&search=x", "the query: limit: invalid digit"),
        ("/api/tools/x/lowered", "the query: missing field `for`"),
        ("/api/tools/%FF/lowered?for=mcp", "the path: "),
        ("/api/conversations/%FF", "the path: "),
        ("/api/chat", "the upgrade: "),
    ] {
        let found = server.get(path).await;
        assert_eq!(found.status, 400, "{path}: {found:?}");
        assert_eq!(found.header("content-type"), "application/json", "{path}");
        let error = &found.json()["error"];
        assert_eq!(error["kind"], "invalid", "{path}");
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with(why), "{path}: {message}");
    }
}

#[tokio::test]
async fn a_page_on_another_port_or_scheme_of_the_same_host_is_another_origin() {
    let server = serve(locked()).await;
    let given = server.post("/api/session", json!({ "token": TOKEN })).await;
    let cookie = given.header("set-cookie").split(';').next().unwrap();
    let own = format!("http://localhost:{}", server.addr.port());
    let host = format!("localhost:{}", server.addr.port());
    for (origin, status) in [
        (own.as_str(), 202),
        ("http://localhost:3000", 403),
        ("http://localhost", 403),
        (&own.replace("http:", "https:"), 403),
        (&own.replace("localhost", "127.0.0.1"), 403),
    ] {
        let request = Request::builder()
            .method("POST")
            .uri(format!("{PATH}/prompt"))
            .header("host", &host)
            .header("cookie", cookie)
            .header("content-type", "application/json")
            .header("origin", origin);
        let found = server.send(request, r#"{"text":"Hi"}"#).await;
        assert_eq!(found.status, status, "{origin}: {found:?}");
        let mut upgrade = format!("ws://{}{PATH}", server.addr).into_client_request().unwrap();
        let headers = upgrade.headers_mut();
        headers.insert("host", host.parse().unwrap());
        headers.insert("cookie", cookie.parse().unwrap());
        headers.insert("origin", origin.parse().unwrap());
        let opened = within_timeout(connect_async(upgrade)).await;
        assert_eq!(opened.is_ok(), status == 202, "{origin}");
    }
}

#[tokio::test]
async fn pages_of_an_origin_that_was_named_may_call_from_another_port() {
    let server = serve(locked().allowed_origins(["http://localhost:3000"])).await;
    let bearer = format!("Bearer {TOKEN}");
    for (origin, status) in [("http://localhost:3000", 200), ("http://localhost:3001", 403)] {
        let request = server
            .request("GET", "/api/tools")
            .header("authorization", &bearer)
            .header("origin", origin);
        assert_eq!(server.send(request, "").await.status, status, "{origin}");
    }
}

#[tokio::test]
async fn a_request_with_two_hosts_or_two_origins_is_malformed() {
    let server = serve(server()).await;
    let own = format!("http://{}", server.addr);
    for path in ["/api/tools", "/mcp", "/healthz", "/"] {
        for (name, value) in [("host", "localhost"), ("origin", own.as_str())] {
            let request = server.request("GET", path).header("origin", &own);
            let found = server.send(request.header(name, value), "").await;
            assert_eq!(found.status, 400, "{path} {name}: {found:?}");
        }
    }
}

#[tokio::test]
async fn a_sign_in_takes_four_kilobytes_and_not_a_byte_more() {
    let server = serve(locked()).await;
    let large = format!(r#"{{"token":"{}"}}"#, "x".repeat(5000));
    let request = server.request("POST", "/api/session").header("content-type", "application/json");
    assert_eq!(server.send(request, &large).await.status, 413);
    // A body whose end never comes is refused where it is too long.
    let endless = format!(
        "POST /api/session HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         transfer-encoding: chunked\r\n\r\n1388\r\n{}\r\n",
        "x".repeat(5000)
    );
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(endless.as_bytes()).await.unwrap();
    let mut head = [0; 12];
    within_timeout(stream.read_exact(&mut head)).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 413");
}

#[tokio::test]
async fn whoever_guesses_tokens_has_to_wait() {
    let server = serve(locked()).await;
    let guess = json!({ "token": "wrong-token-altogether" });
    let mut refused = server.post("/api/session", guess.clone()).await;
    let mut guesses = 1;
    while refused.status == 401 && guesses < 100 {
        refused = server.post("/api/session", guess.clone()).await;
        guesses += 1;
    }
    assert_eq!(refused.status, 429, "after {guesses}: {refused:?}");
    assert!(refused.header("retry-after").parse::<u64>().unwrap() > 0);
    assert!(guesses <= 11, "{guesses}");
    // Somebody else at this address is not locked out.
    let right = server.post("/api/session", json!({ "token": TOKEN })).await;
    assert_eq!(right.status, 204);
    assert_eq!(with(&server, "authorization", &format!("Bearer {TOKEN}")).await, 202);
}

#[tokio::test]
async fn behind_a_trusted_proxy_every_client_is_counted_by_itself() {
    let trusting = locked().configure_auth(|auth| auth.trusted_proxies(["127.0.0.1"]));
    let servers = [(true, serve(trusting).await), (false, serve(locked()).await)];
    for (is_trusted, server) in servers {
        let guess = async |client: &str| {
            let request = server.request("POST", "/api/session");
            let request = request.header("content-type", "application/json");
            let request = request.header("x-forwarded-for", client);
            server.send(request, r#"{"token":"wrong-token-altogether"}"#).await.status
        };
        for _ in 0..10 {
            assert_eq!(guess("192.0.2.7").await, 401);
        }
        assert_eq!(guess("192.0.2.7").await, 429);
        // What the client itself prepends changes nothing.
        assert_eq!(guess("198.51.100.1, 192.0.2.7").await, 429);
        // Without the setting, a client cannot make itself another one.
        assert_eq!(guess("192.0.2.8").await, if is_trusted { 401 } else { 429 });
    }
}

/// Sends bytes, and returns the status of the response.
async fn status_of_bytes(server: &TestServer, bytes: &str) -> u16 {
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    let mut head = [0; 12];
    within_timeout(stream.read_exact(&mut head)).await.unwrap();
    String::from_utf8_lossy(&head)[9..].parse().unwrap()
}

#[tokio::test]
async fn an_address_in_the_request_line_counts_as_the_host() {
    let server = serve(server()).await;
    for (target, host, status) in [
        ("http://localhost/api/info", "localhost", 200),
        ("http://localhost/api/info", "evil.example", 200),
        ("http://evil.example/api/info", "localhost", 403),
        ("http://localhost@evil.example/api/info", "localhost", 403),
        ("/api/info", "evil.example", 403),
    ] {
        let request = format!("GET {target} HTTP/1.1\r\nhost: {host}\r\n\r\n");
        assert_eq!(status_of_bytes(&server, &request).await, status, "{target} {host}");
    }
}

#[tokio::test]
async fn a_line_that_ends_with_a_bare_line_feed_is_a_bad_request() {
    let server = serve(server()).await;
    for path in ["/api/info", "/mcp"] {
        for lines in [
            format!("GET {path} HTTP/1.1\nhost: localhost\r\n\r\n"),
            format!("GET {path} HTTP/1.1\r\nhost: localhost\n\r\n"),
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nx: y\ncontent-length: 5\r\n\r\n"),
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\n"),
            // Where the body ends is in doubt, so the lines after it would be, too.
            format!(
                "POST {path} HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\ncontent-length: x\r\na: b\nc: d\r\n\r\n0\r\n\r\n"
            ),
            format!(
                "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}1\r\n\r\n{{",
                "0".repeat(80)
            ),
        ] {
            assert_eq!(status_of_bytes(&server, &lines).await, 400, "{lines:?}");
        }
    }
    let body = "{\n\"text\":\n\"Hi\"}";
    let right = format!(
        "POST {PATH}/prompt HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    assert_eq!(status_of_bytes(&server, &right).await, 202);
}

#[tokio::test]
async fn guesses_that_come_all_at_once_are_counted_too() {
    let server = serve(locked()).await;
    let guess = json!({ "token": "wrong-token-altogether" });
    let guesses = (0..50).map(|_| server.post("/api/session", guess.clone()));
    let refused = futures::future::join_all(guesses).await;
    let looked_at = refused.iter().filter(|answer| answer.status == 401).count();
    assert_eq!(looked_at, 10);
}

#[tokio::test]
async fn a_subject_that_signs_in_again_and_again_ends_only_its_own_sessions() {
    let table = ["ada", "bob"].iter().fold(StaticTokens::new(), |table, subject| {
        table.token(&Secret::new(token(subject)), Claims::new(*subject, [HERE]))
    });
    let oauth = resource_server(table);
    let server = serve(server().configure_auth(|guard| guard.oauth(oauth))).await;
    let sign_in = async |subject: &str| {
        let token = json!({ "token": token(subject) });
        let given = server.post("/api/session", token).await;
        assert_eq!(given.status, 204, "{given:?}");
        given.header("set-cookie").split(';').next().unwrap().to_owned()
    };
    let ada = sign_in("ada").await;
    let first = sign_in("bob").await;
    for _ in 0..40 {
        sign_in("bob").await;
    }
    let status = async |cookie: &str| {
        let request = server.request("GET", "/api/info").header("cookie", cookie);
        server.send(request, "").await.status
    };
    assert_eq!(status(&ada).await, 200);
    assert_eq!(status(&first).await, 401);
}
