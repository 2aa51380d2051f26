//! A [`Model`] from a protocol and a transport: sends requests, retries them and streams the events of the responses.

mod body_decoder;
mod embeddings;
mod error_context;
mod model_list;
mod redact_body;
mod response_stream;
mod retries;
mod structured_output;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::stream::{self, StreamExt as _};
use serde_json::Value;
use toolwright_chat::{
    HostedTool, Model, ModelError, ModelErrorKind, ModelId, ModelRequest, ModelStream,
    NativeToolSearch, ResponseFormat, ToolDeferral,
};
use toolwright_core::RegisteredTool;
use toolwright_core::schema::Dialect;
use toolwright_core::wire::{CandidateTool, ToolPlan, ToolPlanner};
use url::Url;

pub(crate) use self::embeddings::{EmbeddingShape, RemoteEmbedder};
pub(crate) use self::error_context::{with_vendor, without_sent_secrets};
pub(crate) use self::model_list::list_ollama_models;
use self::response_stream::ResponseStream;
use crate::protocol::Protocol;
use crate::transport::{Transport, WireHeader, WireRequest};

/// How long a request may take, and how often it is retried.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Timeouts {
    /// The timeout of connecting, 10 s by default; ignored with a custom transport.
    pub connect: Duration,
    /// The timeout until the response starts, 120 s by default.
    pub first_byte: Duration,
    /// The timeout between two chunks of the response, 90 s by default.
    pub idle: Duration,
    /// How often a request is retried after a transient error, 3 times by default.
    pub retries: u32,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(120),
            idle: Duration::from_secs(90),
            retries: 3,
        }
    }
}

/// Where and how requests are sent.
pub(crate) struct ConnectionSettings {
    pub(crate) base_url: Url,
    pub(crate) headers: Vec<WireHeader>,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) timeouts: Timeouts,
    /// Whether streamed responses are requested.
    pub(crate) streaming: bool,
    /// Whether the server loads deferred tools, if the protocol and the model do.
    pub(crate) native_tool_search: bool,
    /// Whether the server knows custom tools, if the protocol and the model do.
    pub(crate) custom_tools: bool,
    /// Whether found tools are loaded in namespaces, if the protocol has them.
    pub(crate) tool_namespaces: bool,
}

/// A model that is called over a wire protocol.
pub(crate) struct RemoteModel(Arc<ModelClient>);

struct ModelClient {
    id: ModelId,
    protocol: Box<dyn Protocol>,
    connection: ConnectionSettings,
    url: Url,
    /// The plan for the tools of the last request: all requests of a turn have the same tools.
    cached_plan: Mutex<Option<CachedPlan>>,
}

struct CachedPlan {
    tools: Arc<[RegisteredTool]>,
    deferred: Option<Arc<[RegisteredTool]>>,
    /// Whether [`WEB_SEARCH_TOOL`] is reserved.
    has_search: bool,
    plan: Arc<ToolPlan>,
}

/// The name of the vendors' hosted search tool.
const WEB_SEARCH_TOOL: &str = "web_search";

/// The name of the hosted tool that runs programs, which some models require for tools with `allowed_callers`.
const CODE_EXECUTION_TOOL: &str = "code_execution";

impl RemoteModel {
    pub(crate) fn new(
        id: ModelId,
        protocol: Box<dyn Protocol>,
        connection: ConnectionSettings,
    ) -> Result<Self, ModelError> {
        let path = protocol.path(&id.name, connection.streaming);
        let url = endpoint_url(&connection.base_url, &path)?;
        Ok(Self(Arc::new(ModelClient {
            id,
            protocol,
            connection,
            url,
            cached_plan: Mutex::default(),
        })))
    }
}

impl Model for RemoteModel {
    fn id(&self) -> &ModelId {
        &self.0.id
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        // Boxed, because every event moves it.
        let response = Box::new(ResponseStream::new(Arc::clone(&self.0), &request));
        stream::unfold(response, |mut response| async move {
            let event = response.next_event().await?;
            Some((event, response))
        })
        .boxed()
    }

    fn tool_dialect(&self) -> Dialect {
        self.0.protocol.dialect()
    }

    fn tool_deferral(&self) -> Option<ToolDeferral> {
        let deferral = self.0.protocol.tool_deferral(&self.0.id.name);
        deferral.filter(|_| self.0.connection.native_tool_search)
    }

    fn supports_hosted_tool(&self, hosted: &HostedTool) -> bool {
        self.0.protocol.supports_hosted_tool(hosted)
    }

