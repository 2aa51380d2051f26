//! [`View`]: a selection of a registry's tools and prompts, perhaps renamed or with bound parameters.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use futures::stream::Stream;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use toolwright_schema::Schema;

use super::Registry;
use super::bundle::{Bundle, BundleItem, IndexedItem, NamedBundle};
use super::snapshot::{BoundParams, RegisteredTool, Snapshot};
use super::tool_settings::ToolSettings;
use crate::call::ToolName;
use crate::call::context::SessionId;
use crate::config::Config;
use crate::error::{DefineError, RegistryError};
use crate::layer::Layer;
use crate::tool::input_schema::{SESSION_ID_PARAM, coerce_to_param, has_param};
use crate::tool::policy::Policy;
use crate::tool::prompt::Prompt;
use crate::tool::{ToolSpec, concurrency_semaphore};

/// A filtered and transformed registry; follows the registry's changes.
///
/// All steps apply to tools and prompts, except [`map_policy`](View::map_policy) and
/// [`settings`](View::settings), which concern tools.
///
/// Steps apply in the order they are written, so a name given to [`rename`](View::rename) after a
/// [`prefix`](View::prefix) is the prefixed one.
///
/// # Examples
///
/// ```
/// # use toolwright::{Registry, tool};
/// # /// Greets a person.
/// # #[tool]
/// # fn greet(name: String, language: String) -> String { format!("{language} {name}") }
/// let registry = Registry::new();
/// registry.add(greet::tool())?;
/// let view = registry.all().bind("language", "en").prefix("polite");
/// let snapshot = view.snapshot()?;
/// let spec = snapshot.get("polite_greet").unwrap().spec();
/// assert_eq!(spec.params().len(), 1);
/// # Ok::<(), toolwright::RegistryError>(())
/// ```
#[derive(Clone)]
pub struct View {
    registry: Registry,
    steps: Vec<ViewStep>,
    cache: Arc<RwLock<Option<Arc<Snapshot>>>>,
}

/// Changes the policy of a tool.
type PolicyMapper = Arc<dyn Fn(&ToolSpec, &mut Policy) + Send + Sync>;

#[derive(Clone)]
enum ViewStep {
    Add(Arc<[BundleItem]>),
    Select(HashSet<String>),
    Exclude(HashSet<String>),
    Filter(Arc<dyn Fn(&ToolSpec) -> bool + Send + Sync>),
    Prefix(String),
    Rename {
        from: String,
        to: String,
    },
    Bind {
        parameter: String,
        value: Value,
    },
    /// Like `Bind`, but skips imported tools: other software must not receive values of this program unasked.
    BindUnlessImported {
        parameter: &'static str,
        value: Value,
    },
    BindSession,
    MapPolicy {
        change: PolicyMapper,
        permits: Arc<SharedSemaphores>,
    },
    Layer {
        layer: Arc<dyn Layer>,
        applies_to: Arc<dyn Fn(&ToolSpec) -> bool + Send + Sync>,
    },
    Settings(Arc<ToolSettings>),
}

impl View {
    pub(super) fn new(registry: Registry) -> Self {
        Self { registry, steps: Vec::new(), cache: Arc::default() }
    }

    fn push_step(mut self, step: ViewStep) -> Self {
        self.steps.push(step);
        self.cache = Arc::default();
        self
    }

    /// Adds tools and prompts to this view, not to the registry.
    #[must_use]
    pub fn with(self, bundle: impl Bundle) -> Self {
        self.push_step(ViewStep::Add(bundle.into_items().into()))
    }

