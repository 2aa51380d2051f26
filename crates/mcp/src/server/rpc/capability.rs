//! What a client says it can do.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};

/// What a client can be asked for.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ClientCapabilities {
    elicitation: Option<Elicitation>,
    sampling: Option<PresenceFlag>,
    roots: Option<PresenceFlag>,
    extensions: Option<Extensions>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Extensions {
    #[serde(rename = "io.modelcontextprotocol/tasks")]
    tasks: Option<PresenceFlag>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Elicitation {
    form: Option<PresenceFlag>,
    url: Option<PresenceFlag>,
}

/// Whatever it is, it is there.
#[derive(Clone, Copy, Debug)]
struct PresenceFlag;

impl<'de> Deserialize<'de> for PresenceFlag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

/// Something that only some clients can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientCapability {
    /// A form that a person fills in.
    Elicitation,
    /// An answer of the client's model.
    Sampling,
    /// The folders that the client works in.
    Roots,
    /// To go on without the result of a call, and to ask for it later.
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
            // A client that names no mode means forms, as before there were modes.
            ClientCapability::Elicitation => self
                .elicitation
                .is_some_and(|modes| modes.form.is_some() || modes.url.is_none()),
            ClientCapability::Sampling => self.sampling.is_some(),
            ClientCapability::Roots => self.roots.is_some(),
            ClientCapability::Tasks => self.extensions.is_some_and(|it| it.tasks.is_some()),
        }
    }
}
