//! Tools as they were at one moment: ordered, indexed, unchangeable.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tokio::sync::Semaphore;
use toolwright_schema::{fold_name, nearest};

use crate::call::ToolName;
use crate::context::Caller;
use crate::encode::Encoders;
use crate::input::SESSION_ID_PARAM;
use crate::layer::Layer;
use crate::options::Policy;
use crate::tool::{Tool, ToolSpec};

/// All tools of a registry or view at one moment, in stable order.
pub struct Snapshot {
    version: u64,
    entries: Vec<Entry>,
    by_name: HashMap<ToolName, usize, ahash::RandomState>,
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
    pub(crate) policy: Arc<Policy>,
    pub(crate) permits: Arc<Semaphore>,
    pub(crate) layers: Layers,
}

/// The layers around one tool, in the order of their places.
#[derive(Clone, Default)]
pub(crate) struct Layers(Option<Arc<Stack>>);

/// Layers, the outermost first.
pub(crate) type Stack = [Arc<dyn Layer>];

impl Layers {
    pub(crate) fn add(&mut self, layer: &Arc<dyn Layer>) {
        let mut all = self.0.as_deref().unwrap_or_default().to_vec();
        let at = all.partition_point(|held| held.place() <= layer.place());
        all.insert(at, Arc::clone(layer));
        self.0 = Some(all.into());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Arc<dyn Layer>> {
        self.0.as_deref().unwrap_or_default().iter()
    }

    /// Splits those that run before the arguments are read from those that run after approval.
    pub(crate) fn split(&self) -> (&Stack, &Stack) {
        let all = self.0.as_deref().unwrap_or_default();
        all.split_at(all.partition_point(|layer| layer.place().is_outer()))
    }
}

impl fmt::Debug for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.iter().map(|layer| layer.place()))
            .finish()
    }
}

/// Parameters that a view fills in, hidden from the model.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    /// An object: the tape that arguments are read from is laid out from a value.
    pub(crate) fixed: Value,
    /// Whether [`SESSION_ID_PARAM`] is filled in from the call.
    pub(crate) session: bool,
}

impl Entry {
    pub(crate) fn of(tool: Tool) -> Self {
        Self {
            spec: Arc::clone(&tool.0.spec),
            policy: Arc::clone(&tool.0.policy),
            permits: Arc::clone(&tool.0.permits),
            tool,
            bound: None,
            layers: Layers::default(),
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

    /// Returns how calls are treated.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Tells whether somebody has to be asked before a call runs.
    pub fn needs_approval(&self) -> bool {
        self.policy.approval.is_needed(&self.spec.hints)
    }

    /// Tells whether a caller may see it in a list.
    pub(crate) fn shows_to(&self, caller: &Caller) -> bool {
        let shows = || {
            self.layers
                .iter()
                .all(|layer| layer.shows(&self.spec, caller))
        };
        // One who cannot decide has not allowed it.
        catch_unwind(AssertUnwindSafe(shows)).unwrap_or(false)
    }

    /// Tells whether the parameter is filled in here, and so not the model's to know.
    pub(crate) fn hides(&self, parameter: &str) -> bool {
        self.bound.as_deref().is_some_and(|bound| {
            bound.fixed.get(parameter).is_some() || (bound.session && parameter == SESSION_ID_PARAM)
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
