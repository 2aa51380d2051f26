//! An app that is started in a program with a `main` of its own.

use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use toolwright::app::{App, RunningApp};
use toolwright::bus::{Bus as _, Delivery, InProcessBus};
use toolwright::chat::{MemoryStore, Store, StoreScope, delegate_store};
use toolwright::mcp::McpServer;
use toolwright::server::{Endpoint, Mount};
use toolwright::testing::ScriptedModel;
use toolwright::{NamedBundle as _, Registry, State, Tool, ToolError, tool, tools};
use tower::ServiceExt as _;

struct Shop {
    stock: u32,
}

impl Shop {
    async fn open() -> Result<Self, std::io::Error> {
        Ok(Self { stock: 12 })
    }

    async fn fail() -> Result<Self, std::io::Error> {
        Err(std::io::Error::other("the door is locked"))
    }
}

/// Counts the books in stock.
#[tool(read_only)]
fn count_books(shop: State<Shop>) -> u32 {
    shop.stock
}

fn app() -> App {
    let model = ScriptedModel::new().calls("count_books", "{}").replies("There are 12.");
    let app = toolwright::app!().registry(Registry::new()).tools(count_books::tool());
    app.model(model).store(MemoryStore::new())
}

#[tokio::test]
async fn a_started_app_has_a_chat_with_its_state() {
    let app = app().state_with(Shop::open).start().await.unwrap();
    assert_eq!(app.info().name, "toolwright-app");
    let response = app.chat().message().user("How many books?").call().await.unwrap();
    assert_eq!(response.text(), "There are 12.");
    assert_eq!(response.results()[0].text(), "12");
    app.shutdown().await;
}

#[tokio::test]
async fn settings_of_a_tool_whose_server_is_away_add_nothing_to_the_registry() {
    let registry = Registry::new();
    registry.add(Tool::builder("look", "Looks.").run(|_, _| "seen").unwrap()).unwrap();
    let version = registry.snapshot().version();
    let start = |timeout: &str| {
        let app = toolwright::app!().registry(registry.clone());
        let app = app.model(ScriptedModel::new()).store(MemoryStore::new());
        app.default_setting("mcp.servers.shop.command", "no-such-program")
            .default_setting("tools.shop_add.timeout", timeout)
            .start()
    };
    let app = start("5s").await.unwrap();
    // A server that connects at this moment finds its names free.
    assert_eq!(registry.snapshot().version(), version);
    let snapshot = app.invoker().snapshot().unwrap();
    assert!(snapshot.iter().map(|tool| tool.spec().name.as_str()).eq(["look"]));
    app.shutdown().await;
    let error = start("soon").await.err().unwrap().to_string();
    assert!(error.contains("tools.shop_add.timeout"), "{error}");
}

