//! What the suite does not see: names, sessions, wrapped results, questions, cancellation, the order of progress.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::peers::{TestClient, TestServer, connect, lifecycle, request};
use http::Request;
use http_body_util::BodyExt as _;
use rmcp::handler::server::tool::ToolRouter;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResponse, CallToolResult, ClientRequest,
    ElicitResult, ElicitationAction,
};
use rmcp::service::{PeerRequestOptions, RunningService};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{Peer, RoleClient, RoleServer};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Notify;
use toolwright::{
    AuditRecord, Bridge, CallContext, CallScope, Caller, Cancel, Content, Invoker, Json,
    JsonSchema, Outcome, Param, Progress, Registry, SessionId, State, ToolError, schemars, tool,
};

/// Erases a file.
#[tool(destructive, title = "Erase", icon = "https://shop.example/erase.png")]
fn erase(path: String) -> String {
    format!("erased {path}")
}

/// Counts the words.
#[tool(read_only)]
fn count_words(text: String) -> Json<BTreeMap<String, usize>> {
    let mut counts = BTreeMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word.to_owned()).or_default() += 1;
    }
    Json(counts)
}

/// A branch, and what grows on it.
#[derive(Debug, Deserialize, JsonSchema, Serialize)]
#[serde(untagged)]
enum Branch {
    Leaf(String),
    Fork(Vec<Branch>),
}

/// Grows a branch.
#[tool(read_only)]
fn grow() -> Json<Branch> {
    let leaf = Branch::Leaf("leaf".to_owned());
    Json(Branch::Fork(vec![leaf, Branch::Fork(Vec::new())]))
}

/// Shows all there is.
#[tool(read_only)]
fn show() -> Vec<Content> {
    vec![
        Content::audio("audio/wav", b"RIFF"),
        Content::resource("shop:/prices", "bread 3"),
        Content::link("shop:/menu", "menu"),
    ]
}

/// Counts to three.
#[tool(read_only)]
async fn count(progress: Progress, State(stage): State<CallProbe>) -> String {
    // Holding it blocks no other caller.
    stage.kept.lock().unwrap().push(progress.clone());
    progress.report(1.0, 3.0, "one");
    progress.report(1.0, 3.0, "still one");
    tokio::task::yield_now().await;
    progress.report_message("two");
    progress.report(f64::NAN, 3.0, "lost");
    progress.report(3.0, 3.0, "three");
    "counted".to_owned()
}

/// Returns the name of the client.
#[tool(read_only)]
fn peer(PeerExtractor(peer): PeerExtractor) -> String {
    let info = peer.peer_info();
    info.map_or_else(String::new, |info| info.client_info.name.clone())
}

/// The connection that a call came in on.
struct PeerExtractor(Arc<Peer<RoleServer>>);

impl Param for PeerExtractor {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        let peer = cx.extension().ok_or("this tool is for rmcp's servers")?;
        Ok(Self(peer))
    }
}

/// Returns the caller and the session.
#[tool(read_only)]
fn who(caller: Caller, session: SessionId) -> String {
    format!("{} in {session}", caller.name().unwrap_or("nobody"))
}

/// Waits until it is cancelled.
#[tool(read_only)]
async fn wait(cancel: Cancel, State(stage): State<CallProbe>) -> String {
    let _left = NotifyOnDrop(&stage.left);
    stage.entered.notify_one();
    cancel.cancelled().await;
    "over".to_owned()
}

#[derive(Clone, Default)]
struct CallProbe {
    entered: Arc<Notify>,
    left: Arc<Notify>,
    kept: Arc<Mutex<Vec<Progress>>>,
}

/// Signals the end of the tool, returned or dropped.
struct NotifyOnDrop<'a>(&'a Notify);

impl Drop for NotifyOnDrop<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

