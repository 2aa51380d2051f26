//! Link-time discovery: every bundle that is linked in, found without naming it.

use std::any::TypeId;

use super::{Item, Registry};
use crate::error::RegistryError;

/// A bundle that `#[tool]`, `#[prompt]` or `#[tools]` left in the binary.
#[doc(hidden)]
pub struct Linked {
    /// Where it was written.
    pub place: Place,
    /// The application types it is meant for; none means all.
    pub supported_for: &'static [fn() -> TypeId],
    /// Makes what it brings.
    pub make: fn() -> Vec<Item>,
}

inventory::collect!(Linked);

/// Where a bundle was written: what discovery is ordered by.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
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
pub trait Discovered {
    /// Makes the bundle.
    fn discovered() -> Self;
}

#[diagnostic::do_not_recommend]
impl<B: Default> Discovered for B {
    fn discovered() -> Self {
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
pub trait Construct<B> {
    /// Makes the bundle.
    fn construct(self) -> B;
}

#[diagnostic::do_not_recommend]
impl<B, F: FnOnce() -> B> Construct<B> for F {
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
pub trait App: 'static {
    /// Returns what else the application counts as.
    fn kinds() -> Vec<TypeId> {
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
        Self::discover_admitting(&[])
    }

    /// Makes a registry of every linked bundle that admits the application `A`.
    ///
    /// # Errors
    ///
    /// When a tool or prompt is not well defined, or two of a kind have one name.
    pub fn discover_for<A: App>() -> Result<Self, RegistryError> {
        let mut kinds = A::kinds();
        kinds.push(TypeId::of::<A>());
        Self::discover_admitting(&kinds)
    }

    fn discover_admitting(kinds: &[TypeId]) -> Result<Self, RegistryError> {
        let admits = |linked: &&Linked| {
            let mut wanted = linked.supported_for.iter();
            linked.supported_for.is_empty() || wanted.any(|kind| kinds.contains(&kind()))
        };
        let mut found: Vec<&Linked> = inventory::iter::<Linked>
            .into_iter()
            .filter(admits)
            .collect();
        found.sort_by_key(|linked| linked.place);
        let registry = Self::new();
        for linked in found {
            registry.add((linked.make)())?;
        }
        Ok(registry)
    }
}
