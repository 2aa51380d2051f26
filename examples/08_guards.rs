//! Guards for tools with access to files and URLs: paths stay in a directory, URLs out of the private network.
//!
//! ```console
//! $ cargo run -q --example 08_guards
//! README.md
//! -> # Project
//! ../secret.txt
//! -> `../secret.txt` leads out of the directory that tools may use
//! /etc/passwd
//! -> `/etc/passwd` leads out of the directory that tools may use
//! http://10.0.0.5/admin
//! -> the host `10.0.0.5` has an address that tools may not connect to
//! http://169.254.169.254/latest/meta-data/
//! -> the host `169.254.169.254` has an address that tools may not connect to
//! http://[::ffff:127.0.0.1]/
//! -> the host `[::ffff:7f00:1]` has an address that tools may not connect to
//! file:///etc/passwd
//! -> URLs that start with `file:` are not fetched
//! ```

use std::error::Error;

use toolwright::guard::{Jail, SafeHttp};
use toolwright::{Invoker, Registry, ToolCall, ToolError, json, tool};

/// Reads a text file of the project.
#[tool(read_only, blocking)]
fn read_file(
    /// Relative to the project's directory.
    path: String,
    jail: Jail,
) -> Result<String, ToolError> {
    Ok(jail.read(&path)?.text)
}

/// Fetches a page of the public internet.
#[tool(read_only, open_world)]
async fn fetch_url(
    /// Begins with `https://` or `http://`.
    url: String,
    http: SafeHttp,
) -> Result<String, ToolError> {
    Ok(http.get(&url).await?.text())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let outside = tempfile::tempdir()?;
    std::fs::write(outside.path().join("secret.txt"), "42")?;
    let project = outside.path().join("project");
    std::fs::create_dir(&project)?;
    std::fs::write(project.join("README.md"), "# Project")?;

    let registry = Registry::new();
    registry.add(read_file::tool())?;
    registry.add(fetch_url::tool())?;
    // The host decides what is behind the guards; the model never sees them.
    let invoker =
        Invoker::builder(&registry).state(Jail::new(&project)?).state(SafeHttp::new()?).build()?;

    for path in ["README.md", "../secret.txt", "/etc/passwd"] {
        let call = ToolCall::new("read_file", json!({ "path": path }));
        println!("{path}\n-> {}", invoker.invoke(&call).await.text());
    }
    for url in [
        "http://10.0.0.5/admin",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:127.0.0.1]/",
        "file:///etc/passwd",
    ] {
        let call = ToolCall::new("fetch_url", json!({ "url": url }));
        println!("{url}\n-> {}", invoker.invoke(&call).await.text());
    }
    Ok(())
}
