//! People sign in with a provider; their sessions have the rights that the provider gives them now.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use test_support::openid_provider::{CLIENT_ID, CLIENT_SECRET, OpenIdServer, parse_form, person};
use toolwright::chat::{MemoryStore, Owner, Store};
use toolwright::testing::FnModel;
use toolwright::{Secret, Tool, ToolError};
use toolwright_auth::{OpenIdProvider, ScopeRule, SignIn};
use toolwright_server::{
    LoginSessions, QuotaLimits, QuotaSettings, ServerBuildError, ServerBuilder,
};

use crate::rooms::Socket;
use crate::support::{
    HttpResponse, TestServer, invoker, no_tools, serve, serve_built, within_timeout,
};

pub(crate) const PATH: &str = "/api/conversations/c";

pub(crate) fn provider(name: &str, server: &OpenIdServer) -> OpenIdProvider {
    OpenIdProvider::new(name, &server.issuer, CLIENT_ID)
        .unwrap()
        .client_secret(Secret::new(CLIENT_SECRET))
        .label("Example Corp.")
        .roles("boss", ["admin"])
        .grants("staff", ["look"])
}

/// A server whose sessions are read from the store for every request.
pub(crate) fn builder(sign_in: SignIn) -> ServerBuilder {
    ServerBuilder::new(no_tools(), FnModel::echo())
        .sign_in(sign_in)
        .configure_auth(|auth| auth.scope("look", ScopeRule::read_only()))
        .limits(|limits| limits.session_check_interval = Duration::ZERO)
}

/// A provider `corp`, and a server that people sign in to with it.
pub(crate) async fn start() -> (OpenIdServer, TestServer) {
    let corp = OpenIdServer::start().await;
    let server = serve(builder(SignIn::new().provider(provider("corp", &corp)))).await;
    (corp, server)
}

/// A browser that keeps cookies.
pub(crate) struct Browser<'s> {
    pub(crate) server: &'s TestServer,
    pub(crate) cookies: BTreeMap<String, String>,
}

impl<'s> Browser<'s> {
    pub(crate) fn new(server: &'s TestServer) -> Self {
        Self { server, cookies: BTreeMap::new() }
    }

    pub(crate) fn cookie_header(&self) -> String {
        let pairs = self.cookies.iter().map(|(name, value)| format!("{name}={value}"));
        pairs.collect::<Vec<_>>().join("; ")
    }

    pub(crate) async fn send(&mut self, method: &str, path: &str, body: &str) -> HttpResponse {
        let request = self.server.request(method, path).header("cookie", self.cookie_header());
        let request = request.header("content-type", "application/json");
        let response = self.server.send(request, body).await;
        for cookie in response.headers.get_all("set-cookie") {
            let cookie = cookie.to_str().unwrap();
            let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
            match cookie.contains("Max-Age=0") {
                true => self.cookies.remove(name),
                false => self.cookies.insert(name.to_owned(), value.to_owned()),
            };
        }
        response
    }

    pub(crate) async fn get(&mut self, path: &str) -> HttpResponse {
        self.send("GET", path, "").await
    }

    /// Begins a sign-in, and returns the address of the provider.
    pub(crate) async fn begin(&mut self, name: &str) -> String {
        let response = self.get(&format!("/api/login/{name}")).await;
        assert_eq!(response.status, 303, "{response:?}");
        response.header("location").to_owned()
    }

    /// Begins a sign-in that the person approves, and returns the path that the provider sends the browser to.
    pub(crate) async fn approved(&mut self, name: &str, server: &OpenIdServer) -> String {
        let callback = server.approve(&self.begin(name).await);
        let host = format!("http://{}", self.server.addr);
        callback.strip_prefix(&host).unwrap().to_owned()
    }

    /// Signs in as the person of the provider.
    pub(crate) async fn sign_in(&mut self, name: &str, server: &OpenIdServer) -> HttpResponse {
        let callback = self.approved(name, server).await;
        self.get(&callback).await
    }

    pub(crate) async fn status(&mut self) -> u16 {
        self.get("/api/info").await.status
    }

    pub(crate) fn session(&self) -> Option<&String> {
        self.cookies.get("toolwright_pass")
    }
}