/// Sends requests to an MCP server over a pipe, and returns the responses.
#[expect(clippy::unwrap_used, reason = "a helper of tests")]
async fn exchange(server: McpServer, requests: &[(&str, Value)]) -> Vec<Value> {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(far);
    tokio::spawn(async move { server.serve_lines(BufReader::new(input), output).await });
    let (read, mut write) = tokio::io::split(near);
    let mut lines = BufReader::new(read).lines();
    let client = json!({ "name": "test", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let mut responses = Vec::new();
    for (method, params) in [("initialize", params)].iter().chain(requests) {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        write.write_all(format!("{request}\n").as_bytes()).await.unwrap();
        let line = lines.next_line().await.unwrap().unwrap();
        responses.push(serde_json::from_str(&line).unwrap());
    }
    responses
}

#[tokio::test]
async fn a_started_app_has_its_tools_and_an_mcp_server_with_its_name() {
    let app = app().name("bookshop").state(Shop { stock: 3 }).start().await.unwrap();
    assert!(app.registry().snapshot().get("count_books").is_some());
    let responses = exchange(app.mcp_server().unwrap(), &[]).await;
    let info = &responses[0]["result"]["serverInfo"];
    assert_eq!(info["name"], "bookshop");
    assert_eq!(info["description"], env!("CARGO_PKG_DESCRIPTION"));
    app.shutdown().await;
}

struct AdminTools;

#[tools(manual)]
impl AdminTools {
    /// Empties the till.
    #[tool(approval = never)]
    fn empty_till() -> &'static str {
        "the till is empty"
    }
}

/// The names of the tools that the MCP server of an app lists, and the text of a call of `empty_till`.
#[expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a helper of tests")]
async fn offered_over_mcp(app: &RunningApp) -> (Vec<String>, String) {
    let call = json!({ "name": "empty_till", "arguments": {} });
    let requests = [("tools/list", json!({})), ("tools/call", call)];
    let responses = exchange(app.mcp_server().unwrap(), &requests).await;
    let listed = responses[1]["result"]["tools"].as_array().unwrap();
    let names = listed.iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
    (names.collect(), responses[2].to_string())
}

#[tokio::test]
async fn the_mcp_server_of_an_app_offers_what_every_endpoint_does() {
    let app = || app().tools(AdminTools).state(Shop { stock: 3 });
    let support = || Endpoint::new("/support/{customer}").exclude_bundle::<AdminTools>();
    let staff = || Endpoint::new("/staff/{room}");

    let bound = app().endpoint(support()).endpoint(staff()).start().await.unwrap();
    // Added later, and excluded with its bundle.
    let late = Tool::builder("fill_till", "Fills the till.").bundle(AdminTools::NAME);
    bound.registry().add(late.run(|_, _| Ok::<_, ToolError>("full")).unwrap()).unwrap();
    let (names, called) = offered_over_mcp(&bound).await;
    assert_eq!(names, ["count_books"]);
    assert!(!called.contains("the till is empty"), "{called}");
    assert!(!called.contains("did you mean"), "{called}");
    bound.shutdown().await;

    let selected = Mount::mcp().only_tools_named(["empty_till"]);
    for (app, expected) in [
        (app().endpoint(staff()), vec!["count_books", "empty_till"]),
        (app().endpoint(support()).mount(selected), vec!["empty_till"]),
    ] {
        let app = app.start().await.unwrap();
        let (names, called) = offered_over_mcp(&app).await;
        assert_eq!(names, expected);
        assert!(called.contains("the till is empty"), "{called}");
        app.shutdown().await;
    }
}

#[tokio::test]
async fn the_mcp_server_of_an_app_requires_its_credentials_over_http() {
    const TOKEN: &str = "a-token-that-is-long-enough";
    let app = app().state(Shop { stock: 3 }).default_setting("server.token", TOKEN);
    let app = app.start().await.unwrap();
    let router = app.mcp_server().unwrap().router();
    let client = json!({ "name": "test", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let body =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string();
    for (authorization, status) in
        [("", StatusCode::UNAUTHORIZED), (&*format!("Bearer {TOKEN}"), StatusCode::OK)]
    {
        let request = Request::post("/")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("authorization", authorization);
        let local = ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 4000)));
        let request = request.extension(local).body(Body::from(body.clone())).unwrap();
        let response = router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), status);
    }
    app.shutdown().await;
}

#[tokio::test]
async fn missing_state_is_named_when_the_app_starts() {
    let error = app().start().await.err().unwrap().to_string();
    assert_eq!(
        error,
        "`count_books` cannot run here: it needs state of type `main::app::Shop`: write `.state(…)` with a value of this type on `app!()` or \
         `Invoker::builder`, or `.state_with(…)` on `app!()` with an async function that opens it"
    );
    let error = app().state_with(Shop::fail).start().await.err().unwrap().to_string();
    assert_eq!(error, "the state `main::app::Shop` cannot be opened: the door is locked");
}

#[tokio::test]
async fn the_router_serves_the_name_of_the_program() {
    let app =
        app().name("bookshop").state(Shop { stock: 3 }).mount(Mount::api()).start().await.unwrap();
    let request = Request::get("/api/info").header("host", "localhost");
    let local = ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 4000)));
    let request = request.extension(local).body(Body::empty()).unwrap();
    let response = app.router().oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    let info: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(info["name"], "bookshop");
    app.shutdown().await;
}

/// The error of an app that starts with these settings; the program sets no store.
#[expect(clippy::unwrap_used, reason = "a helper of tests")]
async fn error_with(settings: &[(&str, &str)]) -> String {
    let app = toolwright::app!().registry(Registry::new()).model(ScriptedModel::new());
    let app = settings.iter().fold(app, |app, (key, value)| app.default_setting(*key, *value));
    app.start().await.err().unwrap().to_string()
}

#[tokio::test]
async fn the_limits_of_turns_are_settings() {
    let error = error_with(&[("store", "memory:"), ("turn.time", "soon")]).await;
    assert!(error.contains("turn.time") && error.contains("such as `30s`"), "{error}");
    let model = ScriptedModel::new().calls("nothing", "{}");
    let app = toolwright::app!().registry(Registry::new()).model(model).store(MemoryStore::new());
    let app = app.default_setting("turn.steps", "1").start().await.unwrap();
    let ended = app.chat().message().user("Go!").call().await.unwrap_err();
    assert_eq!(ended.to_string(), "the turn was ended: the model was asked 1 times");
    app.shutdown().await;
}

#[tokio::test]
async fn a_bus_needs_a_store_that_nodes_can_share() {
    for bus in ["store", "nats://127.0.0.1:1", "postgres://127.0.0.1:1/shop"] {
        let error = error_with(&[("store", "memory:"), ("cluster.bus", bus)]).await;
        assert!(error.contains("a store in memory is for one node"), "{error}");
        assert!(error.contains("pass --store postgres://"), "{error}");
    }
    let app = app().state(Shop { stock: 3 }).default_setting("cluster.bus", "store");
    let error = app.start().await.err().unwrap().to_string();
    assert!(error.contains("the program has opened its store itself"), "{error}");
}

