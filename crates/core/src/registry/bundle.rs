//! [`Bundle`]: tools and prompts that are added together.

use super::RegisteredTool;
use crate::call::ToolName;
use crate::error::RegistryError;
use crate::tool::prompt::Prompt;
use crate::tool::{Tool, ToolSpec};

/// One item of a [`Bundle`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum BundleItem {
    /// A function that a model may call.
    Tool(Tool),
    /// A text template that a person may pick.
    Prompt(Prompt),
}

impl BundleItem {
    /// Returns the name; a tool and a prompt may have the same.
    pub fn name(&self) -> &ToolName {
        &self.spec().name
    }

    /// Returns the specification.
    pub fn spec(&self) -> &ToolSpec {
        match self {
            Self::Tool(tool) => tool.spec(),
            Self::Prompt(prompt) => prompt.spec(),
        }
    }

    /// Returns the tool, or the tool that renders the prompt.
    pub(super) fn tool(&self) -> &Tool {
        match self {
            Self::Tool(tool) => tool,
            Self::Prompt(prompt) => &prompt.registered_tool.tool,
        }
    }
}

impl From<Tool> for BundleItem {
    fn from(tool: Tool) -> Self {
        Self::Tool(tool)
    }
}

impl From<Prompt> for BundleItem {
    fn from(prompt: Prompt) -> Self {
        Self::Prompt(prompt)
    }
}

/// Tools and prompts that belong together; the argument of [`Registry::add`](super::Registry::add).
///
/// `#[tools]` implements it; a single [`Tool`] or [`Prompt`], a list of them and a tuple of bundles are bundles too.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no bundle of tools",
    note = "write `#[tools]` on `impl {Self}`, or pass `function::tool()` or `function::prompt()`"
)]
pub trait Bundle: Sized {
    /// Converts into the tools and prompts, in the order of their definition.
    fn into_items(self) -> Vec<BundleItem>;
}

/// A bundle type, by which its tools and prompts can be selected; `#[tools]` implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no bundle type",
    label = "has no tools of its own",
    note = "name the type of a `#[tools] impl`; for other tools, write `.filter(|spec| …)`"
)]
pub trait NamedBundle: Bundle {
    /// The [`bundle`](ToolSpec::bundle) of its tools and prompts: the module of the `impl` and the type, such as
    /// `shop::admin::AdminTools`.
    const NAME: &'static str;
}

impl Bundle for Tool {
    fn into_items(self) -> Vec<BundleItem> {
        vec![BundleItem::Tool(self)]
    }
}

impl Bundle for Prompt {
    fn into_items(self) -> Vec<BundleItem> {
        vec![BundleItem::Prompt(self)]
    }
}

impl<I: Into<BundleItem>> Bundle for Vec<I> {
    fn into_items(self) -> Vec<BundleItem> {
        self.into_iter().map(Into::into).collect()
    }
}

impl<I: Into<BundleItem>, const N: usize> Bundle for [I; N] {
    fn into_items(self) -> Vec<BundleItem> {
        self.map(Into::into).into()
    }
}

macro_rules! impl_for_tuples {
    ($(($($bundle:ident),+))*) => {
        $(impl<$($bundle: Bundle),+> Bundle for ($($bundle,)+) {
            fn into_items(self) -> Vec<BundleItem> {
                #[allow(non_snake_case, reason = "each type has a variable of its name")]
                let ($($bundle,)+) = self;
                [$($bundle.into_items()),+].into_iter().flatten().collect()
            }
        })*
    };
}

impl_for_tuples! { (A) (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) (A, B, C, D, E, F) (A, B, C, D, E, F, G) (A, B, C, D, E, F, G, H) }

/// An item of a [`NameIndex`](super::NameIndex): a tool or a prompt, which are stored and looked up in the same way.
pub(crate) trait IndexedItem {
    /// The word for messages.
    const KIND_NAME: &'static str;

    fn registered_tool(&self) -> &RegisteredTool;

    fn registered_tool_mut(&mut self) -> &mut RegisteredTool;

    fn name(&self) -> &str {
        self.registered_tool().spec.name.as_str()
    }

    /// Makes the error for two items with the same name.
    fn duplicate_error(first: &ToolSpec, second: &ToolSpec) -> RegistryError {
        RegistryError::Duplicate {
            kind: Self::KIND_NAME,
            name: second.name.to_string(),
            first: first.bundle.to_string(),
            second: second.bundle.to_string(),
        }
    }
}

impl IndexedItem for RegisteredTool {
    const KIND_NAME: &'static str = "tool";

    fn registered_tool(&self) -> &RegisteredTool {
        self
    }

    fn registered_tool_mut(&mut self) -> &mut RegisteredTool {
        self
    }
}

impl IndexedItem for Prompt {
    const KIND_NAME: &'static str = "prompt";

    fn registered_tool(&self) -> &RegisteredTool {
        &self.registered_tool
    }

    fn registered_tool_mut(&mut self) -> &mut RegisteredTool {
        &mut self.registered_tool
    }
}
