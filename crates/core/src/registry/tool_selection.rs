//! [`ToolSelection`]: which tools of a view to keep, and which to add.

use std::collections::HashSet;

use super::bundle::BundleItem;
use super::snapshot::Snapshot;
use super::view::View;
use crate::tool::ToolSpec;

/// Which tools and prompts of a view to keep, and which to add; by default, all are kept and none are added.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ToolSelection {
    /// Keeps only the tools with these names, and those of [`bundles`](Self::bundles).
    pub names: Vec<String>,
    /// Keeps only the tools of these bundles, and those of [`names`](Self::names).
    pub bundles: Vec<String>,
    /// Added to those that are kept.
    pub added: Vec<BundleItem>,
    /// Keeps no tool that is not selected by its name or bundle.
    pub only_added: bool,
    /// Removed, even if they are selected or added.
    pub excluded: Vec<String>,
}

impl ToolSelection {
    /// Returns true if all tools are kept and none are added.
    pub fn is_empty(&self) -> bool {
        self.keeps_all() && self.added.is_empty() && self.excluded.is_empty()
    }

    fn keeps_all(&self) -> bool {
        !self.only_added && self.names.is_empty() && self.bundles.is_empty()
    }

    /// Returns true if the snapshot, or the selection itself, has a tool with this name.
    pub fn is_known(&self, name: &str, snapshot: &Snapshot) -> bool {
        snapshot.get(name).is_some() || self.added.iter().any(|item| item.name() == name)
    }

    /// Returns the names of tools and bundles that neither the snapshot nor the added tools have.
    pub fn unknown_names(&self, snapshot: &Snapshot) -> Vec<&str> {
        let is_unknown = |name: &&String| !self.is_known(name, snapshot);
        let known: HashSet<&str> = snapshot.iter().map(|tool| &*tool.spec().bundle).collect();
        let bundles = self.bundles.iter().filter(|bundle| !known.contains(bundle.as_str()));
        let names = self.names.iter().filter(is_unknown).chain(bundles);
        names.chain(self.excluded.iter().filter(is_unknown)).map(String::as_str).collect()
    }

    /// Applies the selection to a view; unknown names are skipped.
    pub fn apply(&self, view: View) -> View {
        let keeps_all = self.keeps_all();
        let names: HashSet<String> = self.names.iter().cloned().collect();
        let bundles: HashSet<String> = self.bundles.iter().cloned().collect();
        let keep = move |spec: &ToolSpec| {
            keeps_all || names.contains(spec.name.as_str()) || bundles.contains(&*spec.bundle)
        };
        view.filter(keep).with(self.added.clone()).exclude(&self.excluded)
    }
}
