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

mod ask;
mod chat;
mod extract;
mod perform;
mod response;
mod select;
mod stream;
mod telemetry;

pub mod testing;

pub use ask::Ask;
pub use chat::{Chat, ChatBuilder, ToolResolver};
pub use entry::{CallFacts, End, Entry, Verdict, What};
pub use error::{ChatError, ModelError, ModelErrorKind};
pub use event::{Asked, ChatEvent, Decided};
pub use history::history;
pub use import::import_journal;
pub use item::{Item, ItemKind, Raw, Step};
pub use model::{
    AnswerForm, Hosted, Message, Model, ModelEvent, ModelId, ModelRequest, ModelStream, Options,
    ToolChoice,
};
pub use owner::{Owner, PrincipalRecord};
pub use price::{Price, Prices};
pub use repair::repair;
pub use response::Response;
pub use store::{Lease, MemoryStore, Store, StoreError, Summary, title};
pub use stream::ChatStream;
pub use turn::{Next, Turn, TurnLimits};
pub use usage::{Stop, Usage};
pub use window::Window;
