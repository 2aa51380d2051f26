//! The definition of a server in, a tool or prompt out that calls the server.

use std::sync::Arc;

use serde_json::Value;
use toolwright_core::{
    ApprovalPolicy, Args, BoxFuture, BundleItem, DefineError, HandlerContext, Hints, Prompt, Role,
    Tool, ToolResult,
};

use crate::client::catalogue::remote_call::{CallKind, RemoteCall};
use crate::client::connection::shared_connection::SharedConnection;
use crate::client::setup::remote_server::Trust;
use crate::client::setup::validated_server::ValidatedServer;
use crate::import::{RemotePrompt, RemoteTool, trusted_hints};
use crate::pin::Fingerprint;

/// A valid definition.
pub(crate) enum RemoteDefinition {
    Tool(RemoteTool),
    Prompt(RemotePrompt),
}

impl RemoteDefinition {
    pub(crate) fn parse_tool(raw: &Value) -> Result<Self, String> {
        RemoteTool::parse(raw).map(Self::Tool)
    }

    pub(crate) fn parse_prompt(raw: &Value) -> Result<Self, String> {
        RemotePrompt::parse(raw).map(Self::Prompt)
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Tool(tool) => &tool.name,
            Self::Prompt(prompt) => &prompt.name,
        }
    }

    pub(crate) fn fingerprint(&self) -> &Fingerprint {
        match self {
            Self::Tool(tool) => &tool.fingerprint,
            Self::Prompt(prompt) => &prompt.fingerprint,
        }
    }

    pub(crate) fn is_prompt(&self) -> bool {
        matches!(self, Self::Prompt(_))
    }

    /// Makes the tool or prompt for the registry, with its name there.
    pub(crate) fn into_bundle_item(
        self,
        config: &ValidatedServer,
        link: &Arc<SharedConnection>,
        name: &str,
    ) -> Result<BundleItem, DefineError> {
        match self {
            Self::Tool(tool) => proxy_tool(config, link, tool, name).map(BundleItem::from),
            Self::Prompt(prompt) => proxy_prompt(config, link, prompt, name).map(BundleItem::from),
        }
    }
}

fn proxy_tool(
    config: &ValidatedServer,
    link: &Arc<SharedConnection>,
    definition: RemoteTool,
    name: &str,
) -> Result<Tool, DefineError> {
    let hints = trusted_hints(definition.hints, config.trust != Trust::Nothing);
    let mut builder = Tool::builder(name, definition.description)
        .imported(true)
        .schema(definition.input.as_value().clone())?
        .bundle(&*config.name)
        .timeout(config.timeout)
        .approval(approval_policy(config.trust, &definition.hints));
    if let Some(title) = definition.title {
        builder = builder.title(title);
    }
    if let Some(output) = &definition.output {
        builder = builder.output_schema(output.as_value().clone());
    }
    if let Some(value) = hints.read_only {
        builder = builder.read_only(value);
    }
    if let Some(value) = hints.destructive {
        builder = builder.destructive(value);
    }
    if let Some(value) = hints.idempotent {
        builder = builder.idempotent(value);
    }
    if let Some(value) = hints.open_world {
        builder = builder.open_world(value);
    }
    let call = RemoteCall { kind: CallKind::Tool(definition.output), name: definition.name };
    builder.run_async(call_handler(link, call))
}

fn proxy_prompt(
    config: &ValidatedServer,
    link: &Arc<SharedConnection>,
    definition: RemotePrompt,
    name: &str,
) -> Result<Prompt, DefineError> {
    let mut builder = Tool::builder(name, definition.description)
        .imported(true)
        .schema(definition.input)?
        .bundle(&*config.name)
        .timeout(config.timeout)
        .read_only(true);
    if let Some(title) = definition.title {
        builder = builder.title(title);
    }
    let call = RemoteCall { kind: CallKind::Prompt, name: definition.name };
    let tool = builder.run_async(call_handler(link, call))?;
    Ok(Prompt::from_tool(tool, Role::User))
}

/// The handler of a tool or prompt.
fn call_handler(
    link: &Arc<SharedConnection>,
    call: RemoteCall,
) -> impl Fn(Args, HandlerContext) -> BoxFuture<'static, ToolResult> + Send + Sync + 'static {
    let (link, call) = (Arc::clone(link), Arc::new(call));
    move |args, cx| {
        let (link, call) = (Arc::clone(&link), Arc::clone(&call));
        Box::pin(async move { call.run(link, args.into_map(), cx).await })
    }
}

/// The approval policy of a tool, by its declared hints and the trust in its server.
fn approval_policy(trust: Trust, declared: &Hints) -> ApprovalPolicy {
    let is_harmless = declared.read_only == Some(true) || declared.destructive == Some(false);
    match trust {
        Trust::Nothing => ApprovalPolicy::Always,
        Trust::Hints if is_harmless => ApprovalPolicy::Never,
        Trust::Hints => ApprovalPolicy::Always,
        Trust::Calls => ApprovalPolicy::Never,
    }
}
