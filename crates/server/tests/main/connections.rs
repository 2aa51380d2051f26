//! Servers that every person connects to on their own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolwright::testing::FnModel;
use toolwright::{BoxFuture, Secret, Tool, ToolError};
use toolwright_mcp::{Identity, ScopeRule};
use toolwright_server::{ConnectionError, PersonalConnection, PersonalConnections, ServerBuilder};

use crate::support::{HttpResponse, TestServer, no_tools, serve};

/// Connections in memory: logins that wait, by the key of the browser, and who is connected.
#[derive(Default)]
struct Connections {
    pending: Mutex<HashMap<String, Option<String>>>,
    connected: Mutex<Vec<Option<String>>>,
    redirects: Mutex<Vec<String>>,
}

impl Connections {
    fn is_connected(&self, subject: Option<&str>) -> bool {
        self.connected.lock().unwrap().iter().any(|it| it.as_deref() == subject)
    }
}

fn owned(subject: Option<&str>) -> Option<String> {
    subject.map(str::to_owned)
}

impl PersonalConnections for Connections {
    fn list<'a>(
        &'a self,
        subject: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Vec<PersonalConnection>, ConnectionError>> {
        Box::pin(async move {
            let mut wiki = PersonalConnection::new("wiki", "wiki_connect_account");
            wiki.is_connected = self.is_connected(subject);
            Ok(vec![wiki])
        })
    }

    fn begin<'a>(
        &'a self,
        subject: Option<&'a str>,
        server: &'a str,
        redirect: &'a str,
        browser_key: &'a str,
    ) -> BoxFuture<'a, Result<String, ConnectionError>> {
        Box::pin(async move {
            if server != "wiki" {
                return Err(ConnectionError::NotFound(format!("there is no server `{server}`")));
            }
            self.redirects.lock().unwrap().push(redirect.to_owned());
            self.pending.lock().unwrap().insert(browser_key.to_owned(), owned(subject));
            Ok("https://wiki.example/authorize?state=1".to_owned())
        })
    }

    fn finish<'a>(
        &'a self,
        callback: &'a str,
        browser_key: &'a str,
    ) -> BoxFuture<'a, Result<String, ConnectionError>> {
        Box::pin(async move {
            assert!(callback.ends_with("?code=2&state=1"), "{callback}");
            let subject = self.pending.lock().unwrap().remove(browser_key);
            let unknown = || ConnectionError::NotFound("no login waits".to_owned());
            self.connected.lock().unwrap().push(subject.ok_or_else(unknown)?);
            Ok("wiki".to_owned())
        })
    }

    fn disconnect<'a>(
        &'a self,
        subject: Option<&'a str>,
        _: &'a str,
    ) -> BoxFuture<'a, Result<bool, ConnectionError>> {
        Box::pin(async move {
            let was_connected = self.is_connected(subject);
            self.connected.lock().unwrap().retain(|it| it.as_deref() != subject);
            Ok(was_connected)
        })
    }

    fn tools<'a>(&'a self, subject: Option<&'a str>) -> BoxFuture<'a, Vec<Tool>> {
        Box::pin(async move {
            let tool = |name: &str, read_only: bool| {
                let owner = subject.unwrap_or("operator").to_owned();
                let tool = Tool::builder(name, "Reads.").read_only(read_only);
                tool.run(move |_, _| Ok::<_, ToolError>(format!("a page of {owner}"))).unwrap()
            };
            match self.is_connected(subject) {
                true => vec![tool("wiki_read", true), tool("wiki_write", false)],
                false => Vec::new(),
            }
        })
    }
}

/// A server whose model reports the names of its tools; people are identified by a header.
async fn server(connections: &Arc<Connections>) -> TestServer {
    let model = FnModel::new(|request| {
        let names: Vec<&str> = request.tools.iter().map(|tool| tool.spec().name.as_str()).collect();
        format!("tools: {}", names.join(" "))
    });
    let builder = ServerBuilder::new(no_tools(), model)
        .personal_connections(Arc::clone(connections) as _)
        .configure_auth(|auth| auth.scope("read", ScopeRule::read_only()))
        .configure_auth(|auth| auth.scope("all", ScopeRule::all()))
        .login(|head| {
            let user = head.headers.get("x-user").and_then(|user| user.to_str().ok());
            let identity = user.map(|user| {
                let scope = if user == "eve" { "read" } else { "all" };
                Identity::new(user).scopes([scope])
            });
            std::future::ready(Ok(identity))
        });
    serve(builder).await
}

async fn send(
    server: &TestServer,
    user: &str,
    method: &str,
    path: &str,
    body: Value,
) -> HttpResponse {
    let request = server.request(method, path).header("x-user", user);
    let request = request.header("content-type", "application/json");
    let body = if body.is_null() { String::new() } else { body.to_string() };
    server.send(request, &body).await
}

async fn is_connected(server: &TestServer, user: &str) -> bool {
    let listed = send(server, user, "GET", "/api/connections", Value::Null).await;
    listed.json()[0]["isConnected"] == true
}

