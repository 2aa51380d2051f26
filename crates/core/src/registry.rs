//! [`Registry`]: the tools and prompts of a program.
//!
//! A registry may change at any time; readers hold a [`Snapshot`], which never does. A turn and a
//! listing each use one snapshot, and caches are keyed by its version.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::stream::{self, Stream};
use indexmap::IndexMap;
use tokio::sync::watch;

use crate::call::result::ToolResult;
use crate::call::{Arguments, ToolCall, ToolName};
use crate::error::{RegistryError, ToolError};
use crate::invoker::Invoker;
use crate::tool::encode::Encoders;
use crate::tool::prompt::Prompt;
use crate::tool::{Tool, ToolSpec};

mod bundle;
mod discover;
mod name_index;
mod snapshot;
mod tool_selection;
mod tool_settings;
mod view;

pub(crate) use bundle::IndexedItem;
pub use bundle::{Bundle, BundleItem, NamedBundle};
pub use discover::{AppKind, BundleConstructor, BundleLocation, DiscoverableBundle, LinkedBundle};
pub(crate) use name_index::{NameIndex, NameMatch};
pub(crate) use snapshot::BoundParams;
pub use snapshot::{RegisteredTool, Snapshot};
pub use tool_selection::ToolSelection;
pub(crate) use tool_settings::ToolSettings;
pub use tool_settings::parse_duration;
pub use view::View;

/// The tools and prompts of a program; cheap to clone, all clones are one registry.
///
/// Methods without `prompt` in their name concern tools only: a model never sees a prompt.
///
/// # Examples
///
/// ```
/// use toolwright::{Registry, tool};
///
/// /// Greets a person.
/// #[tool(read_only)]
/// fn greet(name: String) -> String {
///     format!("Hello, {name}!")
/// }
///
/// let registry = Registry::of(greet::tool())?;
/// assert!(registry.get("greet").is_some());
/// # Ok::<(), toolwright::RegistryError>(())
/// ```
#[derive(Clone)]
pub struct Registry(Arc<RegistryInner>);

struct RegistryInner {
    state: Mutex<RegistryState>,
    /// Counts changes. Read before every call, so it is outside the lock.
    version: AtomicU64,
    version_sender: watch::Sender<u64>,
}

#[derive(Default)]
struct RegistryState {
    tools: IndexMap<ToolName, Tool>,
    prompts: IndexMap<ToolName, Prompt>,
    encoders: Encoders,
    /// Made on first use, so that adding ten thousand tools one by one copies none of them.
    snapshot: Option<Arc<Snapshot>>,
}

/// The specifications of the items being added, by name.
type SpecsByName<'a> = HashMap<&'a ToolName, &'a ToolSpec>;

impl Registry {
    /// Makes an empty registry.
    pub fn new() -> Self {
        Self(Arc::new(RegistryInner {
            state: Mutex::default(),
            version: AtomicU64::new(0),
            version_sender: watch::Sender::new(0),
        }))
    }

    /// Makes a registry of a tool, a prompt, a list, a bundle, or a tuple of these.
    ///
    /// # Errors
    ///
    /// When a definition is not valid, or two tools or two prompts have the same name.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::{Registry, prompt, tool, tools};
    ///
    /// #[derive(Default)]
    /// struct Clock;
    ///
    /// #[tools]
    /// impl Clock {
    ///     /// Returns the year.
    ///     #[tool(read_only)]
    ///     fn year() -> u16 {
    ///         2026
    ///     }
    /// }
    ///
    /// /// Greets a person.
    /// #[tool(read_only)]
    /// fn greet(name: String) -> String {
    ///     format!("Hello, {name}!")
    /// }
    ///
    /// /// Starts a conversation.
    /// #[prompt]
    /// fn start() -> &'static str {
    ///     "What year is it?"
    /// }
    ///
    /// let registry = Registry::of((Clock, greet::tool(), start::prompt()))?;
    /// assert_eq!(registry.snapshot().len(), 2);
    /// # Ok::<(), toolwright::RegistryError>(())
    /// ```
    pub fn of(bundle: impl Bundle) -> Result<Self, RegistryError> {
        let registry = Self::new();
        registry.add(bundle)?;
        Ok(registry)
    }

    /// Calls a tool for an anonymous caller, with the default options of an [`Invoker`].
    ///
    /// For a test or a script: it makes an invoker for this one call. A tool that needs [`State`](crate::State), settings or
    /// approval fails with a result that states so; make an invoker for it with [`Invoker::builder`].
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::{Registry, json, tool};
    ///
    /// /// Adds two numbers.
    /// #[tool(read_only)]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let registry = Registry::of(add::tool())?;
    /// assert_eq!(registry.call("add", json!({"a": 2, "b": 3})).await.text(), "5");
    /// # Ok::<(), toolwright::RegistryError>(()) }).unwrap();
    /// ```
    pub async fn call(
        &self,
        name: impl Into<ToolName>,
        arguments: impl Into<Arguments>,
    ) -> ToolResult {
        let call = ToolCall::new(name, arguments);
        match Invoker::builder(self).build_unchecked() {
            Ok(invoker) => invoker.invoke(&call).await,
            Err(error) => ToolResult::from(ToolError::from(error)).for_call(&call.id, &call.name),
        }
    }

