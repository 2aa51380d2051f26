//! What a bundle brings: tools and prompts.

use super::Entry;
use crate::call::ToolName;
use crate::error::RegistryError;
use crate::prompt::Prompt;
use crate::tool::{Tool, ToolSpec};

/// One thing that a [`Bundle`] brings.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Item {
    /// A function that a model may call.
    Tool(Tool),
    /// A text that a person may pick.
    Prompt(Prompt),
}

impl Item {
    /// Returns its name; a tool and a prompt may have the same.
    pub fn name(&self) -> &ToolName {
        &self.spec().name
    }

    /// Returns what is published of it.
    pub fn spec(&self) -> &ToolSpec {
        match self {
            Self::Tool(tool) => tool.spec(),
            Self::Prompt(prompt) => prompt.spec(),
        }
    }

    /// Returns the tool that it is, or that it is made as.
    pub(super) fn tool(&self) -> &Tool {
        match self {
            Self::Tool(tool) => tool,
            Self::Prompt(prompt) => &prompt.entry.tool,
        }
    }
}

impl From<Tool> for Item {
    fn from(tool: Tool) -> Self {
        Self::Tool(tool)
    }
}

impl From<Prompt> for Item {
    fn from(prompt: Prompt) -> Self {
        Self::Prompt(prompt)
    }
}

/// Tools and prompts that belong together: what [`Registry::add`](super::Registry::add) takes.
///
/// `#[tools]` implements it; a single [`Tool`] or [`Prompt`] and a list of them are bundles too.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no bundle of tools",
    note = "write `#[tools]` on `impl {Self}`, or pass `function::tool()` or `function::prompt()`"
)]
pub trait Bundle: Sized {
    /// Gives up what it brings, in the order it was written.
    fn into_items(self) -> Vec<Item>;
}

impl Bundle for Tool {
    fn into_items(self) -> Vec<Item> {
        vec![Item::Tool(self)]
    }
}

impl Bundle for Prompt {
    fn into_items(self) -> Vec<Item> {
        vec![Item::Prompt(self)]
    }
}

impl<I: Into<Item>> Bundle for Vec<I> {
    fn into_items(self) -> Vec<Item> {
        self.into_iter().map(Into::into).collect()
    }
}

/// What a shelf holds: tools and prompts are kept, found and shown in the same way.
pub(crate) trait Shelved {
    /// What people call it.
    const WORD: &'static str;

    fn entry(&self) -> &Entry;

    fn entry_mut(&mut self) -> &mut Entry;

    fn name(&self) -> &str {
        self.entry().spec.name.as_str()
    }

    /// Complains that two of them have one name.
    fn duplicate(name: &ToolName, first: &ToolSpec, second: &ToolSpec) -> RegistryError;
}

impl Shelved for Entry {
    const WORD: &'static str = "tool";

    fn entry(&self) -> &Entry {
        self
    }

    fn entry_mut(&mut self) -> &mut Entry {
        self
    }

    fn duplicate(name: &ToolName, first: &ToolSpec, second: &ToolSpec) -> RegistryError {
        RegistryError::Duplicate {
            name: name.to_string(),
            first: first.bundle.to_string(),
            second: second.bundle.to_string(),
        }
    }
}

impl Shelved for Prompt {
    const WORD: &'static str = "prompt";

    fn entry(&self) -> &Entry {
        &self.entry
    }

    fn entry_mut(&mut self) -> &mut Entry {
        &mut self.entry
    }

    fn duplicate(name: &ToolName, first: &ToolSpec, second: &ToolSpec) -> RegistryError {
        RegistryError::DuplicatePrompt {
            name: name.to_string(),
            first: first.bundle.to_string(),
            second: second.bundle.to_string(),
        }
    }
}