#[tokio::test]
async fn a_bus_of_the_program_is_used_unless_its_store_is_of_one_node() {
    let bus = InProcessBus::new();
    let started = app().state(Shop { stock: 3 }).bus(bus.node()).start().await.unwrap();
    let mut subscription = bus.node().subscribe("greetings").await.unwrap();
    started.bus().unwrap().publish("greetings", "hello".to_owned());
    assert_eq!(subscription.next().await, Some(Delivery::Message("hello".into())));
    assert_eq!(started.warnings(), [] as [String; 0]);
    started.shutdown().await;
    let alone = toolwright::app!().registry(Registry::new()).model(ScriptedModel::new());
    let alone = alone.default_setting("store", "memory:").bus(bus.node());
    let error = alone.start().await.err().unwrap().to_string();
    assert!(error.contains("a store in memory is for one node"), "{error}");
}

/// A store that says that nodes can share it.
struct ClusterStore(MemoryStore);

impl Store for ClusterStore {
    fn scope(&self) -> StoreScope {
        StoreScope::Cluster
    }

    delegate_store!(|self| self.0 =>
        acquire renew release lease_status append push_inbox inbox remove_inbox_item list_unattended list_held_by tail list
        list_by_owner list_older_than delete delete_expired signing_keys rotate_signing_key check_writable shared_state);
}

/// An app with a store that nodes can share.
fn cluster_app() -> App {
    app().state(Shop { stock: 3 }).store(ClusterStore(MemoryStore::new()))
}

#[tokio::test]
async fn the_store_of_a_program_states_whether_other_processes_share_it() {
    let bus = "nats://127.0.0.1:1";
    let alone = app().state(Shop { stock: 3 }).default_setting("cluster.bus", bus);
    let error = alone.start().await.err().unwrap().to_string();
    assert!(error.contains("the program's own store is for one node"), "{error}");
    cluster_app().default_setting("cluster.bus", bus).start().await.unwrap().shutdown().await;
}

#[tokio::test]
async fn a_malformed_url_of_a_bus_is_an_error_at_the_start_without_its_password() {
    for url in ["redis://u:hunter2@host", "hunter2", "postgres://u:hunter2@host:port/shop"] {
        let app = cluster_app().default_setting("cluster.bus", url);
        let error = app.start().await.err().unwrap().to_string();
        assert!(error.contains("`store` is the database of the store"), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
}

#[tokio::test]
async fn a_bus_that_cannot_be_reached_is_a_warning() {
    let app = cluster_app().default_setting("cluster.bus", "nats://u:hunter2@127.0.0.1:1");
    let started = app.start().await.unwrap();
    let [warning] = &started.warnings()[..] else { panic!("{:?}", started.warnings()) };
    assert!(warning.contains("the NATS server `127.0.0.1:1` cannot be reached"), "{warning}");
    assert!(!warning.contains("hunter2"), "{warning}");
    assert!(!started.bus().unwrap().status().is_connected());
    started.shutdown().await;
}

/// Asks who the person is.
#[tool]
async fn greet(client: toolwright::mcp::ClientPeer) -> Result<String, ToolError> {
    let form = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    let answer = client.elicit("name", "Who are you?", form).await?;
    Ok(format!("{answer:?}"))
}

#[tokio::test]
async fn people_are_asked_what_attached_servers_want_to_know() {
    let remote =
        McpServer::builder(toolwright::Invoker::new(Registry::of(greet::tool()).unwrap()).unwrap());
    let bound = remote.build().unwrap().bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let url = format!("http://{}/mcp", bound.addr());
    let running = tokio::spawn(bound.run(std::future::pending()));
    let app = toolwright::app!().registry(Registry::new()).store(MemoryStore::new());
    let app = app.model(ScriptedModel::new().calls("shop_greet", "{}").replies("Done."));
    let app = app
        .default_setting("mcp.servers.shop.url", url)
        .default_setting("mcp.servers.shop.trust", "calls")
        .start()
        .await
        .unwrap();
    let response = app.chat().message().user("Go.").call().await.unwrap();
    let pending = response.pending_approvals().to_vec();
    assert_eq!(pending.len(), 1, "{:?}", response.results());
    assert_eq!(pending[0].arguments["message"], "Who are you?");
    let answered = response.submit_approvals(vec![pending[0].answer("Ada")]).call().await.unwrap();
    let results = answered.results();
    assert!(results.iter().any(|result| result.text().contains("\"Ada\"")), "{results:?}");
    assert_eq!(answered.text(), "Done.");
    app.shutdown().await;
    running.abort();
}
