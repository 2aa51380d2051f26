//! Conversations with models: [`Turn`] decides the next action from a journal, [`Chat`] performs it.
//!
//! This crate has no wire protocol and opens no connection: implementations of [`Model`] do.

mod chat;
mod error;
mod inbox_worker;
mod journal;
mod model;
mod turn;

pub mod vendor_errors;

pub use chat::event::{ApprovalResponse, ChatEvent, PendingApproval};
pub use chat::response::Response;
pub use chat::stream::ChatStream;
pub use chat::tool_search::{ToolSearch, ToolSearchMode};
pub use chat::turn_request::TurnRequest;
pub use chat::{Chat, ChatBuilder, ToolResolver};
pub use error::{ChatError, ModelError, ModelErrorKind};
pub use inbox_worker::{Attended, InboxHandler, attend, load_turn_status};
pub use journal::closing::abandon_turn;
pub use journal::entry::{ApprovalVerdict, CallMetadata, Entry, EntryBody, TurnEnd, is_turn_over};
pub use journal::history::history;
pub use journal::import::import_journal;
pub use journal::path::{Branch, branches, check_turn_end, load_path, newest_path};
pub use journal::repair::repair_journal;
pub use journal::retention::ExpiredConversations;
pub use journal::store::inbox::{InboxBody, InboxItem, MessagePart, open_turn_messages};
pub use journal::store::lease::{ACQUIRE_TIMEOUT, HeldLease};
pub use journal::store::owner::{Owner, PrincipalRecord};
pub use journal::store::{
    Append, ConversationSummary, Lease, LeaseStatus, MemoryStore, Store, StoreError, StoreFuture,
    StoreScope, TailEnd, TurnStatus, entry_title, random_hex, unique_node_name,
};
pub use journal::window::{HistoryWindow, load_unfinished_turn};
pub use journal::{find_unsigned_decisions, sign_imported_decisions};
pub use model::item::{Item, ItemKind, ProviderJson, Step};
pub use model::price::{Price, Prices};
pub use model::usage::{StopReason, Usage};
pub use model::{
    HostedTool, Message, Model, ModelEvent, ModelId, ModelOptions, ModelRequest, ModelStream,
    NativeToolSearch, ResponseFormat, ToolChoice, ToolDeferral,
};
pub use turn::{Turn, TurnAction, TurnLimits};

/// What the macros of this crate use.
#[doc(hidden)]
pub mod __internal {
    pub use toolwright_core::{Secret, SharedState};
}
