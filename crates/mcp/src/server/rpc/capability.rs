//! The capabilities that a client declares.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::server::error::TASKS_EXTENSION;

/// The declared capabilities of a client; the presence of a field counts, whatever its value is.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ClientCapabilities {
    elicitation: Option<Elicitation>,
    sampling: Option<IgnoredAny>,
    roots: Option<IgnoredAny>,
    extensions: Option<Extensions>,
}

impl Serialize for ClientCapabilities {
    /// Writes the capabilities that the server knows, as a client declares them.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut declared = Map::new();
        if let Some(modes) = self.elicitation {
            let mut elicitation = Map::new();
            for (mode, is_declared) in [("form", modes.form), ("url", modes.url)] {
                if is_declared.is_some() {
                    elicitation.insert(mode.to_owned(), json!({}));
                }
            }
            declared.insert("elicitation".to_owned(), elicitation.into());
        }
        for (name, capability) in [("sampling", self.sampling), ("roots", self.roots)] {
            if capability.is_some() {
                declared.insert(name.to_owned(), json!({}));
            }
        }
        if self.has(ClientCapability::Tasks) {
            declared.insert("extensions".to_owned(), json!({ TASKS_EXTENSION: {} }));
        }
        Value::Object(declared).serialize(serializer)
    }
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Extensions {
    #[serde(rename = "io.modelcontextprotocol/tasks")]
    tasks: Option<IgnoredAny>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Elicitation {
    form: Option<IgnoredAny>,
    url: Option<IgnoredAny>,
}

/// A capability that not all clients have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientCapability {
    /// Shows a form to its user.
    Elicitation,
    /// Generates a message with its model.
    Sampling,
    /// Lists the folders that it works in.
    Roots,
    /// Polls for the result of a call that runs as a task.
    Tasks,
}

impl ClientCapability {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation",
            Self::Sampling => "sampling",
            Self::Roots => "roots",
            Self::Tasks => "tasks",
        }
    }
}

impl ClientCapabilities {
    pub(crate) fn has(&self, capability: ClientCapability) -> bool {
        match capability {
            // Without a mode the client supports forms, as in the revisions before there were modes.
            ClientCapability::Elicitation => {
                self.elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
            }
            ClientCapability::Sampling => self.sampling.is_some(),
            ClientCapability::Roots => self.roots.is_some(),
            ClientCapability::Tasks => {
                self.extensions.is_some_and(|extensions| extensions.tasks.is_some())
            }
        }
    }
}