#[tokio::test]
async fn people_sign_in_and_own_what_they_begin() {
    let (corp, server) = start().await;
    let offered = server.get("/api/login").await.json();
    let provider = json!({ "name": "corp", "label": "Example Corp." });
    assert_eq!(offered, json!({ "providers": [provider], "token": false }));
    let (mut ada, mut bob) = (Browser::new(&server), Browser::new(&server));
    assert_eq!(ada.status().await, 401);
    let signed_in = ada.sign_in("corp", &corp).await;
    assert_eq!((signed_in.status, signed_in.header("location")), (303, "/"));
    corp.behaviour().person = person("2", "Bob", &["boss"]);
    bob.sign_in("corp", &corp).await;
    let me = ada.get("/api/me").await.json();
    assert_eq!((&me["subject"], &me["name"]), (&json!("corp:1"), &json!("Ada")));
    assert_eq!((&me["roles"], &me["scopes"]), (&json!([]), &json!(["look"])));
    assert!(me["expires"].is_u64(), "{me}");
    assert_eq!(bob.get("/api/me").await.json()["roles"], json!(["admin"]));
    let posted = ada.send("POST", &format!("{PATH}/prompt"), r#"{"text":"Hi"}"#).await;
    assert_eq!(posted.status, 202);
    for (browser, count) in [(&mut ada, 1), (&mut bob, 0)] {
        let list = browser.get("/api/conversations").await.json();
        assert_eq!(list.as_array().unwrap().len(), count, "{list}");
    }
    let cookie = ada.cookie_header();
    let mcp = server.request("POST", "/mcp").header("cookie", cookie);
    assert_eq!(server.send(mcp, "{}").await.status, 401, "cookies do not count there");
}

#[tokio::test]
async fn the_cookies_of_a_session_and_of_a_sign_in_are_for_this_site_only() {
    let corp = OpenIdServer::start().await;
    let sign_in = SignIn::new().provider(provider("corp", &corp));
    let built = builder(sign_in).public_url("https://tools.example.com/ai/");
    let server = serve(built).await;
    let mut browser = Browser::new(&server);
    let begun = browser.get("/api/login/corp").await;
    let pending = begun.header("set-cookie");
    for attribute in
        ["HttpOnly", "SameSite=Lax", "Path=/ai/api/login/corp;", "Max-Age=600", "Secure"]
    {
        assert!(pending.contains(attribute), "{pending}");
    }
    let callback = corp.approve(begun.header("location"));
    let path = callback.strip_prefix("https://tools.example.com/ai").unwrap();
    let response = browser.get(path).await;
    assert_eq!(response.header("location"), "/ai");
    let session = response.header("set-cookie");
    for attribute in ["HttpOnly", "SameSite=Strict", "Path=/ai;", "Max-Age=43200", "Secure"] {
        assert!(session.contains(attribute), "{session}");
    }
    let request = server.request("GET", "/api/me").header("cookie", browser.cookie_header());
    let mut request = request;
    request.headers_mut().unwrap().insert("host", "tools.example.com".parse().unwrap());
    assert_eq!(server.send(request, "").await.status, 200, "the host is allowed");
}

#[tokio::test]
async fn a_server_that_others_reach_needs_its_address_for_sign_ins() {
    let corp = OpenIdServer::start().await;
    let sign_in = || SignIn::new().provider(provider("corp", &corp));
    let public = |server: ServerBuilder| {
        server.configure_auth(|auth| auth.allowed_hosts(["tools.example.com"]))
    };
    let error = public(builder(sign_in())).build().err().unwrap();
    assert!(matches!(error, ServerBuildError::NoPublicUrl), "{error:?}");
    assert!(error.to_string().contains("server.url"), "{error}");
    let with = |url: &str| public(builder(sign_in())).public_url(url).build();
    assert!(with("https://tools.example.com").is_ok());
    assert!(with("http://tools.example.com").is_err());
}

#[tokio::test]
async fn scopes_of_groups_grant_tools_and_required_ones_are_required() {
    let corp = OpenIdServer::start().await;
    let tool = |name: &str, read_only: bool| {
        let tool = Tool::builder(name, "Does something.").read_only(read_only);
        tool.run(|_, _| Ok::<_, ToolError>("done")).unwrap()
    };
    let tools = invoker(vec![tool("look", true), tool("pay", false)]);
    let server = ServerBuilder::new(tools, FnModel::echo())
        .sign_in(SignIn::new().provider(provider("corp", &corp)))
        .configure_auth(|auth| {
            auth.scope("look", ScopeRule::read_only()).scope("all", ScopeRule::all())
        });
    let server = serve(server).await;
    for (groups, expected) in [(&["staff"][..], &["look"][..]), (&[], &[])] {
        corp.behaviour().person = person("1", "Ada", groups);
        let mut browser = Browser::new(&server);
        browser.sign_in("corp", &corp).await;
        let tools = browser.get("/api/tools").await.json();
        let names: Vec<&Value> =
            tools.as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, expected, "{groups:?}");
    }
}

