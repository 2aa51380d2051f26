//! Parses JSON-RPC messages, borrowing from the input wherever possible.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, Visitor};
use serde_json::value::RawValue;

use crate::server::{ClientCapabilities, RpcError};

/// A string that is copied only if it contains escapes.
///
/// `Option<Cow<str>>` would always be copied: serde borrows for a bare `Cow` only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CowStr<'a>(pub(crate) Cow<'a, str>);

impl Deref for CowStr<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for CowStr<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrow;

        impl<'de> Visitor<'de> for Borrow {
            type Value = CowStr<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<CowStr<'de>, E> {
                Ok(CowStr(Cow::Borrowed(text)))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<CowStr<'de>, E> {
                Ok(CowStr(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(Borrow)
    }
}

/// A request, a notification or a response, depending on its fields.
#[derive(Deserialize)]
pub(crate) struct RpcMessage<'a> {
    #[serde(borrow)]
    jsonrpc: CowStr<'a>,
    #[serde(borrow, default, deserialize_with = "null_as_some")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) method: Option<CowStr<'a>>,
    #[serde(borrow, default, deserialize_with = "null_as_default")]
    pub(crate) params: Params<'a>,
    #[serde(borrow, default, deserialize_with = "null_as_some")]
    pub(crate) result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) error: Option<&'a RawValue>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageKind {
    Request,
    Notification,
    Response,
}

/// The parameters of all methods; a message has those of its own.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Params<'a> {
    #[serde(borrow, rename = "_meta", deserialize_with = "null_as_default")]
    pub(crate) meta: Meta<'a>,
    #[serde(borrow)]
    pub(crate) name: Option<CowStr<'a>>,
    #[serde(borrow)]
    pub(crate) arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) uri: Option<CowStr<'a>>,
    #[serde(borrow)]
    pub(crate) cursor: Option<CowStr<'a>>,
    #[serde(borrow)]
    pub(crate) input_responses: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) request_state: Option<CowStr<'a>>,
    #[serde(borrow, rename = "ref")]
    pub(crate) reference: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) argument: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) level: Option<CowStr<'a>>,
    #[serde(borrow)]
    pub(crate) protocol_version: Option<CowStr<'a>>,
    pub(crate) capabilities: Option<ClientCapabilities>,
    #[serde(borrow)]
    pub(crate) request_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) task_id: Option<CowStr<'a>>,
    #[serde(borrow)]
    pub(crate) notifications: Option<&'a RawValue>,
}

/// The `_meta` object of a request.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Meta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    pub(crate) protocol_version: Option<CowStr<'a>>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    pub(crate) capabilities: Option<ClientCapabilities>,
    #[serde(borrow, rename = "io.modelcontextprotocol/logLevel")]
    pub(crate) log_level: Option<CowStr<'a>>,
    #[serde(borrow, rename = "progressToken")]
    pub(crate) progress_token: Option<&'a RawValue>,
}

impl<'a> RpcMessage<'a> {
    /// Parses one message.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, InvalidMessage<'a>> {
        let parsed = match std::str::from_utf8(bytes) {
            // Text is checked once, not once for each string in it.
            Ok(text) => serde_json::from_str(text),
            Err(_) => serde_json::from_slice(bytes),
        };
        let message: Self = parsed.map_err(|error| InvalidMessage::new(bytes, &error))?;
        let invalid =
            |id, reason| Err(InvalidMessage { id, error: RpcError::invalid_request(reason) });
        if &*message.jsonrpc != "2.0" {
            return invalid(message.id, "write \"jsonrpc\": \"2.0\"");
        }
        let is_response = message.result.is_some() || message.error.is_some();
        if message.method.is_none() && !is_response {
            return invalid(message.id, "a message has a method, a result or an error");
        }
        if message.id.is_some_and(|id| !is_valid_id(id.get())) {
            return invalid(None, "an id is a text or a number");
        }
        Ok(message)
    }

    pub(crate) fn kind(&self) -> MessageKind {
        match (&self.method, self.id) {
            (Some(_), Some(_)) => MessageKind::Request,
            (Some(_), None) => MessageKind::Notification,
            (None, _) => MessageKind::Response,
        }
    }

    /// Returns the id as raw JSON; `null` where there is none.
    pub(crate) fn id(&self) -> &'a str {
        self.id.map_or("null", RawValue::get)
    }

    pub(crate) fn method(&self) -> &str {
        self.method.as_deref().unwrap_or_default()
    }

    /// Returns the parameter `uri`.
    pub(crate) fn uri(&self) -> Result<&str, RpcError> {
        let uri = self.params.uri.as_deref();
        uri.ok_or_else(|| RpcError::invalid_params("`uri` is missing"))
    }

    /// Returns the required value of the header `Mcp-Name`: `None` for methods without it, `Some(None)` if the body lacks it.
    pub(crate) fn name_header_value(&self) -> Option<Option<&str>> {
        match self.method() {
            "tools/call" | "prompts/get" => Some(self.params.name.as_deref()),
            "resources/read" => Some(self.params.uri.as_deref()),
            "tasks/get" | "tasks/update" | "tasks/cancel" => Some(self.params.task_id.as_deref()),
            _ => None,
        }
    }
}

/// The error of a message that cannot be parsed, and its id if that can be.
pub(crate) struct InvalidMessage<'a> {
    id: Option<&'a RawValue>,
    pub(crate) error: RpcError,
}

impl<'a> InvalidMessage<'a> {
    #[cold]
    fn new(bytes: &'a [u8], error: &serde_json::Error) -> Self {
        /// The fields that an error response needs.
        #[derive(Deserialize)]
        struct Bare<'a> {
            #[serde(borrow, default)]
            id: Option<&'a RawValue>,
            #[serde(borrow)]
            method: Option<CowStr<'a>>,
        }
        match serde_json::from_slice::<Bare<'_>>(bytes) {
            Ok(bare) => {
                let id = bare.id.filter(|id| is_valid_id(id.get()));
                let error = match bare.method.is_some() && id.is_some() == bare.id.is_some() {
                    true => RpcError::invalid_params(format!("cannot read the request: {error}")),
                    false => RpcError::invalid_request(format!("no JSON-RPC message: {error}")),
                };
                Self { id, error }
            }
            Err(_) if serde_json::from_slice::<IgnoredAny>(bytes).is_ok() => {
                Self { id: None, error: RpcError::invalid_request("a message is one JSON object") }
            }
            Err(_) => Self { id: None, error: RpcError::new(-32700, format!("not JSON: {error}")) },
        }
    }

    pub(crate) fn id(&self) -> &'a str {
        self.id.map_or("null", RawValue::get)
    }
}

fn is_valid_id(raw: &str) -> bool {
    raw.starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit())
}

/// Treats `null` as a value: an id of `null` is invalid, not absent.
fn null_as_some<'de: 'a, 'a, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Treats `null` as an absent field.
fn null_as_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}
