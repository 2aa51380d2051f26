//! The login of the program that embeds the server: by a session cookie or a JWT, and under a prefix.

use std::collections::HashMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::header::{AUTHORIZATION, COOKIE};
use axum::http::request::Parts;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use futures::{SinkExt as _, StreamExt as _};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use toolwright::testing::FnModel;
use toolwright::{Secret, Tool, ToolError};
use toolwright_mcp::{Claims, Identity, ResourceServer, ScopeRule, StaticTokens, VerifyError};
use toolwright_server::{Endpoint, Mount, ServerBuilder};
use tower::ServiceExt as _;

use crate::support::{TestServer, invoker, no_tools, within_timeout};

/// The sessions of the program: the value of the cookie, and who has logged in.
type Sessions = Arc<Mutex<HashMap<String, String>>>;

fn sessions() -> Sessions {
    let sessions = [("s-ada", "ada"), ("s-bob", "bob")];
    Arc::new(Mutex::new(sessions.map(|(id, user)| (id.to_owned(), user.to_owned())).into()))
}

/// The user of a request, by its cookie `session`.
fn identify(sessions: &Sessions, head: &Parts) -> Option<Identity> {
    let cookies = head.headers.get(COOKIE)?.to_str().ok()?;
    let id = cookies.split("; ").find_map(|cookie| cookie.strip_prefix("session="))?;
    let user = sessions.lock().unwrap().get(id).cloned()?;
    Some(Identity::new(user).scopes(["read"]))
}

fn by_cookie(server: ServerBuilder, sessions: &Sessions) -> ServerBuilder {
    let sessions = Arc::clone(sessions);
    server.login(move |head| std::future::ready(Ok(identify(&sessions, &head))))
}

fn tool(name: &str, read_only: bool) -> Tool {
    let tool = Tool::builder(name, "Does something.").read_only(read_only);
    tool.run(|_, _| Ok::<_, ToolError>("done")).unwrap()
}

fn server() -> ServerBuilder {
    ServerBuilder::new(invoker(vec![tool("look", true), tool("pay", false)]), FnModel::echo())
        .endpoint(Endpoint::new("/chat/{room}").open_to_all())
}

/// Serves an app that has routes of its own.
async fn serve_app(app: Router) -> TestServer {
    let app = app.route("/own", axum::routing::get(async || "mine"));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let app = app.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, app).await });
    TestServer::at(addr)
}

async fn status(server: &TestServer, path: &str, headers: &[(&str, &str)]) -> u16 {
    let request = headers
        .iter()
        .fold(server.request("GET", path), |request, (name, value)| request.header(*name, *value));
    server.send(request, "").await.status
}

#[tokio::test]
async fn a_session_cookie_of_the_program_identifies_the_owner_of_conversations() {
    let sessions = sessions();
    let built = by_cookie(server(), &sessions)
        .configure_auth(|auth| auth.scope("read", ScopeRule::read_only()))
        .mount_all()
        .build()
        .unwrap();
    let server = serve_app(Router::new().nest("/ai", built.router())).await;
    assert_eq!(server.get("/own").await.text(), "mine");
    assert_eq!(status(&server, "/ai/api/tools", &[]).await, 401);
    assert_eq!(status(&server, "/ai/api/tools", &[("cookie", "session=s-eve")]).await, 401);
    assert_eq!(status(&server, "/ai/healthz", &[]).await, 200);
    let request = server.request("GET", "/ai/api/tools").header("cookie", "a=b; session=s-ada");
    let tools = server.send(request, "").await.json();
    assert_eq!(tools.as_array().unwrap().len(), 1, "those of the scope: {tools}");

    let post = |cookie: &str, origin: Option<&str>| {
        let request = server.request("POST", "/ai/api/conversations/c/prompt");
        let request = request.header("content-type", "application/json").header("cookie", cookie);
        match origin {
            Some(origin) => request.header("origin", origin),
            None => request,
        }
    };
    let body = r#"{"text":"Hi"}"#;
    let own = format!("http://{}", server.addr);
    assert_eq!(server.send(post("session=s-ada", Some(&own)), body).await.status, 202);
    // A page of another site has the cookie sent, too.
    let evil = post("session=s-ada", Some("https://evil.example"));
    assert_eq!(server.send(evil, body).await.status, 403);
    let cross_site = post("session=s-ada", None).header("sec-fetch-site", "cross-site");
    assert_eq!(server.send(cross_site, body).await.status, 403);
    // Pages must not reach MCP by a cookie.
    assert_eq!(status(&server, "/ai/mcp", &[("cookie", "session=s-ada")]).await, 401);

    for (cookie, count) in [("session=s-ada", 1), ("session=s-bob", 0)] {
        let request = server.request("GET", "/ai/api/conversations").header("cookie", cookie);
        let list = server.send(request, "").await.json();
        assert_eq!(list.as_array().unwrap().len(), count, "{cookie}: {list}");
    }
}