#[tokio::test]
async fn roles_follow_the_provider_when_tokens_are_renewed() {
    let (corp, server) = start().await;
    // Always about to expire.
    corp.behaviour().expires_in = Some(0);
    let mut ada = Browser::new(&server);
    ada.sign_in("corp", &corp).await;
    for (groups, roles) in [(&["boss"][..], json!(["admin"])), (&[], json!([]))] {
        corp.behaviour().person = person("1", "Ada L.", groups);
        let me = ada.get("/api/me").await.json();
        assert_eq!((&me["roles"], &me["name"]), (&roles, &json!("Ada L.")));
    }
    corp.behaviour().expires_in = Some(3600);
    assert_eq!(ada.status().await, 200);
    let renewals = corp.behaviour().requests["refresh_token"];
    for _ in 0..3 {
        assert_eq!(ada.status().await, 200);
    }
    assert_eq!(corp.behaviour().requests["refresh_token"], renewals, "they are still valid");
}

#[tokio::test]
async fn many_requests_at_several_nodes_renew_tokens_once() {
    let corp = OpenIdServer::start().await;
    let store = Arc::new(MemoryStore::new());
    let node = async || {
        let sign_in = SignIn::new().provider(provider("corp", &corp));
        serve(builder(sign_in).store(Arc::clone(&store), "memory")).await
    };
    let nodes = [node().await, node().await];
    corp.behaviour().expires_in = Some(0);
    let mut ada = Browser::new(&nodes[0]);
    ada.sign_in("corp", &corp).await;
    corp.behaviour().expires_in = Some(3600);
    let cookie = ada.cookie_header();
    let requests = (0..20).map(|n| {
        let node = &nodes[n % 2];
        let request = node.request("GET", "/api/me").header("cookie", &cookie);
        async move { node.send(request, "").await.status }
    });
    let statuses = futures::future::join_all(requests).await;
    assert_eq!(statuses, [200; 20]);
    assert_eq!(corp.behaviour().requests["refresh_token"], 1);
}

#[tokio::test]
async fn a_session_that_the_provider_has_ended_ends_here_and_its_connections_too() {
    let corp = OpenIdServer::start().await;
    let sign_in = SignIn::new().provider(provider("corp", &corp));
    let server =
        builder(sign_in).limits(|limits| limits.session_check_interval = Duration::from_millis(10));
    let server = serve(server).await;
    corp.behaviour().expires_in = Some(0);
    let mut ada = Browser::new(&server);
    ada.sign_in("corp", &corp).await;
    let cookie = ada.cookie_header();
    let mut socket = Socket::open_with(&server, PATH, &[("cookie", &cookie)]).await;
    socket.until("snapshot").await;
    corp.end_all_sessions();
    within_timeout(async { while socket.next().await.is_some() {} }).await;
    assert_eq!(ada.status().await, 401);
    corp.behaviour().expires_in = Some(3600);
    ada.sign_in("corp", &corp).await;
    assert_eq!(ada.status().await, 200);
}

#[tokio::test]
async fn a_provider_that_is_down_makes_nobody_sign_in_again() {
    let (corp, server) = start().await;
    corp.behaviour().expires_in = Some(0);
    let mut ada = Browser::new(&server);
    ada.sign_in("corp", &corp).await;
    corp.behaviour().outage = Some(503);
    let refused = ada.get("/api/me").await;
    assert_eq!((refused.status, &refused.json()["error"]["kind"]), (503, &json!("unavailable")));
    assert_eq!(ada.get("/").await.status, 200, "the page itself needs no session");
    corp.behaviour().outage = None;
    // The pause after a failure is one of this node.
    let other = corp.behaviour().requests["refresh_token"];
    assert!(other >= 1);
}

#[tokio::test]
async fn a_person_signs_out_here_and_at_the_provider() {
    let (corp, server) = start().await;
    let mut ada = Browser::new(&server);
    ada.sign_in("corp", &corp).await;
    let stolen = ada.cookie_header();
    let ended = ada.send("DELETE", "/api/session", "").await;
    assert_eq!(ended.status, 200, "{ended:?}");
    let url = ended.json()["logout"].as_str().unwrap().to_owned();
    assert!(url.starts_with(&format!("{}/end?", corp.issuer)), "{url}");
    let query = parse_form(url.split_once('?').unwrap().1);
    assert_eq!(query["post_logout_redirect_uri"], format!("http://{}/", server.addr));
    assert_eq!(ada.session(), None);
    assert_eq!(corp.behaviour().revoked.len(), 1);
    let request = server.request("GET", "/api/info").header("cookie", &stolen);
    assert_eq!(server.send(request, "").await.status, 401);
}

