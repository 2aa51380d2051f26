//! Conversations with models: a [`ModelRequest`] in, a stream of [`ModelEvent`]s out.
//!
//! This crate knows no wire protocol and opens no connection: whoever implements [`Model`] does.

mod error;
mod item;
mod model;
mod usage;

mod entry;
mod turn;

pub use entry::{CallFacts, End, Entry, Verdict, What};
pub use error::{ModelError, ModelErrorKind};
pub use item::{Item, ItemKind, Raw, Step};
pub use model::{
    AnswerForm, Hosted, Message, Model, ModelEvent, ModelId, ModelRequest, ModelStream, Options,
    ToolChoice,
};
pub use turn::{Next, Turn, TurnLimits};
pub use usage::{Stop, Usage};
