//! [`ToolResult`]: the content for the model and the outcome for the program.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use toolwright_schema::redact;

use crate::call::content::Content;
use crate::call::{CallId, ToolName};
use crate::error::{Cause, ErrorKind, ToolError};

/// How a call ended, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The tool ran and succeeded.
    Ok,
    /// No tool has that name; or no prompt, where one is rendered.
    UnknownTool,
    /// The arguments were rejected; the tool did not run.
    InvalidArguments,
    /// The call was not approved; the tool did not run.
    Denied,
    /// The tool took too long.
    TimedOut,
    /// The caller cancelled the call.
    Cancelled,
    /// The tool ran and failed.
    Failed,
    /// The tool may or may not have run to its end.
    OutcomeUnknown,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The result of one [`ToolCall`](crate::ToolCall).
///
/// A failed tool has a result too: the model reads the error and continues. A tool may return one
/// directly, made with [`ToolResult::success`] or [`ToolResult::failure`]; the invoker fills in the
/// call id and the name.
///
/// # Examples
///
/// ```
/// use toolwright::{Outcome, ToolResult};
///
/// let result = ToolResult::failure("the printer is out of paper");
/// assert!(result.is_error());
/// assert_eq!(result.outcome, Outcome::Failed);
/// assert_eq!(result.text(), "the printer is out of paper");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolResult {
    /// The id of the call.
    pub call_id: CallId,
    /// The tool that was called, as the model named it.
    pub tool: ToolName,
    /// How the call ended.
    pub outcome: Outcome,
    /// How the turn continues after the failure; `None` exactly when the outcome is ok.
    pub error: Option<ErrorKind>,
    /// What the model reads.
    pub content: Vec<Content>,
    /// The same as JSON, where the tool declares an output schema.
    pub structured: Option<StructuredContent>,
    /// Changes to the arguments and the output: repaired, coerced, ignored, truncated.
    pub notes: Vec<String>,
    /// The whole output, if `content` is only a preview of it.
    pub untruncated: Option<Arc<UntruncatedOutput>>,
    pub(crate) cause: Option<Cause>,
}

/// The output of a tool before it was truncated for the model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UntruncatedOutput {
    /// Everything the tool returned.
    pub content: Vec<Content>,
    /// Its structured form, if it had one.
    pub structured: Option<StructuredContent>,
}

impl ToolResult {
    /// Makes the result of a tool that succeeded.
    pub fn success(content: impl Into<ContentList>) -> Self {
        Self {
            call_id: CallId::EMPTY,
            tool: ToolName::EMPTY,
            outcome: Outcome::Ok,
            error: None,
            content: content.into().0,
            structured: None,
            notes: Vec::new(),
            untruncated: None,
            cause: None,
        }
    }

    /// Makes the result of a tool that failed; the model reads the content.
    pub fn failure(content: impl Into<ContentList>) -> Self {
        Self { outcome: Outcome::Failed, error: Some(ErrorKind::Failed), ..Self::success(content) }
    }

    /// Makes a result for a call whose tool did not run, or did not return.
    pub fn from_outcome(outcome: Outcome, kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { outcome, error: Some(kind), ..Self::success(message.into()) }
    }

    /// Sets the id and the tool of the call; the invoker does this for every result it returns.
    #[must_use]
    pub fn for_call(mut self, call_id: impl Into<CallId>, tool: impl Into<ToolName>) -> Self {
        self.call_id = call_id.into();
        self.tool = tool.into();
        self
    }

    /// Adds the structured form of the content.
    #[must_use]
    pub fn with_structured(mut self, structured: impl Into<StructuredContent>) -> Self {
        self.structured = Some(structured.into());
        self
    }

    /// Returns true if the outcome is anything but [`Outcome::Ok`].
    pub fn is_error(&self) -> bool {
        self.outcome != Outcome::Ok
    }

