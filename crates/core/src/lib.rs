//! Tool, Registry, Invoker: **a tool is `ToolCall → ToolResult`, defined once.**
//!
//! This crate knows nothing of HTTP, chat or any model. Use it through the `toolwright` facade,
//! which adds the macros.

mod call;
mod content;
mod error;
mod result;

mod config;
mod context;
mod extract;
mod param;

mod encode;

mod builder;
mod define;
mod input;
mod options;
mod prompt;
mod template;
mod tool;

mod layer;
mod registry;

pub mod wire;

mod approve;
mod audit;
mod invoke;

mod bridge;

pub use approve::{ApprovalRequest, Approvals, Approve, Decision, Grant, Pending};
pub use audit::{Audit, AuditRecord};
pub use bridge::{Bridge, BridgeError, Offer, Offered};
pub use builder::{Args, Reply, ToolBuilder};
pub use call::{Arguments, CallId, ToolCall, ToolName};
pub use config::{
    Config, ConfigError, Loaded, McpGroup, McpMode, Origin, Secret, Shown, Sources, WebSearch,
};
pub use content::{Content, Resource};
pub use context::{CallContext, CallEvent, Caller, Scope, SessionId, Setup};
pub use encode::{Encode, Encoded, Encoders, Json, Updates};
pub use error::{DefineError, ErrorKind, InvokerError, RegistryError, ToolError};
pub use extract::{CallInfo, Cancel, Context, Maybe, Progress, ProjectDir, State};
pub use input::{PROJECT_DIR, SESSION_ID_PARAM};
pub use invoke::{Invoker, InvokerBuilder};
pub use layer::{Authorise, Cache, Invocation, Layer, Next, Place, RateLimit, Retry};
#[cfg(feature = "tower")]
pub use layer::{Tower, TowerCall, TowerNext};
pub use options::{Approval, ErrorPolicy, Extra, Hints, Malformed, Policy, Strict};
pub use param::Param;
pub use prompt::{Prompt, Rendered, Role};
pub use registry::{App, Bundle, Entry, Item, Registry, Snapshot, View};
pub use result::{Contents, Full, Outcome, Structured, ToolResult};
pub use tool::{ParamInfo, Tool, ToolSpec};

pub use futures::future::BoxFuture;
pub use schemars::{self, JsonSchema};
pub use tokio_util::sync::CancellationToken;
pub use toolwright_schema as schema;

/// What generated code relies on; no promise is made to anybody else.
#[doc(hidden)]
pub mod __private {
    pub use std::sync::Arc;

    pub use inventory;
    pub use schemars::{Schema, SchemaGenerator};
    pub use serde::de::MapAccess;
    pub use serde_json::Value;

    pub use crate::define::{
        DefaultSpec, Definition, Meta, ParamKind, ParamSpec, Publish, Running, Slots,
    };
    pub use crate::encode::{IntoToolError, Plain, PlainType, Returned, returned, returned_async};
    pub use crate::prompt::PromptText;
    pub use crate::registry::{Construct, Discovered, Linked, Place};

    /// Stands for a value while types are worked out; never called.
    pub fn never<T>() -> T {
        unreachable!("only typed, never called")
    }
}
