//! Tools as they were at one moment: ordered, indexed, unchangeable.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};
use toolwright_schema::{fold_name, nearest};

use crate::call::ToolName;
use crate::encode::Encoders;
use crate::input::SESSION_ID_PARAM;
use crate::tool::{Tool, ToolSpec};

/// All tools of a registry or view at one moment, in stable order.
pub struct Snapshot {
    version: u64,
    entries: Vec<Entry>,
    by_name: HashMap<ToolName, usize>,
    /// Names folded for the second look; made when a name is not found as it is.
    by_fold: OnceLock<HashMap<String, Option<usize>>>,
    pub(crate) encoders: Encoders,
}

/// A tool as one snapshot shows it: perhaps renamed, perhaps with parameters bound.
#[derive(Clone, Debug)]
pub struct Entry {
    pub(crate) spec: Arc<ToolSpec>,
    pub(crate) tool: Tool,
    pub(crate) bound: Option<Arc<Bound>>,
}

/// Parameters that a view fills in, hidden from the model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bound {
    pub(crate) fixed: Map<String, Value>,
    /// Whether [`SESSION_ID_PARAM`] is filled in from the call.
    pub(crate) session: bool,
}

impl Entry {
    pub(crate) fn of(tool: Tool) -> Self {
        Self {
            spec: Arc::clone(&tool.0.spec),
            tool,
            bound: None,
        }
    }

    /// Returns what the model sees.
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Returns the tool behind it.
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Tells whether the parameter is filled in here, and so not the model's to know.
    pub(crate) fn hides(&self, parameter: &str) -> bool {
        self.bound.as_deref().is_some_and(|bound| {
            bound.fixed.contains_key(parameter) || (bound.session && parameter == SESSION_ID_PARAM)
        })
    }
}

/// How a name was found.
pub(crate) enum Found<'a> {
    Exactly(&'a Entry),
    /// After lower-casing and reading `-` and `.` as `_`.
    Alike(&'a Entry),
    Not,
}

impl Snapshot {
    /// Indexes entries whose names are known to differ.
    pub(crate) fn new(version: u64, entries: Vec<Entry>, encoders: Encoders) -> Self {
        let name = |(index, entry): (usize, &Entry)| (entry.spec.name.clone(), index);
        Self {
            version,
            by_name: entries.iter().enumerate().map(name).collect(),
            entries,
            by_fold: OnceLock::new(),
            encoders,
        }
    }

    /// Returns the version of the registry it was taken from.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns the entries in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Entry> {
        self.entries.iter()
    }

    /// Counts the entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the entry of exactly this name.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.by_name
            .get(name)
            .and_then(|index| self.entries.get(*index))
    }

    /// Returns the names most like `name`, closest first.
    pub fn nearest(&self, name: &str, most: usize) -> Vec<&str> {
        nearest(
            name,
            self.iter().map(|entry| entry.spec.name.as_str()),
            most,
        )
    }

    pub(crate) fn find(&self, name: &str) -> Found<'_> {
        if let Some(entry) = self.get(name) {
            return Found::Exactly(entry);
        }
        let folded = self.by_fold.get_or_init(|| {
            let mut folded = HashMap::new();
            for (index, entry) in self.entries.iter().enumerate() {
                folded
                    .entry(fold_name(entry.spec.name.as_str()))
                    // Two names that fold alike: neither is meant for certain.
                    .and_modify(|found| *found = None)
                    .or_insert(Some(index));
            }
            folded
        });
        let index = folded.get(&fold_name(name)).copied().flatten();
        match index.and_then(|index| self.entries.get(index)) {
            Some(entry) => Found::Alike(entry),
            None => Found::Not,
        }
    }
}

impl<'a> IntoIterator for &'a Snapshot {
    type Item = &'a Entry;
    type IntoIter = std::slice::Iter<'a, Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.iter().map(|entry| &entry.spec.name))
            .finish()
    }
}