#[tokio::test]
async fn people_list_and_end_their_own_sessions_and_no_others() {
    let corp = OpenIdServer::start().await;
    let store = Arc::new(MemoryStore::new());
    let sign_in = SignIn::new().provider(provider("corp", &corp));
    let server = serve(builder(sign_in).store(Arc::clone(&store), "memory")).await;
    let [mut laptop, mut phone, mut bob] = [(); 3].map(|()| Browser::new(&server));
    laptop.sign_in("corp", &corp).await;
    phone.sign_in("corp", &corp).await;
    corp.behaviour().person = person("2", "Bob", &[]);
    bob.sign_in("corp", &corp).await;
    let listed = laptop.get("/api/sessions").await.json();
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), 2, "{listed:?}");
    let other = listed.iter().find(|session| session["current"] == json!(false)).unwrap();
    assert_eq!(other["provider"], "corp");
    let id = other["id"].as_str().unwrap();
    let path = format!("/api/sessions/{id}");
    let unknown = bob.send("DELETE", "/api/sessions/00ff", "").await;
    let foreign = bob.send("DELETE", &path, "").await;
    assert_eq!((foreign.status, foreign.text()), (404, unknown.text()));
    let sessions = LoginSessions::new(store.shared_state());
    let all = sessions.list(None, 9).await.unwrap();
    let escape = all.iter().find(|it| it.owner == Owner::Subject("corp:2".to_owned())).unwrap();
    assert_eq!((escape.name.as_deref(), escape.provider.as_deref()), (Some("Bob"), Some("corp")));
    let escape = format!("/api/sessions/..%2F{}", escape.id.replace('/', "%2F"));
    assert_eq!(phone.send("DELETE", &escape, "").await.status, 404);
    assert_eq!(bob.status().await, 200);
    assert_eq!(laptop.send("DELETE", &path, "").await.status, 204);
    assert_eq!((laptop.status().await, phone.status().await), (200, 401));
}

#[tokio::test]
async fn a_session_outlives_the_server_unless_its_provider_is_removed() {
    let (corp, other) = (OpenIdServer::start().await, OpenIdServer::start().await);
    let store = Arc::new(MemoryStore::new());
    let node = async |name: &str, with: &OpenIdServer| {
        let sign_in = SignIn::new().provider(provider(name, with));
        serve(builder(sign_in).store(Arc::clone(&store), "memory")).await
    };
    let first = node("corp", &corp).await;
    corp.behaviour().expires_in = Some(0);
    let mut ada = Browser::new(&first);
    ada.sign_in("corp", &corp).await;
    let cookies = ada.cookies.clone();
    first.end().await;
    let second = node("corp", &corp).await;
    let mut ada = Browser { server: &second, cookies: cookies.clone() };
    assert_eq!(ada.status().await, 200);
    let third = node("other", &other).await;
    let mut ada = Browser { server: &third, cookies };
    assert_eq!(ada.status().await, 401);
}

