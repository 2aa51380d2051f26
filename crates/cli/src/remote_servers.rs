//! Settings in, the servers that they name attached to a registry out.
//!
//! Whatever uses tools comes through here, so that servers are read, connected and warned about in one way. A server that
//! cannot be reached costs its own tools and a warning, never the command.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use toolwright_core::schema::redact;
use toolwright_core::{BundleItem, Config, Invoker, InvokerBuilder, Registry, ToolSpec};
use toolwright_mcp::{
    AttachError, AttachedServer, AttachmentStatus, FilePins, PinStore, RemoteItem, RemoteServer,
};

use crate::cli_error::{CliError, error_chain};
use crate::config::ProjectConfig;
use crate::runtime;
use crate::terminal::output;
use crate::terminal::sanitize::sanitize;

mod connect_progress;
mod connector;
mod elicitation;
mod placeholder;

use connector::{ConnectionState, ServerConnector};
pub(crate) use elicitation::TerminalElicitor;

/// The file that remembers which definitions were accepted, in the project directory.
const PIN_FILE: &str = "toolwright.pins";

/// How long a command that stays waits before it begins without the servers that are slow.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the command runs that tools are attached for.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum CommandLifetime {
    /// It does one thing: a server is tried once.
    OneShot,
    /// It stays: what could not be attached is tried again, and what is hidden comes back once it is accepted.
    LongRunning,
}

/// Reads which servers we attach; `hosted` tells whether the vendor of the model attaches those of the groups `MCP.*`.
pub(crate) fn configured_servers(
    config: &Config,
    hosted: bool,
) -> Result<Vec<RemoteServer>, CliError> {
    let mut wanted =
        RemoteServer::from_config(config).map_err(|error| CliError::from_error(&error))?;
    let groups =
        RemoteServer::from_groups(config, hosted).map_err(|error| CliError::from_error(&error))?;
    wanted.extend(groups);
    let mut names = HashSet::new();
    match wanted.iter().find(|server| !names.insert(server.name())) {
        None => Ok(wanted),
        Some(twice) => Err(CliError::failure(format!(
            "two MCP servers are named `{}`: give one of them another name",
            twice.name()
        ))),
    }
}

/// Where definitions are pinned.
pub(crate) fn open_pins(surroundings: &ProjectConfig, stay: CommandLifetime) -> Arc<FilePins> {
    let pins = FilePins::new(surroundings.project_dir_or_current().join(PIN_FILE));
    Arc::new(match stay {
        CommandLifetime::OneShot => pins.keep_drifted(),
        CommandLifetime::LongRunning => pins,
    })
}

/// Does some work with the servers of the settings attached, then lets them go.
///
/// With `needed` unset nobody is connected to: the work is known to need linked tools only.
pub(crate) fn with_servers<T>(
    surroundings: &ProjectConfig,
    registry: &Registry,
    stay: CommandLifetime,
    needed: bool,
    work: impl FnOnce(&Runtime, &RemoteServers) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let wanted = configured_servers(surroundings.config(), false)?;
    let runtime = runtime::build_runtime()?;
    // Whoever stays serves others: what it reads from stdin is not for us.
    let person = (stay == CommandLifetime::OneShot).then(Arc::default);
    let servers = RemoteServers::new(registry, open_pins(surroundings, stay), person, stay);
    match needed {
        true => runtime.block_on(servers.attach(wanted)),
        false => servers.register_unconnected(wanted),
    }
    let done = work(&runtime, &servers);
    runtime.block_on(servers.detach());
    // A blocking tool that nobody waits for any more must not keep the process.
    runtime.shutdown_background();
    done
}

/// The servers that are attached to a registry, for as long as this is kept.
pub(crate) struct RemoteServers {
    connector: Arc<ServerConnector>,
    lifetime: CommandLifetime,
    tasks: Mutex<JoinSet<()>>,
}

impl RemoteServers {
    /// Begins without any; what they ask in the middle of a call, the person answers.
    pub(crate) fn new(
        registry: &Registry,
        pins: Arc<dyn PinStore>,
        person: Option<Arc<TerminalElicitor>>,
        stay: CommandLifetime,
    ) -> Self {
        Self {
            connector: Arc::new(ServerConnector::new(registry.clone(), pins, person)),
            lifetime: stay,
            tasks: Mutex::default(),
        }
    }