    /// Keeps only the tools and prompts with these names; unknown names are skipped.
    #[must_use]
    pub fn select<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.push_step(ViewStep::Select(names.into_iter().map(Into::into).collect()))
    }

    /// Removes the tools and prompts with these names.
    #[must_use]
    pub fn exclude<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.push_step(ViewStep::Exclude(names.into_iter().map(Into::into).collect()))
    }

    /// Keeps only the tools and prompts that `keep` accepts; every prompt counts as read-only.
    #[must_use]
    pub fn filter(self, keep: impl Fn(&ToolSpec) -> bool + Send + Sync + 'static) -> Self {
        self.push_step(ViewStep::Filter(Arc::new(keep)))
    }

    /// Keeps only the tools and prompts of a bundle.
    #[must_use]
    pub fn only_bundle<B: NamedBundle>(self) -> Self {
        self.filter(|spec| &*spec.bundle == B::NAME)
    }

    /// Removes the tools and prompts of a bundle, also those that join it later.
    #[must_use]
    pub fn exclude_bundle<B: NamedBundle>(self) -> Self {
        self.filter(|spec| &*spec.bundle != B::NAME)
    }

    /// Puts `prefix` and `_` before every name.
    #[must_use]
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        self.push_step(ViewStep::Prefix(prefix.into()))
    }

    /// Renames a tool or prompt; an unknown name is skipped.
    #[must_use]
    pub fn rename(self, from: impl Into<String>, to: impl Into<String>) -> Self {
        let (from, to) = (from.into(), to.into());
        self.push_step(ViewStep::Rename { from, to })
    }

    /// Sets the parameter with this name in every tool and prompt that has it, and hides it from the model.
    ///
    /// A call that sends it is rejected.
    #[must_use]
    pub fn bind(self, parameter: impl Into<String>, value: impl Into<Value>) -> Self {
        let (parameter, value) = (parameter.into(), value.into());
        self.push_step(ViewStep::Bind { parameter, value })
    }

    /// Changes the policy of each tool.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::{ApprovalPolicy, Registry};
    ///
    /// // Require approval for each call, even if a tool declares otherwise.
    /// let registry = Registry::new();
    /// let view = registry.all().map_policy(|_, policy| policy.approval = ApprovalPolicy::Always);
    /// ```
    #[must_use]
    pub fn map_policy(
        self,
        change: impl Fn(&ToolSpec, &mut Policy) + Send + Sync + 'static,
    ) -> Self {
        self.push_step(ViewStep::MapPolicy { change: Arc::new(change), permits: Arc::default() })
    }

    /// Adds a layer around every tool and every prompt.
    #[must_use]
    pub fn layer(self, layer: impl Layer) -> Self {
        self.layer_where(layer, |_| true)
    }

    /// Adds a layer around the tools and prompts that `applies_to` accepts, for example those of a bundle.
    #[must_use]
    pub fn layer_where(
        self,
        layer: impl Layer,
        applies_to: impl Fn(&ToolSpec) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.push_step(ViewStep::Layer { layer: Arc::new(layer), applies_to: Arc::new(applies_to) })
    }

    /// Applies the settings under `tools`, `bundles` and `defaults`.
    ///
    /// The prompts of a bundle with `enabled = false` are removed too.
    #[must_use]
    pub fn settings(self, config: &Config) -> Self {
        self.tool_settings(&Arc::new(ToolSettings::new(config.clone())))
    }

    /// Applies settings that are shared with other views, together with their rate limits and semaphores.
    pub(crate) fn tool_settings(self, settings: &Arc<ToolSettings>) -> Self {
        self.push_step(ViewStep::Settings(Arc::clone(settings)))
    }

    /// Streams the version of the view's registry, as [`Registry::changes`] does.
    pub fn changes(&self) -> impl Stream<Item = u64> + Send + use<> {
        self.registry.changes()
    }

    /// Sets a parameter, except of imported tools.
    pub(crate) fn bind_unless_imported(
        self,
        parameter: &'static str,
        value: impl Into<Value>,
    ) -> Self {
        let value = value.into();
        self.push_step(ViewStep::BindUnlessImported { parameter, value })
    }

    /// Sets the session parameter from each call, except of imported tools.
    pub(crate) fn bind_session(self) -> Self {
        self.push_step(ViewStep::BindSession)
    }

    /// Returns the view's tools and prompts at this moment.
    ///
    /// # Errors
    ///
    /// When two tools or two prompts would have the same name, a name would not be valid, or a parameter rejects its
    /// bound value.
    pub fn snapshot(&self) -> Result<Arc<Snapshot>, RegistryError> {
        if let Some(cached) = &*self.cache.read().unwrap_or_else(PoisonError::into_inner)
            && cached.version() == self.registry.version()
        {
            return Ok(Arc::clone(cached));
        }
        let registry = self.registry.snapshot();
        let mut tools: Vec<RegisteredTool> = registry.iter().cloned().collect();
        let mut prompts: Vec<Prompt> = registry.prompts().cloned().collect();
        for step in &self.steps {
            step.apply(&mut tools)?;
            step.apply(&mut prompts)?;
            step.apply_additions_and_policy(&mut tools, &mut prompts, &registry)?;
        }
        check_names(&tools)?;
        check_names(&prompts)?;
        let snapshot = Snapshot::new(registry.version(), tools, prompts, registry.encoders.clone());
        let snapshot = Arc::new(snapshot);
        *self.cache.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }
}