#[tokio::test]
async fn nothing_secret_is_stored_in_the_clear() {
    let corp = OpenIdServer::start().await;
    let store = Arc::new(MemoryStore::new());
    let sign_in = SignIn::new().provider(provider("corp", &corp));
    let server = serve(builder(sign_in).store(Arc::clone(&store), "memory")).await;
    corp.behaviour().expires_in = Some(0);
    let mut ada = Browser::new(&server);
    ada.begin("corp").await;
    let pending = ada.cookies.values().next().unwrap().clone();
    ada.sign_in("corp", &corp).await;
    assert_eq!(ada.status().await, 200);
    ada.send("POST", &format!("{PATH}/prompt"), r#"{"text":"Hi"}"#).await;
    let state = store.shared_state();
    let mut stored = String::new();
    for space in ["sign_in", "login_session", "login_renewal", "sign_in_attempt"] {
        let values = state.list(space, "", 99).await.unwrap();
        stored += &format!("{values:?}");
    }
    assert!(stored.contains("corp:1"), "{stored}");
    let secret = ada.session().unwrap().rsplit('.').next().unwrap().to_owned();
    let secrets = corp.behaviour().secrets.clone();
    assert!(secrets.len() > 8, "{secrets:?}");
    for secret in secrets.iter().chain([&secret, &pending]) {
        assert!(!stored.contains(secret.as_str()), "{secret} is in {stored}");
    }
}

#[tokio::test]
async fn a_grant_or_a_role_that_means_nothing_is_an_error_when_the_server_is_built() {
    let corp = OpenIdServer::start().await;
    let corp = || OpenIdProvider::new("corp", &corp.issuer, CLIENT_ID).unwrap();
    let build = |provider: OpenIdProvider| {
        let approved = Tool::builder("pay", "Pays.").approvers("role:manager".parse().unwrap());
        let approved = approved.run(|_, _| Ok::<_, ToolError>("paid")).unwrap();
        let quota = QuotaSettings::default().role("guests", QuotaLimits::new().concurrent_turns(1));
        let server = ServerBuilder::new(invoker(approved), FnModel::echo()).quota(quota);
        let server = server.configure_auth(|auth| {
            auth.scope("look", ScopeRule::read_only()).scope("all", ScopeRule::all())
        });
        server.sign_in(SignIn::new().provider(provider)).mount_all().build()
    };
    for (provider, message) in [
        (
            corp().grants("*", ["lok"]),
            "scopes: the group `*` of `[login.corp.grants]` is granted the scope `lok`, which does not exist: did you mean `look`?",
        ),
        (
            corp().grants("staff", ["billing"]),
            "scopes: the group `staff` of `[login.corp.grants]` is granted the scope `billing`, which does not exist: define it in a \
             section `[scopes.billing]`, or with `.scope(…)`",
        ),
        (
            corp().roles("it", ["admn"]),
            "sign-in: the group `it` of `[login.corp.roles]` has the role `admn`, which means nothing: did you mean `admin`?",
        ),
        (corp().roles("leads", ["mangaer"]), "did you mean `manager`?"),
        (corp().roles("*", ["gests"]), "did you mean `guests`?"),
    ] {
        let error = build(provider).err().unwrap().to_string();
        assert!(error.contains(message), "{error}");
    }
    let known = corp().grants("*", ["look", "all"]).roles("it", ["admin", "manager", "guests"]);
    // The program may read it.
    let server = build(known.roles("it", ["gardener"])).unwrap();
    assert_eq!(server.warnings(), ["the scope `look` grants no tool"]);
}

#[tokio::test]
async fn an_implied_scope_that_does_not_exist_is_an_error_and_one_that_only_implies_is_not_empty() {
    let server = |implied: &'static str| {
        let tool = Tool::builder("look", "Looks.").read_only(true);
        let tool = tool.run(|_, _| Ok::<_, ToolError>("seen")).unwrap();
        let oauth = crate::owners::resource_server(toolwright_auth::StaticTokens::new())
            .scope("look", ScopeRule::read_only())
            .scope("staff", ScopeRule::names(Vec::<String>::new()))
            .scope("writers", ScopeRule::bundle("pens"))
            .implies("staff", [implied]);
        let server = ServerBuilder::new(invoker(tool), FnModel::echo());
        server.configure_auth(|auth| auth.oauth(oauth)).build()
    };
    let error = server("loook").err().unwrap().to_string();
    assert_eq!(
        error,
        "scopes: the scope `staff` implies the scope `loook`, which does not exist: did you mean `look`?"
    );
    assert_eq!(server("look").unwrap().warnings(), ["the scope `writers` grants no tool"]);
}

#[tokio::test]
async fn a_provider_that_cannot_be_reached_is_reported_before_anybody_signs_in() {
    // Nothing listens there any more.
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let issuer = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let away = OpenIdProvider::new("corp", &issuer, CLIENT_ID).unwrap().label("Example Corp.");
    let sign_in = SignIn::new().provider(away);
    let built = builder(sign_in).token(Secret::new("a-token-of-the-operator"));
    let built = built.mount_all().build().unwrap();
    let server = serve_built(built.clone()).await;
    let sentence =
        format!("people cannot sign in with `corp` now: its issuer {issuer} cannot be reached");
    let ready = within_timeout(async {
        loop {
            let ready = server.get("/readyz").await;
            // The server is ready all the same: other nodes could not reach it either.
            assert_eq!(ready.status, 200, "{ready:?}");
            if ready.text() != "ready\n" {
                return ready.text().to_owned();
            }
        }
    })
    .await;
    assert_eq!(ready, format!("ready, but {sentence}\n"));
    assert!(built.warnings().contains(&sentence));
    let provider = json!({ "name": "corp", "label": "Example Corp.", "unavailable": true });
    assert_eq!(server.get("/api/login").await.json()["providers"], json!([provider]));
    let request = server.request("GET", "/api/info");
    let request = request.header("authorization", "Bearer a-token-of-the-operator");
    assert_eq!(server.send(request, "").await.json()["warnings"], json!([sentence]));
}
