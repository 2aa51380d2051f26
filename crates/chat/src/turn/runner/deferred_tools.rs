//! Tools that a request does not contain: the model finds them with `search_tools` and calls them with `call_tool`, or by their
//! own names if its provider loads what was found.
//!
//! Which tools were found is read from the results of searches in the journal, so that it survives a restart. A search widens
//! what may be called, never what is authorised: its catalogue has only the tools that the caller of the turn may use.

use std::sync::Arc;

use toolwright_core::schema::{Dialect, fold_name};
use toolwright_core::{
    Arguments, BoxFuture, CallScope, ErrorKind, Invoker, Outcome, RegisteredTool, ToolCall,
    ToolName, ToolResult, json,
};
use toolwright_search::{CatalogCache, FoundTool, Gateway, ToolQuery, tool_named};

use crate::chat::tool_search::{ToolSearchMode, fits_deferred};
use crate::chat::turn_request::TurnRequest;
use crate::error::ChatError;
use crate::journal::Journal;
use crate::journal::entry::{Entry, EntryBody};
use crate::journal::window::HistoryWindow;
use crate::model::item::{Item, ItemKind};
use crate::model::{Message, NativeToolSearch, ToolChoice, ToolDeferral};

/// The tools of a turn in which the model searches for tools.
pub(super) struct DeferredTools {
    gateway: Gateway,
    /// Runs the two tools of the gateway, and no other.
    invoker: Invoker,
    /// The tools that requests contain: those of the gateway, and the pinned ones.
    offered: Arc<[RegisteredTool]>,
    /// How the provider loads found tools; `None` if the model calls them with `call_tool`.
    deferral: Option<ToolDeferral>,
    catalog: Arc<SearchedTools>,
}

/// The tools that the model may search for, and where the results of its searches are.
struct SearchedTools {
    /// All tools that the caller may use.
    tools: Arc<[RegisteredTool]>,
    /// Those that a search ranks: all, or those that a provider with a deferral of its own has not loaded yet.
    searched: Arc<[RegisteredTool]>,
    dialect: Dialect,
    gateway: Gateway,
    catalogs: Arc<CatalogCache>,
    journal: Arc<Journal>,
    window: HistoryWindow,
}

/// Whether a tool may be called.
enum Lookup<'a> {
    /// A search has found it, or requests contain it.
    Callable(&'a RegisteredTool),
    /// It has changed since a search found it.
    Changed,
    /// No search has found it, or it does not exist for this caller.
    NotFound,
}

