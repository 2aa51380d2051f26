//! Attaches the MCP servers of the settings to the registry.
//!
//! A server that cannot be reached costs its own tools and a warning, never the program.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::Instant;
use toolwright_chat::{HostedTool, Model};
use toolwright_core::schema::redact;
use toolwright_core::{BundleItem, Config, Invoker, InvokerBuilder, Registry};
use toolwright_mcp::{
    AttachError, AttachedServer, AttachmentStatus, ISSUER_PIN, PinError, PinStore, RemoteServer,
};
use toolwright_server::PersonalConnections;

use crate::attach_options::{AttachOptions, ProgramLifetime, unknown_name_message};
use crate::error::{AppError, error_chain};
use crate::project::Project;

mod connector;
mod logins;
mod personal;
mod placeholder;
mod project_credentials;
mod project_pins;

use connector::{ConnectionState, ServerConnector};
pub(crate) use logins::ServerLogin;
use personal::PersonalServers;
use project_credentials::ProjectCredentials;

/// A long-running program starts without the servers that have not connected by then.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(10);

/// How often the progress of connecting is reported.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// The servers to attach; with `hosted`, the vendor of the model attaches those of the groups `MCP.*`.
fn configured_servers(config: &Config, hosted: bool) -> Result<Vec<RemoteServer>, AppError> {
    let mut servers = RemoteServer::from_config(config)?;
    servers.extend(RemoteServer::from_groups(config, hosted)?);
    let mut names = HashSet::new();
    match servers.iter().find(|server| !names.insert(server.name())) {
        None => Ok(servers),
        Some(duplicate) => Err(AppError::new(format!(
            "two MCP servers are named `{}`: give one of them another name",
            duplicate.name()
        ))),
    }
}

/// The attached servers of a program, each with its connection state.
pub(crate) struct RemoteServers {
    connector: Arc<ServerConnector>,
    options: AttachOptions,
    tasks: Mutex<JoinSet<()>>,
    personal: Arc<PersonalServers>,
}

impl RemoteServers {
    /// Without servers; their tools will be added to `registry`, and pinned where the options name.
    pub(crate) fn new(registry: &Registry, project: &Project, options: AttachOptions) -> Self {
        let pins = project_pins::project_pins(project, &options);
        let credentials = Arc::new(ProjectCredentials::new(project, &options));
        Self::with_stores(registry, pins, credentials, options)
    }

    /// Without servers; their tools will be added to `registry`, and pinned in `pins`.
    pub(crate) fn with_pins(
        registry: &Registry,
        pins: Arc<dyn PinStore>,
        options: AttachOptions,
    ) -> Self {
        Self::with_stores(registry, pins, Arc::default(), options)
    }

    fn with_stores(
        registry: &Registry,
        pins: Arc<dyn PinStore>,
        credentials: Arc<ProjectCredentials>,
        options: AttachOptions,
    ) -> Self {
        let connector = ServerConnector::new(registry.clone(), pins, credentials, options.clone());
        let connector = Arc::new(connector);
        let personal = PersonalServers::new(Arc::clone(&connector));
        Self { connector, options, tasks: Mutex::default(), personal }
    }

    /// Attaches the servers of the settings, except those that the vendor of the model attaches.
    pub(crate) async fn attach_configured(
        &self,
        config: &Config,
        model: &dyn Model,
    ) -> Result<(), AppError> {
        let mut groups = config.mcp_servers()?.into_iter();
        let hosted = groups.any(|group| model.supports_hosted_tool(&HostedTool::Mcp(group)));
        self.attach(configured_servers(config, hosted)?).await;
        Ok(())
    }

    /// Attaches the servers of the settings.
    pub(crate) async fn attach_all(&self, config: &Config) -> Result<(), AppError> {
        self.attach(configured_servers(config, false)?).await;
        Ok(())
    }

    /// Attaches servers concurrently, except those whose name is already known.
    pub(crate) async fn attach(&self, configured: Vec<RemoteServer>) {
        let first = self.connector.names().len();
        for server in configured {
            let Some(index) = self.connector.add_connecting(&server) else {
                continue;
            };
            if self.options.serves_people && server.is_personal() {
                self.connector.set_state(index, ConnectionState::Skipped);
                self.personal.add(server);
                continue;
            }
            let (connector, lifetime) = (Arc::clone(&self.connector), self.options.lifetime);
            self.spawn(async move { connector.attach_with_retry(index, server, lifetime).await });
        }
        if self.connector.names().len() == first {
            return;
        }
        if !self.personal.is_empty() {
            self.spawn(Arc::clone(&self.personal).close_idle());
        }
        let is_long_running = self.options.lifetime == ProgramLifetime::LongRunning;
        if is_long_running && first == 0 {
            let connector = Arc::clone(&self.connector);
            self.spawn(async move { connector.recheck_hidden().await });
        }
        self.wait_until_connected(is_long_running.then_some(STARTUP_TIMEOUT)).await;
        self.sort_by_config();
    }