    /// Adds a tool, a prompt, a list, a bundle, or a tuple of these: all of it or, on an error, nothing.
    ///
    /// # Errors
    ///
    /// When a definition is not valid, or another tool or prompt has its name.
    pub fn add(&self, bundle: impl Bundle) -> Result<(), RegistryError> {
        let added = bundle.into_items();
        if added.is_empty() {
            return Ok(());
        }
        let mut state = self.lock_state();
        let (mut tools, mut prompts) = (SpecsByName::new(), SpecsByName::new());
        for item in &added {
            if let Some(error) = &item.tool().0.definition_error {
                return Err(error.clone().into());
            }
            let (name, spec) = (item.name(), item.spec());
            match item {
                BundleItem::Tool(_) => {
                    let taken = state.tools.get(name).map(Tool::spec);
                    if let Some(first) = taken.or_else(|| tools.insert(name, spec)) {
                        return Err(RegisteredTool::duplicate_error(first, spec));
                    }
                }
                BundleItem::Prompt(_) => {
                    let taken = state.prompts.get(name).map(Prompt::spec);
                    if let Some(first) = taken.or_else(|| prompts.insert(name, spec)) {
                        return Err(Prompt::duplicate_error(first, spec));
                    }
                }
            }
        }
        for item in added {
            let name = item.name().clone();
            match item {
                BundleItem::Tool(tool) => drop(state.tools.insert(name, tool)),
                BundleItem::Prompt(prompt) => drop(state.prompts.insert(name, prompt)),
            }
        }
        self.bump_version(&mut state);
        Ok(())
    }

    /// Removes a tool by name, and returns it.
    pub fn remove(&self, name: &str) -> Option<Tool> {
        let mut state = self.lock_state();
        let removed = state.tools.shift_remove(name)?;
        self.bump_version(&mut state);
        Some(removed)
    }

    /// Removes a prompt by name, and returns it.
    pub fn remove_prompt(&self, name: &str) -> Option<Prompt> {
        let mut state = self.lock_state();
        let removed = state.prompts.shift_remove(name)?;
        self.bump_version(&mut state);
        Some(removed)
    }

    /// Encodes results of type `T` with `encode` instead of as JSON text.
    ///
    /// For one type the highest priority wins, and the later of equals.
    pub fn add_encoder<T: 'static>(
        &self,
        priority: i32,
        encode: impl Fn(&T) -> ToolResult + Send + Sync + 'static,
    ) {
        let mut state = self.lock_state();
        state.encoders = state.encoders.with(priority, encode);
        self.bump_version(&mut state);
    }

    /// Returns a tool by its exact name.
    pub fn get(&self, name: &str) -> Option<Tool> {
        self.lock_state().tools.get(name).cloned()
    }

    /// Returns a prompt by its exact name.
    pub fn prompt(&self, name: &str) -> Option<Prompt> {
        self.lock_state().prompts.get(name).cloned()
    }

    /// Returns the names of all bundles, in the order their first tool was added; those without
    /// tools last.
    pub fn bundles(&self) -> Vec<Arc<str>> {
        let state = self.lock_state();
        let mut names: Vec<Arc<str>> = Vec::new();
        let tools = state.tools.values().map(Tool::spec);
        for spec in tools.chain(state.prompts.values().map(Prompt::spec)) {
            if !names.contains(&spec.bundle) {
                names.push(Arc::clone(&spec.bundle));
            }
        }
        names
    }

    /// Returns all tools and prompts at this moment.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        let mut state = self.lock_state();
        if let Some(snapshot) = &state.snapshot {
            return Arc::clone(snapshot);
        }
        let snapshot = Arc::new(Snapshot::new(
            self.version(),
            state.tools.values().cloned().map(RegisteredTool::new).collect(),
            state.prompts.values().cloned().collect(),
            state.encoders.clone(),
        ));
        state.snapshot = Some(Arc::clone(&snapshot));
        snapshot
    }

    /// Returns a view of all tools and prompts, which follows the registry's changes.
    pub fn all(&self) -> View {
        View::new(self.clone())
    }

    /// Returns a view of the tools and prompts with these names; unknown names are skipped.
    pub fn select<N: Into<String>>(&self, names: impl IntoIterator<Item = N>) -> View {
        self.all().select(names)
    }

    /// Streams the registry's version: one item per change from now on; several quick changes may be one item.
    pub fn changes(&self) -> impl Stream<Item = u64> + Send + use<> {
        let receiver = self.0.version_sender.subscribe();
        // The stream must not keep the registry alive: it ends when the last clone is dropped.
        stream::unfold(receiver, |mut receiver| async move {
            receiver.changed().await.ok()?;
            let version = *receiver.borrow_and_update();
            Some((version, receiver))
        })
    }

    /// Returns true if both are clones of one registry.
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn version(&self) -> u64 {
        self.0.version.load(Ordering::Acquire)
    }

    fn lock_state(&self) -> MutexGuard<'_, RegistryState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notifies the streams of [`changes`](Self::changes). Called with the lock held, so that versions and contents agree.
    fn bump_version(&self, state: &mut RegistryState) {
        state.snapshot = None;
        let version = 1 + self.0.version.fetch_add(1, Ordering::AcqRel);
        self.0.version_sender.send_replace(version);
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.lock_state().tools.keys()).finish()
    }
}
