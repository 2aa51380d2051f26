//! What the official conformance suite expects of a client: attach, then call what the scenario asks for.
//!
//! ```text
//! conformance client --command target/debug/examples/conformance_client --suite all --spec-version 2026-07-28
//! ```
//!
//! The suite names the scenario in `MCP_CONFORMANCE_SCENARIO`, what to call in `MCP_CONFORMANCE_CONTEXT`, the revision in
//! `MCP_CONFORMANCE_PROTOCOL_VERSION`, and appends the address of its server to the command.

use std::env;
use std::error::Error;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolwright_core::{Invoker, MemorySharedState, Registry, Secret, SharedState, ToolCall};
use toolwright_mcp::{
    CredentialKeys, ElicitHandler, ElicitInput, ElicitRequest, ElicitResponse, ISSUER_PIN,
    MemoryPins, OAuthClient, PinStore as _, RemoteServer, SharedCredentials, Trust, UserAuthorizer,
};

/// The redirect address for the authorization servers of the suite; there is no listener.
const REDIRECT: &str = "http://localhost:3000/callback";

/// The page that would describe us; the suite knows it by its address.
const METADATA: &str = "https://conformance-test.local/client-metadata.json";

/// The parameters of the scenario.
#[derive(Default, Deserialize)]
struct Scenario {
    #[serde(default, rename = "toolCalls", alias = "tool_calls")]
    calls: Vec<Call>,
    client_id: Option<String>,
    client_secret: Option<String>,
}

#[derive(Deserialize)]
struct Call {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = env::args().next_back().unwrap_or_default();
    let name = env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let context = env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let scenario: Scenario = serde_json::from_str(&context).unwrap_or_default();

    let mut attach = RemoteServer::url("suite", url).trust(Trust::Calls).elicit(Arc::new(Obliging));
    if let Ok(revision) = env::var("MCP_CONFORMANCE_PROTOCOL_VERSION") {
        attach = attach.revision(revision);
    }
    // The command line's own store of credentials: encrypted, with a key file.
    let folder = tempfile::tempdir()?;
    let keys = CredentialKeys::from_file(folder.path().join("credentials.key"));
    let state: Arc<dyn SharedState> = Arc::new(MemorySharedState::new());
    let credentials = Arc::new(SharedCredentials::new(Arc::clone(&state), "conformance", keys));
    let pins = Arc::new(MemoryPins::new());
    if name.starts_with("auth/") {
        attach = attach.oauth(oauth(&name, &scenario)).credentials(credentials);
        attach = attach.issuer_pins(Arc::clone(&pins) as _);
    }

    let registry = Registry::new();
    let attached = match attach.clone().attach(&registry).await {
        // The person knows that the authorization server has moved.
        Err(_) if pins.accept("suite", ISSUER_PIN).await? => attach.attach(&registry).await?,
        attached => attached?,
    };
    let invoker = Invoker::new(&registry)?;
    let listed = attached.status().items;
    let tools = listed.iter().filter(|listed| !listed.is_prompt);
    let schema = |tool: &str| Some(registry.get(tool)?.spec().input.as_value().clone());
    let calls: Vec<(String, Value)> = match scenario.calls.is_empty() {
        // One tool wants to see what has become of the schema of another.
        true if name == "json-schema-2020-12-preservation" => {
            let seen = schema("suite_json_schema_2020_12_tool");
            vec![("suite_json_schema_echo".to_owned(), json!({ "schema": seen }))]
        }
        true => tools
            .filter_map(|tool| Some((tool.name.clone(), sample(&schema(&tool.name)?))))
            .collect(),
        false => {
            let named = |call: Call| {
                let tool = listed.iter().find(|listed| listed.remote_name == call.name)?;
                Some((tool.name.clone(), Value::Object(call.arguments)))
            };
            scenario.calls.into_iter().filter_map(named).collect()
        }
    };
    for (tool, arguments) in calls {
        let call = ToolCall::new(tool.as_str(), &arguments);
        let mut result = invoker.invoke(&call).await;
        if pins.accept("suite", ISSUER_PIN).await? {
            result = invoker.invoke(&call).await;
        }
        eprintln!("{tool}: {}", result.text());
    }
    attached.detach().await;
    Ok(())
}

fn oauth(name: &str, scenario: &Scenario) -> OAuthClient {
    let secret = scenario.client_secret.as_deref().map(Secret::new);
    match (&scenario.client_id, secret) {
        (Some(id), Some(secret)) if name.contains("client-credentials") => {
            OAuthClient::client_credentials(id, secret)
        }
        (Some(id), secret) => {
            OAuthClient::new(REDIRECT, Arc::new(Headless)).registered_client(id, secret)
        }
        (None, _) => OAuthClient::new(REDIRECT, Arc::new(Headless)).client_metadata_url(METADATA),
    }
}

/// Arguments that a schema takes: one of the simplest for each that is required.
fn sample(schema: &Value) -> Value {
    let required = schema.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    let simplest = |name: &str| match property(schema, name, "type").and_then(Value::as_str) {
        Some("number" | "integer") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("test"),
    };
    required.map(|name| (name.to_owned(), simplest(name))).collect()
}

/// The schema of one property.
fn property<'s>(schema: &'s Value, name: &str, keyword: &str) -> Option<&'s Value> {
    schema.get("properties")?.get(name)?.get(keyword)
}

/// Fills in every form, and takes what it suggests.
struct Obliging;

impl ElicitHandler for Obliging {
    fn elicit<'a>(&'a self, question: ElicitRequest<'a>) -> BoxFuture<'a, ElicitResponse> {
        Box::pin(async move {
            match question.input {
                ElicitInput::Form(schema) => {
                    let mut filled = sample(schema);
                    if let Some(filled) = filled.as_object_mut() {
                        filled.retain(|name, _| property(schema, name, "default").is_none());
                    }
                    ElicitResponse::Accept(filled)
                }
                _ => ElicitResponse::Decline,
            }
        })
    }
}

/// Authorizes us without a person: the suite's pages redirect at once.
struct Headless;

impl UserAuthorizer for Headless {
    fn authorize<'a>(&'a self, page: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let stay = reqwest::redirect::Policy::none();
            let http = reqwest::Client::builder().redirect(stay).build();
            let http = http.map_err(|error| error.to_string())?;
            let answer = http.get(page).send().await;
            let answer = answer.map_err(|error| error.to_string())?;
            let back = answer.headers().get("location");
            let back = back.and_then(|back| back.to_str().ok());
            back.map(str::to_owned).ok_or_else(|| "there was no redirect".to_owned())
        })
    }
}
