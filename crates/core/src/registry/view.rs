//! A registry seen through a lens: some of its tools and prompts, under other names, with parameters bound.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwapOption;
use futures::stream::Stream;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use toolwright_schema::Schema;

use super::Registry;
use super::bundle::{Bundle, BundleItem, IndexedItem};
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
use crate::tool::{ToolSpec, concurrency_semaphore as permits_for};

/// A lens on a registry; follows the registry's changes.
///
/// Tools and prompts are seen through the same lens; how calls are treated
/// ([`adjust`](View::adjust), [`settings`](View::settings)) is a matter of tools alone.
///
/// Steps apply in the order they are written, so a name given to [`rename`](View::rename) after a
/// [`prefix`](View::prefix) is the prefixed one.
///
/// # Examples
///
/// ```
/// # use toolwright::{Registry, tool};
/// # /// Greets somebody.
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
    cache: Arc<ArcSwapOption<Snapshot>>,
}

/// Changes how calls of a tool are treated.
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
    /// Binds, but not what other software runs: it is told nothing of ours unasked.
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
        around: Arc<dyn Fn(&ToolSpec) -> bool + Send + Sync>,
    },
    Settings(Arc<ToolSettings>),
}

impl View {
    pub(super) fn new(registry: Registry) -> Self {
        Self {
            registry,
            steps: Vec::new(),
            cache: Arc::default(),
        }
    }

    fn push_step(mut self, step: ViewStep) -> Self {
        self.steps.push(step);
        self.cache = Arc::default();
        self
    }

    /// Adds tools and prompts that the registry does not have: they stay local to this view.
    #[must_use]
    pub fn with(self, bundle: impl Bundle) -> Self {
        self.push_step(ViewStep::Add(bundle.into_items().into()))
    }