impl DeferredTools {
    /// Returns the deferred tools of a turn; `None` if requests contain all tools.
    pub(super) fn new(
        request: &TurnRequest,
        invoker: &Invoker,
        scope: &CallScope,
        journal: &Arc<Journal>,
        tools: &Arc<[RegisteredTool]>,
    ) -> Result<Option<Self>, ChatError> {
        let options = &request.options;
        if options.tool_search.mode == ToolSearchMode::Off {
            return Ok(None);
        }
        let dialect = options.model.tool_dialect();
        let snapshot = invoker.snapshot().map_err(ChatError::tools)?;
        let gateway = Gateway::new(|name| snapshot.find(name).is_some());
        let search = &options.tool_search;
        let is_on = match search.mode {
            ToolSearchMode::Off => false,
            ToolSearchMode::On => !tools.is_empty(),
            // A conversation that has searched goes on so: its requests contain the same tools as before.
            ToolSearchMode::Auto => {
                search.is_beyond_budget(tools, dialect)
                    || has_searched(&journal.state().entries, &gateway)
            }
        };
        if !is_on {
            return Ok(None);
        }
        let chosen = |tool: &RegisteredTool| match &options.tool_choice {
            ToolChoice::Named(name) => tool.spec().name == name.as_str(),
            _ => false,
        };
        let is_loaded = |tool: &&RegisteredTool| tool.policy().pinned || chosen(tool);
        let deferral = options.model.tool_deferral().filter(|deferral| match deferral {
            ToolDeferral::References => fits_deferred(tools, dialect),
            ToolDeferral::Definitions => true,
        });
        let (gateway, searched) = match deferral {
            Some(_) => {
                let deferred = tools.iter().filter(|tool| !is_loaded(tool)).cloned();
                (gateway.with_direct_calls(), deferred.collect())
            }
            None => (gateway, Arc::clone(tools)),
        };
        let catalog = Arc::new(SearchedTools {
            tools: Arc::clone(tools),
            searched,
            dialect,
            gateway: gateway.clone(),
            catalogs: Arc::clone(&request.chat.0.catalogs),
            journal: Arc::clone(journal),
            window: options.window,
        });
        let (searched, called) = (Arc::clone(&catalog), Arc::clone(&catalog));
        let search = move |query: ToolQuery| -> BoxFuture<'static, ToolResult> {
            let searched = Arc::clone(&searched);
            Box::pin(async move {
                searched.catalogs.answer(&searched.searched, &query, searched.dialect).await
            })
        };
        let reject = move |name: &str| called.reject(name);
        let own = gateway.invoker(invoker, search, reject).map_err(ChatError::tools)?;
        // First, so that they are not among those that a provider with a limit does not get.
        let mut offered = own.list(scope).map_err(ChatError::tools)?;
        offered.retain(|tool| deferral.is_none() || gateway.is_search(tool.spec().name.as_str()));
        offered.extend(tools.iter().filter(is_loaded).cloned());
        Ok(Some(Self { gateway, invoker: own, offered: offered.into(), deferral, catalog }))
    }

    /// Returns the tools that the provider of the model loads once they are found, for a request with these messages; `None` if
    /// the model calls them with `call_tool`.
    pub(super) fn native_search(&self, messages: &[Message]) -> Option<NativeToolSearch> {
        let deferred = match self.deferral? {
            ToolDeferral::References => Arc::clone(&self.catalog.searched),
            ToolDeferral::Definitions => self.catalog.found(messages),
        };
        Some(NativeToolSearch::new(self.gateway.search_name(), deferred))
    }

    /// Returns the tools that requests contain.
    pub(super) fn offered(&self) -> &Arc<[RegisteredTool]> {
        &self.offered
    }

    /// Returns the invoker of a call, if it is one of the gateway's.
    pub(super) fn invoker_of(&self, call: &ToolCall) -> Option<&Invoker> {
        self.gateway.contains(call.name.as_str()).then_some(&self.invoker)
    }

    /// Returns true if a model that calls this tool names another in the arguments.
    pub(super) fn is_call_tool(&self, name: &str) -> bool {
        self.gateway.is_call(name)
    }

    /// Converts a call through `call_tool` to a call of the tool that it names, if that one may be called; else it stays as it
    /// is, and its result has the reason.
    ///
    /// A model may also call a tool that it has found by its own name, as if requests contained it. One that may not be called
    /// becomes a call of `call_tool`, for the same result.
    pub(super) fn resolve_item(&self, item: &mut Item) {
        let ItemKind::Call { call } = &mut item.kind else {
            return;
        };
        let resolved = match self.gateway.named_call(call) {
            Some(named) => self.resolve(&named.tool, named.arguments),
            None if self.is_offered(&call.name) => None,
            // The model was given its definition, and has lifted the arguments.
            None if self.is_loaded(&call.name) => None,
            None => {
                let resolved = self.resolve(&call.name, call.arguments.clone());
                let rejected = json!({"name": call.name});
                resolved.or_else(|| Some(ToolCall::new(self.gateway.call_name(), rejected)))
            }
        };
        if let Some(resolved) = resolved {
            let resolved = resolved.with_id(&call.id);
            item.sent_as = Some(std::mem::replace(call, resolved));
        }
    }

    /// Returns the call of a tool that may be called.
    fn resolve(&self, name: &ToolName, arguments: Arguments) -> Option<ToolCall> {
        match self.catalog.look_up(name.as_str()) {
            Lookup::Callable(tool) => {
                let arguments = tool.lift_deferred_arguments(self.catalog.dialect, arguments);
                Some(ToolCall::new(&tool.spec().name, arguments))
            }
            Lookup::Changed | Lookup::NotFound => None,
        }
    }

    /// Returns true if the provider has loaded a tool of exactly this name, because a search has found it.
    fn is_loaded(&self, name: &ToolName) -> bool {
        let found = |tool: &RegisteredTool| tool.spec().name == *name;
        self.deferral.is_some()
            && matches!(self.catalog.look_up(name.as_str()), Lookup::Callable(tool) if found(tool))
    }

    fn is_offered(&self, name: &ToolName) -> bool {
        let folded = fold_name(name.as_str());
        let mut offered = self.offered.iter().map(|tool| tool.spec().name.as_str());
        offered.any(|offered| fold_name(offered) == folded)
    }
}

