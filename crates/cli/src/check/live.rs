//! The address or command of an MCP server in, the tools that it lists out.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use toolwright_core::Registry;
use toolwright_mcp::{MemoryPins, RemoteServer};

use super::found::Found;
use crate::attach::{Servers, Stay};
use crate::call;
use crate::chat::command::words;
use crate::failure::Failure;
use crate::print;

/// Connects, lists, and leaves.
pub(super) fn list(place: &str) -> Result<Found, Failure> {
    let server = server(place.trim())?;
    let runtime = call::runtime()?;
    let pins = Arc::new(MemoryPins::new());
    let servers = Servers::new(&Registry::new(), pins, None, Stay::Short);
    runtime.block_on(servers.attach(vec![server]));
    let status = servers.statuses().into_iter().next();
    let definitions = servers.definitions();
    runtime.block_on(servers.detach());
    let status = match status {
        Some(Ok(status)) => status,
        Some(Err(why)) => return Err(Failure::told(why)),
        None => return Ok(Found::default()),
    };
    let source = status.implementation.unwrap_or(status.server);
    let mut found = Found::default();
    if definitions.is_empty() {
        print::aside(&format!("server `{source}` lists no tools\n"));
        return Ok(found);
    }
    let text = json!({ "tools": definitions }).to_string();
    let read = found.add(&source, &text);
    read.map_err(|error| Failure::finding(&error))?;
    Ok(found)
}

/// An address, or a command with its arguments; its name is what trouble with it is told by.
fn server(place: &str) -> Result<RemoteServer, Failure> {
    let name = |text: &str| text.chars().take(64).collect::<String>();
    if let Some((_, rest)) = place.split_once("://") {
        // What stands before and after may be a secret.
        let host = rest.split(['?', '#']).next().unwrap_or_default();
        let host = host.rsplit('@').next().unwrap_or_default();
        return Ok(RemoteServer::url(name(host), place));
    }
    let words = words(place).map_err(|wrong| Failure::usage(format!("--mcp: {wrong}")))?;
    let [program, args @ ..] = &words[..] else {
        return Err(Failure::usage(
            "--mcp: write the server's address, or the command that starts it",
        ));
    };
    let file = Path::new(program).file_name().unwrap_or_default();
    let file = name(&file.to_string_lossy());
    Ok(RemoteServer::command(file, program, args))
}