    /// Keeps only the tools and prompts of these names; unknown names are skipped.
    #[must_use]
    pub fn select<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.push_step(ViewStep::Select(
            names.into_iter().map(Into::into).collect(),
        ))
    }

    /// Leaves the tools and prompts of these names out.
    #[must_use]
    pub fn exclude<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.push_step(ViewStep::Exclude(
            names.into_iter().map(Into::into).collect(),
        ))
    }

    /// Keeps only the tools and prompts that `keep` accepts; every prompt counts as read-only.
    #[must_use]
    pub fn filter(self, keep: impl Fn(&ToolSpec) -> bool + Send + Sync + 'static) -> Self {
        self.push_step(ViewStep::Filter(Arc::new(keep)))
    }

    /// Puts `prefix` and `_` before every name.
    #[must_use]
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        self.push_step(ViewStep::Prefix(prefix.into()))
    }

    /// Gives what has one name another; a name that is not there is skipped.
    #[must_use]
    pub fn rename(self, from: impl Into<String>, to: impl Into<String>) -> Self {
        let (from, to) = (from.into(), to.into());
        self.push_step(ViewStep::Rename { from, to })
    }

    /// Fills in the parameter of this name, wherever there is one, and hides it from the model.
    ///
    /// A call that sends it all the same is refused.
    #[must_use]
    pub fn bind(self, parameter: impl Into<String>, value: impl Into<Value>) -> Self {
        let (parameter, value) = (parameter.into(), value.into());
        self.push_step(ViewStep::Bind { parameter, value })
    }

    /// Changes how calls are treated, tool by tool.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::{Approval, Registry};
    ///
    /// // Ask before each call, whatever the tools say.
    /// let registry = Registry::new();
    /// let view = registry.all().adjust(|_, policy| policy.approval = Approval::Always);
    /// ```
    #[must_use]
    pub fn map_policy(
        self,
        change: impl Fn(&ToolSpec, &mut Policy) + Send + Sync + 'static,
    ) -> Self {
        self.push_step(ViewStep::MapPolicy {
            change: Arc::new(change),
            permits: Arc::default(),
        })
    }

    /// Puts a layer around every tool and every prompt.
    #[must_use]
    pub fn layer(self, layer: impl Layer) -> Self {
        self.layer_where(layer, |_| true)
    }

    /// Puts a layer around what `around` accepts: one tool or prompt, a bundle, whatever has a hint.
    #[must_use]
    pub fn layer_where(
        self,
        layer: impl Layer,
        around: impl Fn(&ToolSpec) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.push_step(ViewStep::Layer {
            layer: Arc::new(layer),
            around: Arc::new(around),
        })
    }

    /// Treats calls as the settings under `tools`, `bundles` and `defaults` say.
    ///
    /// A bundle that is not `enabled` does not show its prompts either.
    #[must_use]
    pub fn settings(self, config: &Config) -> Self {
        self.tool_settings(&Arc::new(ToolSettings::new(config.clone())))
    }

    /// Does so with settings that other views have too: what they count, they count together.
    pub(crate) fn tool_settings(self, settings: &Arc<ToolSettings>) -> Self {
        self.push_step(ViewStep::Settings(Arc::clone(settings)))
    }

    /// Streams the version of the registry behind the view, as [`Registry::changes`] does.
    pub fn changes(&self) -> impl Stream<Item = u64> + Send + use<> {
        self.registry.changes()
    }

    /// Fills in a parameter, except of imported tools.
    pub(crate) fn bind_unless_imported(
        self,
        parameter: &'static str,
        value: impl Into<Value>,
    ) -> Self {
        let value = value.into();
        self.push_step(ViewStep::BindUnlessImported { parameter, value })
    }

    /// Fills in the session parameter from each call, except of imported tools.
    pub(crate) fn bind_session(self) -> Self {
        self.push_step(ViewStep::BindSession)
    }

    /// Returns the tools and prompts as the view shows them now.
    ///
    /// # Errors
    ///
    /// When two of a kind would have one name, a name would not be valid, or a bound value does not fit.
    pub fn snapshot(&self) -> Result<Arc<Snapshot>, RegistryError> {
        if let Some(cached) = &*self.cache.load()
            && cached.version() == self.registry.version()
        {
            return Ok(Arc::clone(cached));
        }
        let whole = self.registry.snapshot();
        let mut tools: Vec<RegisteredTool> = whole.iter().cloned().collect();
        let mut prompts: Vec<Prompt> = whole.prompts().cloned().collect();
        for step in &self.steps {
            step.apply(&mut tools)?;
            step.apply(&mut prompts)?;
            step.apply_additions_and_policy(&mut tools, &mut prompts, &whole)?;
        }
        check_names(&tools)?;
        check_names(&prompts)?;
        let snapshot = Snapshot::new(whole.version(), tools, prompts, whole.encoders.clone());
        let snapshot = Arc::new(snapshot);
        self.cache.store(Some(Arc::clone(&snapshot)));
        Ok(snapshot)
    }
}

/// How many calls run at once where a view says so; kept, so that calls under way are counted when
/// the registry changes.
#[derive(Default)]
pub(super) struct SharedSemaphores(Mutex<HashMap<(ToolName, usize), Arc<Semaphore>>>);

impl SharedSemaphores {
    fn get_or_create(&self, tool: &ToolName, most: usize) -> Arc<Semaphore> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let permits = held.entry((tool.clone(), most));
        Arc::clone(permits.or_insert_with(|| Arc::new(permits_for(most))))
    }
}

