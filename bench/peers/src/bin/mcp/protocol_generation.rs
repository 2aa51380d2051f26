//! The two eras of MCP: sessions that begin with a handshake, and requests that are self-contained.

use serde_json::{Value, json};

/// An id that every message is written with; [`Message::number`] puts others in its place.
const PLACEHOLDER_ID: &str = "1000000";

/// Which of the two is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolGeneration {
    Session,
    Stateless,
}

/// A request that can be sent again and again under other ids.
#[derive(Clone)]
pub struct NumberedMessage {
    pub bytes: Vec<u8>,
    id_at: usize,
}

impl NumberedMessage {
    pub fn new(text: String) -> Self {
        let id_at = text.find(PLACEHOLDER_ID).unwrap();
        let bytes = text.into_bytes();
        Self { bytes, id_at }
    }

    /// Gives it an id that is as long as the one before.
    pub fn set_id(&mut self, id: u32) {
        let id = format!("{:07}", 1_000_000 + id % 9_000_000);
        let end = self.id_at + id.len();
        self.bytes[self.id_at..end].copy_from_slice(id.as_bytes());
    }
}

impl ProtocolGeneration {
    pub fn revision(self) -> &'static str {
        match self {
            Self::Session => "2025-11-25",
            Self::Stateless => "2026-07-28",
        }
    }

    /// Writes a request.
    pub fn request(self, method: &str, mut params: Value) -> String {
        if self == Self::Stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.revision(),
                "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let params = params.to_string();
        format!(
            r#"{{"jsonrpc":"2.0","id":{PLACEHOLDER_ID},"method":"{method}","params":{params}}}"#
        )
    }
}

/// The first message of a session.
pub fn initialize_request() -> String {
    let params = json!({
        "protocolVersion": ProtocolGeneration::Session.revision(),
        "capabilities": {},
        "clientInfo": { "name": "bench", "version": "1" },
    });
    ProtocolGeneration::Session.request("initialize", params)
}

/// The second message, a notification.
pub const INITIALIZED_NOTIFICATION: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