/// The semaphores of tools whose concurrency a view changes; kept across snapshots, so that running calls are
/// still counted when the registry changes.
#[derive(Default)]
pub(super) struct SharedSemaphores(Mutex<HashMap<(ToolName, usize), Arc<Semaphore>>>);

impl SharedSemaphores {
    fn get_or_create(&self, tool: &ToolName, limit: usize) -> Arc<Semaphore> {
        let mut semaphores = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let permits = semaphores.entry((tool.clone(), limit));
        Arc::clone(permits.or_insert_with(|| Arc::new(concurrency_semaphore(limit))))
    }
}

/// Returns true for a tool that only other tools call: it is there wherever those are.
fn is_internal(item: &impl IndexedItem) -> bool {
    item.registered_tool().policy.internal
}

impl ViewStep {
    /// Applies a step that is the same for tools and prompts.
    fn apply<T: IndexedItem>(&self, items: &mut Vec<T>) -> Result<(), RegistryError> {
        let tools = |items| <[T]>::iter_mut(items).map(T::registered_tool_mut);
        match self {
            Self::Select(names) => {
                items.retain(|item| is_internal(item) || names.contains(item.name()));
            }
            Self::Exclude(names) => items.retain(|item| !names.contains(item.name())),
            Self::Filter(keep) => {
                items.retain(|item| is_internal(item) || keep(&item.registered_tool().spec));
            }
            Self::Prefix(prefix) => {
                for tool in tools(items) {
                    let name = format!("{prefix}_{}", tool.spec.name);
                    Arc::make_mut(&mut tool.spec).name = name.into();
                }
            }
            Self::Rename { from, to } => {
                let named = |tool: &&mut RegisteredTool| tool.spec.name == from.as_str();
                for tool in tools(items).filter(named) {
                    Arc::make_mut(&mut tool.spec).name = to.as_str().into();
                }
            }
            Self::Bind { parameter, value } => {
                for tool in tools(items) {
                    tool.bind_param(parameter, value)?;
                }
            }
            Self::BindUnlessImported { parameter, value } => {
                for tool in tools(items).filter(|tool| !tool.policy.imported) {
                    tool.bind_param(parameter, value)?;
                }
            }
            Self::BindSession => {
                for tool in tools(items).filter(|tool| !tool.policy.imported) {
                    tool.bind_session()?;
                }
            }
            Self::Layer { layer, applies_to } => {
                for tool in tools(items).filter(|tool| applies_to(&tool.spec)) {
                    tool.layers.add(layer);
                }
            }
            Self::Add(_) | Self::MapPolicy { .. } | Self::Settings(_) => {}
        }
        Ok(())
    }

