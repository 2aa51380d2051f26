//! [`NameIndex`]: tools or prompts in order, looked up by exact or similar name.

use std::collections::HashMap;
use std::sync::OnceLock;

use toolwright_schema::{fold_name, nearest};

use super::bundle::IndexedItem;
use crate::call::ToolName;

/// The tools or the prompts of a snapshot.
pub(crate) struct NameIndex<T> {
    items: Vec<T>,
    by_name: HashMap<ToolName, usize, ahash::RandomState>,
    /// Indexes by folded name, `None` where two names fold alike. Made when an exact lookup first fails.
    by_folded_name: OnceLock<HashMap<String, Option<usize>>>,
}

/// The result of a lookup.
pub(crate) enum NameMatch<'a, T> {
    Exact(&'a T),
    /// After lower-casing and replacing `-` and `.` by `_`.
    Folded(&'a T),
    NotFound,
}

impl<T: IndexedItem> NameIndex<T> {
    /// Requires that the names differ.
    pub(super) fn new(items: Vec<T>) -> Self {
        let name = |(index, item): (usize, &T)| (item.registered_tool().spec.name.clone(), index);
        Self {
            by_name: items.iter().enumerate().map(name).collect(),
            items,
            by_folded_name: OnceLock::new(),
        }
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    pub(crate) fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.items.iter().map(T::name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        let index = self.by_name.get(name)?;
        self.items.get(*index)
    }

    /// Returns up to `limit` names most like `name`, closest first.
    pub(crate) fn nearest(&self, name: &str, limit: usize) -> Vec<&str> {
        nearest(name, self.names(), limit)
    }

    pub(crate) fn find(&self, name: &str) -> NameMatch<'_, T> {
        if let Some(item) = self.get(name) {
            return NameMatch::Exact(item);
        }
        let folded = self.by_folded_name.get_or_init(|| {
            let mut folded = HashMap::new();
            for (index, name) in self.names().enumerate() {
                folded
                    .entry(fold_name(name))
                    // Two names fold alike: neither is a safe guess.
                    .and_modify(|found| *found = None)
                    .or_insert(Some(index));
            }
            folded
        });
        let index = folded.get(&fold_name(name)).copied().flatten();
        match index.and_then(|index| self.items.get(index)) {
            Some(item) => NameMatch::Folded(item),
            None => NameMatch::NotFound,
        }
    }
}