    /// Attaches these, all at once, except those that are known already.
    pub(crate) async fn attach(&self, wanted: Vec<RemoteServer>) {
        let first = self.connector.names().len();
        for wanted in wanted {
            let Some(place) = self.connector.add_connecting(&wanted) else {
                continue;
            };
            let (desk, stay) = (Arc::clone(&self.connector), self.lifetime);
            self.spawn(async move { desk.attach_with_retry(place, wanted, stay).await });
        }
        if self.connector.names().len() == first {
            return;
        }
        if self.lifetime == CommandLifetime::LongRunning && first == 0 {
            let desk = Arc::clone(&self.connector);
            self.spawn(async move { desk.recheck_hidden().await });
        }
        let patience = (self.lifetime == CommandLifetime::LongRunning).then_some(STARTUP_TIMEOUT);
        connect_progress::wait_until_connected(&self.connector, patience).await;
        self.sort_by_config();
    }

    /// Notes that these exist, without a connection.
    pub(crate) fn register_unconnected(&self, wanted: Vec<RemoteServer>) {
        for wanted in wanted {
            if let Some(place) = self.connector.add_connecting(&wanted) {
                self.connector.set_state(place, ConnectionState::Skipped);
            }
        }
    }

    /// Tells whether a server of this name is ours, attached or not.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.connector.names().iter().any(|known| known == name)
    }

    /// The servers that could not be attached.
    pub(crate) fn unavailable(&self) -> Vec<String> {
        let missing = self.connector.map_states(|name, state| match state {
            ConnectionState::Connecting | ConnectionState::Failed(_) => Some(name.to_owned()),
            ConnectionState::Attached(_) | ConnectionState::Skipped => None,
        });
        missing.into_iter().flatten().collect()
    }

    /// What is wrong with them, in words for a person.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let warnings = self.connector.warnings().into_iter();
        warnings.map(|told| sanitize(&told).into_owned()).collect()
    }

    /// Tells stderr what is wrong with them.
    pub(crate) fn print_warnings(&self) {
        for warning in self.connector.warnings() {
            output::print_stderr(&format!("warning: {warning}\n"));
        }
    }

    /// Returns what tells at any time what is wrong with them.
    pub(crate) fn warnings_fn(&self) -> impl Fn() -> Vec<String> + Send + Sync + use<> {
        let desk = Arc::clone(&self.connector);
        move || desk.warnings()
    }

    /// Shows what goes wrong later in this way; unless it is set, on stderr.
    pub(crate) fn set_warning_handler(&self, report: impl Fn(&str) + Send + Sync + 'static) {
        self.connector.set_warning_handler(Arc::new(report));
    }

    /// Lets the person's yes to a call of this tool also answer its server, where that asks whether the tool may run.
    pub(crate) fn preapprove(&self, spec: &ToolSpec) {
        let Some(person) = self.connector.elicitor() else {
            return;
        };
        for status in self.statuses().into_iter().flatten() {
            let mut listed = status.items.into_iter();
            if let Some(listed) = listed.find(|it| !it.is_prompt && spec.name == *it.name) {
                let title = spec.title.clone().unwrap_or(listed.remote_name);
                person.preapprove(status.server, title);
            }
        }
    }

    /// How each is, in the order of the settings; `Err` says why it could not be attached.
    pub(crate) fn statuses(&self) -> Vec<Result<AttachmentStatus, String>> {
        self.connector.map_states(|name, state| match state {
            ConnectionState::Attached(server) => Ok(server.status()),
            ConnectionState::Failed(why) => Err(why.clone()),
            ConnectionState::Connecting | ConnectionState::Skipped => {
                Err(format!("server `{name}` is not connected"))
            }
        })
    }

    /// What each that is attached defines, as it wrote it.
    pub(crate) fn raw_definitions(&self) -> Vec<Value> {
        let definitions = self.connector.map_states(|_, state| match state {
            ConnectionState::Attached(server) => server.raw_definitions(),
            _ => Vec::new(),
        });
        definitions.concat()
    }

    /// Accepts what a tool or prompt has become, by the name it has here or the one its server gives it; returns the
    /// server that has it.
    pub(crate) fn accept_change(&self, name: &str) -> Result<String, CliError> {
        let (mut here, mut there) = (Vec::new(), Vec::new());
        for status in self.statuses().into_iter().flatten() {
            let mut hidden = status.items.into_iter();
            let hidden = hidden
                .find(|it| it.hidden.is_some() && (it.name == name || it.remote_name == name));
            match hidden {
                Some(listed) if listed.name == name => here.push((status.server, listed.name)),
                Some(listed) => there.push((status.server, listed.name)),
                None => {}
            }
        }
        let found = if here.is_empty() { there } else { here };
        let [(server, _)] = &found[..] else {
            let names: Vec<String> = found.into_iter().map(|(_, name)| name).collect();
            return Err(self.accept_error(name, &names));
        };
        let accepted = self.connector.map_states(|known, state| match state {
            ConnectionState::Attached(attached) if known == server => attached.accept_change(name),
            _ => Ok(()),
        });
        let accepted: Result<Vec<()>, AttachError> = accepted.into_iter().collect();
        accepted.map_err(|error| CliError::from_error(&error))?;
        Ok(server.clone())
    }

    /// Says why nothing, or nothing in particular, can be accepted.
    fn accept_error(&self, name: &str, several: &[String]) -> CliError {
        if !several.is_empty() {
            let names = several.join("` or `");
            return CliError::usage(format!(
                "several servers have a changed `{name}`: name `{names}`"
            ));
        }
        let mut told = vec![format!(
            "no server has a changed tool or prompt named `{name}`"
        )];
        told.extend(self.statuses().into_iter().filter_map(Result::err));
        CliError::failure(told.join("\n"))
    }

    /// Builds an invoker: settings for a tool that is not there only because its server is not are no mistake.
    pub(crate) fn build_invoker(
        &self,
        builder: InvokerBuilder,
        config: &Config,
    ) -> Result<Invoker, CliError> {
        let absent = self.connector.map_states(|name, state| match state {
            ConnectionState::Attached(server) => {
                let hidden = server.status().items.into_iter();
                let hidden = hidden.filter(|listed| listed.hidden.is_some());
                let mut absent: Vec<String> = hidden.map(|listed| listed.name).collect();
                // The bundle of a server without a tool that shows.
                absent.push(name.to_owned());
                Some(absent)
            }
            _ => None,
        });
        // Of a server that is not there nobody knows the tools.
        let names: Option<Vec<Vec<String>>> = absent.into_iter().collect();
        let names = names.map(|names| names.concat());
        let registry = self.connector.registry();
        let stand_ins = placeholder::add_placeholders(registry, config, names.as_deref());
        let built = builder
            .build()
            .map_err(|error| CliError::from_error(&error));
        for name in stand_ins {
            registry.remove(name.as_str());
        }
        built
    }

    /// Lets all of them go.
    pub(crate) async fn detach(&self) {
        let mut tasks = std::mem::take(&mut *self.tasks());
        tasks.shutdown().await;
        join_all(
            self.connector
                .take_attached()
                .into_iter()
                .map(AttachedServer::detach),
        )
        .await;
    }

    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks().spawn(work);
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts tools and prompts in the order of the settings, whoever answered first.
    fn sort_by_config(&self) {
        let registry = self.connector.registry();
        let statuses = self.statuses().into_iter().flatten();
        let listed = statuses.flat_map(|status| status.items);
        let mut items: Vec<BundleItem> = Vec::new();
        for listed in listed.filter(|listed| listed.hidden.is_none()) {
            match listed.is_prompt {
                true => items.extend(registry.remove_prompt(&listed.name).map(BundleItem::from)),
                false => items.extend(registry.remove(&listed.name).map(BundleItem::from)),
            }
        }
        // They were all there a moment ago.
        let _ = registry.add(items);
    }
}

