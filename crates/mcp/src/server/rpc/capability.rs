//! The capabilities that a client declares.

use serde::Deserialize;
use serde::de::IgnoredAny;

/// The declared capabilities of a client; the presence of a field counts, whatever its value is.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ClientCapabilities {
    elicitation: Option<Elicitation>,
    sampling: Option<IgnoredAny>,
    roots: Option<IgnoredAny>,
    extensions: Option<Extensions>,
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
