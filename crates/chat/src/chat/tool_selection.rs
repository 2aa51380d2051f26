//! Selects the tools of a turn: the invoker of the chat, narrowed and extended as the request asks.

use std::collections::HashSet;

use toolwright_core::{ApprovalPolicy, BundleItem, Invoker, ToolName, ToolSpec};

use crate::chat::turn_request::{ToolSelection, TurnRequest};
use crate::error::ChatError;

/// Builds the invoker of one turn, on a fixed snapshot of the registry.
///
/// Calls of the `guarded` tools need approval whatever their policy.
pub(crate) async fn select_tools(
    request: &TurnRequest,
    guarded: &HashSet<ToolName>,
) -> Result<Invoker, ChatError> {
    let selection = &request.selection;
    let mut invoker = request.chat.0.invoker.clone();
    if !selection.is_unrestricted() {
        let resolved = resolve_names(request, &invoker).await?;
        invoker = apply_selection(&invoker, selection, resolved)?;
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
    let approvals = request.chat.approval_signer().await?;
    let invoker = invoker.with_approval_signer(approvals);
    invoker.with_fixed_snapshot().map_err(ChatError::tools)
}

impl ToolSelection {
    fn is_unrestricted(&self) -> bool {
        self.added.is_empty()
            && !self.only_added
            && self.names.is_empty()
            && self.bundles.is_empty()
            && self.excluded.is_empty()
            && self.is_allowed.is_none()
    }
}

/// Resolves the named tools that the registry does not have, and rejects names that are unknown.
async fn resolve_names(
    request: &TurnRequest,
    invoker: &Invoker,
) -> Result<Vec<BundleItem>, ChatError> {
    let snapshot = invoker.snapshot().map_err(ChatError::tools)?;
    let added = request.selection.added.iter();
    let added: HashSet<&str> = added.map(|item| item.name().as_str()).collect();
    let (mut resolved, mut unknown) = (Vec::<BundleItem>::new(), Vec::new());
    'names: for name in &request.selection.names {
        let again = resolved.iter().any(|item| item.name() == name.as_str());
        if snapshot.get(name).is_some() || added.contains(name.as_str()) || again {
            continue;
        }
        for resolver in &request.chat.0.resolvers {
            // A resolver could return a tool of another name.
            let tool = resolver.resolve(name).await;
            if let Some(tool) = tool.filter(|tool| tool.name() == name.as_str()) {
                resolved.push(BundleItem::Tool(tool));
                continue 'names;
            }
        }
        unknown.push(name.as_str());
    }
    let bundles: HashSet<&str> = snapshot.iter().map(|it| &*it.spec().bundle).collect();
    let requested = request.selection.bundles.iter().map(String::as_str);
    unknown.extend(requested.filter(|bundle| !bundles.contains(bundle)));
    let added = request.selection.added.iter().chain(&resolved);
    let added: HashSet<&str> = added.map(|item| item.name().as_str()).collect();
    let excluded = request.selection.excluded.iter().map(String::as_str);
    unknown.extend(excluded.filter(|name| snapshot.get(name).is_none() && !added.contains(name)));
    match unknown.first() {
        None => Ok(resolved),
        Some(first) => Err(ChatError::UnknownTool {
            names: unknown.iter().map(|name| name.to_string()).collect(),
            nearest: snapshot.nearest(first, 3).into_iter().map(str::to_owned).collect(),
        }),
    }
}

fn apply_selection(
    invoker: &Invoker,
    selection: &ToolSelection,
    resolved: Vec<BundleItem>,
) -> Result<Invoker, ChatError> {
    let names: HashSet<String> = selection.names.iter().cloned().collect();
    let bundles: HashSet<String> = selection.bundles.iter().cloned().collect();
    let only = selection.only_added;
    let allowed = selection.is_allowed.clone();
    let keep = move |spec: &ToolSpec| {
        let all = !only && names.is_empty() && bundles.is_empty();
        let named = names.contains(spec.name.as_str()) || bundles.contains(&*spec.bundle);
        (all || named) && allowed.as_ref().is_none_or(|allowed| allowed(spec))
    };
    let narrowed = invoker.with_view(|view| {
        view.filter(keep).with(selection.added.clone()).with(resolved).exclude(&selection.excluded)
    });
    narrowed.map_err(ChatError::tools)
}
