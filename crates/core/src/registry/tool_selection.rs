//! [`ToolSelection`]: which tools of a view to keep, and which to add.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use indexmap::IndexSet;
use serde_json::json;
use toolwright_schema::Schema;

use super::bundle::{Bundle, BundleItem, NamedBundle};
use super::snapshot::{RegisteredTool, Snapshot};
use super::view::View;
use crate::tool::ToolSpec;
use crate::tool::policy::Hints;
use crate::tool::prompt::Prompt;

/// Which tools and prompts of a view to keep, and which to add; by default, all are kept and none are added.
///
/// Every snapshot of the view is selected anew: a tool that joins an excluded bundle later is excluded too.
///
/// # Examples
///
/// ```
/// use toolwright::{Registry, ToolSelection, tool, tools};
///
/// /// Finds an order.
/// #[tool(read_only)]
/// fn find_order(number: u32) -> String {
///     format!("order {number}")
/// }
///
/// struct AdminTools;
///
/// #[tools(manual)]
/// impl AdminTools {
///     /// Refunds an order.
///     #[tool(destructive)]
///     fn refund(number: u32) -> String {
///         format!("refunded {number}")
///     }
/// }
///
/// let registry = Registry::new();
/// registry.add(find_order::tool())?;
/// let view = ToolSelection::default().exclude_bundle::<AdminTools>().apply(registry.all());
/// registry.add(AdminTools)?;
/// assert_eq!(view.snapshot()?.len(), 1);
/// # Ok::<(), toolwright::RegistryError>(())
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct ToolSelection {
    /// Keeps only the tools with these names, and those of [`bundles`](Self::bundles).
    pub names: IndexSet<String>,
    /// Keeps only the tools of these bundles, and those of [`names`](Self::names).
    pub bundles: IndexSet<String>,
    /// Added to those that are kept.
    pub added: Vec<BundleItem>,
    /// Keeps no tool that is not selected by its name or bundle.
    pub only_added: bool,
    /// Removed, even if they are selected or added.
    pub excluded: IndexSet<String>,
    excluded_bundles: IndexSet<&'static str>,
    filters: Vec<Arc<SpecPredicate>>,
}

/// Returns true if a tool or prompt is kept.
type SpecPredicate = dyn Fn(&ToolSpec) -> bool + Send + Sync;

impl ToolSelection {
    /// Keeps only the tools and prompts with these names, and those of selected bundles.
    #[must_use]
    pub fn only_tools_named<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.names.extend(names.into_iter().map(Into::into));
        self
    }

    /// Keeps only the tools and prompts of the bundles with these names, and those selected by name.
    #[must_use]
    pub fn bundles<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.bundles.extend(names.into_iter().map(Into::into));
        self
    }

    /// Keeps only the tools and prompts of a bundle, and those selected by name.
    #[must_use]
    pub fn only_bundle<B: NamedBundle>(self) -> Self {
        self.bundles([B::NAME])
    }

    /// Adds tools and prompts.
    #[must_use]
    pub fn tools(mut self, bundle: impl Bundle) -> Self {
        self.added.extend(bundle.into_items());
        self
    }

    /// Adds tools and prompts, and keeps no others that are not selected by name or bundle.
    #[must_use]
    pub fn only_tools(mut self, bundle: impl Bundle) -> Self {
        self.only_added = true;
        self.tools(bundle)
    }

    /// Removes the tools and prompts with these names, even if they are selected or added.
    #[must_use]
    pub fn exclude<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.excluded.extend(names.into_iter().map(Into::into));
        self
    }

    /// Removes the tools and prompts of a bundle, even if they are selected or added.
    #[must_use]
    pub fn exclude_bundle<B: NamedBundle>(mut self) -> Self {
        self.excluded_bundles.insert(B::NAME);
        self
    }

    /// Removes the tools and prompts that `keep` does not accept, even if they are selected or added.
    #[must_use]
    pub fn filter(mut self, keep: impl Fn(&ToolSpec) -> bool + Send + Sync + 'static) -> Self {
        self.filters.push(Arc::new(keep));
        self
    }

    /// Returns true if all tools are kept and none are added.
    pub fn is_empty(&self) -> bool {
        self.keeps_all()
            && self.added.is_empty()
            && self.excluded.is_empty()
            && self.excluded_bundles.is_empty()
            && self.filters.is_empty()
    }

    fn keeps_all(&self) -> bool {
        !self.only_added && self.names.is_empty() && self.bundles.is_empty()
    }

    /// Returns true if a tool or prompt with this specification is kept.
    pub fn keeps(&self, spec: &ToolSpec) -> bool {
        self.selects(spec) && !self.excludes(spec)
    }

    fn selects(&self, spec: &ToolSpec) -> bool {
        self.keeps_all()
            || self.names.contains(spec.name.as_str())
            || self.bundles.contains(&*spec.bundle)
    }

    /// Returns true if a tool or prompt with this specification is removed, even if it is selected or added.
    pub fn excludes(&self, spec: &ToolSpec) -> bool {
        self.excluded.contains(spec.name.as_str())
            || self.excluded_bundles.contains(&*spec.bundle)
            || !self.filters.iter().all(|keep| keep(spec))
    }

    /// Returns true if the snapshot, or the selection itself, has a tool or prompt with this name.
    pub fn is_known(&self, name: &str, snapshot: &Snapshot) -> bool {
        snapshot.get(name).is_some()
            || snapshot.prompt(name).is_some()
            || self.added.iter().any(|item| item.name() == name)
    }

    /// Returns the names of tools, prompts and bundles that neither the snapshot nor the added items have.
    pub fn unknown_names(&self, snapshot: &Snapshot) -> Vec<&str> {
        let is_unknown = |name: &&String| !self.is_known(name, snapshot);
        let specs = snapshot.iter().map(RegisteredTool::spec);
        let specs = specs.chain(snapshot.prompts().map(Prompt::spec));
        let known: HashSet<&str> = specs.map(|spec| &*spec.bundle).collect();
        let bundles = self.bundles.iter().filter(|bundle| !known.contains(bundle.as_str()));
        let names = self.names.iter().filter(is_unknown).chain(bundles);
        names.chain(self.excluded.iter().filter(is_unknown)).map(String::as_str).collect()
    }

    /// Returns true if a tool of this name that a vendor runs is kept. It is in a bundle of its own name, because a server is a
    /// bundle, and declares no effects.
    pub fn keeps_hosted(&self, name: &str) -> bool {
        self.keeps(&ToolSpec {
            name: name.into(),
            title: None,
            icon: None,
            description: String::new(),
            input: Schema::trusted(json!({})),
            output: None,
            hints: Hints::default(),
            bundle: name.into(),
            tags: Vec::new(),
            questions: Vec::new(),
            custom_format: None,
        })
    }

    /// Applies the selection to a view; unknown names are skipped.
    pub fn apply(&self, view: View) -> View {
        let selection = Arc::new(self.clone());
        let selected = {
            let selection = Arc::clone(&selection);
            view.filter(move |spec| selection.selects(spec))
        };
        selected.with(self.added.clone()).filter(move |spec| !selection.excludes(spec))
    }
}

