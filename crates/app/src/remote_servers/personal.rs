//! Servers that every person logs in to on their own: a connection, a tool list and pins for each server and person.
//!
//! A connection is opened when a turn of the person needs it, and closed when it was idle.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use tokio::time::Instant;
use toolwright_core::{ApprovalPolicy, Args, HandlerContext, Registry, Tool, ToolResult};
use toolwright_mcp::{
    AttachError, AttachedServer, CredentialHolder, PinStore, RemoteServer, SharedPins,
};
use toolwright_server::{ConnectionError, PersonalConnection, PersonalConnections};

use super::connector::ServerConnector;
use super::{describe_attach_error, lock};
use crate::error::error_chain;

/// A connection that no turn has needed for this long is closed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// How often idle connections are looked for.
const IDLE_CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// The maximum number of connections; the ones that were not needed for longest are closed.
const MAX_OPEN: usize = 500;

/// How long a turn waits for a connection: the person's other tools are there without it.
const OPEN_TIMEOUT: Duration = Duration::from_secs(15);

/// The servers, and the connections that are open.
pub(super) struct PersonalServers {
    /// For the tools that connect, which may outlive the program's servers.
    this: Weak<Self>,
    connector: Arc<ServerConnector>,
    servers: Mutex<Vec<RemoteServer>>,
    open: Mutex<HashMap<ConnectionKey, Arc<Slot>>>,
}

/// The name of the server and the subject of the person.
type ConnectionKey = (String, Option<String>);

/// The connection of one person to one server.
struct Slot {
    /// Locked while it is opened, so that turns of one person open it once.
    connection: tokio::sync::Mutex<Option<OpenConnection>>,
    used_at: Mutex<Instant>,
}

struct OpenConnection {
    attached: AttachedServer,
    /// The tools of this connection only.
    registry: Registry,
}

