//! Tools and prompts as they were at one moment: ordered, indexed, unchangeable.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::Semaphore;

use super::name_index::{NameIndex, NameMatch};
use crate::call::context::Caller;
use crate::layer::Layer;
use crate::tool::encode::Encoders;
use crate::tool::input_schema::SESSION_ID_PARAM;
use crate::tool::policy::Policy;
use crate::tool::prompt::Prompt;
use crate::tool::{Tool, ToolSpec};

/// All tools and prompts of a registry or view at one moment, in stable order.
///
/// What does not say otherwise is about tools: a model never meets a prompt.
pub struct Snapshot {
    version: u64,
    pub(crate) tools: NameIndex<RegisteredTool>,
    pub(crate) prompts: NameIndex<Prompt>,
    pub(crate) encoders: Encoders,
}

/// A tool as one snapshot shows it: perhaps renamed, perhaps with parameters bound.
#[derive(Clone, Debug)]
pub struct RegisteredTool {
    pub(crate) spec: Arc<ToolSpec>,
    pub(crate) tool: Tool,
    pub(crate) bound_params: Option<Arc<BoundParams>>,
    pub(crate) policy: Arc<Policy>,
    pub(crate) permits: Arc<Semaphore>,
    pub(crate) layers: LayerStack,
}

/// The layers around one tool, in the order of their places.
#[derive(Clone, Default)]
pub(crate) struct LayerStack(Option<Arc<LayerSlice>>);

/// Layers, the outermost first.
pub(crate) type LayerSlice = [Arc<dyn Layer>];

impl LayerStack {
    pub(crate) fn add(&mut self, layer: &Arc<dyn Layer>) {
        let mut all = self.0.as_deref().unwrap_or_default().to_vec();
        let at = all.partition_point(|held| held.position() <= layer.position());
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
    pub(crate) fn split(&self) -> (&LayerSlice, &LayerSlice) {
        let all = self.0.as_deref().unwrap_or_default();
        all.split_at(all.partition_point(|layer| layer.position().is_outer()))
    }
}

impl fmt::Debug for LayerStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.iter().map(|layer| layer.position()))
            .finish()
    }
}

/// Parameters that a view fills in, hidden from the model.
#[derive(Clone, Debug)]
pub(crate) struct BoundParams {
    /// An object: the tape that arguments are read from is laid out from a value.
    pub(crate) values: Value,
    /// Whether [`SESSION_ID_PARAM`] is filled in from the call.
    pub(crate) binds_session: bool,
}

impl RegisteredTool {
    pub(crate) fn new(tool: Tool) -> Self {
        Self {
            spec: Arc::clone(&tool.0.spec),
            policy: Arc::clone(&tool.0.policy),
            permits: Arc::clone(&tool.0.permits),
            tool,
            bound_params: None,
            layers: LayerStack::default(),
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
    pub(crate) fn is_visible_to(&self, caller: &Caller) -> bool {
        let shows = || {
            self.layers
                .iter()
                .all(|layer| layer.is_visible(&self.spec, caller))
        };
        // One who cannot decide has not allowed it.
        catch_unwind(AssertUnwindSafe(shows)).unwrap_or(false)
    }

    /// Tells whether the parameter is filled in here, and so not the model's to know.
    pub(crate) fn hides_param(&self, parameter: &str) -> bool {
        self.bound_params.as_deref().is_some_and(|bound| {
            bound.values.get(parameter).is_some()
                || (bound.binds_session && parameter == SESSION_ID_PARAM)
        })
    }
}

impl Snapshot {
    /// Indexes tools and prompts whose names are known to differ.
    pub(super) fn new(
        version: u64,
        tools: Vec<RegisteredTool>,
        prompts: Vec<Prompt>,
        encoders: Encoders,
    ) -> Self {
        Self {
            version,
            tools: NameIndex::new(tools),
            prompts: NameIndex::new(prompts),
            encoders,
        }
    }

    /// Returns the version of the registry it was taken from.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns the tools in order.
    pub fn iter(&self) -> std::slice::Iter<'_, RegisteredTool> {
        self.tools.iter()
    }

    /// Counts the tools.
    pub fn len(&self) -> usize {
        self.tools.iter().len()
    }

    /// Tells whether there are no tools.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the tool of exactly this name.
    pub fn get(&self, name: &str) -> Option<&RegisteredTool> {
        self.tools.get(name)
    }

    /// Returns the tool that a call of this name means: exactly, or the only one that is nearly so.
    pub fn find(&self, name: &str) -> Option<&RegisteredTool> {
        match self.tools.find(name) {
            NameMatch::Exact(entry) | NameMatch::Folded(entry) => Some(entry),
            NameMatch::NotFound => None,
        }
    }

    /// Returns the names of tools most like `name`, closest first.
    pub fn nearest(&self, name: &str, most: usize) -> Vec<&str> {
        self.tools.nearest(name, most)
    }

    /// Returns the prompts in order.
    pub fn prompts(&self) -> std::slice::Iter<'_, Prompt> {
        self.prompts.iter()
    }

    /// Returns the prompt of exactly this name.
    pub fn prompt(&self, name: &str) -> Option<&Prompt> {
        self.prompts.get(name)
    }

    /// Returns the names of prompts most like `name`, closest first.
    pub fn nearest_prompts(&self, name: &str, most: usize) -> Vec<&str> {
        self.prompts.nearest(name, most)
    }
}

impl<'a> IntoIterator for &'a Snapshot {
    type Item = &'a RegisteredTool;
    type IntoIter = std::slice::Iter<'a, RegisteredTool>;

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