impl SearchedTools {
    /// Returns the tool of a name, if the model may call it.
    fn look_up(&self, name: &str) -> Lookup<'_> {
        let Some(tool) = tool_named(&self.tools, name) else {
            return Lookup::NotFound;
        };
        if tool.policy().pinned {
            return Lookup::Callable(tool);
        }
        // Only what the model can still read: the next request does not have the definitions of the others.
        let messages = self.window.select_messages(&self.journal.state().entries);
        let mut lookup = Lookup::NotFound;
        for result in search_results(&messages, &self.gateway) {
            for found in FoundTool::read(&result.text()) {
                if found.is_current(tool) {
                    return Lookup::Callable(tool);
                }
                if tool.spec().name == *found.name {
                    lookup = Lookup::Changed;
                }
            }
        }
        lookup
    }

    /// Returns the tools that the searches in these messages have found, each once, as far as they are unchanged.
    fn found(&self, messages: &[Message]) -> Arc<[RegisteredTool]> {
        let mut tools: Vec<&RegisteredTool> = Vec::new();
        for result in search_results(messages, &self.gateway) {
            for found in FoundTool::read(&result.text()) {
                let is_known = tools.iter().any(|known| found.is_current(known));
                let tool = || self.searched.iter().find(|tool| found.is_current(tool));
                tools.extend((!is_known).then(tool).flatten());
            }
        }
        tools.into_iter().cloned().collect()
    }

    /// Returns the result of a call that names a tool which may not be called.
    fn reject(&self, name: &str) -> ToolResult {
        let search = self.gateway.search_name();
        let name: String = name.chars().take(64).collect();
        let reason = match self.look_up(&name) {
            Lookup::Callable(_) => format!("`{name}` was found just now: call it again"),
            Lookup::Changed => format!(
                "`{name}` has changed since it was found: search again with `{search}`, and then call it as the result describes"
            ),
            Lookup::NotFound => format!(
                "no search has found a tool `{name}`: search with `{search}`, and then call a tool by its name in the result"
            ),
        };
        ToolResult::from_outcome(Outcome::UnknownTool, ErrorKind::Retry, reason)
    }
}

/// Returns the results of searches in these messages.
fn search_results<'a>(
    messages: &'a [Message],
    gateway: &'a Gateway,
) -> impl Iterator<Item = &'a ToolResult> {
    let results = messages.iter().flat_map(|message| match message {
        Message::Results(results) => results.as_slice(),
        _ => &[],
    });
    results.filter(|result| is_search_result(result, gateway))
}

fn is_search_result(result: &ToolResult, gateway: &Gateway) -> bool {
    !result.is_error() && gateway.is_search(result.tool.as_str())
}

/// Returns true if the model has searched in a journal.
fn has_searched(entries: &[Entry], gateway: &Gateway) -> bool {
    entries.iter().any(|entry| match &entry.body {
        EntryBody::CallFinished { result } => {
            entry.parent.is_none() && is_search_result(result, gateway)
        }
        _ => false,
    })
}
