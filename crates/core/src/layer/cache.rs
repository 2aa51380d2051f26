//! Results that are known already.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use indexmap::IndexMap;
use tokio::time::Instant;
use toolwright_schema::canonical_json;

use super::{Invocation, Layer, LayerPosition, Next};
use crate::call::context::SessionId;
use crate::call::result::ToolResult;

/// Keeps the results of successful calls for a while: same tool, same arguments, same caller, same
/// session.
///
/// Only tools declared read-only or idempotent are cached; any other runs every time.
pub struct Cache {
    ttl: Duration,
    max_entries: usize,
    results: Mutex<IndexMap<String, (Instant, ToolResult)>>,
}

impl Cache {
    /// Keeps results for `keep`, the last 1,000 of them.
    pub fn new(keep: Duration) -> Self {
        Self {
            ttl: keep,
            max_entries: 1_000,
            results: Mutex::default(),
        }
    }

    /// Sets how many results are kept.
    #[must_use]
    pub fn max_entries(mut self, most: usize) -> Self {
        self.max_entries = most.max(1);
        self
    }

    fn get(&self, key: &str) -> Option<ToolResult> {
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, result) = results.get(key)?;
        (since.elapsed() < self.ttl).then(|| result.clone())
    }

    fn put(&self, key: String, result: &ToolResult) {
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        results.shift_remove(&key);
        if results.len() >= self.max_entries {
            results.shift_remove_index(0);
        }
        let mut kept = result.clone();
        // They tell of this call, not of the next that gets its result.
        kept.notes.clear();
        results.insert(key, (Instant::now(), kept));
    }
}

impl Layer for Cache {
    fn position(&self) -> LayerPosition {
        LayerPosition::Cache
    }

    fn handle<'a>(&'a self, call: Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, ToolResult> {
        let Some(arguments) = call
            .arguments()
            .filter(|_| call.tool().hints.is_repeatable())
        else {
            return next.run();
        };
        // A changed tool has another fingerprint, and so another key. Caller and session are quoted:
        // an anonymous caller is not one whose name is empty.
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
