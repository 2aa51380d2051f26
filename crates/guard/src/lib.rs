//! Tool parameters that restrict access: **a path cannot leave its jail, a URL cannot reach your network.**
//!
//! The paths and URLs that a tool receives come from a model, which may follow instructions in a page
//! that it has read. A tool that takes a [`Jail`] or a [`SafeHttp`] as a parameter need not trust either:
//! the model never sees the parameter, and the host configures what it allows.
//!
//! ```
//! use toolwright::{Invoker, Registry, ToolCall, ToolError, tool};
//! use toolwright::guard::Jail;
//!
//! /// Reads a text file.
//! #[tool(read_only, blocking)]
//! fn read_file(path: String, jail: Jail) -> Result<String, ToolError> {
//!     Ok(jail.read(&path)?.text)
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let dir = tempfile::tempdir()?;
//! let registry = Registry::new();
//! registry.add(read_file::tool())?;
//! let invoker = Invoker::builder(&registry).state(Jail::new(dir.path())?).build()?;
//!
//! let call = ToolCall::new("read_file", r#"{"path": "../../etc/passwd"}"#);
//! let result = invoker.invoke(&call).await;
//! assert_eq!(result.text(), "`../../etc/passwd` leads out of the directory that tools may use");
//! # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod jail;
mod text;

mod http;

pub use http::{
    FetchError, FetchResponse, Resolver, SafeHttp, SafeHttpBuilder, SetupError, SystemResolver,
};
pub use ipnet::IpNet;
pub use jail::{DirectoryEntry, EntryKind, FileText, Jail, JailError, Listing, WriteMode};
