//! Attaches the MCP servers of the settings to the registry.
//!
//! All commands that use tools connect through [`RemoteServers`]. A server that cannot be reached costs its own tools and a
//! warning, never the command.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use toolwright_chat::{HostedTool, Model};
use toolwright_core::schema::redact;
use toolwright_core::{BundleItem, Config, Invoker, InvokerBuilder, Registry, ToolSpec};
use toolwright_mcp::{
    AttachError, AttachedServer, AttachmentStatus, FilePins, PinStore, RemoteItem, RemoteServer,
};

use crate::cli_error::{CliError, error_chain};
use crate::config::ProjectConfig;
use crate::runtime::{self, lock};
use crate::terminal::output;
use crate::terminal::sanitize::sanitize;

mod connect_progress;
mod connector;
mod elicitation;
mod placeholder;

use connector::{ConnectionState, ServerConnector};
pub(crate) use elicitation::TerminalElicitor;

/// The file of the accepted tool definitions, in the project directory.
const PIN_FILE: &str = "toolwright.pins";

/// A long-running command starts without the servers that have not connected by then.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(10);

/// Whether a command ends after one task.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum CommandLifetime {
    /// One task: each server is tried once.
    OneShot,
    /// Runs until it is stopped: failed connections are retried, and hidden tools return once their change is accepted.
    LongRunning,
}

/// The servers to attach; with `hosted`, the vendor of the model attaches those of the groups `MCP.*`.
fn configured_servers(config: &Config, hosted: bool) -> Result<Vec<RemoteServer>, CliError> {
    let mut servers = RemoteServer::from_config(config)?;
    servers.extend(RemoteServer::from_groups(config, hosted)?);
    let mut names = HashSet::new();
    match servers.iter().find(|server| !names.insert(server.name())) {
        None => Ok(servers),
        Some(duplicate) => Err(CliError::failure(format!(
            "two MCP servers are named `{}`: give one of them another name",
            duplicate.name()
        ))),
    }
}

/// Opens the pin file of the project.
pub(crate) fn open_pins(project: &ProjectConfig, lifetime: CommandLifetime) -> Arc<FilePins> {
    let pins = FilePins::new(project.project_dir_or_current().join(PIN_FILE));
    Arc::new(match lifetime {
        CommandLifetime::OneShot => pins.keep_drifted(),
        CommandLifetime::LongRunning => pins,
    })
}

/// Runs `work` with an empty [`RemoteServers`], then detaches the servers that it has attached.
pub(crate) fn with_runtime<T>(
    project: &ProjectConfig,
    registry: &Registry,
    lifetime: CommandLifetime,
    elicitor: Option<Arc<TerminalElicitor>>,
    work: impl FnOnce(&Runtime, &RemoteServers) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let runtime = runtime::build_runtime()?;
    let servers = RemoteServers::new(registry, open_pins(project, lifetime), elicitor, lifetime);
    let output = work(&runtime, &servers);
    runtime.block_on(servers.detach());
    // Does not wait for blocking tools that are still running.
    runtime.shutdown_background();
    output
}

/// Runs `work` with the servers of the settings attached.
///
/// With `connect` unset they are not connected: the work needs linked tools only.
pub(crate) fn with_servers<T>(
    project: &ProjectConfig,
    registry: &Registry,
    lifetime: CommandLifetime,
    connect: bool,
    work: impl FnOnce(&Runtime, &RemoteServers) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let configured = configured_servers(project.config(), false)?;
    // The stdin of a long-running command carries its protocol, not answers of the user.
    let elicitor = (lifetime == CommandLifetime::OneShot).then(Arc::default);
    with_runtime(project, registry, lifetime, elicitor, |runtime, servers| {
        match connect {
            true => runtime.block_on(servers.attach(configured)),
            false => servers.register_unconnected(configured),
        }
        work(runtime, servers)
    })
}