    /// Applies a step that is not: additions, policies and settings.
    fn apply_additions_and_policy(
        &self,
        tools: &mut Vec<RegisteredTool>,
        prompts: &mut Vec<Prompt>,
        registry: &Snapshot,
    ) -> Result<(), RegistryError> {
        match self {
            Self::Add(items) => {
                for item in items.iter() {
                    if let Some(error) = &item.tool().0.definition_error {
                        return Err(error.clone().into());
                    }
                    match item {
                        BundleItem::Tool(tool) => tools.push(RegisteredTool::new(tool.clone())),
                        BundleItem::Prompt(prompt) => prompts.push(prompt.clone()),
                    }
                }
                Ok(())
            }
            Self::MapPolicy { change, permits } => {
                for tool in tools {
                    tool.map_policy(permits, |spec, policy| change(spec, policy));
                }
                Ok(())
            }
            Self::Settings(settings) => settings.apply(tools, prompts, registry),
            _ => Ok(()),
        }
    }
}

impl RegisteredTool {
    pub(super) fn map_policy(
        &mut self,
        permits: &SharedSemaphores,
        change: impl FnOnce(&ToolSpec, &mut Policy),
    ) {
        let before = self.policy.concurrency;
        let policy = Arc::make_mut(&mut self.policy);
        change(&self.spec, policy);
        if policy.concurrency != before {
            self.permits = permits.get_or_create(&self.spec.name, policy.concurrency);
        }
    }

    fn bind_param(&mut self, parameter: &str, value: &Value) -> Result<(), RegistryError> {
        if !has_param(&self.spec.input, parameter) {
            return Ok(());
        }
        let value =
            coerce_to_param(&self.spec.input, parameter, value.clone()).map_err(|message| {
                RegistryError::Bind {
                    tool: self.spec.name.to_string(),
                    parameter: parameter.to_owned(),
                    message,
                }
            })?;
        if let Value::Object(values) = &mut self.bound_mut().values {
            values.insert(parameter.to_owned(), value);
        }
        self.hide_param(parameter);
        Ok(())
    }

    /// Hides the session parameter; its value is set from each call's scope.
    fn bind_session(&mut self) -> Result<(), RegistryError> {
        if has_param(&self.spec.input, SESSION_ID_PARAM) {
            self.bind_param(SESSION_ID_PARAM, &Value::from(SessionId::process_default().as_str()))?;
            self.bound_mut().binds_session = true;
        }
        Ok(())
    }

    fn bound_mut(&mut self) -> &mut BoundParams {
        let empty = || Arc::new(BoundParams { values: json!({}), binds_session: false });
        Arc::make_mut(self.bound_params.get_or_insert_with(empty))
    }

    /// Removes a parameter from the schema that the model sees.
    fn hide_param(&mut self, parameter: &str) {
        let mut input = self.spec.input.as_value().clone();
        if let Some(properties) = input.get_mut("properties").and_then(Value::as_object_mut) {
            properties.shift_remove(parameter);
        }
        if let Some(required) = input.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|name| name.as_str() != Some(parameter));
        }
        Arc::make_mut(&mut self.spec).input = Schema::trusted(input);
    }
}

fn check_names<T: IndexedItem>(items: &[T]) -> Result<(), RegistryError> {
    let mut seen = HashMap::new();
    for item in items {
        let spec = &item.registered_tool().spec;
        if !ToolName::is_valid(spec.name.as_str()) {
            let name = spec.name.to_string();
            return Err(DefineError::Name { name }.into());
        }
        if let Some(first) = seen.insert(&spec.name, spec) {
            return Err(T::duplicate_error(first, spec));
        }
    }
    Ok(())
}

impl From<Registry> for View {
    fn from(registry: Registry) -> Self {
        registry.all()
    }
}

impl From<&Registry> for View {
    fn from(registry: &Registry) -> Self {
        registry.all()
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "View of {:?} in {} steps", self.registry, self.steps.len())
    }
}
