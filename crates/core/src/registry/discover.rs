//! Link-time discovery of the bundles in the binary.

use std::any::TypeId;

use super::{BundleItem, Registry};
use crate::error::RegistryError;

/// A bundle that `#[tool]`, `#[prompt]` or `#[tools]` submitted at link time.
#[doc(hidden)]
pub struct LinkedBundle {
    /// Its position in the source.
    pub location: BundleLocation,
    /// The application types it is restricted to; empty means all.
    pub supported_for: &'static [fn() -> TypeId],
    /// Makes its tools and prompts.
    pub make: fn() -> Vec<BundleItem>,
}

inventory::collect!(LinkedBundle);

/// Where a bundle of tools is defined in the Rust source: the sort key of discovery.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BundleLocation {
    /// The module's path, which begins with the crate.
    pub module: &'static str,
    /// The type's name; empty for a free function.
    pub type_name: &'static str,
    /// The line, which sorts the free functions of one module.
    pub line: u32,
}

/// A bundle that discovery can make without a constructor.
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

/// The constructor of a bundle, for discovery.
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
/// ```standalone_crate
/// use toolwright::{AppKind, Registry, tools};
///
/// #[derive(AppKind)]
/// struct Processor;
///
/// /// Accepts the bundles of a `Processor` too.
/// #[derive(AppKind)]
/// #[app_kind(Processor)]
/// struct ActProcessor;
///
/// #[derive(Default)]
/// struct Printing;
///
/// #[tools(supported_for(Processor))]
/// impl Printing {
///     /// Prints a page.
///     #[tool]
///     fn print_page(number: u32) {}
/// }
///
/// assert!(Registry::discover()?.get("print_page").is_none());
/// assert!(Registry::discover_for::<ActProcessor>()?.get("print_page").is_some());
/// # Ok::<(), toolwright::RegistryError>(())
/// ```
pub trait AppKind: 'static {
    /// Returns the other application types whose bundles this one accepts.
    fn compatible_types() -> Vec<TypeId> {
        Vec::new()
    }
}

impl Registry {
    /// Makes a registry of every linked bundle that is not restricted to an application.
    ///
    /// Order: crate, module, type name; free functions in the order of the source.
    /// The linker drops a crate that is never mentioned: write `use my_tools as _;`.
    ///
    /// # Errors
    ///
    /// When a definition is not valid, or two tools or two prompts have the same name.
    pub fn discover() -> Result<Self, RegistryError> {
        Self::discover_compatible(&[])
    }

    /// Makes a registry of every linked bundle that supports the application `A`.
    ///
    /// # Errors
    ///
    /// When a definition is not valid, or two tools or two prompts have the same name.
    pub fn discover_for<A: AppKind>() -> Result<Self, RegistryError> {
        let mut app_types = A::compatible_types();
        app_types.push(TypeId::of::<A>());
        Self::discover_compatible(&app_types)
    }

    fn discover_compatible(app_types: &[TypeId]) -> Result<Self, RegistryError> {
        let is_supported = |linked: &&LinkedBundle| {
            let mut supported = linked.supported_for.iter();
            linked.supported_for.is_empty() || supported.any(|id| app_types.contains(&id()))
        };
        let mut found: Vec<&LinkedBundle> =
            inventory::iter::<LinkedBundle>.into_iter().filter(is_supported).collect();
        found.sort_by_key(|linked| linked.location);
        let registry = Self::new();
        for linked in found {
            registry.add((linked.make)())?;
        }
        Ok(registry)
    }
}
