//! Conversations with models: `Turn` decides from a journal what happens next, [`Chat`] performs it.
//!
//! This crate knows no wire protocol and opens no connection: whoever implements [`Model`] does.

mod error;
mod item;
mod model;
mod price;
mod usage;

mod entry;
mod event;
mod history;
mod import;
mod journal;
mod lease;
mod owner;
mod repair;
mod store;
mod turn;
mod window;

mod chat;
mod response;
mod runner;
mod stream;
mod structured_output;
mod telemetry;
mod tool_selection;
mod turn_request;

pub mod testing;

pub use chat::{Chat, ChatBuilder, ToolResolver};
pub use entry::{ApprovalVerdict, CallMetadata, Entry, EntryBody, TurnEnd};
pub use error::{ChatError, ModelError, ModelErrorKind};
pub use event::{ApprovalResponse, ChatEvent, PendingApproval};
pub use history::history;
pub use import::import_journal;
pub use item::{Item, ItemKind, ProviderJson, Step};
pub use model::{
    HostedTool, Message, Model, ModelEvent, ModelId, ModelOptions, ModelRequest, ModelStream,
    ResponseFormat, ToolChoice,
};
pub use owner::{Owner, PrincipalRecord};
pub use price::{Price, Prices};
pub use repair::repair_journal;
pub use response::Response;
pub use store::{ConversationSummary, Lease, MemoryStore, Store, StoreError, entry_title};
pub use stream::ChatStream;
pub use turn::{Turn, TurnAction, TurnLimits};
pub use turn_request::TurnRequest;
pub use usage::{StopReason, Usage};
pub use window::HistoryWindow;
