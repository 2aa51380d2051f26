//! [`Cache`]: stores the results of successful calls.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use indexmap::IndexMap;
use tokio::time::Instant;
use toolwright_schema::canonical_json;

use super::{Invocation, Layer, LayerPosition, Next};
use crate::call::context::SessionId;
use crate::call::result::ToolResult;

/// Stores the results of successful calls, keyed by tool, arguments, caller and session.
///
/// Only results of tools declared read-only or idempotent are cached.
pub struct Cache {
    ttl: Duration,
    max_entries: usize,
    results: Mutex<IndexMap<String, (Instant, ToolResult)>>,
}

impl Cache {
    /// Stores results for `ttl`, at most 1,000 of them.
    pub fn new(ttl: Duration) -> Self {
        Self { ttl, max_entries: 1_000, results: Mutex::default() }
    }

    /// Sets the maximum number of results, at least 1; the oldest is evicted first.
    #[must_use]
    pub fn max_entries(mut self, limit: usize) -> Self {
        self.max_entries = limit.max(1);
        self
    }

    fn get(&self, key: &str) -> Option<ToolResult> {
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let (stored_at, result) = results.get(key)?;
        (stored_at.elapsed() < self.ttl).then(|| result.clone())
    }

    fn put(&self, key: String, result: &ToolResult) {
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        results.shift_remove(&key);
        if results.len() >= self.max_entries {
            results.shift_remove_index(0);
        }
        let mut stored = result.clone();
        // Notes concern the arguments of this call only.
        stored.notes.clear();
        results.insert(key, (Instant::now(), stored));
    }
}

impl Layer for Cache {
    fn position(&self) -> LayerPosition {
        LayerPosition::Cache
    }

    fn handle<'a>(&'a self, call: Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, ToolResult> {
        let Some(arguments) = call.arguments().filter(|_| call.tool().hints.is_repeatable()) else {
            return next.run();
        };
        // A changed tool has another fingerprint, and so another key. `Debug` distinguishes an anonymous
        // caller from one with an empty name.
        let key = format!(
            "{}\n{:?}\n{:?}\n{}",
            call.fingerprint(),
            call.caller().name(),
            call.scope.session.as_ref().map(SessionId::as_str),
            canonical_json(arguments)
        );
        Box::pin(async move {
            if let Some(mut result) = self.get(&key) {
                result.notes.push("from the cache".to_owned());
                return result;
            }
            let result = next.run().await;
            if !result.is_error() {
                self.put(key, &result);
            }
            result
        })
    }
}
