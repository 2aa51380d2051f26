//! Link-time discovery: every bundle that is linked in, found without naming it.

use std::any::TypeId;

use super::{BundleItem, Registry};
use crate::error::RegistryError;

/// A bundle that `#[tool]`, `#[prompt]` or `#[tools]` left in the binary.
#[doc(hidden)]
pub struct LinkedBundle {
    /// Where it was written.
    pub location: BundleLocation,
    /// The application types it is meant for; none means all.
    pub supported_for: &'static [fn() -> TypeId],
    /// Makes what it brings.
    pub make: fn() -> Vec<BundleItem>,
}

inventory::collect!(LinkedBundle);

/// Where a bundle was written: what discovery is ordered by.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BundleLocation {
    /// The module's path, which begins with the crate.
    pub module: &'static str,
    /// The type's name; empty for a free function.
    pub type_name: &'static str,
    /// Keeps the free functions of one module in the order they were written.
    pub line: u32,
}

/// A bundle that discovery can make by itself.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "discovery cannot make a `{Self}`",
    label = "has no `Default`",
    note = "write `#[derive(Default)]` on `{Self}`, or name a constructor: `#[tools(new = path)]`",
    note = "or leave it to `registry.add(…)`: `#[tools(manual)]`"
)]
pub trait DiscoverableBundle {
    /// Makes the bundle.
    fn default_bundle() -> Self;
}

#[diagnostic::do_not_recommend]
impl<B: Default> DiscoverableBundle for B {
    fn default_bundle() -> Self {
        Self::default()
    }
}

/// A function that discovery can make a bundle with.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "discovery cannot make a `{B}` with this",
    label = "is no function without parameters that returns a `{B}`",
    note = "write `#[tools(new = …)]` with the name of a `fn() -> {B}`"
)]
pub trait BundleConstructor<B> {
    /// Makes the bundle.
    fn construct(self) -> B;
}

#[diagnostic::do_not_recommend]
impl<B, F: FnOnce() -> B> BundleConstructor<B> for F {
    fn construct(self) -> B {
        self()
    }
}

/// An application that bundles can be restricted to with `#[tools(supported_for(…))]`.
///
/// # Examples
///
/// ```
/// use std::any::TypeId;
/// use toolwright::App;
///
/// struct Processor;
/// struct ActProcessor;
///
/// impl App for ActProcessor {
///     fn kinds() -> Vec<TypeId> {
///         vec![TypeId::of::<Processor>()]
///     }
/// }
/// ```
pub trait AppKind: 'static {
    /// Returns what else the application counts as.
    fn compatible_types() -> Vec<TypeId> {
        Vec::new()
    }
}

impl Registry {
    /// Makes a registry of every linked bundle that is not restricted to an application.
    ///
    /// Order: crate, module, type name; free functions in the order they were written.
    /// A crate that is linked but never named contributes nothing: write `use my_tools as _;`.
    ///
    /// # Errors
    ///
    /// When a tool or prompt is not well defined, or two of a kind have one name.
    pub fn discover() -> Result<Self, RegistryError> {
        Self::discover_compatible(&[])
    }

    /// Makes a registry of every linked bundle that admits the application `A`.
    ///
    /// # Errors
    ///
    /// When a tool or prompt is not well defined, or two of a kind have one name.
    pub fn discover_for<A: AppKind>() -> Result<Self, RegistryError> {
        let mut kinds = A::compatible_types();
        kinds.push(TypeId::of::<A>());
        Self::discover_compatible(&kinds)
    }

    fn discover_compatible(kinds: &[TypeId]) -> Result<Self, RegistryError> {
        let admits = |linked: &&LinkedBundle| {
            let mut wanted = linked.supported_for.iter();
            linked.supported_for.is_empty() || wanted.any(|kind| kinds.contains(&kind()))
        };
        let mut found: Vec<&LinkedBundle> = inventory::iter::<LinkedBundle>
            .into_iter()
            .filter(admits)
            .collect();
        found.sort_by_key(|linked| linked.location);
        let registry = Self::new();
        for linked in found {
            registry.add((linked.make)())?;
        }
        Ok(registry)
    }
}
