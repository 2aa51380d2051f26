//! [`Content`]: the items of a result, which are text, images, audio, resources and links.

use std::borrow::Cow;

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};

/// One item of a tool's result, in the shape MCP gives it on the wire.
///
/// # Examples
///
/// ```
/// use toolwright::Content;
///
/// let items = vec!["A pixel:".into(), Content::image("image/png", b"\x89PNG")];
/// assert_eq!(items[0], Content::text("A pixel:"));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    #[serde(rename_all = "camelCase")]
    Image {
        /// The bytes, in base64.
        data: String,
        /// For example `image/png`.
        mime_type: String,
    },
    /// A sound.
    #[serde(rename_all = "camelCase")]
    Audio {
        /// The bytes, in base64.
        data: String,
        /// For example `audio/wav`.
        mime_type: String,
    },
    /// A resource, embedded whole.
    Resource {
        /// The resource.
        resource: ResourceContents,
    },
    /// A link to a resource.
    #[serde(rename = "resource_link", rename_all = "camelCase")]
    Link {
        /// The address of the resource.
        uri: String,
        /// The label of the link.
        name: String,
        /// Its media type, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
}

/// A resource embedded in a result: text, or bytes in base64.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceContents {
    /// The address of the resource.
    pub uri: String,
    /// Its media type, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its text, for a text resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its bytes in base64, for any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
}

impl Content {
    /// Makes a text item.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// Makes an image item from raw bytes.
    pub fn image(mime_type: impl Into<String>, bytes: &[u8]) -> Self {
        Self::Image { data: BASE64.encode(bytes), mime_type: mime_type.into() }
    }

    /// Makes an audio item from raw bytes.
    pub fn audio(mime_type: impl Into<String>, bytes: &[u8]) -> Self {
        Self::Audio { data: BASE64.encode(bytes), mime_type: mime_type.into() }
    }

    /// Makes an item that embeds a text resource.
    pub fn resource(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Resource {
            resource: ResourceContents {
                uri: uri.into(),
                mime_type: None,
                text: Some(text.into()),
                blob: None,
            },
        }
    }

    /// Makes an item that embeds a resource of raw bytes.
    pub fn blob(uri: impl Into<String>, mime_type: impl Into<String>, bytes: &[u8]) -> Self {
        Self::Resource {
            resource: ResourceContents {
                uri: uri.into(),
                mime_type: Some(mime_type.into()),
                text: None,
                blob: Some(BASE64.encode(bytes)),
            },
        }
    }

    /// Makes an item that links to a resource.
    pub fn link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::Link { uri: uri.into(), name: name.into(), mime_type: None }
    }

    /// Converts the item to text for formats that hold only text. An image, a sound or a binary resource
    /// becomes a placeholder with its type and size.
    pub fn to_text(&self) -> Cow<'_, str> {
        match self {
            Self::Text { text } => Cow::Borrowed(text),
            Self::Image { data, mime_type } => {
                media_placeholder("an image", mime_type, data).into()
            }
            Self::Audio { data, mime_type } => media_placeholder("a sound", mime_type, data).into(),
            Self::Resource { resource } => resource.to_text().into(),
            Self::Link { uri, name, mime_type: Some(kind) } => {
                format!("[{name}]({uri}), {kind}").into()
            }
            Self::Link { uri, name, .. } => format!("[{name}]({uri})").into(),
        }
    }

    /// Converts items with [`to_text`](Self::to_text) and joins them with line breaks.
    pub fn join_text(items: &[Self]) -> Cow<'_, str> {
        match items {
            [item] => item.to_text(),
            items => {
                let texts: Vec<Cow<'_, str>> = items.iter().map(Self::to_text).collect();
                texts.join("\n").into()
            }
        }
    }

    /// Counts the bytes that a model has to read: the text, or the base64.
    pub fn len(&self) -> usize {
        match self {
            Self::Text { text } => text.len(),
            Self::Image { data, .. } | Self::Audio { data, .. } => data.len(),
            Self::Resource { resource } => {
                let body = resource.text.as_ref().or(resource.blob.as_ref());
                resource.uri.len() + body.map_or(0, String::len)
            }
            Self::Link { uri, name, .. } => uri.len() + name.len(),
        }
    }

    /// Returns true if [`len`](Self::len) is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl ResourceContents {
    fn to_text(&self) -> String {
        let uri = &self.uri;
        let kind = self.mime_type.as_deref().unwrap_or("of unknown type");
        let blob = self.blob.as_deref().unwrap_or_default();
        let text = || String::from_utf8(BASE64.decode(blob.as_bytes()).ok()?).ok();
        match &self.text {
            Some(text) => format!("{uri}:\n{text}"),
            None => {
                match Some(kind).filter(|kind| kind.starts_with("text/")).and_then(|_| text()) {
                    Some(text) => format!("{uri}:\n{text}"),
                    None => media_placeholder(uri, kind, blob),
                }
            }
        }
    }
}

fn media_placeholder(what: &str, kind: &str, base64: &str) -> String {
    let bytes = base64.trim_end_matches('=').len() * 3 / 4;
    format!("[{what}, {kind}, {bytes} bytes, which cannot be shown here]")
}
