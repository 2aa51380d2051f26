//! Runs several calls, with the results in the order of the calls.

use futures::future::join;
use futures::stream::{self, StreamExt as _};

use super::Invoker;
use crate::call::ToolCall;
use crate::call::context::CallScope;
use crate::call::result::ToolResult;

impl Invoker {
    /// Runs the calls of one step for an anonymous caller.
    pub async fn invoke_all(&self, calls: &[ToolCall]) -> Vec<ToolResult> {
        self.invoke_all_in(&CallScope::new(), calls).await
    }

    /// Runs the calls of one step: calls of read-only tools concurrently, up to
    /// [`max_parallel`](crate::InvokerBuilder::max_parallel); all others one after the other, in order. The
    /// results have the order of the calls.
    pub async fn invoke_all_in(&self, scope: &CallScope, calls: &[ToolCall]) -> Vec<ToolResult> {
        // One step uses one snapshot. If there is none, each call returns the error.
        let step = &self.with_fixed_snapshot().unwrap_or_else(|_| self.clone());
        step.map_calls(calls, |call| step.invoke_in(scope, call)).await
    }

    /// Applies `run` to each call of one step, with the order and concurrency of
    /// [`invoke_all_in`](Invoker::invoke_all_in). The values have the order of the calls.
    pub async fn map_calls<'a, F, R>(
        &self,
        calls: &'a [ToolCall],
        run: impl Fn(&'a ToolCall) -> F,
    ) -> Vec<R>
    where
        F: Future<Output = R>,
    {
        let (mut concurrent, mut sequential) = (Vec::new(), Vec::new());
        for (index, call) in calls.iter().enumerate() {
            let group = match self.is_read_only(call) {
                true => &mut concurrent,
                false => &mut sequential,
            };
            let future = run(call);
            group.push(async move { (index, future.await) });
        }
        let concurrent = stream::iter(concurrent).buffer_unordered(self.0.options.max_parallel);
        let sequential = stream::iter(sequential).buffered(1);
        let (mut results, sequential): (Vec<_>, Vec<_>) =
            join(concurrent.collect(), sequential.collect()).await;
        results.extend(sequential);
        results.sort_by_key(|(index, _)| *index);
        results.into_iter().map(|(_, result)| result).collect()
    }

    fn is_read_only(&self, call: &ToolCall) -> bool {
        let Ok(snapshot) = self.snapshot() else {
            return false;
        };
        let tool = snapshot.find(call.name.as_str());
        tool.is_none_or(|tool| tool.spec().hints.read_only == Some(true))
    }
}
