//! The definition of a server in, a tool or prompt out that calls the server.

use std::sync::Arc;
use std::time::Duration;

use toolwright_core::{
    ApprovalPolicy, Args, BoxFuture, BundleItem, DefineError, HandlerContext, Hints, Prompt, Role,
    Tool, ToolResult,
};

use crate::client::catalogue::remote_call::RemoteCall;
use crate::client::connection::shared_connection::SharedConnection;
use crate::client::setup::remote_server::Trust;
use crate::client::setup::validated_server::ValidatedServer;
use crate::import::{RemoteDefinition, trusted_hints};

/// The timeout of a call whose responses have timeouts of their own.
const UNLIMITED: Duration = Duration::from_secs(365 * 24 * 3600);

impl RemoteDefinition {
    /// Makes the tool or prompt for the registry, with its name there.
    pub(crate) fn into_bundle_item(
        self,
        config: &ValidatedServer,
        link: &Arc<SharedConnection>,
        name: &str,
    ) -> Result<BundleItem, DefineError> {
        let hints = trusted_hints(self.hints, config.trust != Trust::Nothing);
        let states = config.call_states.clone().filter(|_| !self.is_prompt);
        let is_replayable = states.is_some();
        let call = RemoteCall {
            is_prompt: self.is_prompt,
            name: self.name,
            output: self.output,
            timeout: config.timeout,
            may_repeat: hints.read_only == Some(true) || hints.idempotent == Some(true),
            questions: states.map(|states| (config.question_tool_name(), states)),
        };
        let mut builder = Tool::builder(name, self.description)
            .imported(true)
            .schema(self.input)?
            .bundle(&*config.name)
            // Each response has a timeout; a task may take longer.
            .timeout(UNLIMITED)
            .replayable(is_replayable);
        if let Some(title) = self.title {
            builder = builder.title(title);
        }
        if self.is_prompt {
            let tool = builder.read_only(true).run_async(call_handler(config, link, call))?;
            return Ok(Prompt::from_tool(tool, Role::User).into());
        }
        builder = builder.approval(approval_policy(config.trust, &self.hints));
        if let Some(output) = &call.output {
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
        Ok(builder.run_async(call_handler(config, link, call))?.into())
    }
}

/// The handler of a tool or prompt.
fn call_handler(
    config: &ValidatedServer,
    link: &Arc<SharedConnection>,
    call: RemoteCall,
) -> impl Fn(Args, HandlerContext) -> BoxFuture<'static, ToolResult> + Send + Sync + 'static {
    let (link, call, person) = (Arc::clone(link), Arc::new(call), config.person.clone());
    let login_tool = config.login_tool.clone().filter(|_| !call.is_prompt);
    move |args, cx: HandlerContext| {
        if person.is_some() && cx.caller().name() != person.as_deref() {
            let message = format!("`{}` is connected for another person", link.server);
            return Box::pin(std::future::ready(ToolResult::failure(message)));
        }
        let (link, call, login_tool) = (Arc::clone(&link), Arc::clone(&call), login_tool.clone());
        Box::pin(async move {
            call.run_with_login(&link, args.into_map(), &cx, login_tool.as_ref()).await
        })
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