fn invoker(stage: &CallProbe) -> Invoker {
    let registry = Registry::new();
    let tools = [
        erase::tool(),
        count_words::tool(),
        grow::tool(),
        show::tool(),
        count::tool(),
        peer::tool(),
        who::tool(),
        wait::tool(),
    ];
    for tool in tools {
        registry.add(tool).unwrap();
    }
    let invoker = Invoker::builder(&registry).state(stage.clone());
    invoker.build().unwrap()
}

async fn client(
    test_client: &TestClient,
    stateless: bool,
) -> RunningService<RoleClient, TestClient> {
    let desk = TestServer::new(&invoker(&CallProbe::default())).unwrap();
    connect(desk, test_client.clone(), lifecycle(stateless)).await
}

async fn call_tool(
    client: &RunningService<RoleClient, TestClient>,
    tool: &str,
    arguments: &str,
) -> CallToolResult {
    let request = request(tool, arguments).unwrap();
    client.call_tool(request).await.unwrap()
}

async fn call_tool_text(
    client: &RunningService<RoleClient, TestClient>,
    tool: &str,
    arguments: &str,
) -> String {
    let result = call_tool(client, tool, arguments).await;
    let text = result.content.first().and_then(|block| block.as_text());
    text.map_or_else(String::new, |text| text.text.clone())
}

#[tokio::test]
async fn tools_of_both_are_there() {
    for stateless in [false, true] {
        let client = client(&TestClient::default(), stateless).await;
        assert_eq!(call_tool_text(&client, "hello", "").await, "hello from the desk");
        assert_eq!(call_tool_text(&client, "who", "").await.split(' ').next(), Some("nobody"));
    }
}

#[test]
fn a_name_that_is_taken_is_refused() {
    /// Says hello, too.
    #[tool(read_only)]
    fn hello() -> String {
        String::new()
    }

    let registry = Registry::new();
    registry.add(hello::tool()).unwrap();
    let error = TestServer::new(&Invoker::new(&registry).unwrap()).err().unwrap();
    let text = "`hello` cannot be offered: the server has a tool of this name; leave it out with a view, or offer it to another model";
    assert_eq!(error.to_string(), text);
    let prefixed = Invoker::new(registry.all().prefix("my")).unwrap();
    assert!(TestServer::new(&prefixed).is_ok());
    // Not even a tool that is switched off is replaced.
    let mut own = toolwright_rmcp::tools(ToolRouter::<()>::new(), &prefixed).unwrap();
    own.disable_route("my_hello");
    assert!(toolwright_rmcp::tools(own, &prefixed).is_err());
}

#[tokio::test]
async fn results_that_are_no_objects_are_wrapped_as_their_schemas_say() {
    let client = client(&TestClient::default(), false).await;
    let tools = client.list_all_tools().await.unwrap();
    let output = |name: &str| {
        let tool = tools.iter().find(|tool| tool.name == name).unwrap();
        Value::Object((**tool.output_schema.as_ref().unwrap()).clone())
    };
    let result = call_tool(&client, "count_words", r#"{"text": "a rose is a rose"}"#).await;
    let counts = json!({"a": 2, "is": 1, "rose": 2});
    assert_eq!(result.structured_content, Some(counts));
    assert_eq!(output("count_words")["type"], "object");
    assert_eq!(output("count_words").get("required"), None);

    let result = call_tool(&client, "grow", "").await;
    let branch = json!({"result": ["leaf", []]});
    assert_eq!(result.structured_content, Some(branch.clone()));
    let schema = output("grow");
    assert_eq!(schema["type"], "object");
    let schema = toolwright::schema::Schema::check(schema).unwrap();
    assert_eq!(schema.violations(&branch), []);
    assert!(!schema.violations(&json!({"result": ["leaf", [7]]})).is_empty());
}

#[tokio::test]
async fn a_definition_says_all_there_is_to_say() {
    let client = client(&TestClient::default(), false).await;
    let tools = client.list_all_tools().await.unwrap();
    let tool = tools.iter().find(|tool| tool.name == "erase").unwrap();
    let definition = json!({
        "name": "erase",
        "title": "Erase",
        "description": "Erases a file.",
        "inputSchema": tool.input_schema,
        "annotations": {"destructiveHint": true},
        "icons": [{"src": "https://shop.example/erase.png"}],
    });
    assert_eq!(serde_json::to_value(tool).unwrap(), definition);

    let alternatives = r#"{"anyOf": [{"type": "object"}, {"type": "object", "required": ["a"]}]}"#;
    let tool = toolwright::Tool::from_schema("either", "Does either.", alternatives).unwrap();
    let registry = Registry::new();
    let tool = tool.run(|_, _| Ok::<_, ToolError>("done")).unwrap();
    registry.add(tool).unwrap();
    let router = ToolRouter::<()>::new();
    let router = toolwright_rmcp::tools(router, &Invoker::new(&registry).unwrap()).unwrap();
    assert_eq!(router.get("either").unwrap().input_schema["type"], "object");
}

#[tokio::test]
async fn all_content_is_carried() {
    let client = client(&TestClient::default(), false).await;
    let result = call_tool(&client, "show", "").await;
    let content = json!([
        {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "shop:/prices", "text": "bread 3"}},
        {"type": "resource_link", "uri": "shop:/menu", "name": "menu"},
    ]);
    assert_eq!(serde_json::to_value(result.content).unwrap(), content);
}

