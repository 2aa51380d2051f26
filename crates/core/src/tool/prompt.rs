//! A prompt: a named text with parameters that a person picks; made just as a tool is.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use schemars::{Schema, SchemaGenerator};
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};

use crate::call::ToolName;
use crate::call::content::Content;
use crate::call::result::ToolResult;
use crate::error::ToolError;
use crate::registry::RegisteredTool;
use crate::tool::definition::Definition;
use crate::tool::encode::{Encoders, ToolOutput};
use crate::tool::{ParamInfo, Tool, ToolSpec};

/// In whose name a prompt's text is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The assistant's: it tells the model how to go about something.
    #[default]
    Assistant,
    /// The person's: it asks for something.
    User,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// A named text with parameters, which a person picks: defined once, cheap to clone.
///
/// `#[prompt]` makes one from a function. It shares everything with a [`Tool`] but who uses it: models
/// call tools, people pick prompts. A registry keeps the two apart, so one name may be both.
///
/// A snapshot's prompts are shown as its view has them: perhaps renamed, perhaps with parameters bound.
/// It serialises to the object that `toolwright prompts list --json` prints.
///
/// # Examples
///
/// ```
/// use toolwright::{Invoker, Registry, Role, prompt};
///
/// /// Asks for a translation.
/// #[prompt(role = user)]
/// fn translate(text: String, #[param(default = "English")] language: String) -> &'static str {
///     "Translate into ${language}: ${text}"
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let registry = Registry::new();
/// registry.add(translate::prompt())?;
/// let invoker = Invoker::new(&registry)?;
/// let rendered = invoker.render("translate", r#"{"text": "Guten Tag"}"#).await.unwrap();
/// assert_eq!(rendered.role, Role::User);
/// assert_eq!(rendered.text, "Translate into English: Guten Tag");
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Clone)]
pub struct Prompt {
    pub(crate) registered_tool: RegisteredTool,
    role: Role,
}

/// A prompt that was filled in: the text of one message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RenderedPrompt {
    /// In whose name it is said.
    pub role: Role,
    /// What is said.
    pub text: String,
    /// The same with what is not text, where the prompt was made of a tool that returns such.
    #[serde(skip)]
    pub content: Vec<Content>,
    /// What was read differently from how it was sent: repaired, coerced.
    #[serde(skip)]
    pub notes: Vec<String>,
}

impl Prompt {
    /// Makes the prompt of a definition; what is wrong with it is told when it is registered.
    #[doc(hidden)]
    pub fn from_definition<D: Definition>(receiver: Arc<D::Receiver>) -> Self {
        Self {
            registered_tool: RegisteredTool::new(Tool::from_definition::<D>(receiver)),
            role: D::META.role.unwrap_or_default(),
        }
    }

    /// Makes a prompt of a tool: what the tool returns is said, pictures and resources included.
    ///
    /// Its text is taken as it is, placeholders and all, unless the tool expands them itself.
    pub fn from_tool(tool: Tool, role: Role) -> Self {
        Self {
            registered_tool: RegisteredTool::new(tool),
            role,
        }
    }

    /// Returns the name it is picked by.
    pub fn name(&self) -> &ToolName {
        &self.spec().name
    }

    /// Returns the name people read: the title, else the name.
    pub fn title(&self) -> &str {
        self.spec().display_name()
    }

    /// Returns what it is for.
    pub fn description(&self) -> &str {
        &self.spec().description
    }

    /// Returns in whose name its text is said.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns the parameters in the order they were written.
    pub fn params(&self) -> Vec<ParamInfo> {
        self.spec().params()
    }

    /// Returns all that is published of it, in the form it has for tools.
    pub fn spec(&self) -> &ToolSpec {
        self.registered_tool.spec()
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Prompt").field(self.name()).finish()
    }
}

impl Serialize for Prompt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Prompt", 6)?;
        fields.serialize_field("name", self.name())?;
        fields.serialize_field("title", self.title())?;
        fields.serialize_field("description", self.description())?;
        fields.serialize_field("role", &self.role)?;
        fields.serialize_field("inputSchema", &self.spec().input)?;
        fields.serialize_field("bundle", &self.spec().bundle)?;
        fields.end()
    }
}

/// What a prompt may return: text and nothing else.
///
/// It has the methods of [`Encode`](crate::Encode), so that generated code only names another trait.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be what a prompt returns",
    label = "is not text",
    note = "write `String`, `&'static str` or `Result<String, E>`"
)]
pub trait PromptText: Sized {
    /// Gives up the text.
    fn into_text(self) -> String;

    /// Text has no schema.
    fn schema_of(_: PhantomData<Self>, _: &mut SchemaGenerator) -> Option<Schema> {
        None
    }

    /// Takes the text as it is.
    ///
    /// # Errors
    ///
    /// Never.
    fn encode(self, _: &Encoders) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::Complete(ToolResult::success(self.into_text())))
    }
}

impl PromptText for String {
    fn into_text(self) -> String {
        self
    }
}

impl PromptText for &'static str {
    fn into_text(self) -> String {
        self.to_owned()
    }
}

impl PromptText for Cow<'static, str> {
    fn into_text(self) -> String {
        self.into_owned()
    }
}
