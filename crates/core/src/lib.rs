//! Tool, Registry, Invoker: **a tool is `ToolCall → ToolResult`, defined once.**
//!
//! This crate knows nothing of HTTP, chat or any model. Use it through the `toolwright` facade,
//! which adds the macros.

mod call;
mod config;
mod error;
mod tool;

mod layer;
mod registry;

mod invoker;

pub mod wire;

pub use call::content::{Content, ResourceContents};
pub use call::context::{CallContext, CallEvent, CallScope, Caller, InvokerContext, SessionId};
pub use call::result::{ContentList, Outcome, StructuredContent, ToolResult, UntruncatedOutput};
pub use call::{Arguments, CallId, ToolCall, ToolName};
pub use config::{
    Config, ConfigError, ConfigSources, DisplayedSetting, LoadedConfig, McpAttachMode,
    McpServerConfig, Origin, Secret, WebSearchConfig,
};
pub use error::{DefineError, ErrorKind, InvokerError, RegistryError, ToolError};
pub use invoker::approval::{
    ApprovalDecision, ApprovalRequest, ApprovalSigner, ApprovalToken, Approver, PendingCall,
};
pub use invoker::audit::{AuditRecord, AuditSink};
pub use invoker::{Invoker, InvokerBuilder};
pub use layer::{Authorise, Cache, Invocation, Layer, LayerPosition, Next, RateLimit, Retry};
#[cfg(feature = "tower")]
pub use layer::{Tower, TowerCall, TowerNext};
pub use registry::{AppKind, Bundle, BundleItem, RegisteredTool, Registry, Snapshot, View};
pub use tool::builder::{Args, IntoToolOutput, ToolBuilder};
pub use tool::encode::{Encode, Encoders, Json, ToolOutput, Updates};
pub use tool::extract::{CallInfo, Cancel, HandlerContext, Maybe, Progress, ProjectDir, State};
pub use tool::input_schema::{PROJECT_DIR_PARAM, SESSION_ID_PARAM};
pub use tool::param::Param;
pub use tool::policy::{
    ApprovalPolicy, ErrorPolicy, Hints, OnMalformed, Policy, StrictMode, UnknownArguments,
};
pub use tool::prompt::{Prompt, RenderedPrompt, Role};
pub use tool::{ParamInfo, Tool, ToolSpec};
pub use wire::bridge::{Bridge, BridgeError, ExportedTool, ExportedTools};

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

    pub use crate::registry::{
        BundleConstructor, BundleLocation, DiscoverableBundle, LinkedBundle,
    };
    pub use crate::tool::definition::{
        ArgumentSlots, DefaultSpec, Definition, JsonDefault, Metadata, ParamSpec, ParamVtable,
        StartedHandler,
    };
    pub use crate::tool::encode::{
        IntoToolError, PlainValue, PlainValueType, ReturnValue, async_return_type_of,
        return_type_of,
    };
    pub use crate::tool::prompt::PromptText;

    /// Stands for a value while types are worked out; never called.
    pub fn never<T>() -> T {
        unreachable!("only typed, never called")
    }
}