#[tokio::test]
async fn progress_comes_in_order_and_only_grows() {
    for stateless in [false, true] {
        let test_client = TestClient::default();
        let client = client(&test_client, stateless).await;
        assert_eq!(call_tool_text(&client, "count", "").await, "counted");
        let steps = test_client.steps.lock().unwrap().clone();
        let steps: Vec<_> =
            steps.iter().map(|(done, message)| (*done, message.as_deref().unwrap())).collect();
        assert_eq!(steps, [(1.0, "one"), (2.0, "two"), (3.0, "three")]);
    }
}

#[tokio::test]
async fn a_tool_can_ask_for_the_connection() {
    let client = client(&TestClient::default(), false).await;
    assert_eq!(call_tool_text(&client, "peer", "").await, "visitor");
}

#[tokio::test]
async fn the_person_at_the_client_is_asked_where_there_is_nobody_else() {
    for stateless in [false, true] {
        for (action, expected) in [
            (Some(ElicitationAction::Accept), "erased /a"),
            (
                Some(ElicitationAction::Decline),
                "the call was denied: the person at the client has not approved it",
            ),
            (
                Some(ElicitationAction::Cancel),
                "the call was denied: the person at the client has not approved it",
            ),
            (None, "the call was denied: the person at the client has not approved it"),
        ] {
            let test_client = TestClient { elicitation: action.clone(), ..TestClient::default() };
            let client = client(&test_client, stateless).await;
            assert_eq!(call_tool_text(&client, "erase", r#"{"path": "/a"}"#).await, expected);
            let asked = test_client.asked.lock().unwrap().clone();
            let question =
                "May `Erase` run?\n\nErases a file.\n\nArguments:\n{\n  \"path\": \"/a\"\n}";
            assert_eq!(asked, action.map_or(vec![], |_| vec![question]));
            // What would be refused in any case is not asked about.
            let refused = call_tool_text(&client, "erase", r#"{"paths": 7}"#).await;
            assert!(refused.starts_with("invalid arguments"), "{refused}");
            assert_eq!(test_client.asked.lock().unwrap().len(), asked.len());
        }
    }
}

#[tokio::test]
async fn a_yes_is_for_one_call_and_no_other() {
    let test_client = TestClient::answering(ElicitationAction::Accept);
    let outcomes = Arc::new(Mutex::new(Vec::new()));
    let book = Arc::clone(&outcomes);
    let audit = move |record: AuditRecord| book.lock().unwrap().push(record.outcome);
    let registry = Registry::new();
    registry.add(erase::tool()).unwrap();
    let invoker = Invoker::builder(&registry).audit(audit).build().unwrap();
    let client = connect(TestServer::new(&invoker).unwrap(), test_client, lifecycle(true)).await;
    let call = |path: &str| request("erase", &json!({"path": path}).to_string()).unwrap();
    let CallToolResponse::InputRequired(asked) = client.call_tool_once(call("/a")).await.unwrap()
    else {
        panic!("it has to be asked about");
    };
    let key = asked.input_requests.unwrap().into_keys().next().unwrap();
    let state = asked.request_state.unwrap();
    let yes = serde_json::to_value(ElicitResult::new(ElicitationAction::Accept)).unwrap();
    let answered = |request: CallToolRequestParams, state: &str| {
        let request = request.with_input_responses([(key.clone(), yes.clone())].into());
        client.call_tool(request.with_request_state(state))
    };
    for (request, state, expected) in [
        (call("/b"), &*state, "the call was denied: the approval is for another call"),
        (call("/a"), "{}", "the call was denied: the person at the client has not approved it"),
        (call("/a"), &*state, "erased /a"),
        (call("/a"), &*state, "the call was denied: the approval was used before"),
    ] {
        let result = answered(request, state).await.unwrap();
        assert_eq!(result.content[0].as_text().unwrap().text, expected);
    }
    let denied = Outcome::Denied;
    assert_eq!(*outcomes.lock().unwrap(), [denied, denied, Outcome::Ok, denied]);
}

#[tokio::test]
async fn a_request_that_is_cancelled_ends_its_call() {
    for stateless in [false, true] {
        let stage = CallProbe::default();
        let desk = TestServer::new(&invoker(&stage)).unwrap();
        let client = connect(desk, TestClient::default(), lifecycle(stateless)).await;
        let call =
            ClientRequest::CallToolRequest(CallToolRequest::new(request("wait", "").unwrap()));
        let options = PeerRequestOptions::no_options();
        let handle = client.send_cancellable_request(call, options).await.unwrap();
        stage.entered.notified().await;
        handle.cancel(None).await.unwrap();
        stage.left.notified().await;
        // The connection goes on.
        assert_eq!(call_tool_text(&client, "hello", "").await, "hello from the desk");
    }
}

#[tokio::test]
async fn who_calls_is_what_the_bridge_says_unless_the_server_knows_better() {
    let scope = CallScope::new().caller(Caller::new("somebody")).session("here");
    let bridge = Bridge::new(&invoker(&CallProbe::default())).scope(scope);
    for (caller, expected) in [(None, "somebody in here"), (Some("ada"), "ada in here")] {
        let mut desk = TestServer::new(&bridge).unwrap();
        desk.caller = caller;
        let client = connect(desk, TestClient::default(), lifecycle(false)).await;
        assert_eq!(call_tool_text(&client, "who", "").await, expected);
    }
}

#[tokio::test]
async fn over_http_the_session_and_what_middleware_knows_reach_the_tool() {
    let desk = TestServer::new(&invoker(&CallProbe::default())).unwrap();
    let service = StreamableHttpService::new(
        move || Ok(desk.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let post = async |headers: &[(&str, &str)], body: Value| {
        let mut request = Request::post("http://localhost/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            // What authenticates requests would put it there.
            .extension(Caller::new("ada"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = service.handle(request.body(body.to_string()).unwrap()).await;
        let session = response.headers().get("mcp-session-id").cloned();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (session, String::from_utf8(body.to_vec()).unwrap())
    };
    let client = json!({"name": "test_client", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello});
    let (session, _) = post(&[], hello).await;
    let session = session.unwrap();
    let session = ("mcp-session-id", session.to_str().unwrap());
    post(&[session], json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    let call =
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "who"}});
    let (_, heard) = post(&[session], call.clone()).await;
    assert!(heard.contains(&format!("ada in {}", session.1)), "{heard}");

    // Without sessions, the header is anybody's word.
    let mut call = call;
    call["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": client,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "who"),
        ("mcp-session-id", "stolen"),
    ];
    let (_, heard) = post(&headers, call).await;
    assert!(heard.contains("ada in process-"), "{heard}");
}
