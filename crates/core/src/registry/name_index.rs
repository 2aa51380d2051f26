//! Tools or prompts in order, found by name: exactly, or nearly.

use std::collections::HashMap;
use std::sync::OnceLock;

use toolwright_schema::{fold_name, nearest};

use super::bundle::IndexedItem;
use crate::call::ToolName;

/// All tools of a snapshot, or all its prompts.
pub(crate) struct NameIndex<T> {
    items: Vec<T>,
    by_name: HashMap<ToolName, usize, ahash::RandomState>,
    /// Names folded for the second look; made when a name is not found as it is.
    by_folded_name: OnceLock<HashMap<String, Option<usize>>>,
}

/// How a name was found.
pub(crate) enum NameMatch<'a, T> {
    Exact(&'a T),
    /// After lower-casing and reading `-` and `.` as `_`.
    Folded(&'a T),
    NotFound,
}

impl<T: IndexedItem> NameIndex<T> {
    /// Indexes what is known to differ in name.
    pub(super) fn new(held: Vec<T>) -> Self {
        let name = |(index, it): (usize, &T)| (it.registered_tool().spec.name.clone(), index);
        Self {
            by_name: held.iter().enumerate().map(name).collect(),
            items: held,
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

    /// Returns the names most like `name`, closest first.
    pub(crate) fn nearest(&self, name: &str, most: usize) -> Vec<&str> {
        nearest(name, self.names(), most)
    }

    pub(crate) fn find(&self, name: &str) -> NameMatch<'_, T> {
        if let Some(it) = self.get(name) {
            return NameMatch::Exact(it);
        }
        let folded = self.by_folded_name.get_or_init(|| {
            let mut folded = HashMap::new();
            for (index, name) in self.names().enumerate() {
                folded
                    .entry(fold_name(name))
                    // Two names that fold alike: neither is meant for certain.
                    .and_modify(|found| *found = None)
                    .or_insert(Some(index));
            }
            folded
        });
        let index = folded.get(&fold_name(name)).copied().flatten();
        match index.and_then(|index| self.items.get(index)) {
            Some(it) => NameMatch::Folded(it),
            None => NameMatch::NotFound,
        }
    }
}
