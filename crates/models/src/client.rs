//! A protocol and a transport in, a model out.

mod backoff;
mod body_decoder;
mod redact_body;
mod response_stream;
mod structured_output;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::stream::{self, StreamExt as _};
use serde_json::Value;
use toolwright_chat::{
    HostedTool, Model, ModelError, ModelErrorKind, ModelId, ModelRequest, ModelStream,
    ResponseFormat,
};
use toolwright_core::RegisteredTool;
use toolwright_core::wire::{ToolPlan, ToolPlanner};
use url::Url;

use self::response_stream::ResponseStream;
use crate::protocol::Protocol;
use crate::transport::{Transport, WireHeader, WireRequest};

/// How long to wait for what.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Timeouts {
    /// For a connection; a transport of your own has its own.
    pub connect: Duration,
    /// For the beginning of an answer.
    pub first_byte: Duration,
    /// For the next piece of it.
    pub idle: Duration,
    /// How often a request that may well succeed later is made again.
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

/// Where a model is and how it is reached.
pub(crate) struct ConnectionSettings {
    pub(crate) base_url: Url,
    pub(crate) headers: Vec<WireHeader>,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) timeouts: Timeouts,
    /// Whether answers are asked for piece by piece.
    pub(crate) streaming: bool,
}

/// A model behind a wire protocol.
pub(crate) struct RemoteModel<P>(Arc<ModelClient<P>>);

struct ModelClient<P> {
    id: ModelId,
    protocol: P,
    connection: ConnectionSettings,
    url: Url,
    /// The plan for the tools of the last request: a turn asks many times with the same.
    cached_plan: Mutex<Option<CachedPlan>>,
}

/// Tools, whether a name is kept free for a search, and the plan for them.
type CachedPlan = (Arc<[RegisteredTool]>, bool, Arc<ToolPlan>);

/// The name under which vendors run their own search.
const WEB_SEARCH_TOOL: &str = "web_search";

impl<P: Protocol> RemoteModel<P> {
    pub(crate) fn new(
        id: ModelId,
        protocol: P,
        connection: ConnectionSettings,
    ) -> Result<Self, ModelError> {
        let path = if connection.streaming {
            protocol.path(&id.name)
        } else {
            protocol.non_streaming_path(&id.name)
        };
        let address = endpoint_url(&connection.base_url, &path)?;
        Ok(Self(Arc::new(ModelClient {
            id,
            protocol,
            connection,
            url: address,
            cached_plan: Mutex::default(),
        })))
    }
}

impl<P: Protocol> Model for RemoteModel<P> {
    fn id(&self) -> &ModelId {
        &self.0.id
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        // Boxed, because it changes hands with every event.
        let answer = Box::new(ResponseStream::new(Arc::clone(&self.0), &request));
        stream::unfold(answer, |mut answer| async move {
            let event = answer.next_event().await?;
            Some((event, answer))
        })
        .boxed()
    }

    fn supports_hosted_tool(&self, hosted: &HostedTool) -> bool {
        self.0.protocol.supports_hosted_tool(hosted)
    }

    fn parse_structured_output(&self, form: &ResponseFormat, text: &str) -> Result<Value, String> {
        let dialect = self.0.protocol.response_format_dialect(&form.schema);
        structured_output::parse_structured_output(&form.schema, dialect, text)
    }
}

impl<P: Protocol> ModelClient<P> {
    fn plan_tools(&self, request: &ModelRequest) -> Arc<ToolPlan> {
        let searches = |hosted: &HostedTool| {
            matches!(hosted, HostedTool::WebSearch(_)) && self.protocol.supports_hosted_tool(hosted)
        };
        let search = request.hosted_tools.iter().any(searches);
        let mut planned = self
            .cached_plan
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((tools, searched, plan)) = &*planned
            && Arc::ptr_eq(tools, &request.tools)
            && *searched == search
        {
            return Arc::clone(plan);
        }
        let planner = ToolPlanner::new(self.protocol.dialect())
            .shape(self.protocol.tool_shape())
            .reserve(search.then_some(WEB_SEARCH_TOOL));
        let plan = Arc::new(planner.plan(request.tools.iter()));
        *planned = Some((Arc::clone(&request.tools), search, Arc::clone(&plan)));
        plan
    }

    /// What is sent, and the same as it may be shown.
    fn build_request(&self, request: &ModelRequest, plan: &ToolPlan) -> (WireRequest, Arc<str>) {
        let mut body = self.protocol.body(request, plan, &self.id.name);
        if !self.connection.streaming {
            self.protocol.disable_streaming(&mut body);
        }
        let mut body = Value::Object(body);
        let sent: Arc<str> = body.to_string().into();
        let shown = match redact_body::redact_secrets(&mut body, request) {
            true => body.to_string().into(),
            false => Arc::clone(&sent),
        };
        let mut wire = WireRequest::new(self.url.clone(), sent);
        wire.headers
            .push(WireHeader::new("content-type", "application/json"));
        let mut own = self.protocol.headers(request);
        for header in &self.connection.headers {
            let mut header = header.clone();
            let same = |(name, _): &(&str, String)| header.name.eq_ignore_ascii_case(name);
            // What the protocol needs is a list: what the user adds to it comes behind.
            if let Some(place) = own.iter().position(same) {
                let (_, needed) = own.swap_remove(place);
                header.value = format!("{needed},{}", header.value);
            }
            wire.headers.push(header);
        }
        let own = own.into_iter();
        wire.headers
            .extend(own.map(|(name, value)| WireHeader::new(name, value)));
        (wire, shown)
    }
}

/// The address of a path below a base, which may bring a query of its own.
fn endpoint_url(base: &Url, path: &str) -> Result<Url, ModelError> {
    if base.cannot_be_a_base() {
        let message = format!("`{base}` is no address that requests can be sent to");
        return Err(ModelError::new(ModelErrorKind::BadRequest, message));
    }
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let mut address = base.clone();
    address.set_path(&format!("{}{path}", base.path().trim_end_matches('/')));
    let queries = [base.query().unwrap_or_default(), query];
    let queries = queries.into_iter().filter(|query| !query.is_empty());
    let query = queries.collect::<Vec<_>>().join("&");
    address.set_query((!query.is_empty()).then_some(&query));
    address.set_fragment(None);
    Ok(address)
}
