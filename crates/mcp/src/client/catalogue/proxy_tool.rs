//! A definition of a server's in, a tool or prompt of ours out that asks the server when it is called.

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

/// A definition that can be used.
pub(crate) enum RemoteDefinition {
    Tool(RemoteTool),
    Prompt(RemotePrompt),
}

impl RemoteDefinition {
    /// Reads a tool; `Err` says why it is left out.
    pub(crate) fn parse_tool(raw: &Value) -> Result<Self, String> {
        RemoteTool::parse(raw).map(Self::Tool)
    }

    /// Reads a prompt; `Err` says why it is left out.
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

    /// Makes what a registry takes, by the name it has there.
    pub(crate) fn into_bundle_item(
        self,
        plan: &ValidatedServer,
        link: &Arc<SharedConnection>,
        name: &str,
    ) -> Result<BundleItem, DefineError> {
        match self {
            Self::Tool(offered) => proxy_tool(plan, link, offered, name).map(BundleItem::from),
            Self::Prompt(offered) => proxy_prompt(plan, link, offered, name).map(BundleItem::from),
        }
    }
}

fn proxy_tool(
    plan: &ValidatedServer,
    link: &Arc<SharedConnection>,
    offered: RemoteTool,
    name: &str,
) -> Result<Tool, DefineError> {
    let kept = trusted_hints(offered.hints, plan.trust != Trust::Nothing);
    let mut builder = Tool::builder(name, offered.description)
        .imported(true)
        .schema(offered.input.as_value().clone())?
        .bundle(&*plan.name)
        .timeout(plan.timeout)
        .approval(approval_policy(plan.trust, &offered.hints));
    if let Some(title) = offered.title {
        builder = builder.title(title);
    }
    if let Some(output) = &offered.output {
        builder = builder.output_schema(output.as_value().clone());
    }
    if let Some(yes) = kept.read_only {
        builder = builder.read_only(yes);
    }
    if let Some(yes) = kept.destructive {
        builder = builder.destructive(yes);
    }
    if let Some(yes) = kept.idempotent {
        builder = builder.idempotent(yes);
    }
    if let Some(yes) = kept.open_world {
        builder = builder.open_world(yes);
    }
    let ask = RemoteCall {
        kind: CallKind::Tool(offered.output),
        name: offered.name,
    };
    builder.run_async(call_handler(link, ask))
}

fn proxy_prompt(
    plan: &ValidatedServer,
    link: &Arc<SharedConnection>,
    offered: RemotePrompt,
    name: &str,
) -> Result<Prompt, DefineError> {
    let mut builder = Tool::builder(name, offered.description)
        .imported(true)
        .schema(offered.input)?
        .bundle(&*plan.name)
        .timeout(plan.timeout)
        .read_only(true);
    if let Some(title) = offered.title {
        builder = builder.title(title);
    }
    let ask = RemoteCall {
        kind: CallKind::Prompt,
        name: offered.name,
    };
    let tool = builder.run_async(call_handler(link, ask))?;
    Ok(Prompt::from_tool(tool, Role::User))
}

/// What runs when a tool or prompt is called.
fn call_handler(
    link: &Arc<SharedConnection>,
    ask: RemoteCall,
) -> impl Fn(Args, HandlerContext) -> BoxFuture<'static, ToolResult> + Send + Sync + 'static {
    let (link, ask) = (Arc::clone(link), Arc::new(ask));
    move |args, cx| {
        let (link, ask) = (Arc::clone(&link), Arc::clone(&ask));
        Box::pin(async move { ask.run(link, args.into_map(), cx).await })
    }
}

/// Who has to be asked before a call, by what the server claims and how far it is trusted.
fn approval_policy(trust: Trust, claimed: &Hints) -> ApprovalPolicy {
    let harmless = claimed.read_only == Some(true) || claimed.destructive == Some(false);
    match trust {
        Trust::Nothing => ApprovalPolicy::Always,
        Trust::Hints if harmless => ApprovalPolicy::Never,
        Trust::Hints => ApprovalPolicy::Always,
        Trust::Calls => ApprovalPolicy::Never,
    }
}