    /// Waits until every server has been tried once, or until the timeout.
    async fn wait_until_connected(&self, timeout: Option<Duration>) {
        let mut changes = self.connector.subscribe();
        let started = Instant::now();
        let mut tick = tokio::time::interval_at(started + PROGRESS_INTERVAL, PROGRESS_INTERVAL);
        loop {
            let connecting = self.connector.connecting_names();
            let waited = started.elapsed();
            let is_over = connecting.is_empty() || timeout.is_some_and(|timeout| waited >= timeout);
            if let Some(on_connecting) = &self.options.on_connecting {
                on_connecting(if is_over { &[] } else { &connecting }, waited);
            }
            if is_over {
                return;
            }
            tokio::select! {
                _ = changes.changed() => {}
                _ = tick.tick() => {}
            }
        }
    }

    /// The servers that every person connects to on their own; `None` if there are none.
    pub(crate) fn personal_connections(&self) -> Option<Arc<dyn PersonalConnections>> {
        (!self.personal.is_empty()).then(|| Arc::clone(&self.personal) as _)
    }

    /// Registers the names of the servers of the settings without connecting to them.
    pub(crate) fn skip_all(&self, config: &Config) -> Result<(), AppError> {
        for server in configured_servers(config, false)? {
            if let Some(index) = self.connector.add_connecting(&server) {
                self.connector.set_state(index, ConnectionState::Skipped);
            }
        }
        Ok(())
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
    ) -> AppError {
        let message = unknown_name_message(kind, name, nearest);
        match &self.unavailable()[..] {
            [] => AppError::usage(message),
            servers => AppError::new(format!(
                "{message}\nit may belong to `{}`, which could not be attached",
                servers.join("` or `")
            )),
        }
    }

    /// Warnings about failed connections and hidden tools, not sanitized.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.connector.warnings()
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

    /// Returns the definitions of a server that had changed when a program last saw them, each with the parts that differ.
    pub(crate) async fn drifted(
        &self,
        server: &str,
    ) -> Result<Vec<(String, Vec<String>)>, PinError> {
        self.connector.pins().drifted(server).await
    }

    /// Accepts the changed definition of a tool or prompt, by its name here or at its server, or the changed issuer of a server, by
    /// the name of the server; returns what is accepted, in words.
    pub(crate) async fn accept_change(&self, name: &str) -> Result<String, AppError> {
        let failed = |error: PinError| AppError::from_error(&error);
        let pins = self.connector.pins();
        let drifted = pins.drifted(name).await.map_err(failed)?;
        let issuer = drifted.into_iter().find(|(definition, _)| definition == ISSUER_PIN);
        if let Some((_, issuer)) = issuer
            && pins.accept(name, ISSUER_PIN).await.map_err(failed)?
        {
            let issuer = issuer.join(" ");
            return Ok(format!("`{issuer}` as the authorization server of {name}"));
        }
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
        let accepting = self.connector.map_states(|known, state| match state {
            ConnectionState::Attached(attached) if known == server => {
                Some(attached.accept_change(name))
            }
            _ => None,
        });
        for accepting in accepting.into_iter().flatten() {
            accepting.await?;
        }
        Ok(format!("`{name}` of {server}"))
    }

    /// The error if no change, or more than one, has this name.
    fn accept_error(&self, name: &str, candidates: &[String]) -> AppError {
        if !candidates.is_empty() {
            let names = candidates.join("` or `");
            return AppError::usage(format!(
                "several servers have a changed `{name}`: name `{names}`"
            ));
        }
        let mut lines = vec![format!("no server has a changed tool or prompt named `{name}`")];
        lines.extend(self.statuses().into_iter().filter_map(Result::err));
        AppError::new(lines.join("\n"))
    }

    /// Builds an invoker. Settings for a tool that is missing only because its server is unavailable are not an error.
    pub(crate) fn build_invoker(
        &self,
        project: &Project,
        setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
    ) -> Result<Invoker, AppError> {
        let registry = self.connector.registry();
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
        let placeholders = placeholder::placeholders(registry, project.config(), names.as_deref());
        let build = |view| setup(project.configure_invoker(Invoker::builder(view))).build();
        if placeholders.is_empty() {
            return Ok(build(registry.all())?);
        }
        // In place of tools that are registered meanwhile.
        let placeholder_names: Vec<_> =
            placeholders.iter().map(|tool| tool.name().to_string()).collect();
        let checked = registry.all().exclude(placeholder_names).with(placeholders);
        Ok(build(checked)?.with_view(|_| registry.all())?)
    }

    /// Disconnects all servers and stops the retries.
    pub(crate) async fn detach(&self) {
        let mut tasks = std::mem::take(&mut *lock(&self.tasks));
        tasks.shutdown().await;
        self.personal.close_all().await;
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

/// The error message with secrets redacted, and which setting to change.
fn describe_attach_error(error: &AttachError) -> String {
    let message = match error {
        AttachError::Unauthorized { server, .. } => format!(
            "server `{server}` wants authorization, or refuses the one it got: set its `authorization`, or `oauth = \"shared\"`, in toolwright.toml, under [mcp.servers.NAME]"
        ),
        AttachError::Connect { .. } => {
            format!("{}; check that it runs, and speaks MCP there", error_chain(error))
        }
        other => error_chain(other),
    };
    redact(&message).into_owned()
}

/// Locks a mutex, even if a thread panicked while it held the lock.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
