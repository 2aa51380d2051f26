//! Extractors for tools that touch the world: **a path cannot leave its jail, a URL cannot reach your network.**
//!
//! What a tool is asked to read comes from a model, and what a model asks may come from a page it
//! has read. A tool that takes a [`Jail`] or a [`SafeHttp`] as parameter need not trust either: the
//! model never sees the parameter, the host decides what is behind it.
//!
//! ```
//! use toolwright::{Invoker, Registry, ToolCall, ToolError, tool};
//! use toolwright_guard::Jail;
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

mod jail;
mod text;

#[cfg(feature = "http")]
mod http;

#[cfg(feature = "http")]
pub use http::{FetchError, Page, Resolver, SafeHttp, SafeHttpBuilder, SetupError, SystemResolver};
#[cfg(feature = "http")]
pub use ipnet::IpNet;
pub use jail::{Entry, EntryKind, FileText, Jail, JailError, Listing, WriteMode};