    /// Returns the text items of the content, joined with line breaks; other items are left out.
    pub fn text(&self) -> Cow<'_, str> {
        match self.content.as_slice() {
            [Content::Text { text }] => Cow::Borrowed(text),
            items => {
                let texts: Vec<&str> = items
                    .iter()
                    .filter_map(|item| match item {
                        Content::Text { text } => Some(text.as_str()),
                        _ => None,
                    })
                    .collect();
                Cow::Owned(texts.join("\n"))
            }
        }
    }

    /// Returns what [`text`](Self::text) returns, without a copy if the content is one text.
    pub fn into_text(mut self) -> String {
        match self.content.as_mut_slice() {
            [Content::Text { text }] => std::mem::take(text),
            _ => self.text().into_owned(),
        }
    }

    /// Converts the content to text for formats that hold only text; see [`Content::join_text`].
    pub fn to_text(&self) -> Cow<'_, str> {
        Content::join_text(&self.content)
    }

    /// Like [`to_text`](Self::to_text), with the prefix `Error: ` for a failed call: for formats without an error flag.
    pub fn to_text_with_error_prefix(&self) -> Cow<'_, str> {
        match self.is_error() {
            true => format!("Error: {}", self.to_text()).into(),
            false => self.to_text(),
        }
    }

    /// Returns the error behind a failure, for the host's logs; the model never reads it.
    pub fn cause(&self) -> Option<&(dyn std::error::Error + Send + Sync + 'static)> {
        self.cause.as_deref()
    }
}

impl From<ToolError> for ToolResult {
    fn from(error: ToolError) -> Self {
        let (kind, message, cause) = error.into_parts();
        let message = redact(&message).into_owned();
        Self { cause, ..Self::from_outcome(Outcome::Failed, kind, message) }
    }
}

/// The content of a result, made from a text, one item or a list of items.
#[derive(Clone, Debug, Default)]
pub struct ContentList(pub(crate) Vec<Content>);

impl From<String> for ContentList {
    fn from(text: String) -> Self {
        Self(vec![Content::text(text)])
    }
}

impl From<&str> for ContentList {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<Content> for ContentList {
    fn from(item: Content) -> Self {
        Self(vec![item])
    }
}

impl From<Vec<Content>> for ContentList {
    fn from(items: Vec<Content>) -> Self {
        Self(items)
    }
}

impl From<ContentList> for Vec<Content> {
    fn from(contents: ContentList) -> Self {
        contents.0
    }
}

/// JSON as the text it was serialised to.
#[derive(Clone, PartialEq, Eq)]
pub struct StructuredContent(Arc<str>);

impl StructuredContent {
    /// Serialises a value.
    ///
    /// # Errors
    ///
    /// When the value cannot be JSON, for example a map whose keys are not text.
    pub fn from_serializable<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(|text| Self(text.into()))
    }

    /// Trusts `text` to be JSON: only for text that serde_json has just written.
    pub(crate) fn from_json_text(text: &str) -> Self {
        Self(text.into())
    }

    /// Returns the JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses the text into a value.
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

impl From<&serde_json::Value> for StructuredContent {
    fn from(value: &serde_json::Value) -> Self {
        Self(value.to_string().into())
    }
}

impl From<serde_json::Value> for StructuredContent {
    fn from(value: serde_json::Value) -> Self {
        Self::from(&value)
    }
}

impl fmt::Debug for StructuredContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for StructuredContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StructuredContent {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self(raw.get().into()))
    }
}

impl Serialize for ToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("ToolResult", 8)?;
        fields.serialize_field("callId", &self.call_id)?;
        fields.serialize_field("tool", &self.tool)?;
        fields.serialize_field("outcome", &self.outcome)?;
        fields.serialize_field("isError", &self.is_error())?;
        fields.serialize_field("errorKind", &self.error)?;
        fields.serialize_field("content", &self.content)?;
        fields.serialize_field("structuredContent", &self.structured)?;
        fields.serialize_field("notes", &self.notes)?;
        fields.end()
    }
}

impl<'de> Deserialize<'de> for ToolResult {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// The fields of a result that are in its JSON; the others get their defaults.
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct SerializedResult {
            call_id: CallId,
            tool: ToolName,
            outcome: Outcome,
            error_kind: Option<ErrorKind>,
            content: Vec<Content>,
            #[serde(default)]
            structured_content: Option<StructuredContent>,
            #[serde(default)]
            notes: Vec<String>,
        }
        let wire = SerializedResult::deserialize(deserializer)?;
        Ok(Self {
            call_id: wire.call_id,
            tool: wire.tool,
            outcome: wire.outcome,
            error: wire.error_kind,
            structured: wire.structured_content,
            notes: wire.notes,
            ..Self::success(wire.content)
        })
    }
}