/// Runs `work` as [`with_servers`] does, with an invoker; warnings about the servers are printed first.
pub(crate) fn with_invoker<T>(
    project: &ProjectConfig,
    registry: &Registry,
    lifetime: CommandLifetime,
    connect: bool,
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
    work: impl FnOnce(&Runtime, &RemoteServers, Invoker) -> Result<T, CliError>,
) -> Result<T, CliError> {
    with_servers(project, registry, lifetime, connect, |runtime, servers| {
        servers.print_warnings();
        let invoker = servers.build_invoker(project, setup)?;
        work(runtime, servers, invoker)
    })
}

/// The servers of a command, each with its connection state.
pub(crate) struct RemoteServers {
    connector: Arc<ServerConnector>,
    lifetime: CommandLifetime,
    tasks: Mutex<JoinSet<()>>,
}

impl RemoteServers {
    /// Without servers; `elicitor` answers the questions that servers ask during a call, `None` declines them.
    pub(crate) fn new(
        registry: &Registry,
        pins: Arc<dyn PinStore>,
        elicitor: Option<Arc<TerminalElicitor>>,
        lifetime: CommandLifetime,
    ) -> Self {
        Self {
            connector: Arc::new(ServerConnector::new(registry.clone(), pins, elicitor)),
            lifetime,
            tasks: Mutex::default(),
        }
    }

    /// Attaches the servers of the settings, except those that the vendor of the model attaches.
    pub(crate) async fn attach_configured(
        &self,
        config: &Config,
        model: &dyn Model,
    ) -> Result<(), CliError> {
        let mut groups = config.mcp_servers()?.into_iter();
        let hosted = groups.any(|group| model.supports_hosted_tool(&HostedTool::Mcp(group)));
        self.attach(configured_servers(config, hosted)?).await;
        Ok(())
    }

    /// Attaches servers concurrently, except those whose name is already known.
    pub(crate) async fn attach(&self, configured: Vec<RemoteServer>) {
        let first = self.connector.names().len();
        for server in configured {
            let Some(index) = self.connector.add_connecting(&server) else {
                continue;
            };
            let (connector, lifetime) = (Arc::clone(&self.connector), self.lifetime);
            self.spawn(async move { connector.attach_with_retry(index, server, lifetime).await });
        }
        if self.connector.names().len() == first {
            return;
        }
        if self.lifetime == CommandLifetime::LongRunning && first == 0 {
            let connector = Arc::clone(&self.connector);
            self.spawn(async move { connector.recheck_hidden().await });
        }
        let timeout = (self.lifetime == CommandLifetime::LongRunning).then_some(STARTUP_TIMEOUT);
        connect_progress::wait_until_connected(&self.connector, timeout).await;
        self.sort_by_config();
    }

    /// Registers the names of servers without connecting to them.
    fn register_unconnected(&self, configured: Vec<RemoteServer>) {
        for server in configured {
            if let Some(index) = self.connector.add_connecting(&server) {
                self.connector.set_state(index, ConnectionState::Skipped);
            }
        }
    }

    /// Returns true if this program attaches the server that the vendor could attach too; then the vendor must not.
    pub(crate) fn is_attached_locally(&self, tool: &HostedTool) -> bool {
        matches!(tool, HostedTool::Mcp(group) if self.connector.names().contains(&group.name))
    }

    /// The names of the servers that could not be attached.
    pub(crate) fn unavailable(&self) -> Vec<String> {
        let missing = self.connector.map_states(|name, state| match state {
            ConnectionState::Connecting | ConnectionState::Failed(_) => Some(name.to_owned()),
            ConnectionState::Attached(_) | ConnectionState::Skipped => None,
        });
        missing.into_iter().flatten().collect()
    }

