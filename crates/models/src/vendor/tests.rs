//! The base URL, key and headers that a model uses.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _};
use toolwright_chat::{HostedTool, ModelErrorKind, ModelRequest};
use toolwright_core::{Config, ConfigSources, Secret};

use super::*;
use crate::transport::{WireMethod, WireRequest, WireResponse};

/// Keeps the request, and responds with a fixed status and body.
#[derive(Clone)]
struct CapturingTransport {
    request: Arc<Mutex<Option<WireRequest>>>,
    response: (u16, &'static str),
}

impl CapturingTransport {
    fn new(status: u16, body: &'static str) -> Self {
        Self { request: Arc::default(), response: (status, body) }
    }

    fn take_request(&self) -> WireRequest {
        self.request.lock().unwrap().take().unwrap()
    }
}

impl Transport for CapturingTransport {
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, ModelError>> {
        *self.request.lock().unwrap() = Some(request);
        let (status, body) = self.response;
        async move { Ok(WireResponse::new(status, body)) }.boxed()
    }
}

fn sent_request(builder: ModelBuilder) -> WireRequest {
    sent_request_for(builder, ModelRequest::default())
}

fn sent_request_for(builder: ModelBuilder, request: ModelRequest) -> WireRequest {
    let transport = CapturingTransport::new(400, "no");
    let model = builder.transport(transport.clone()).build().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let events = model.stream(request).collect::<Vec<_>>();
    drop(runtime.block_on(events));
    transport.take_request()
}

fn build_error(builder: ModelBuilder) -> ModelError {
    builder.build().err().unwrap()
}

fn config(environment: &[(&str, &str)], defaults: &[(&str, &str)]) -> Config {
    let environment =
        environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let sources = ConfigSources::new().defaults(defaults.iter().copied()).environment(environment);
    Config::load(sources).unwrap().config
}

#[test]
fn every_vendor_has_a_name_of_its_own_and_a_row_that_works() {
    for (at, vendor) in VENDORS.iter().enumerate() {
        let later = VENDORS.iter().skip(at + 1);
        assert!(later.into_iter().all(|other| other.name != vendor.name));
        assert_eq!(vendor.base_url.is_none(), vendor.name.starts_with("azure"));
        let base = vendor.base_url.unwrap_or("https://mine.openai.azure.com");
        let model = vendor.model("m").base_url(base).api_key("a key");
        assert_eq!(model.build().unwrap().id().vendor, vendor.name);
        if vendor.base_url.is_some_and(|base| base.starts_with("http:")) {
            assert!(!vendor.requires_api_key && vendor.model("m").build().is_ok());
        }
    }
}

#[test]
fn an_unknown_vendor_is_an_error_that_lists_all() {
    let message = Vendor::by_name("opena").unwrap_err().message;
    assert!(message.contains("did you mean `openai`?"), "{message}");
    assert!(message.contains("llama.cpp"), "{message}");
    assert!(
        ModelBuilder::for_model("gpt-5").is_err() && ModelBuilder::for_model("openai:").is_err()
    );
    let model = ModelBuilder::for_model("ollama:qwen3:8b").unwrap().build().unwrap();
    assert_eq!(model.id().to_string(), "ollama:qwen3:8b");
}

#[test]
fn a_missing_key_names_its_variable_and_its_setting() {
    let vendor = Vendor::by_name("anthropic").unwrap();
    let error = build_error(vendor.model("m").config(&config(&[("ANTHROPIC_API_KEY", " ")], &[])));
    assert_eq!(error.kind, ModelErrorKind::Auth);
    assert_eq!(
        error.message,
        "anthropic needs a key: set ANTHROPIC_API_KEY, or models.anthropic.key in the config file"
    );
}

#[test]
fn a_vendor_knows_whether_it_has_a_key() {
    let gemini = Vendor::by_name("gemini").unwrap();
    assert!(!gemini.has_api_key(&config(&[("GEMINI_API_KEY", " ")], &[])));
    assert!(gemini.has_api_key(&config(&[("GEMINI_API_KEY", "k")], &[])));
    assert!(gemini.has_api_key(&config(&[], &[("models.gemini.key", "k")])));
}

#[test]
fn a_missing_base_url_names_its_variable_and_its_setting() {
    let vendor = Vendor::by_name("azure").unwrap();
    let error = build_error(vendor.model("m").config(&config(&[], &[])));
    assert_eq!(
        error.message,
        "azure needs an address: set AZURE_OPENAI_ENDPOINT, or models.azure.base_url in the config file"
    );
}

#[test]
fn the_builder_precedes_our_variables_the_vendors_variables_and_the_file() {
    let groq = Vendor::by_name("groq").unwrap();
    let file = [("models.groq.key", "from file"), ("models.groq.base_url", "https://file.example")];
    let theirs = [("GROQ_API_KEY", "from theirs"), ("GROQ_BASE_URL", "https://theirs.example")];
    let ours = [
        ("TOOLWRIGHT_MODELS_GROQ_KEY", "from ours"),
        ("TOOLWRIGHT_MODELS_GROQ_BASE_URL", "https://ours.example"),
    ];
    let both: Vec<_> = theirs.into_iter().chain(ours).collect();
    let host_and_key = |builder: ModelBuilder| {
        let request = sent_request(builder);
        let key = request.header("authorization").unwrap().to_owned();
        (request.url.host_str().unwrap().to_owned(), key)
    };
    for (config, host, key) in [
        (config(&[], &file), "file.example", "Bearer from file"),
        (config(&theirs, &file), "theirs.example", "Bearer from theirs"),
        (config(&both, &file), "ours.example", "Bearer from ours"),
    ] {
        let builder = groq.model("m").config(&config);
        assert_eq!(host_and_key(builder.clone()), (host.to_owned(), key.to_owned()));
        let explicit = builder.base_url("https://explicit.example").api_key("explicit");
        assert_eq!(
            host_and_key(explicit),
            ("explicit.example".to_owned(), "Bearer explicit".to_owned())
        );
    }
}

#[test]
fn each_vendor_has_its_header_for_the_key() {
    for (vendor, header, value) in [
        ("openai", "authorization", "Bearer a key"),
        ("azure", "api-key", "a key"),
        ("anthropic", "x-api-key", "a key"),
        ("gemini", "x-goog-api-key", "a key"),
        ("vllm", "authorization", "Bearer a key"),
    ] {
        let builder = Vendor::by_name(vendor).unwrap().model("m");
        let request = sent_request(builder.api_key("a key\n").base_url("https://there.example"));
        assert_eq!(request.header(header), Some(value), "{vendor}");
        assert!(!format!("{request:?}").contains("a key"), "{request:?}");
    }
}

#[test]
fn headers_come_from_settings_and_from_here() {
    let config = config(&[], &[("models.openai.headers.x-team", "blue")]);
    let openai = Vendor::by_name("openai").unwrap().model("m").config(&config);
    let request =
        sent_request(openai.clone().header("Authorization", "Basic abc").header("x-b", "1"));
    assert_eq!(request.header("x-team"), Some("blue"));
    assert_eq!(request.header("x-b"), Some("1"));
    // An own header for the key replaces the key.
    assert_eq!(request.header("authorization"), Some("Basic abc"));
    let error = build_error(openai.api_key("k").header("x\n", "1"));
    assert!(error.message.contains("no header may"), "{error}");
}

#[test]
fn a_list_that_the_protocol_needs_is_added_to() {
    let mut request = ModelRequest::default();
    request.hosted_tools = vec![HostedTool::mcp("wiki", "https://wiki.example").into()];
    let builder = Vendor::by_name("anthropic").unwrap().model("m");
    let builder = builder.api_key("k").header("Anthropic-Beta", "mine");
    let beta = |request: &WireRequest| request.header("anthropic-beta").unwrap().to_owned();
    assert_eq!(beta(&sent_request_for(builder.clone(), request)), "mcp-client-2025-11-20,mine");
    assert_eq!(beta(&sent_request(builder)), "mine");
}

#[test]
fn a_key_is_sent_unencrypted_only_to_a_trusted_base_url() {
    let openai = Vendor::by_name("openai").unwrap().model("m");
    let key = || Secret::new("a key");
    let theirs = config(&[("OPENAI_BASE_URL", "http://proxy:4000/v1")], &[]);
    let error = build_error(openai.clone().api_key(key()).config(&theirs));
    assert!(
        error.message.contains("OPENAI_BASE_URL")
            && error.message.contains("models.openai.base_url"),
        "{error}"
    );
    let ours = config(&[], &[("models.openai.base_url", "http://proxy:4000/v1")]);
    assert!(openai.clone().api_key(key()).config(&ours).build().is_ok());
    let near = config(&[("OPENAI_BASE_URL", "http://localhost:4000/v1")], &[]);
    assert!(openai.clone().api_key(key()).config(&near).build().is_ok());
    assert!(openai.api_key(key()).base_url("http://proxy:4000").build().is_ok());
    // Without a key, plain HTTP is allowed.
    let host = config(&[("OLLAMA_HOST", "http://gpu-box:11434")], &[]);
    let ollama = Vendor::by_name("ollama").unwrap().model("m").config(&host);
    assert!(ollama.build().is_ok());
}

#[test]
fn a_base_may_have_a_query_and_a_slash_at_its_end() {
    let gemini = Vendor::by_name("gemini").unwrap().model("gemini-3-pro");
    let gemini = gemini.api_key("k").base_url("https://proxy.example/g/?team=blue");
    assert_eq!(
        sent_request(gemini.clone()).url.as_str(),
        "https://proxy.example/g/v1beta/models/gemini-3-pro:streamGenerateContent?team=blue&alt=sse"
    );
    assert_eq!(
        sent_request(gemini.streaming(false)).url.as_str(),
        "https://proxy.example/g/v1beta/models/gemini-3-pro:generateContent?team=blue"
    );
}

#[test]
fn nothing_is_shown_that_is_a_secret() {
    let builder = Vendor::by_name("openai").unwrap().model("m");
    let builder = builder.api_key("hunter2").header("x-key", "hunter3");
    assert!(!format!("{builder:?}").contains("hunter"));
}

#[test]
fn the_models_of_ollama_are_listed_from_the_base_url_that_models_use() {
    let ollama = Vendor::by_name("ollama").unwrap();
    let body = r#"{"models":[{"name":"qwen3:8b","size":1},{"name":"llama3"}]}"#;
    let transport = CapturingTransport::new(200, body);
    let config = config(
        &[("OLLAMA_HOST", "gpu-box/ollama")],
        &[("models.ollama.base_url", "http://file.example")],
    );
    let names = ollama.list_models(&config, &transport).now_or_never();
    assert_eq!(names.unwrap().unwrap(), ["qwen3:8b", "llama3"]);
    let request = transport.take_request();
    assert_eq!(request.method, WireMethod::Get);
    assert_eq!(request.url.as_str(), "http://gpu-box:11434/ollama/api/tags");
    let base_url = ollama.resolve_base_url(&config).unwrap();
    assert_eq!(base_url.as_str(), "http://gpu-box:11434/ollama");
    let model = sent_request(ollama.model("qwen3").config(&config));
    assert_eq!(model.url.as_str(), "http://gpu-box:11434/ollama/api/chat");
}

#[test]
fn a_list_of_models_that_is_missing_is_an_error() {
    let config = config(&[("OPENAI_API_KEY", "a key")], &[]);
    for (vendor, status, body, kind) in [
        ("ollama", 503, "", ModelErrorKind::Overloaded),
        ("ollama", 200, "<html>", ModelErrorKind::Protocol),
        ("openai", 200, "{}", ModelErrorKind::BadRequest),
    ] {
        let vendor = Vendor::by_name(vendor).unwrap();
        let transport = CapturingTransport::new(status, body);
        let names = vendor.list_models(&config, &transport).now_or_never();
        assert_eq!(names.unwrap().unwrap_err().kind, kind);
    }
}