impl PersonalServers {
    pub(super) fn new(connector: Arc<ServerConnector>) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            this: Weak::clone(this),
            connector,
            servers: Mutex::default(),
            open: Mutex::default(),
        })
    }

    pub(super) fn add(&self, server: RemoteServer) {
        lock(&self.servers).push(server);
    }

    pub(super) fn is_empty(&self) -> bool {
        lock(&self.servers).is_empty()
    }

    /// Closes all connections.
    pub(super) async fn close_all(&self) {
        let open: Vec<Arc<Slot>> = lock(&self.open).drain().map(|(_, slot)| slot).collect();
        join_all(open.iter().map(|slot| slot.close())).await;
    }

    /// The server as a person uses it.
    fn server_of(&self, name: &str, subject: Option<&str>) -> Option<RemoteServer> {
        let servers = lock(&self.servers);
        let server = servers.iter().find(|server| server.name().trim() == name)?.clone();
        drop(servers);
        let login_tool = connect_tool_name(&server);
        let hint = format!("call `{login_tool}`, or connect it in the console");
        let server = self.connector.with_credentials(server).person(subject).login_tool(login_tool);
        let server = server.map_oauth(|oauth| oauth.login_hint(hint));
        Some(match self.pins(subject) {
            Some(pins) => server.pins(Arc::new(pins) as Arc<dyn PinStore>),
            None => server,
        })
    }

    /// The pins of a person, which are in the shared state of the store.
    fn pins(&self, subject: Option<&str>) -> Option<SharedPins> {
        let credentials = self.connector.credentials();
        let state = Arc::clone(credentials.shared_state()?);
        Some(SharedPins::new(state, credentials.program()).person(subject))
    }

    fn names(&self) -> Vec<String> {
        lock(&self.servers).iter().map(|server| server.name().trim().to_owned()).collect()
    }

    /// Returns the slot of a connection.
    fn slot(&self, key: &ConnectionKey) -> Arc<Slot> {
        let mut open = lock(&self.open);
        let slot = open.entry(key.clone()).or_insert_with(|| Arc::new(Slot::new()));
        *lock(&slot.used_at) = Instant::now();
        let slot = Arc::clone(slot);
        close_excess(&mut open);
        slot
    }

    /// Closes connections that are idle; runs until it is aborted.
    pub(super) async fn close_idle(self: Arc<Self>) {
        loop {
            tokio::time::sleep(IDLE_CHECK_INTERVAL).await;
            close_excess(&mut lock(&self.open));
        }
    }

    /// Returns the person's tools of a server, opening the connection if it is not open.
    async fn tools_of(&self, name: &str, subject: Option<&str>) -> Result<Vec<Tool>, AttachError> {
        let Some(server) = self.server_of(name, subject) else {
            return Ok(Vec::new());
        };
        let key = (name.to_owned(), subject.map(str::to_owned));
        let Some(credential) = server.credential().await? else {
            // Also if the person has disconnected at another node.
            lock(&self.open).remove(&key);
            return Ok(Vec::new());
        };
        if credential.needs_login() {
            // A call of the tools that are known asks for the login.
            let slot = lock(&self.open).get(&key).cloned();
            return Ok(match slot {
                Some(slot) => slot.tools().await,
                None => Vec::new(),
            });
        }
        let slot = self.slot(&key);
        let mut connection = slot.connection.lock().await;
        let is_open = connection.as_ref().is_some_and(|open| open.attached.status().is_connected);
        if !is_open {
            if let Some(old) = connection.take() {
                old.attached.detach().await;
            }
            let registry = Registry::new();
            let attached = server.attach(&registry).await?;
            *connection = Some(OpenConnection { attached, registry });
        }
        Ok(connection.as_ref().map(OpenConnection::tools).unwrap_or_default())
    }

    /// Returns true if the person has a credential that may be good.
    async fn is_connected(&self, name: &str, subject: Option<&str>) -> Result<bool, AttachError> {
        let Some(server) = self.server_of(name, subject) else {
            return Ok(false);
        };
        let credential = server.credential().await?;
        Ok(credential.is_some_and(|credential| !credential.needs_login()))
    }

    /// The tool that pauses the turn until the person has connected.
    fn connect_tool(&self, name: &str, subject: Option<&str>) -> Option<Tool> {
        let server = self.server_of(name, subject)?;
        let servers = Weak::clone(&self.this);
        let target = Arc::new((name.to_owned(), subject.map(str::to_owned)));
        let run = move |_: Args, cx: HandlerContext| -> BoxFuture<'static, ToolResult> {
            let (servers, target) = (Weak::clone(&servers), Arc::clone(&target));
            Box::pin(async move { connected_result(servers.upgrade(), &target, &cx).await })
        };
        let description = format!(
            "Asks the user to connect their account of `{name}`. Call it if the user wants something of `{name}` and its tools are missing, or fail because a login is needed. The user opens a link; afterwards the tools of `{name}` are there."
        );
        let tool = Tool::builder(connect_tool_name(&server), description)
            .title(format!("Connect {name}"))
            .imported(true)
            .bundle(&*server.tool_prefix())
            .approval(ApprovalPolicy::Always)
            .read_only(true)
            .run_async(run);
        tool.ok()
    }
}

/// The name of the tool that connects a server.
fn connect_tool_name(server: &RemoteServer) -> String {
    format!("{}_connect_account", server.tool_prefix())
}

/// The result of the tool that connects, after the user has approved it: whether they are connected.
async fn connected_result(
    servers: Option<Arc<PersonalServers>>,
    (name, subject): &ConnectionKey,
    cx: &HandlerContext,
) -> ToolResult {
    let Some(servers) = servers else {
        return ToolResult::failure("the program is ending");
    };
    if subject.is_some() && cx.caller().name() != subject.as_deref() {
        return ToolResult::failure("this is another person's connection");
    }
    match servers.is_connected(name, subject.as_deref()).await {
        Ok(true) => {}
        Ok(false) => {
            return ToolResult::failure(format!(
                "the user has not connected `{name}`; do without it, or ask whether they want to"
            ));
        }
        Err(error) => return ToolResult::failure(describe_attach_error(&error)),
    }
    match servers.tools_of(name, subject.as_deref()).await {
        Ok(tools) => {
            let tools = tools.iter().filter(|tool| !tool.is_internal());
            let names: Vec<&str> = tools.map(|tool| tool.name().as_str()).collect();
            ToolResult::success(format!("connected; its tools are {}", names.join(", ")))
        }
        Err(error) => ToolResult::failure(describe_attach_error(&error)),
    }
}

