//! The MCP methods beside tool calls: lists, resources, completion, subscriptions, tasks.

pub(crate) mod completion;
pub(crate) mod list_cache;
pub(crate) mod resources;
pub(crate) mod served_resource;
pub(crate) mod subscriptions;
pub(crate) mod tasks;