    /// The error for an unknown tool or prompt: a usage error, unless it may belong to a server that could not be attached.
    pub(crate) fn unknown_name_error(
        &self,
        kind: &str,
        name: &str,
        nearest: Option<&str>,
    ) -> CliError {
        let hint = match nearest {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("`{kind}s list` shows all there are"),
        };
        let message = format!("there is no {kind} `{name}`; {hint}");
        match &self.unavailable()[..] {
            [] => CliError::usage(message),
            servers => CliError::failure(format!(
                "{message}\nit may belong to `{}`, which could not be attached",
                servers.join("` or `")
            )),
        }
    }

    /// Warnings about failed connections and hidden tools, sanitized for a terminal.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let warnings = self.connector.warnings().into_iter();
        warnings.map(|warning| sanitize(&warning).into_owned()).collect()
    }

    /// Prints the warnings to stderr.
    pub(crate) fn print_warnings(&self) {
        for warning in self.connector.warnings() {
            output::print_stderr(&format!("warning: {warning}\n"));
        }
    }

    /// A function that returns the current warnings, not sanitized.
    pub(crate) fn warnings_fn(&self) -> impl Fn() -> Vec<String> + Send + Sync + use<> {
        let connector = Arc::clone(&self.connector);
        move || connector.warnings()
    }

    /// Sets the handler of later warnings; the default prints them to stderr.
    pub(crate) fn set_warning_handler(&self, handler: impl Fn(&str) + Send + Sync + 'static) {
        self.connector.set_warning_handler(Arc::new(handler));
    }

    /// Makes the elicitor accept if the server of this tool asks whether the tool may run: `--yes` has approved the call.
    pub(crate) fn preapprove(&self, spec: &ToolSpec) {
        let Some(elicitor) = self.connector.elicitor() else {
            return;
        };
        for status in self.statuses().into_iter().flatten() {
            let mut items = status.items.into_iter();
            if let Some(item) = items.find(|it| !it.is_prompt && spec.name == *it.name) {
                let title = spec.title.clone().unwrap_or(item.remote_name);
                elicitor.preapprove(status.server, title);
            }
        }
    }

    /// The status of each server in the order of the settings; `Err` is the reason why it is not attached.
    pub(crate) fn statuses(&self) -> Vec<Result<AttachmentStatus, String>> {
        self.connector.map_states(|name, state| match state {
            ConnectionState::Attached(server) => Ok(server.status()),
            ConnectionState::Failed(reason) => Err(reason.clone()),
            ConnectionState::Connecting | ConnectionState::Skipped => {
                Err(format!("server `{name}` is not connected"))
            }
        })
    }

    /// The tool definitions of the attached servers, as they were received.
    pub(crate) fn raw_definitions(&self) -> Vec<Value> {
        let definitions = self.connector.map_states(|_, state| match state {
            ConnectionState::Attached(server) => server.raw_definitions(),
            _ => Vec::new(),
        });
        definitions.concat()
    }

    /// Accepts the changed definition of a tool or prompt, by its name here or at its server; returns the name of the server.
    pub(crate) fn accept_change(&self, name: &str) -> Result<String, CliError> {
        let (mut by_local_name, mut by_remote_name) = (Vec::new(), Vec::new());
        for status in self.statuses().into_iter().flatten() {
            let mut hidden = status.items.into_iter();
            let hidden = hidden
                .find(|it| it.hidden.is_some() && (it.name == name || it.remote_name == name));
            match hidden {
                Some(item) if item.name == name => by_local_name.push((status.server, item.name)),
                Some(item) => by_remote_name.push((status.server, item.name)),
                None => {}
            }
        }
        let matches = match by_local_name.is_empty() {
            true => by_remote_name,
            false => by_local_name,
        };
        let [(server, _)] = &matches[..] else {
            let names: Vec<String> = matches.into_iter().map(|(_, name)| name).collect();
            return Err(self.accept_error(name, &names));
        };
        let accepted = self.connector.map_states(|known, state| match state {
            ConnectionState::Attached(attached) if known == server => attached.accept_change(name),
            _ => Ok(()),
        });
        accepted.into_iter().collect::<Result<(), AttachError>>()?;
        Ok(server.clone())
    }

    /// The error if no change, or more than one, has this name.
    fn accept_error(&self, name: &str, candidates: &[String]) -> CliError {
        if !candidates.is_empty() {
            let names = candidates.join("` or `");
            return CliError::usage(format!(
                "several servers have a changed `{name}`: name `{names}`"
            ));
        }
        let mut lines = vec![format!("no server has a changed tool or prompt named `{name}`")];
        lines.extend(self.statuses().into_iter().filter_map(Result::err));
        CliError::failure(lines.join("\n"))
    }

    /// Builds an invoker. Settings for a tool that is missing only because its server is unavailable are not an error.
    pub(crate) fn build_invoker(
        &self,
        project: &ProjectConfig,
        setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
    ) -> Result<Invoker, CliError> {
        let registry = self.connector.registry();
        let builder = setup(project.configure_invoker(Invoker::builder(registry)));
        let absent = self.connector.map_states(|name, state| match state {
            ConnectionState::Attached(server) => {
                let hidden = server.status().items.into_iter();
                let hidden = hidden.filter(|item| item.hidden.is_some());
                let mut absent: Vec<String> = hidden.map(|item| item.name).collect();
                // The bundle of a server whose tools are all hidden.
                absent.push(name.to_owned());
                Some(absent)
            }
            _ => None,
        });
        // `None`: the tools of a server that is not attached are unknown.
        let names: Option<Vec<Vec<String>>> = absent.into_iter().collect();
        let names = names.map(|names| names.concat());
        let placeholders =
            placeholder::add_placeholders(registry, project.config(), names.as_deref());
        let built = builder.build();
        for name in placeholders {
            registry.remove(name.as_str());
        }
        Ok(built?)
    }

    /// Disconnects all servers and stops the retries.
    pub(crate) async fn detach(&self) {
        let mut tasks = std::mem::take(&mut *lock(&self.tasks));
        tasks.shutdown().await;
        join_all(self.connector.take_attached().into_iter().map(AttachedServer::detach)).await;
    }

    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        lock(&self.tasks).spawn(work);
    }

    /// Sorts tools and prompts by the order of the settings, not by which server connected first.
    fn sort_by_config(&self) {
        let registry = self.connector.registry();
        let statuses = self.statuses().into_iter().flatten();
        let remote_items = statuses.flat_map(|status| status.items);
        let mut items: Vec<BundleItem> = Vec::new();
        for item in remote_items.filter(|item| item.hidden.is_none()) {
            match item.is_prompt {
                true => items.extend(registry.remove_prompt(&item.name).map(BundleItem::from)),
                false => items.extend(registry.remove(&item.name).map(BundleItem::from)),
            }
        }
        // Cannot fail: all names were registered before.
        let _ = registry.add(items);
    }
}

/// The reason why a tool or prompt is hidden, and the command that accepts it; `None` if it is not hidden.
fn hidden_warning(item: &RemoteItem) -> Option<String> {
    let reason = item.hidden.as_deref()?;
    Some(format!("{reason} with `{}`", accept_command(&item.name)))
}

/// The command line that accepts a changed tool.
pub(crate) fn accept_command(name: &str) -> String {
    format!("{} mcp accept {name}", crate::program_name())
}

/// The error message with secrets redacted, and which setting to change.
fn describe_attach_error(error: &AttachError) -> String {
    let message = match error {
        AttachError::Unauthorized { server, .. } => format!(
            "server `{server}` wants authorization, or refuses the one it got: set its `authorization` in toolwright.toml, under [mcp.servers.NAME]"
        ),
        AttachError::Connect { .. } => {
            format!("{}; check that it runs, and speaks MCP there", error_chain(error))
        }
        other => error_chain(other),
    };
    redact(&message).into_owned()
}