/// Closes the connections that are idle, and those that were not needed for longest if there are too many.
fn close_excess(open: &mut HashMap<ConnectionKey, Arc<Slot>>) {
    let now = Instant::now();
    // Dropping a connection closes it in the background.
    open.retain(|_, slot| now.duration_since(*lock(&slot.used_at)) < IDLE_TIMEOUT);
    while open.len() > MAX_OPEN {
        let oldest = open.iter().min_by_key(|(_, slot)| *lock(&slot.used_at));
        let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { return };
        open.remove(&oldest);
    }
}

impl OpenConnection {
    fn tools(&self) -> Vec<Tool> {
        self.registry.snapshot().iter().map(|entry| entry.tool().clone()).collect()
    }
}

impl Slot {
    fn new() -> Self {
        Self { connection: tokio::sync::Mutex::default(), used_at: Mutex::new(Instant::now()) }
    }

    /// The tools of the connection, as it was last open.
    async fn tools(&self) -> Vec<Tool> {
        let connection = self.connection.lock().await;
        connection.as_ref().map(OpenConnection::tools).unwrap_or_default()
    }

    async fn close(&self) {
        if let Some(open) = self.connection.lock().await.take() {
            open.attached.detach().await;
        }
    }
}

fn unknown_server(name: &str) -> ConnectionError {
    ConnectionError::NotFound(format!("there is no server `{name}` to connect to"))
}

fn to_connection_error(error: &AttachError) -> ConnectionError {
    let message = describe_attach_error(error);
    match error {
        AttachError::Credential { .. } => ConnectionError::Unavailable(message),
        _ => ConnectionError::Failed(message),
    }
}

impl PersonalConnections for PersonalServers {
    fn list<'a>(
        &'a self,
        subject: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Vec<PersonalConnection>, ConnectionError>> {
        Box::pin(async move {
            let mut listed = Vec::new();
            for name in self.names() {
                let Some(server) = self.server_of(&name, subject) else { continue };
                let credential = server.credential().await;
                let credential = credential.map_err(|error| to_connection_error(&error))?;
                let mut connection = PersonalConnection::new(&*name, connect_tool_name(&server));
                if let Some(credential) = credential.filter(|credential| !credential.needs_login())
                {
                    connection.is_connected = true;
                    connection.scopes = credential.scopes().to_vec();
                }
                listed.push(connection);
            }
            Ok(listed)
        })
    }