#[tokio::test]
async fn a_socket_runs_nothing_after_the_user_has_logged_out() {
    let sessions = sessions();
    let built = by_cookie(server(), &sessions).build().unwrap();
    let server = serve_app(Router::new().nest("/ai", built.router())).await;
    let url = format!("ws://{}/ai/chat/x", server.addr);
    let mut request = url.into_client_request().unwrap();
    request.headers_mut().insert(COOKIE, "session=s-ada".parse().unwrap());
    let (mut socket, _) = within_timeout(connect_async(request)).await.unwrap();
    let message = json!({ "type": "prompt", "text": "Hi" }).to_string();
    socket.send(message.as_str().into()).await.unwrap();
    let mut received = String::new();
    while !received.contains("ended") {
        received += &within_timeout(socket.next()).await.unwrap().unwrap().to_string();
    }
    sessions.lock().unwrap().clear();
    socket.send(message.as_str().into()).await.unwrap();
    let mut rest = String::new();
    while let Some(Ok(frame)) = within_timeout(socket.next()).await {
        rest += &frame.to_string();
    }
    assert!(rest.contains("refused") && !rest.contains("ended"), "{rest}");
}

/// Verifies a JWT of the program; a real one would check the signature, for instance with `jsonwebtoken`.
fn verify_jwt(token: &str) -> Result<Identity, VerifyError> {
    let subject = token.strip_prefix("header.").and_then(|rest| rest.strip_suffix(".signature"));
    let subject = subject.ok_or_else(|| VerifyError::invalid_token("the JWT is not valid"))?;
    let expires = SystemTime::now() + Duration::from_secs(60);
    Ok(Identity::new(subject).expires_at(expires))
}

#[tokio::test]
async fn a_jwt_is_verified_by_a_function_or_by_the_programs_own_middleware() {
    async fn verify(head: Parts) -> Result<Option<Identity>, VerifyError> {
        let header = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = header.and_then(|header| header.strip_prefix("Bearer "));
        token.map(verify_jwt).transpose()
    }
    async fn insert_identity(mut request: Request, next: Next) -> Response {
        let header = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = header.and_then(|header| header.strip_prefix("Bearer "));
        if let Some(identity) = token.and_then(|token| verify_jwt(token).ok()) {
            request.extensions_mut().insert(identity);
        }
        next.run(request).await
    }
    let by_function = server().login(verify).mount_all().build().unwrap();
    let by_middleware = server().login(Identity::from_extensions).mount_all().build().unwrap();
    for app in [by_function.router(), by_middleware.router().layer(from_fn(insert_identity))] {
        let server = serve_app(Router::new().nest("/ai", app)).await;
        let bearer = |token| ("authorization", token);
        for (headers, expected) in [
            (vec![bearer("Bearer header.ada.signature")], 200),
            (vec![bearer("Bearer header.ada.forged")], 401),
            (vec![], 401),
        ] {
            for path in ["/ai/api/tools", "/ai/chat/x"] {
                assert_eq!(status(&server, path, &headers).await, expected, "{path} {headers:?}");
            }
        }
    }
}

#[tokio::test]
async fn an_identity_that_has_expired_or_that_cannot_be_verified_is_refused() {
    let past = SystemTime::now() - Duration::from_secs(1);
    for (answer, expected) in [
        (Ok(Some(Identity::new("ada").expires_at(past))), 401),
        (Ok(Some(Identity::new(""))), 401),
        (Err(VerifyError::unavailable("the database is away")), 503),
    ] {
        let answer = Mutex::new(Some(answer));
        let login = move |_: Parts| std::future::ready(answer.lock().unwrap().take().unwrap());
        let built = server().login(login).mount(Mount::api()).build().unwrap();
        let server = serve_app(built.router()).await;
        assert_eq!(status(&server, "/api/tools", &[]).await, expected);
    }
}

#[tokio::test]
async fn page_loads_are_redirected_to_the_login_page() {
    let built = by_cookie(server(), &sessions()).login_page("/login").mount_all().build().unwrap();
    let server = serve_app(Router::new().nest("/ai", built.router())).await;
    for path in ["/ai", "/ai/api/tools"] {
        let request = server.request("GET", path).header("accept", "text/html,*/*");
        let response = server.send(request, "").await;
        assert_eq!((response.status, response.header("location")), (303, "/login"), "{path}");
    }
    assert_eq!(status(&server, "/ai/api/tools", &[("accept", "*/*")]).await, 401);
    let logged_in = [("accept", "text/html"), ("cookie", "session=s-ada")];
    assert_eq!(status(&server, "/ai", &logged_in).await, 200);
}

