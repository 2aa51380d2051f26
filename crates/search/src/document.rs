//! [`ToolDocument`]: what is indexed of a tool.

use std::borrow::Cow;

use serde_json::Value;
use toolwright_core::wire::ToolDefinition;
use toolwright_core::{RegisteredTool, ToolSpec};

use crate::terms::{head, params};
use crate::words::words;

// Limits of the text that is embedded: models read a few hundred words.
const MAX_NAME: usize = 128;
const MAX_DESCRIPTION: usize = 1_000;
const MAX_EMBEDDED_PARAMS: usize = 24;

/// What a [`ToolIndex`](crate::ToolIndex) reads of a tool.
///
/// Made from a [`ToolSpec`], an entry of a registry's snapshot or an imported [`ToolDefinition`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolDocument<'a> {
    /// The name in calls, unique in an index.
    pub name: &'a str,
    /// The display name.
    pub title: Option<&'a str>,
    /// What the tool does.
    pub description: &'a str,
    /// The JSON Schema of the arguments.
    pub input: &'a Value,
    /// The name of its bundle; may be empty.
    pub bundle: &'a str,
    /// Keywords.
    pub tags: Cow<'a, [&'a str]>,
    /// Questions that the tool answers.
    pub questions: Cow<'a, [&'a str]>,
}

impl<'a> ToolDocument<'a> {
    /// Makes a document of a name, a description and the JSON Schema of the arguments.
    pub fn new(name: &'a str, description: &'a str, input: &'a Value) -> Self {
        let (tags, questions) = Default::default();
        Self { name, title: None, description, input, bundle: "", tags, questions }
    }

    /// Sets the keywords of the tool.
    #[must_use]
    pub fn tags(mut self, tags: &'a [&'a str]) -> Self {
        self.tags = tags.into();
        self
    }

    /// Sets questions that the tool answers.
    #[must_use]
    pub fn questions(mut self, questions: &'a [&'a str]) -> Self {
        self.questions = questions.into();
        self
    }

    /// Returns the text whose vector stands for the tool.
    pub(crate) fn embedded_text(&self) -> String {
        let mut text = words(head(self.name, MAX_NAME)).join(" ");
        let title = self.title.filter(|title| *title != self.name);
        for part in title.into_iter().chain([self.description]) {
            text.push_str(": ");
            text.push_str(head(part.trim(), MAX_DESCRIPTION));
        }
        let params = params(self.input).into_iter().take(MAX_EMBEDDED_PARAMS);
        for (position, (name, _)) in params.enumerate() {
            text.push_str(if position == 0 { " Parameters: " } else { ", " });
            text.push_str(&words(head(name, MAX_NAME)).join(" "));
        }
        for question in self.questions.iter().take(MAX_EMBEDDED_PARAMS) {
            text.push(' ');
            text.push_str(head(question, MAX_NAME));
        }
        text
    }
}

impl<'a> From<&'a ToolSpec> for ToolDocument<'a> {
    fn from(spec: &'a ToolSpec) -> Self {
        Self {
            title: spec.title.as_deref(),
            bundle: &spec.bundle,
            tags: spec.tags.iter().map(String::as_str).collect(),
            questions: spec.questions.iter().map(String::as_str).collect(),
            ..Self::new(spec.name.as_str(), &spec.description, spec.input.as_value())
        }
    }
}

impl<'a> From<&'a RegisteredTool> for ToolDocument<'a> {
    fn from(tool: &'a RegisteredTool) -> Self {
        tool.spec().into()
    }
}

impl<'a> From<&'a ToolDefinition> for ToolDocument<'a> {
    fn from(definition: &'a ToolDefinition) -> Self {
        Self {
            title: definition.title.as_deref(),
            ..Self::new(&definition.name, &definition.description, definition.input.as_value())
        }
    }
}