    fn parse_structured_output(
        &self,
        format: &ResponseFormat,
        text: &str,
    ) -> Result<Value, String> {
        let dialect = self.0.protocol.response_format_dialect(&format.schema);
        structured_output::parse_structured_output(&format.schema, dialect, text)
    }
}

impl ModelClient {
    fn plan_tools(&self, request: &ModelRequest) -> Arc<ToolPlan> {
        let is_search = |hosted: &HostedTool| {
            matches!(hosted, HostedTool::WebSearch(_)) && self.protocol.supports_hosted_tool(hosted)
        };
        let has_search = request.hosted_tools.iter().any(is_search);
        let native = request.native_search.as_ref();
        let mut cached = self.cached_plan.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = &*cached
            && cached.is_for(request, has_search)
        {
            return Arc::clone(&cached.plan);
        }
        let mut all =
            request.tools.iter().chain(native.into_iter().flat_map(|it| it.deferred.iter()));
        let has_programs = all.any(|tool| !tool.policy().allowed_callers.is_empty());
        let mut planner = ToolPlanner::new(self.protocol.dialect())
            .shape(self.protocol.tool_shape())
            .custom_tools(
                self.connection.custom_tools && self.protocol.supports_custom_tools(&self.id.name),
            )
            .namespaces(self.connection.tool_namespaces)
            .reserve(has_search.then_some(WEB_SEARCH_TOOL))
            .reserve(has_programs.then_some(CODE_EXECUTION_TOOL));
        if let Some(native) = native {
            planner = planner.search_tool(native.search_tool.as_str());
        }
        let deferred = native.into_iter().flat_map(|native| native.deferred.iter());
        let deferred = deferred.map(|tool| CandidateTool::from(tool).deferred());
        let tools = request.tools.iter().map(CandidateTool::from).chain(deferred);
        let plan = Arc::new(planner.plan(tools));
        *cached = Some(CachedPlan {
            tools: Arc::clone(&request.tools),
            deferred: native.map(|native| Arc::clone(&native.deferred)),
            has_search,
            plan: Arc::clone(&plan),
        });
        plan
    }

    /// Returns the request, and its body with secrets redacted.
    fn build_request(&self, request: &ModelRequest, plan: &ToolPlan) -> (WireRequest, Arc<str>) {
        let mut body = self.protocol.body(request, plan, &self.id.name);
        if !self.connection.streaming {
            self.protocol.disable_streaming(&mut body);
        }
        let mut body = Value::Object(body);
        let sent: Arc<str> = body.to_string().into();
        let redacted = match redact_body::redact_secrets(&mut body, request) {
            true => body.to_string().into(),
            false => Arc::clone(&sent),
        };
        let mut wire = WireRequest::new(self.url.clone(), sent);
        wire.headers.push(WireHeader::new("content-type", "application/json"));
        let mut protocol_headers = self.protocol.headers(request);
        for header in &self.connection.headers {
            let mut header = header.clone();
            let same = |(name, _): &(&str, String)| header.name.eq_ignore_ascii_case(name);
            // The header is a comma-separated list: the protocol's values first, then the user's.
            if let Some(index) = protocol_headers.iter().position(same) {
                let (_, required) = protocol_headers.swap_remove(index);
                header.value = format!("{required},{}", header.value);
            }
            wire.headers.push(header);
        }
        let rest = protocol_headers.into_iter();
        wire.headers.extend(rest.map(|(name, value)| WireHeader::new(name, value)));
        (wire, redacted)
    }
}

impl CachedPlan {
    fn is_for(&self, request: &ModelRequest, has_search: bool) -> bool {
        let deferred = match (&self.deferred, &request.native_search) {
            (Some(deferred), Some(NativeToolSearch { deferred: wanted, .. })) => {
                Arc::ptr_eq(deferred, wanted)
            }
            (None, None) => true,
            _ => false,
        };
        deferred && Arc::ptr_eq(&self.tools, &request.tools) && self.has_search == has_search
    }
}

/// Appends a path to the base URL, and joins the queries of both.
fn endpoint_url(base: &Url, path: &str) -> Result<Url, ModelError> {
    if base.cannot_be_a_base() {
        let message = format!("`{base}` is no address that requests can be sent to");
        return Err(ModelError::new(ModelErrorKind::BadRequest, message));
    }
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let mut url = base.clone();
    url.set_path(&format!("{}{path}", base.path().trim_end_matches('/')));
    let queries = [base.query().unwrap_or_default(), query];
    let queries = queries.into_iter().filter(|query| !query.is_empty());
    let query = queries.collect::<Vec<_>>().join("&");
    url.set_query((!query.is_empty()).then_some(&query));
    url.set_fragment(None);
    Ok(url)
}
