//! `mcp list|accept|login|logout|rotate-key`: the attached servers, their changed tools, and the logins to them.

use std::process::ExitCode;

use tokio::runtime::Runtime;
use toolwright_core::Config;
use toolwright_mcp::AttachmentStatus;

use crate::attach_options::ProgramLifetime;
use crate::cli::args::McpCommand;
use crate::cli::cli_error::CliError;
use crate::cli::commands::mcp::login;
use crate::cli::program::{Program, accept_command};
use crate::cli::terminal::output;
use crate::remote_servers::RemoteServers;

pub(super) fn execute(
    command: McpCommand,
    json: bool,
    program: Program,
) -> Result<ExitCode, CliError> {
    let lifetime = ProgramLifetime::OneShot;
    // A login connects by itself; to the other servers there is no need to.
    let connects = matches!(command, McpCommand::List { .. } | McpCommand::Accept { .. });
    let work = |program: &mut Program, runtime: &Runtime, servers: &RemoteServers| match command {
        McpCommand::List { verbose } => {
            let format = if json { ListFormat::Json } else { ListFormat::Text { verbose } };
            runtime.block_on(list_servers(program.config(), servers, format))
        }
        McpCommand::Accept { name } => {
            let accepted = runtime.block_on(servers.accept_change(&name))?;
            output::print_stderr(&format!("accepted {accepted}\n"));
            Ok(ExitCode::SUCCESS)
        }
        McpCommand::Login { name, open, port } => {
            runtime.block_on(login::log_in(program.config(), servers, &name, open, port))
        }
        McpCommand::Logout { name, person } => {
            runtime.block_on(login::log_out(program.config(), servers, &name, person.as_deref()))
        }
        McpCommand::RotateKey => {
            let count = runtime.block_on(servers.rotate_credential_key())?;
            output::print_stderr(&format!("{count} credentials are encrypted with the new key\n"));
            Ok(ExitCode::SUCCESS)
        }
    };
    program.with_servers(lifetime, connects, work)
}

/// How the servers are printed.
#[derive(Clone, Copy)]
enum ListFormat {
    Json,
    Text { verbose: bool },
}

async fn list_servers(
    config: &Config,
    servers: &RemoteServers,
    format: ListFormat,
) -> Result<ExitCode, CliError> {
    let (attached, failed): (Vec<_>, Vec<_>) =
        servers.statuses().into_iter().partition(Result::is_ok);
    let mut statuses: Vec<AttachmentStatus> = attached.into_iter().flatten().collect();
    for status in &mut statuses {
        hide_changed_tools(status, servers).await?;
    }
    let errors: Vec<String> = failed.into_iter().filter_map(Result::err).collect();
    let logins = servers.logins(config).await?.0;
    if let ListFormat::Text { verbose } = format {
        for status in &statuses {
            output::print_text(&format_status(status, verbose))?;
            output::print_text(&login::format_logins(&status.server, &logins))?;
        }
        let is_attached = |server: &str| statuses.iter().any(|status| status.server == server);
        for login in logins.iter().filter(|login| !is_attached(&login.server)) {
            let line = login::format_logins(&login.server, std::slice::from_ref(login));
            output::print_text(&format!("{} (not connected)\n{line}", login.server))?;
        }
        if statuses.is_empty() && errors.is_empty() {
            eprintln!("no servers: add one as [mcp.servers.NAME] with url or command");
        }
    } else {
        let with_logins = statuses.iter().map(|status| login::with_logins(status, &logins));
        output::print_json(&with_logins.collect::<Result<Vec<_>, _>>()?)?;
    }
    for error in &errors {
        output::print_stderr(&format!("error: {error}\n"));
    }
    Ok(match errors.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Hides each tool that a running program hides because it saw a change, although the server lists it unchanged here.
async fn hide_changed_tools(
    status: &mut AttachmentStatus,
    servers: &RemoteServers,
) -> Result<(), CliError> {
    for (definition, changed) in servers.drifted(&status.server).await? {
        let item = status.items.iter_mut().find(|item| item.pin_name() == definition);
        if let Some(item) = item.filter(|item| item.hidden.is_none()) {
            let note = format!(
                "`{}`: a running program has seen its {} change, and hides it",
                item.name,
                changed.join(" and ")
            );
            item.hidden = Some(note.clone());
            status.notes.push(note);
        }
    }
    Ok(())
}

/// A server with its tools, prompts and notes, as text. Only what is hidden is always explained: a server may have many notes.
fn format_status(status: &AttachmentStatus, verbose: bool) -> String {
    let revision = status.revision.as_deref().unwrap_or("not connected");
    let latency = status
        .latency
        .map_or_else(String::new, |latency| format!(", {:.0} ms", latency.as_secs_f64() * 1_000.0));
    let mut text = format!("{} ({revision}{latency})\n", status.server);
    for (kind, is_prompt) in [("tools", false), ("prompts", true)] {
        let items = || status.items.iter().filter(|item| item.is_prompt == is_prompt);
        if items().next().is_some() {
            text.push_str(&format!("  {kind}: {}\n", items().count()));
        }
        for item in items() {
            text.push_str(&format!("    {}\n", item.name));
            if let Some(reason) = &item.hidden {
                let accept = format!("`{} {}` takes it back", accept_command(), item.name);
                text.push_str(&format!("      {reason}; {accept}\n"));
            }
        }
    }
    let is_reason = |note: &String| status.items.iter().any(|it| it.hidden.as_ref() == Some(note));
    let notes: Vec<&String> = status.notes.iter().filter(|note| !is_reason(note)).collect();
    match &notes[..] {
        [_, _, ..] if !verbose => {
            text.push_str(&format!("  {} notes: --verbose prints them\n", notes.len()));
        }
        notes => notes.iter().for_each(|note| text.push_str(&format!("  note: {note}\n"))),
    }
    text
}