/// An address of this machine that is not a loopback address; sends nothing.
fn other_address() -> Option<std::net::IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    socket.local_addr().ok().map(|addr| addr.ip()).filter(|ip| !ip.is_loopback())
}

#[tokio::test]
async fn an_app_on_all_interfaces_refuses_other_addresses_without_credentials() {
    let built = server().mount_all().build().unwrap();
    for (prefix, app) in [
        ("", Router::new().merge(built.router())),
        ("/ai", Router::new().nest("/ai", built.router())),
        ("/service", Router::new().nest_service("/service", built.router())),
    ] {
        let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let router = app.clone();
        let app = app.into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, app).await });
        let near = TestServer::at(SocketAddr::from(([127, 0, 0, 1], port)));
        for path in built.paths() {
            let path = match format!("{prefix}{}", path.replace(['{', '}'], "")).as_str() {
                // `Router::nest` has no such route.
                "/ai/" => "/ai".to_owned(),
                path => path.to_owned(),
            };
            let proxied = near.request("GET", &path).header("x-forwarded-for", "192.0.2.7");
            assert_eq!(near.open(proxied, "").await.status(), 403, "{path}");
            // Where this machine has no other address, the program's framework reports one.
            let elsewhere = ConnectInfo(SocketAddr::from(([192, 0, 2, 7], 4000)));
            let request =
                axum::http::Request::get(&path).header("host", "localhost").extension(elsewhere);
            let request = request.body(Body::empty()).unwrap();
            let response = router.clone().oneshot(request).await.unwrap();
            assert_eq!(response.status(), 403, "{path}");
            let Some(ip) = other_address() else { continue };
            let far = TestServer::at(SocketAddr::new(ip, port));
            let request = hyper::Request::builder().uri(&path).header("host", "localhost");
            assert_eq!(far.open(request, "").await.status(), 403, "{path}");
        }
    }
}

#[tokio::test]
async fn cookies_the_document_and_the_metadata_are_right_under_a_prefix() {
    const TOKEN: &str = "a-token-that-nobody-guesses";
    const RESOURCE: &str = "http://localhost/ai/mcp";
    let table = StaticTokens::new().token(&Secret::new(TOKEN), Claims::new("ada", [RESOURCE]));
    let oauth = ResourceServer::new(RESOURCE, table).authorization_server("https://login.example");
    let built = ServerBuilder::new(no_tools(), FnModel::echo())
        .configure_auth(|auth| auth.oauth(oauth).trusted_proxies(["127.0.0.1"]))
        .mount_all()
        .build()
        .unwrap();
    let app = Router::new().nest("/ai", built.router()).merge(built.well_known());
    let server = serve_app(app).await;
    let log_in = |headers: &[(&str, &str)]| {
        let request = server.request("POST", "/ai/api/session");
        let request = request.header("content-type", "application/json");
        headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))
    };
    let body = json!({ "token": TOKEN }).to_string();
    for (headers, path) in
        [(vec![], "Path=/ai;"), (vec![("x-forwarded-prefix", "/tenant/")], "Path=/tenant/ai;")]
    {
        let response = server.send(log_in(&headers), &body).await;
        assert_eq!(response.status, 204, "{response:?}");
        let cookie = response.header("set-cookie");
        assert!(cookie.contains(path), "{cookie}");
        let request = server.request("GET", "/ai/api/openapi.json");
        let request = request.header("cookie", cookie.split(';').next().unwrap());
        let document = server.send(request, "").await.json();
        assert_eq!(document["servers"], json!([{ "url": ".." }]));
    }
    for prefix in ["/a; Domain=evil", "//evil.example", "evil"] {
        let response = server.send(log_in(&[("x-forwarded-prefix", prefix)]), &body).await;
        assert_eq!(response.status, 400, "{prefix}: {response:?}");
    }
    let denied = server.post("/ai/mcp", json!({})).await;
    let metadata = "http://localhost/.well-known/oauth-protected-resource/ai/mcp";
    assert!(denied.header("www-authenticate").contains(metadata), "{denied:?}");
    let known = server.get("/.well-known/oauth-protected-resource/ai/mcp").await;
    assert_eq!((known.status, known.json()["resource"].as_str()), (200, Some(RESOURCE)));
    assert_eq!(server.get("/ai/.well-known/oauth-protected-resource").await.status, 404);
    assert_eq!(server.get("/ai/nowhere").await.status, 404);
}
