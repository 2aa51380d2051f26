//! Several calls at once, results in the order of the calls.

use futures::future::join;
use futures::stream::{self, StreamExt as _};

use super::Invoker;
use crate::call::ToolCall;
use crate::call::context::CallScope;
use crate::call::result::ToolResult;

impl Invoker {
    /// Runs the calls of one step on behalf of an anonymous caller.
    pub async fn invoke_all(&self, calls: &[ToolCall]) -> Vec<ToolResult> {
        self.invoke_all_in(&CallScope::new(), calls).await
    }

    /// Runs the calls of one step: tools that only read at the same time, a bounded number of
    /// them; all others one after the other, in order. Results come in the order of the calls.
    pub async fn invoke_all_in(&self, scope: &CallScope, calls: &[ToolCall]) -> Vec<ToolResult> {
        // One step sees one snapshot. If there is none, each call says why.
        let step = &self.with_fixed_snapshot().unwrap_or_else(|_| self.clone());
        step.map_calls(calls, |call| step.invoke_in(scope, call))
            .await
    }

    /// Does something with each call of one step, in the order and with the bounds of
    /// [`invoke_all_in`](Invoker::invoke_all_in); what comes of it in the order of the calls.
    pub async fn map_calls<'a, F, R>(
        &self,
        calls: &'a [ToolCall],
        run: impl Fn(&'a ToolCall) -> F,
    ) -> Vec<R>
    where
        F: Future<Output = R>,
    {
        let (mut readers, mut others) = (Vec::new(), Vec::new());
        for (index, call) in calls.iter().enumerate() {
            let group = match self.is_read_only(call) {
                true => &mut readers,
                false => &mut others,
            };
            let running = run(call);
            group.push(async move { (index, running.await) });
        }
        let free = stream::iter(readers).buffer_unordered(self.0.options.max_parallel);
        let ordered = stream::iter(others).buffered(1);
        let (mut results, ordered): (Vec<_>, Vec<_>) =
            join(free.collect(), ordered.collect()).await;
        results.extend(ordered);
        results.sort_by_key(|(index, _)| *index);
        results.into_iter().map(|(_, result)| result).collect()
    }

    fn is_read_only(&self, call: &ToolCall) -> bool {
        let Ok(snapshot) = self.snapshot() else {
            return false;
        };
        let entry = snapshot.find(call.name.as_str());
        entry.is_none_or(|entry| entry.spec().hints.read_only == Some(true))
    }
}
