//! [`Prompt`]: a text template with parameters that a person picks; defined like a tool.

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

/// The role of a prompt's message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions for the model.
    #[default]
    Assistant,
    /// A request of the user.
    User,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// A named text template with parameters, which a person picks: defined once, cheap to clone.
///
/// `#[prompt]` makes one from a function. It is defined and validated like a [`Tool`], but models call
/// tools and people pick prompts. A registry keeps the two apart, so a tool and a prompt may share a name.
///
/// A snapshot's prompts are those of its view: perhaps renamed, perhaps with bound parameters.
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
/// let registry = Registry::of(translate::prompt())?;
/// let invoker = Invoker::new(&registry)?;
/// let rendered = invoker.render_prompt("translate", r#"{"text": "Guten Tag"}"#).await.unwrap();
/// assert_eq!(rendered.role, Role::User);
/// assert_eq!(rendered.text, "Translate into English: Guten Tag");
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Clone)]
pub struct Prompt {
    pub(crate) registered_tool: RegisteredTool,
    role: Role,
}

/// A rendered prompt: the text of one message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RenderedPrompt {
    /// The role of the message.
    pub role: Role,
    /// The text of the message.
    pub text: String,
    /// The content of the message; more than the text only for a prompt made [from a tool](Prompt::from_tool).
    #[serde(skip)]
    pub content: Vec<Content>,
    /// Changes to the arguments: repaired, coerced.
    #[serde(skip)]
    pub notes: Vec<String>,
}

impl Prompt {
    /// Makes the prompt of a macro's definition; errors in it are reported by [`Registry::add`](crate::Registry::add).
    #[doc(hidden)]
    pub fn from_definition<D: Definition>(receiver: Arc<D::Receiver>) -> Self {
        Self {
            registered_tool: RegisteredTool::new(Tool::from_definition::<D>(receiver)),
            role: D::META.role.unwrap_or_default(),
        }
    }

    /// Makes a prompt of a tool, whose result is the message, including images and resources.
    ///
    /// Placeholders in the text are not filled in, unless the tool does that itself.
    pub fn from_tool(tool: Tool, role: Role) -> Self {
        Self { registered_tool: RegisteredTool::new(tool), role }
    }

    /// Returns the name.
    pub fn name(&self) -> &ToolName {
        &self.spec().name
    }

    /// Returns the name for people: the title, else the name.
    pub fn title(&self) -> &str {
        self.spec().display_name()
    }

    /// Returns the description.
    pub fn description(&self) -> &str {
        &self.spec().description
    }

    /// Returns the role of its message.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns the parameters in the order of the definition.
    pub fn params(&self) -> Vec<ParamInfo> {
        self.spec().params()
    }

    /// Returns the specification, which has the form of a tool's.
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

/// A return type of a prompt: text only.
///
/// It has the methods of [`Encode`](crate::Encode), so that generated code differs only in the trait's name.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be what a prompt returns",
    label = "is not text",
    note = "write `String`, `&'static str` or `Result<String, E>`"
)]
pub trait PromptText: Sized {
    /// Converts into the text.
    fn into_text(self) -> String;

    /// Returns `None`: text has no schema.
    fn schema_of(_: PhantomData<Self>, _: &mut SchemaGenerator) -> Option<Schema> {
        None
    }

    /// Returns the text as the result.
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
