//! Tools or prompts in order, found by name: exactly, or nearly.

use std::collections::HashMap;
use std::sync::OnceLock;

use toolwright_schema::{fold_name, nearest};

use super::item::Shelved;
use crate::call::ToolName;

/// All tools of a snapshot, or all its prompts.
pub(crate) struct Shelf<T> {
    held: Vec<T>,
    by_name: HashMap<ToolName, usize, ahash::RandomState>,
    /// Names folded for the second look; made when a name is not found as it is.
    by_fold: OnceLock<HashMap<String, Option<usize>>>,
}

/// How a name was found.
pub(crate) enum Found<'a, T> {
    Exactly(&'a T),
    /// After lower-casing and reading `-` and `.` as `_`.
    Alike(&'a T),
    Not,
}

impl<T: Shelved> Shelf<T> {
    /// Indexes what is known to differ in name.
    pub(super) fn new(held: Vec<T>) -> Self {
        let name = |(index, it): (usize, &T)| (it.entry().spec.name.clone(), index);
        Self {
            by_name: held.iter().enumerate().map(name).collect(),
            held,
            by_fold: OnceLock::new(),
        }
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.held.iter()
    }

    pub(crate) fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.held.iter().map(T::name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        let index = self.by_name.get(name)?;
        self.held.get(*index)
    }

    /// Returns the names most like `name`, closest first.
    pub(crate) fn nearest(&self, name: &str, most: usize) -> Vec<&str> {
        nearest(name, self.names(), most)
    }

    pub(crate) fn find(&self, name: &str) -> Found<'_, T> {
        if let Some(it) = self.get(name) {
            return Found::Exactly(it);
        }
        let folded = self.by_fold.get_or_init(|| {
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
        match index.and_then(|index| self.held.get(index)) {
            Some(it) => Found::Alike(it),
            None => Found::Not,
        }
    }
}