/// Begins a login; returns the cookie of the browser.
async fn begin(server: &TestServer, user: &str) -> String {
    let begun = send(server, user, "POST", "/api/connections/wiki", Value::Null).await;
    assert_eq!(begun.status, 200, "{begun:?}");
    assert_eq!(begun.json()["link"], "https://wiki.example/authorize?state=1");
    let cookie = begun.headers["set-cookie"].to_str().unwrap().to_owned();
    for attribute in ["HttpOnly", "SameSite=Lax", "Max-Age=600"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    cookie.split(';').next().unwrap().to_owned()
}

/// Follows the redirect of the authorization server in the browser of a person.
async fn finish(server: &TestServer, user: &str, cookies: &str) -> u16 {
    // The session is not sent with it.
    let returned = server.get("/api/connect/callback?code=2&state=1").await;
    assert_eq!(returned.status, 200, "{returned:?}");
    assert_eq!(returned.header("refresh"), "0; url=finish?code=2&state=1");
    assert_eq!(returned.headers["referrer-policy"], "no-referrer");
    let request = server.request("GET", "/api/connect/finish?code=2&state=1");
    let mut request = request.header("cookie", cookies);
    if !user.is_empty() {
        request = request.header("x-user", user);
    }
    let finished = server.send(request, "").await;
    assert_eq!(finished.headers["referrer-policy"], "no-referrer");
    finished.status
}

/// The tools that the model has in a turn of a person.
async fn tools_in_a_turn(server: &TestServer, user: &str) -> String {
    let body =
        json!({ "model": "function", "messages": [{ "role": "user", "content": "tools?" }] });
    let answered = send(server, user, "POST", "/v1/chat/completions", body).await;
    assert_eq!(answered.status, 200, "{answered:?}");
    answered.json()["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_connection_belongs_to_the_person_and_the_browser_that_began_it() {
    let connections = Arc::new(Connections::default());
    let server = server(&connections).await;
    let cookie = begin(&server, "ada").await;
    let redirect = format!("http://{}/api/connect/callback", server.addr);
    assert_eq!(*connections.redirects.lock().unwrap(), [redirect]);
    assert_eq!(finish(&server, "ada", "").await, 400);
    assert_eq!(finish(&server, "ada", "toolwright_connect=00").await, 400);
    // The cookie of Ada, planted in the browsers of others, connects nobody's account.
    assert_eq!(finish(&server, "bob", &cookie).await, 400);
    assert_eq!(finish(&server, "", &cookie).await, 401);
    assert!(!is_connected(&server, "ada").await && !is_connected(&server, "bob").await);
    assert_eq!(finish(&server, "ada", &cookie).await, 200);
    assert_eq!(finish(&server, "ada", &cookie).await, 400, "only once");
    assert!(is_connected(&server, "ada").await && !is_connected(&server, "bob").await);

    assert_eq!(tools_in_a_turn(&server, "ada").await, "tools: wiki_read wiki_write");
    assert_eq!(tools_in_a_turn(&server, "bob").await, "tools: ");
    let other = send(&server, "bob", "DELETE", "/api/connections/wiki", Value::Null).await;
    assert_eq!(other.status, 404, "{other:?}");
    assert!(is_connected(&server, "ada").await);
    let own = send(&server, "ada", "DELETE", "/api/connections/wiki", Value::Null).await;
    assert_eq!(own.status, 204, "{own:?}");
    assert_eq!(tools_in_a_turn(&server, "ada").await, "tools: ");
}

#[tokio::test]
async fn a_login_is_finished_in_the_session_that_began_it() {
    const TOKEN: &str = "a-token-that-nobody-guesses";
    let connections = Arc::new(Connections::default());
    let server = ServerBuilder::new(no_tools(), FnModel::echo())
        .personal_connections(Arc::clone(&connections) as _)
        .configure_auth(|auth| auth.token_for("ada", Secret::new(TOKEN)));
    let server = serve(server).await;
    let sign_in = async || {
        let given = server.post("/api/session", json!({ "token": TOKEN })).await;
        assert_eq!(given.status, 204, "{given:?}");
        given.header("set-cookie").split(';').next().unwrap().to_owned()
    };
    let (session, other) = (sign_in().await, sign_in().await);
    let request = server.request("POST", "/api/connections/wiki").header("cookie", &session);
    let begun = server.send(request, "").await;
    assert_eq!(begun.status, 200, "{begun:?}");
    let cookie = begun.header("set-cookie").split(';').next().unwrap();
    assert_eq!(finish(&server, "", &format!("{other}; {cookie}")).await, 400);
    assert_eq!(finish(&server, "", &format!("{session}; {cookie}")).await, 200);
    assert!(connections.is_connected(Some("ada")));
}

#[tokio::test]
async fn scopes_limit_the_tools_of_a_connection() {
    let connections = Arc::new(Connections::default());
    let server = server(&connections).await;
    let cookie = begin(&server, "eve").await;
    assert_eq!(finish(&server, "eve", &cookie).await, 200);
    assert_eq!(tools_in_a_turn(&server, "eve").await, "tools: wiki_read");
}

#[tokio::test]
async fn without_a_person_or_a_server_there_is_no_connection() {
    let server = server(&Arc::default()).await;
    for (method, path) in [
        ("GET", "/api/connections"),
        ("POST", "/api/connections/wiki"),
        ("DELETE", "/api/connections/wiki"),
    ] {
        assert_eq!(server.send(server.request(method, path), "").await.status, 401, "{path}");
    }
    let unknown = send(&server, "ada", "POST", "/api/connections/bank", Value::Null).await;
    assert_eq!(unknown.status, 404, "{unknown:?}");
    let none = serve(ServerBuilder::new(no_tools(), FnModel::echo())).await;
    assert_eq!(none.get("/api/connections").await.json(), json!([]));
    assert_eq!(none.post("/api/connections/wiki", Value::Null).await.status, 404);
    assert_eq!(none.get("/api/connect/finish?code=2&state=1").await.status, 400);
}
