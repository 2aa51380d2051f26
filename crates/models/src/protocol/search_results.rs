//! The searches for tools in a history, whose results an API loads in a form of its own.

use std::collections::HashSet;

use toolwright_chat::{ModelRequest, NativeToolSearch};
use toolwright_core::schema::fold_name;
use toolwright_core::wire::{PlannedTool, ToolPlan};
use toolwright_core::{ToolCall, ToolResult};
use toolwright_search::FoundTool;

/// The deferred tools of a request, which searches find.
pub(crate) struct SearchResults<'a> {
    native: Option<&'a NativeToolSearch>,
    tools: &'a ToolPlan,
}

impl<'a> SearchResults<'a> {
    /// The tools of a request; without a native search, no call is one.
    pub(crate) fn new(request: &'a ModelRequest, tools: &'a ToolPlan) -> Self {
        Self { native: request.native_search.as_ref(), tools }
    }

    /// Returns true for a call of the tool that searches.
    pub(crate) fn is_search(&self, call: &ToolCall) -> bool {
        let search = self.native.map(|native| fold_name(native.search_tool.as_str()));
        search.is_some_and(|search| search == fold_name(call.name.as_str()))
    }

    /// Returns the deferred tools that a search has found, each once, without those that have changed since or that are gone.
    pub(crate) fn found(&self, result: &ToolResult) -> Vec<&'a PlannedTool> {
        let text = result.text();
        let found = FoundTool::read(&text);
        let deferred = self.native.into_iter().flat_map(|native| native.deferred.iter());
        let current = deferred.filter(|tool| found.iter().any(|found| found.is_current(tool)));
        let current: HashSet<&str> = current.map(|tool| tool.spec().name.as_str()).collect();
        let mut planned = Vec::new();
        for found in &found {
            let is_found = |tool: &&PlannedTool| {
                tool.is_deferred() && tool.name == *found.name && current.contains(&*found.name)
            };
            let is_new = |tool: &&PlannedTool| {
                planned.iter().all(|known: &&PlannedTool| known.name != tool.name)
            };
            let tool = self.tools.tools().iter().find(is_found).filter(is_new);
            planned.extend(tool);
        }
        planned
    }
}