    fn begin<'a>(
        &'a self,
        subject: Option<&'a str>,
        server: &'a str,
        redirect: &'a str,
        browser_key: &'a str,
    ) -> BoxFuture<'a, Result<String, ConnectionError>> {
        Box::pin(async move {
            let remote = self.server_of(server, subject).ok_or_else(|| unknown_server(server))?;
            let key = remote.credential_key();
            let pending = remote.begin_login(redirect).await;
            let pending = pending.map_err(|error| to_connection_error(&error))?;
            let stored = async {
                let credentials = self.connector.credentials().open().await?;
                credentials.put_pending(&key, &pending, browser_key).await
            };
            let stored = stored.await;
            stored.map_err(|error| ConnectionError::Unavailable(error_chain(&error)))?;
            Ok(pending.page().to_owned())
        })
    }

    fn finish<'a>(
        &'a self,
        callback: &'a str,
        browser_key: &'a str,
    ) -> BoxFuture<'a, Result<String, ConnectionError>> {
        Box::pin(async move {
            let unknown = || {
                let message = "no login waits for this: it took too long, was finished already, or began in another browser";
                ConnectionError::NotFound(message.to_owned())
            };
            let state = state_parameter(callback).ok_or_else(unknown)?;
            let taken = async {
                let credentials = self.connector.credentials().open().await?;
                credentials.take_pending(&state, browser_key).await
            };
            let taken = taken.await;
            let taken = taken.map_err(|error| ConnectionError::Unavailable(error_chain(&error)))?;
            let (key, pending) = taken.ok_or_else(unknown)?;
            let subject = match &key.holder {
                CredentialHolder::Person(subject) => subject.as_deref(),
                _ => return Err(unknown()),
            };
            let server = self.server_of(&key.server, subject);
            let server = server.ok_or_else(|| unknown_server(&key.server))?;
            let finished = server.finish_login(&pending, callback).await;
            finished.map_err(|error| to_connection_error(&error))?;
            // Opened again when it is needed, with the new credential.
            lock(&self.open).remove(&(key.server.clone(), subject.map(str::to_owned)));
            Ok(key.server.clone())
        })
    }

    fn disconnect<'a>(
        &'a self,
        subject: Option<&'a str>,
        server: &'a str,
    ) -> BoxFuture<'a, Result<bool, ConnectionError>> {
        Box::pin(async move {
            let remote = self.server_of(server, subject).ok_or_else(|| unknown_server(server))?;
            let slot = lock(&self.open).remove(&(server.to_owned(), subject.map(str::to_owned)));
            if let Some(slot) = slot {
                slot.close().await;
            }
            let removed = remote.log_out().await;
            let removed = removed.map_err(|error| to_connection_error(&error))?;
            if let Some(pins) = self.pins(subject) {
                // Without them, the next connection pins anew; with them, changed tools are hidden.
                let _ = pins.remove(server).await;
            }
            Ok(removed)
        })
    }

    fn tools<'a>(&'a self, subject: Option<&'a str>) -> BoxFuture<'a, Vec<Tool>> {
        Box::pin(async move {
            let names = self.names();
            let listings = names.iter().map(async |name| {
                let tools = tokio::time::timeout(OPEN_TIMEOUT, self.tools_of(name, subject)).await;
                match tools {
                    Ok(Ok(tools)) => tools,
                    Ok(Err(error)) => {
                        tracing::warn!(server = name, "{}", describe_attach_error(&error));
                        Vec::new()
                    }
                    Err(_) => {
                        tracing::warn!(server = name, "a person's connection takes too long");
                        Vec::new()
                    }
                }
            });
            let mut tools = join_all(listings).await.concat();
            for name in &names {
                let Some(connect) = self.connect_tool(name, subject) else {
                    continue;
                };
                tools.retain(|tool| tool.name() != connect.name());
                tools.push(connect);
            }
            tools
        })
    }
}

/// The `state` parameter of an address.
fn state_parameter(callback: &str) -> Option<String> {
    let (_, query) = callback.split_once('?')?;
    let mut pairs = query.split('&');
    pairs.find_map(|pair| pair.strip_prefix("state=")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn idle_connections_are_closed_and_their_number_is_limited() {
        let mut open = HashMap::new();
        let key = |number: usize| ("shop".to_owned(), Some(number.to_string()));
        for number in 0..MAX_OPEN + 3 {
            open.insert(key(number), Arc::new(Slot::new()));
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        close_excess(&mut open);
        assert_eq!(open.len(), MAX_OPEN);
        assert!(!open.contains_key(&key(2)) && open.contains_key(&key(3)));
        tokio::time::advance(IDLE_TIMEOUT).await;
        open.insert(key(0), Arc::new(Slot::new()));
        close_excess(&mut open);
        assert_eq!(open.into_keys().collect::<Vec<_>>(), [key(0)]);
    }

    #[test]
    fn the_state_of_a_callback_is_found() {
        let state = state_parameter("http://localhost/cb?code=1&state=a-_b&iss=x");
        assert_eq!(state.as_deref(), Some("a-_b"));
        assert_eq!(state_parameter("http://localhost/cb?code=1"), None);
        assert_eq!(state_parameter("http://localhost/cb"), None);
    }
}