impl fmt::Debug for ToolSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolSelection")
            .field("names", &self.names)
            .field("bundles", &self.bundles)
            .field("added", &self.added)
            .field("excluded", &self.excluded)
            .field("excluded_bundles", &self.excluded_bundles)
            .finish_non_exhaustive()
    }
}

/// Gives a builder with a field `selection` the methods of a [`ToolSelection`].
#[doc(hidden)]
#[macro_export]
macro_rules! delegate_tool_selection {
    ($builder:ty) => {
        impl $builder {
            /// Keeps only the tools and prompts with these names, and those of selected bundles.
            #[must_use = "the changed builder is returned"]
            pub fn only_tools_named<N: Into<String>>(
                mut self,
                names: impl IntoIterator<Item = N>,
            ) -> Self {
                self.selection = self.selection.only_tools_named(names);
                self
            }

            /// Keeps only the tools and prompts of the bundles with these names, and those selected by name.
            #[must_use = "the changed builder is returned"]
            pub fn bundles<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
                self.selection = self.selection.bundles(names);
                self
            }

            /// Keeps only the tools and prompts of a bundle, and those selected by name.
            #[must_use = "the changed builder is returned"]
            pub fn only_bundle<B: $crate::NamedBundle>(mut self) -> Self {
                self.selection = self.selection.only_bundle::<B>();
                self
            }

            /// Adds tools and prompts.
            #[must_use = "the changed builder is returned"]
            pub fn tools(mut self, bundle: impl $crate::Bundle) -> Self {
                self.selection = self.selection.tools(bundle);
                self
            }

            /// Adds tools and prompts, and keeps no others that are not selected by name or bundle.
            #[must_use = "the changed builder is returned"]
            pub fn only_tools(mut self, bundle: impl $crate::Bundle) -> Self {
                self.selection = self.selection.only_tools(bundle);
                self
            }

            /// Removes the tools and prompts with these names, even if they are selected or added.
            #[must_use = "the changed builder is returned"]
            pub fn exclude<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
                self.selection = self.selection.exclude(names);
                self
            }

            /// Removes the tools and prompts of a bundle, even if they are selected or added; those that join it later, too.
            #[must_use = "the changed builder is returned"]
            pub fn exclude_bundle<B: $crate::NamedBundle>(mut self) -> Self {
                self.selection = self.selection.exclude_bundle::<B>();
                self
            }

            /// Removes the tools and prompts that `keep` does not accept, even if they are selected or added.
            #[must_use = "the changed builder is returned"]
            pub fn filter(
                mut self,
                keep: impl Fn(&$crate::ToolSpec) -> bool + Send + Sync + 'static,
            ) -> Self {
                self.selection = self.selection.filter(keep);
                self
            }
        }
    };
}
