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

mod turn_request;
mod chat;
mod structured_output;
mod runner;
mod response;
mod tool_selection;
mod stream;
mod telemetry;

pub mod testing;

pub use turn_request::TurnRequest;
pub use chat::{Chat, ChatBuilder, ToolResolver};
pub use entry::{CallMetadata, TurnEnd, Entry, ApprovalVerdict, EntryBody};
pub use error::{ChatError, ModelError, ModelErrorKind};
pub use event::{PendingApproval, ChatEvent, ApprovalResponse};
pub use history::history;
pub use import::import_journal;
pub use item::{Item, ItemKind, ProviderJson, Step};
pub use model::{
    ResponseFormat, HostedTool, Message, Model, ModelEvent, ModelId, ModelRequest, ModelStream, ModelOptions,
    ToolChoice,
};
pub use owner::{Owner, PrincipalRecord};
pub use price::{Price, Prices};
pub use repair::repair_journal;
pub use response::Response;
pub use store::{Lease, MemoryStore, Store, StoreError, ConversationSummary, entry_title};
pub use stream::ChatStream;
pub use turn::{TurnAction, Turn, TurnLimits};
pub use usage::{StopReason, Usage};
pub use window::HistoryWindow;
