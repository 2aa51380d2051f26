//! Several calls at once, results in the order of the calls.

use futures::future::join;
use futures::stream::{self, StreamExt as _};

use super::Invoker;
use crate::call::ToolCall;
use crate::context::Scope;
use crate::registry::Found;
use crate::result::ToolResult;

impl Invoker {
    /// Runs the calls of one step on behalf of an anonymous caller.
    pub async fn invoke_all(&self, calls: &[ToolCall]) -> Vec<ToolResult> {
        self.invoke_all_in(&Scope::new(), calls).await
    }

    /// Runs the calls of one step: tools that only read at the same time, a bounded number of
    /// them; all others one after the other, in order. Results come in the order of the calls.
    pub async fn invoke_all_in(&self, scope: &Scope, calls: &[ToolCall]) -> Vec<ToolResult> {
        // One step sees one snapshot. If there is none, each call says why.
        let step = &self.pinned().unwrap_or_else(|_| self.clone());
        let (mut readers, mut others) = (Vec::new(), Vec::new());
        for (index, call) in calls.iter().enumerate() {
            let group = match step.only_reads(call) {
                true => &mut readers,
                false => &mut others,
            };
            group.push(async move { (index, step.invoke_in(scope, call).await) });
        }
        let free = stream::iter(readers).buffer_unordered(self.0.terms.parallel);
        let ordered = stream::iter(others).buffered(1);
        let (mut results, ordered): (Vec<_>, Vec<_>) =
            join(free.collect(), ordered.collect()).await;
        results.extend(ordered);
        results.sort_by_key(|(index, _)| *index);
        results.into_iter().map(|(_, result)| result).collect()
    }

    fn only_reads(&self, call: &ToolCall) -> bool {
        let Ok(snapshot) = self.snapshot() else {
            return false;
        };
        match snapshot.tools.find(call.name.as_str()) {
            Found::Exactly(entry) | Found::Alike(entry) => {
                entry.spec().hints.read_only == Some(true)
            }
            Found::Not => true,
        }
    }
}
