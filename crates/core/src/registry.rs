//! Tools in, one consistent view of them out.
//!
//! A registry may change at any time; readers hold a [`Snapshot`], which never does. A turn and a
//! listing each see one snapshot, and whatever is cached is keyed by its version.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::stream::{self, Stream};
use indexmap::IndexMap;
use tokio::sync::watch;

use crate::call::ToolName;
use crate::encode::Encoders;
use crate::error::RegistryError;
use crate::result::ToolResult;
use crate::tool::Tool;

mod discover;
mod settings;
mod snapshot;
mod view;

pub use discover::{App, Construct, Discovered, Linked, Place};
pub(crate) use snapshot::{Bound, Found};
pub use snapshot::{Entry, Snapshot};
pub use view::View;

/// The tools of a program; cheap to clone, all clones are one registry.
///
/// # Examples
///
/// ```
/// use toolwright::{Registry, tool};
///
/// /// Greets somebody.
/// #[tool(read_only)]
/// fn greet(name: String) -> String {
///     format!("Hello, {name}!")
/// }
///
/// let registry = Registry::new();
/// registry.add(greet::tool())?;
/// assert!(registry.get("greet").is_some());
/// # Ok::<(), toolwright::RegistryError>(())
/// ```
#[derive(Clone)]
pub struct Registry(Arc<Shared>);

struct Shared {
    tools: Mutex<Tools>,
    /// Counts changes; read before every call, so it is no lock.
    version: AtomicU64,
    changed: watch::Sender<u64>,
}

#[derive(Default)]
struct Tools {
    by_name: IndexMap<ToolName, Tool>,
    encoders: Encoders,
    /// Made when it is first asked for, so that adding ten thousand tools copies none of them.
    snapshot: Option<Arc<Snapshot>>,
}

/// Tools that belong together: what [`Registry::add`] takes.
///
/// `#[tools]` implements it; a single [`Tool`] and a list of tools are bundles too.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no bundle of tools",
    note = "write `#[tools]` on `impl {Self}`, or pass `function::tool()`"
)]
pub trait Bundle: Sized {
    /// Gives up the tools, in the order they were written.
    fn into_tools(self) -> Vec<Tool>;
}

impl Bundle for Tool {
    fn into_tools(self) -> Vec<Tool> {
        vec![self]
    }
}

impl Bundle for Vec<Tool> {
    fn into_tools(self) -> Vec<Tool> {
        self
    }
}

impl Registry {
    /// Makes an empty registry.
    pub fn new() -> Self {
        Self(Arc::new(Shared {
            tools: Mutex::default(),
            version: AtomicU64::new(0),
            changed: watch::Sender::new(0),
        }))
    }

    /// Adds a tool, a list of tools, or a bundle: all of it or, if anything is wrong, nothing.
    ///
    /// # Errors
    ///
    /// When a tool is not well defined, or its name is taken.
    pub fn add(&self, bundle: impl Bundle) -> Result<(), RegistryError> {
        let added = bundle.into_tools();
        if added.is_empty() {
            return Ok(());
        }
        let mut tools = self.tools();
        let mut names: HashMap<&ToolName, &Tool> = HashMap::new();
        for tool in &added {
            if let Some(defect) = &tool.0.defect {
                return Err(defect.clone().into());
            }
            let held = tools.by_name.get(tool.name());
            if let Some(first) = held.or_else(|| names.get(tool.name()).copied()) {
                return Err(duplicate(tool.name(), first, tool));
            }
            names.insert(tool.name(), tool);
        }
        for tool in added {
            tools.by_name.insert(tool.name().clone(), tool);
        }
        self.changed(&mut tools);
        Ok(())
    }

    /// Removes a tool by name, and returns it.
    pub fn remove(&self, name: &str) -> Option<Tool> {
        let mut tools = self.tools();
        let removed = tools.by_name.shift_remove(name)?;
        self.changed(&mut tools);
        Some(removed)
    }

    /// Encodes results of type `T` with `encode` instead of as JSON text.
    ///
    /// For one type the highest priority wins, and the later of equals.
    pub fn encoder<T: 'static>(
        &self,
        priority: i32,
        encode: impl Fn(&T) -> ToolResult + Send + Sync + 'static,
    ) {
        let mut tools = self.tools();
        tools.encoders = tools.encoders.with(priority, encode);
        self.changed(&mut tools);
    }

    /// Returns a tool by its exact name.
    pub fn get(&self, name: &str) -> Option<Tool> {
        self.tools().by_name.get(name).cloned()
    }

    /// Returns the names of all bundles, in the order their first tool was added.
    pub fn bundles(&self) -> Vec<Arc<str>> {
        let tools = self.tools();
        let mut names: Vec<Arc<str>> = Vec::new();
        for tool in tools.by_name.values() {
            if !names.contains(&tool.spec().bundle) {
                names.push(Arc::clone(&tool.spec().bundle));
            }
        }
        names
    }

    /// Returns all tools as they are now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        let mut tools = self.tools();
        if let Some(snapshot) = &tools.snapshot {
            return Arc::clone(snapshot);
        }
        let entries = tools.by_name.values().cloned().map(Entry::of).collect();
        let snapshot = Snapshot::new(self.version(), entries, tools.encoders.clone());
        let snapshot = Arc::new(snapshot);
        tools.snapshot = Some(Arc::clone(&snapshot));
        snapshot
    }

    /// Returns a view of all tools, which follows the registry's changes.
    pub fn all(&self) -> View {
        View::new(self.clone())
    }

    /// Returns a view of the tools with these names; unknown names are skipped.
    pub fn select<N: Into<String>>(&self, names: impl IntoIterator<Item = N>) -> View {
        self.all().select(names)
    }

    /// Streams the registry's version, once per change or run of changes, beginning with the next.
    pub fn changes(&self) -> impl Stream<Item = u64> + Send + use<> {
        let receiver = self.0.changed.subscribe();
        // The stream must not keep the registry alive: it ends when the last clone is dropped.
        stream::unfold(receiver, |mut receiver| async move {
            receiver.changed().await.ok()?;
            let version = *receiver.borrow_and_update();
            Some((version, receiver))
        })
    }

    pub(crate) fn version(&self) -> u64 {
        self.0.version.load(Ordering::Acquire)
    }

    fn tools(&self) -> MutexGuard<'_, Tools> {
        self.0.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells those who follow; called with the tools still locked, so that versions and tools agree.
    fn changed(&self, tools: &mut Tools) {
        tools.snapshot = None;
        let version = 1 + self.0.version.fetch_add(1, Ordering::AcqRel);
        self.0.changed.send_replace(version);
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.tools().by_name.keys()).finish()
    }
}

fn duplicate(name: &ToolName, first: &Tool, second: &Tool) -> RegistryError {
    RegistryError::Duplicate {
        name: name.to_string(),
        first: first.spec().bundle.to_string(),
        second: second.spec().bundle.to_string(),
    }
}
