//! Selects the tools of a turn: the invoker of the chat, narrowed and extended as the request asks.

use std::collections::HashSet;
use std::sync::Arc;

use toolwright_core::{
    ApprovalPolicy, ApprovalSigner, BundleItem, Invoker, ToolName, ToolSelection, ToolSpec,
};

use crate::chat::turn_request::TurnRequest;
use crate::error::ChatError;
use crate::model::HostedTool;

/// Builds the invoker of one turn, on a fixed snapshot of the registry.
///
/// Calls of the `guarded` tools need approval whatever their policy.
pub(crate) async fn select_tools(
    request: &TurnRequest,
    guarded: &HashSet<ToolName>,
    signer: Arc<ApprovalSigner>,
) -> Result<Invoker, ChatError> {
    let mut invoker = request.chat.0.invoker.clone();
    let is_allowed = request.is_allowed.clone();
    let selects = !request.selection.is_empty() || !request.added_names.is_empty();
    if selects || is_allowed.is_some() {
        let selection = resolve_names(request, &invoker).await?;
        let is_allowed =
            move |spec: &ToolSpec| is_allowed.as_ref().is_none_or(|allowed| allowed(spec));
        let narrowed = invoker.with_view(|view| selection.apply(view.filter(is_allowed)));
        invoker = narrowed.map_err(ChatError::tools)?;
    }
    let (errors, ask_each) = (request.options.error_policy, request.options.approve_every_call);
    if errors.is_some() || ask_each || !guarded.is_empty() {
        let guarded = guarded.clone();
        let adjusted = invoker.with_policy(move |spec, policy| {
            if let Some(errors) = errors {
                policy.errors = errors;
            }
            if ask_each || guarded.contains(&spec.name) {
                policy.approval = ApprovalPolicy::Always;
            }
        });
        invoker = adjusted.map_err(ChatError::tools)?;
    }
    let invoker = invoker.with_approval_signer(signer);
    invoker.with_fixed_snapshot().map_err(ChatError::tools)
}

/// Adds the named tools that only a resolver has to the selection, unless the caller may not use them, and rejects names that
/// are unknown.
async fn resolve_names(
    request: &TurnRequest,
    invoker: &Invoker,
) -> Result<ToolSelection, ChatError> {
    let snapshot = invoker.snapshot().map_err(ChatError::tools)?;
    let hosted = request.options.hosted_tools.iter();
    let mut elsewhere: HashSet<&str> = hosted.map(HostedTool::name).collect();
    let mut selection = request.selection.clone();
    for name in request.selection.names.iter().chain(&request.added_names) {
        if selection.is_known(name, &snapshot) || elsewhere.contains(name.as_str()) {
            continue;
        }
        for resolver in &request.chat.0.resolvers {
            // A resolver could return a tool of another name.
            let tool = resolver.resolve(name).await;
            if let Some(tool) = tool.filter(|tool| tool.name() == name.as_str()) {
                elsewhere.insert(name);
                if request.is_allowed.as_ref().is_none_or(|allowed| allowed(tool.spec())) {
                    selection.added.push(BundleItem::Tool(tool));
                }
                break;
            }
        }
    }
    let added = request.added_names.iter().map(String::as_str);
    let added = added.filter(|name| !selection.is_known(name, &snapshot));
    let mut unknown: Vec<&str> =
        selection.unknown_names(&snapshot).into_iter().chain(added).collect();
    unknown.retain(|name| !elsewhere.contains(name));
    match unknown.first() {
        None => Ok(selection),
        Some(first) => Err(ChatError::UnknownTool {
            nearest: snapshot.nearest(first, 3).into_iter().map(str::to_owned).collect(),
            names: unknown.into_iter().map(str::to_owned).collect(),
        }),
    }
}