/// A name that nobody has: a mistake of whoever wrote it, unless a server that may have it could not be attached.
pub(crate) fn unknown_name_error(told: String, missing: &[String]) -> CliError {
    match missing {
        [] => CliError::usage(told),
        missing => CliError::failure(format!(
            "{told}\nit may belong to `{}`, which could not be attached",
            missing.join("` or `")
        )),
    }
}

/// Why a tool or prompt is hidden, and how it comes back; nothing where it is not.
fn hidden_warning(listed: &RemoteItem) -> Option<String> {
    let why = listed.hidden.as_deref()?;
    Some(format!("{why} with `{}`", accept_command(&listed.name)))
}

/// The command that accepts a tool.
pub(crate) fn accept_command(name: &str) -> String {
    format!("{} mcp accept {name}", crate::program_name())
}

/// What went wrong, without secrets, and what to set.
fn describe_attach_error(error: &AttachError) -> String {
    let told = match error {
        AttachError::Unauthorized { server, .. } => format!(
            "server `{server}` wants authorization, or refuses the one it got: set its `authorization` in toolwright.toml, under [mcp.servers.NAME]"
        ),
        AttachError::Connect { .. } => {
            format!(
                "{}; check that it runs, and speaks MCP there",
                error_chain(error)
            )
        }
        other => error_chain(other),
    };
    redact(&told).into_owned()
}