impl ViewStep {
    /// Applies what is the same for tools and prompts.
    fn apply<T: IndexedItem>(&self, shelf: &mut Vec<T>) -> Result<(), RegistryError> {
        let entries = |shelf| <[T]>::iter_mut(shelf).map(T::registered_tool_mut);
        match self {
            Self::Select(names) => shelf.retain(|it| names.contains(it.name())),
            Self::Exclude(names) => shelf.retain(|it| !names.contains(it.name())),
            Self::Filter(keep) => shelf.retain(|it| keep(&it.registered_tool().spec)),
            Self::Prefix(prefix) => {
                for entry in entries(shelf) {
                    let name = format!("{prefix}_{}", entry.spec.name);
                    Arc::make_mut(&mut entry.spec).name = name.into();
                }
            }
            Self::Rename { from, to } => {
                let named = |entry: &&mut RegisteredTool| entry.spec.name == from.as_str();
                for entry in entries(shelf).filter(named) {
                    Arc::make_mut(&mut entry.spec).name = to.as_str().into();
                }
            }
            Self::Bind { parameter, value } => {
                for entry in entries(shelf) {
                    entry.bind_param(parameter, value)?;
                }
            }
            Self::BindUnlessImported { parameter, value } => {
                for entry in entries(shelf).filter(|entry| !entry.policy.imported) {
                    entry.bind_param(parameter, value)?;
                }
            }
            Self::BindSession => {
                for entry in entries(shelf).filter(|entry| !entry.policy.imported) {
                    entry.bind_session()?;
                }
            }
            Self::Layer { layer, around } => {
                for entry in entries(shelf).filter(|entry| around(&entry.spec)) {
                    entry.layers.add(layer);
                }
            }
            Self::Add(_) | Self::MapPolicy { .. } | Self::Settings(_) => {}
        }
        Ok(())
    }

    /// Applies what is not: additions, and how calls are treated.
    fn apply_additions_and_policy(
        &self,
        tools: &mut Vec<RegisteredTool>,
        prompts: &mut Vec<Prompt>,
        whole: &Snapshot,
    ) -> Result<(), RegistryError> {
        match self {
            Self::Add(items) => {
                for item in items.iter() {
                    if let Some(defect) = &item.tool().0.definition_error {
                        return Err(defect.clone().into());
                    }
                    match item {
                        BundleItem::Tool(tool) => tools.push(RegisteredTool::new(tool.clone())),
                        BundleItem::Prompt(prompt) => prompts.push(prompt.clone()),
                    }
                }
                Ok(())
            }
            Self::MapPolicy { change, permits } => {
                for entry in tools {
                    entry.map_policy(permits, |spec, policy| change(spec, policy));
                }
                Ok(())
            }
            Self::Settings(settings) => settings.apply(tools, prompts, whole),
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
        if let Value::Object(fixed) = &mut self.bound_mut().values {
            fixed.insert(parameter.to_owned(), value);
        }
        self.hide_param(parameter);
        Ok(())
    }

    /// Binds as [`bind`](Entry::bind) does, but to what each call brings.
    fn bind_session(&mut self) -> Result<(), RegistryError> {
        if has_param(&self.spec.input, SESSION_ID_PARAM) {
            self.bind_param(
                SESSION_ID_PARAM,
                &Value::from(SessionId::process_default().as_str()),
            )?;
            self.bound_mut().binds_session = true;
        }
        Ok(())
    }

    fn bound_mut(&mut self) -> &mut BoundParams {
        let none = || {
            Arc::new(BoundParams {
                values: json!({}),
                binds_session: false,
            })
        };
        Arc::make_mut(self.bound_params.get_or_insert_with(none))
    }

    /// Takes a parameter out of what the model sees.
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

fn check_names<T: IndexedItem>(shelf: &[T]) -> Result<(), RegistryError> {
    let mut seen = std::collections::HashMap::new();
    for it in shelf {
        let spec = &it.registered_tool().spec;
        if !ToolName::is_valid(spec.name.as_str()) {
            let name = spec.name.to_string();
            return Err(DefineError::Name { name }.into());
        }
        if let Some(first) = seen.insert(&spec.name, spec) {
            return Err(T::duplicate_error(&spec.name, first, spec));
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
        write!(
            f,
            "View of {:?} in {} steps",
            self.registry,
            self.steps.len()
        )
    }
}
