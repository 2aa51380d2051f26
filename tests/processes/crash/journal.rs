//! The stored entries, read by another process.

use std::sync::Arc;

use tokio::runtime::Runtime;
use toolwright::chat::{Entry, Store};

pub(crate) struct JournalReader<'a> {
    runtime: &'a Runtime,
    store: Arc<dyn Store>,
}

impl<'a> JournalReader<'a> {
    pub(crate) fn open(runtime: &'a Runtime, url: &str) -> Self {
        let store = runtime.block_on(toolwright::store::open(url)).unwrap();
        Self { runtime, store }
    }

    pub(crate) fn entries(&self, conversation: &str) -> Vec<Entry> {
        self.runtime.block_on(self.store.load(conversation)).unwrap()
    }

    pub(crate) fn texts(&self, conversation: &str) -> Vec<String> {
        let entries = self.entries(conversation);
        let text = |entry: &Entry| serde_json::to_string(entry).unwrap();
        entries.iter().map(text).collect()
    }

    /// Reads the entries. Asserts that they start with the previous ones, byte by byte, and include all entries that the
    /// process has printed as kept.
    pub(crate) fn assert_only_appended(
        &self,
        conversation: &str,
        before: &[String],
        lines: &[String],
    ) -> Vec<String> {
        let now = self.texts(conversation);
        assert!(
            now.starts_with(before),
            "{conversation}: entries are lost or changed:\n{before:#?}\n{now:#?}"
        );
        let ids: Vec<String> = self.entries(conversation).into_iter().map(|it| it.id).collect();
        let mut at = ids.iter();
        for id in lines.iter().filter_map(|line| line.strip_prefix("kept ")) {
            assert!(
                at.any(|kept| kept == id),
                "{conversation}: {id} was kept, and is not there in that order: {ids:?}"
            );
        }
        now
    }
}
