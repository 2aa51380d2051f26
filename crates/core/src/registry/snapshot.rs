//! [`Snapshot`]: the tools and prompts at one moment: ordered, indexed, immutable.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::Semaphore;

use super::name_index::{NameIndex, NameMatch};
use crate::call::context::Caller;
use crate::layer::Layer;
use crate::tool::approvers::Approvers;
use crate::tool::encode::Encoders;
use crate::tool::input_schema::SESSION_ID_PARAM;
use crate::tool::policy::Policy;
use crate::tool::prompt::Prompt;
use crate::tool::{Tool, ToolSpec};

/// All tools and prompts of a registry or view at one moment, in stable order.
///
/// Methods without `prompt` in their name concern tools only: a model never sees a prompt.
pub struct Snapshot {
    version: u64,
    pub(crate) tools: NameIndex<RegisteredTool>,
    pub(crate) prompts: NameIndex<Prompt>,
    pub(crate) encoders: Encoders,
}

/// A tool of a snapshot: perhaps renamed, perhaps with bound parameters.
#[derive(Clone, Debug)]
pub struct RegisteredTool {
    pub(crate) spec: Arc<ToolSpec>,
    pub(crate) tool: Tool,
    pub(crate) bound_params: Option<Arc<BoundParams>>,
    pub(crate) policy: Arc<Policy>,
    pub(crate) permits: Arc<Semaphore>,
    pub(crate) layers: LayerStack,
}

/// The layers around one tool, ordered by position.
#[derive(Clone, Default)]
pub(crate) struct LayerStack(Option<Arc<LayerSlice>>);

/// Layers, outermost first.
pub(crate) type LayerSlice = [Arc<dyn Layer>];

impl LayerStack {
    pub(crate) fn add(&mut self, layer: &Arc<dyn Layer>) {
        let mut all = self.0.as_deref().unwrap_or_default().to_vec();
        let index = all.partition_point(|other| other.position() <= layer.position());
        all.insert(index, Arc::clone(layer));
        self.0 = Some(all.into());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Arc<dyn Layer>> {
        self.0.as_deref().unwrap_or_default().iter()
    }

    /// Returns the layers that run before the arguments are parsed, and those that run after approval.
    pub(crate) fn split(&self) -> (&LayerSlice, &LayerSlice) {
        let all = self.0.as_deref().unwrap_or_default();
        all.split_at(all.partition_point(|layer| layer.position().is_outer()))
    }
}

impl fmt::Debug for LayerStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|layer| layer.position())).finish()
    }
}

/// Parameters that a view fills in, hidden from the model.
#[derive(Clone, Debug)]
pub(crate) struct BoundParams {
    /// A JSON object: a [`Tape`](toolwright_schema::Tape), from which arguments are read, is made from a value.
    pub(crate) values: Value,
    /// Whether [`SESSION_ID_PARAM`] gets the session of each call.
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

    /// Returns the part that the model sees.
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Returns the tool as it was defined.
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Returns the policy of its calls.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns who may decide about a call that needs approval.
    pub fn approvers(&self) -> &Approvers {
        &self.policy.approvers
    }

    /// Returns true if a call needs approval before it runs.
    pub fn needs_approval(&self) -> bool {
        self.policy.approval.is_needed(&self.spec.hints)
    }

    /// Returns true if every layer lets the caller see the tool in listings.
    pub(crate) fn is_visible_to(&self, caller: &Caller) -> bool {
        let is_visible = || self.layers.iter().all(|layer| layer.is_visible(&self.spec, caller));
        // A layer that panics has not allowed it.
        catch_unwind(AssertUnwindSafe(is_visible)).unwrap_or(false)
    }

    /// Returns true if the view binds the parameter, which hides it from the model.
    pub(crate) fn hides_param(&self, parameter: &str) -> bool {
        self.bound_params.as_deref().is_some_and(|bound| {
            bound.values.get(parameter).is_some()
                || (bound.binds_session && parameter == SESSION_ID_PARAM)
        })
    }
}

impl Snapshot {
    /// Requires that the names of the tools differ, and those of the prompts.
    pub(super) fn new(
        version: u64,
        tools: Vec<RegisteredTool>,
        prompts: Vec<Prompt>,
        encoders: Encoders,
    ) -> Self {
        Self { version, tools: NameIndex::new(tools), prompts: NameIndex::new(prompts), encoders }
    }

    /// Returns a snapshot with these tools after its own, none of which has one of their names.
    pub(crate) fn with_tools(&self, added: &[Tool]) -> Self {
        let added = added.iter().cloned().map(RegisteredTool::new);
        let tools = self.tools.iter().cloned().chain(added).collect();
        let prompts = self.prompts.iter().cloned().collect();
        Self::new(self.version, tools, prompts, self.encoders.clone())
    }

    /// Returns the registry's version at that moment.
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

    /// Returns true if there are no tools.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the tool with exactly this name.
    pub fn get(&self, name: &str) -> Option<&RegisteredTool> {
        self.tools.get(name)
    }

    /// Returns the tool with this name, else the only one that differs just in letter case and `-`, `.`, `_`.
    pub fn find(&self, name: &str) -> Option<&RegisteredTool> {
        match self.tools.find(name) {
            NameMatch::Exact(tool) | NameMatch::Folded(tool) => Some(tool),
            NameMatch::NotFound => None,
        }
    }

    /// Returns up to `limit` names of tools most like `name`, closest first.
    pub fn nearest(&self, name: &str, limit: usize) -> Vec<&str> {
        self.tools.nearest(name, limit)
    }

    /// Returns the prompts in order.
    pub fn prompts(&self) -> std::slice::Iter<'_, Prompt> {
        self.prompts.iter()
    }

    /// Returns the prompt with exactly this name.
    pub fn prompt(&self, name: &str) -> Option<&Prompt> {
        self.prompts.get(name)
    }

    /// Returns up to `limit` names of prompts most like `name`, closest first.
    pub fn nearest_prompts(&self, name: &str, limit: usize) -> Vec<&str> {
        self.prompts.nearest(name, limit)
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
        f.debug_set().entries(self.iter().map(|tool| &tool.spec.name)).finish()
    }
}
