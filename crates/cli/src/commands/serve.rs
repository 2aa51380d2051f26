//! `serve`: the console, the endpoints and MCP at one address; the default command.

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use toolwright_chat::{HostedTool, Model, unique_node_name};
use toolwright_core::{Config, Invoker, InvokerBuilder, Registry, Secret};
use toolwright_mcp::ResourceServer;
use toolwright_server::{Endpoint, Server, ServerBuilder};

use crate::cli_error::CliError;
use crate::config::ProjectConfig;
use crate::config::assistant::{LEASE_DURATION, hosted_tools, system_message};
use crate::config::conversation_store::{ConversationStore, DefaultStore};
use crate::config::journal_keep::journal_keep;
use crate::config::model_selection::{self, SelectedModel};
use crate::config::prices::load_prices;
use crate::remote_servers::{self, CommandLifetime, RemoteServers};
use crate::terminal::output;

mod browser;
mod log;
mod open_file_limit;

/// The address without `--addr` and `--port`.
const DEFAULT_ADDR: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8787);

/// How many ports after the default one are tried if it is in use.
const EXTRA_PORT_ATTEMPTS: u16 = 20;

/// The flags of `serve`.
#[derive(clap::Args, Default)]
pub(crate) struct ServeArgs {
    /// Where to listen: ADDR:PORT, or a port of this machine alone [default: 127.0.0.1:8787, or the next port that is free]
    #[arg(long, value_name = "ADDR:PORT", value_parser = parse_addr)]
    addr: Option<SocketAddr>,
    /// The port to listen on, for this machine alone; 0 takes any that is free
    #[arg(long, value_name = "PORT", conflicts_with = "addr")]
    port: Option<u16>,
    /// Open the console in a browser
    #[arg(long)]
    open: bool,
    /// Let in only who brings this token; other machines need one [default: the setting `server.token`]
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Answer for this host, too, where others reach the server under another name; may be repeated
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Let pages of this origin call, as https://app.example.com; may be repeated
    #[arg(long = "origin", value_name = "ORIGIN")]
    origins: Vec<String>,
    /// What the model should keep to [default: the setting `system`]
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
    /// Ask before each call, whatever the tools say
    #[arg(long)]
    ask: bool,
    /// How much to tell on stderr of what happens; with --json, as JSON
    #[arg(long, value_enum, default_value_t, value_name = "AMOUNT")]
    log: log::LogLevel,
}

pub(crate) fn execute(
    command: ServeArgs,
    json: bool,
    project: &ProjectConfig,
    registry: &Registry,
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
) -> Result<ExitCode, CliError> {
    let config = project.config().clone();
    let selected = model_selection::select_model(&config)?;
    let token = resolve_token(&command, &config)?;
    let oauth = ResourceServer::from_config(&config)?;
    let port_addr = command.port.map(|port| SocketAddr::new(DEFAULT_ADDR.ip(), port));
    let requested_addr = command.addr.or(port_addr);
    if let Some(addr) = requested_addr.filter(|addr| !addr.ip().is_loopback())
        && token.is_none()
        && oauth.is_none()
    {
        return Err(CliError::usage(format!(
            "--addr {addr} is open to other machines: pass --token, set [mcp.oauth], or listen on 127.0.0.1"
        )));
    }
    log::init_logging(command.log, json);
    open_file_limit::raise_open_file_limit();
    let work = |runtime: &Runtime, servers: &RemoteServers| {
        // Later warnings are in the log.
        servers.set_warning_handler(|_| {});
        runtime.block_on(servers.attach_configured(&config, &*selected.model))?;
        let invoker = servers.build_invoker(project, setup)?;
        let mut hosted_tools = hosted_tools(&config)?;
        hosted_tools.retain(|tool| !servers.is_attached_locally(tool));
        runtime.block_on(async {
            let (listener, note) = bind_listener(requested_addr).await?;
            let addr = listener.local_addr()?;
            let store = ConversationStore::open(&config, DefaultStore::UserDataFile).await?;
            let assistant =
                AssistantConfig { invoker, hosted_tools, selected_model: &selected, store };
            let auth = AuthConfig { token, oauth };
            let warnings = servers.warnings_fn();
            let server = build_server(&command, &config, assistant, auth, addr, warnings)?;
            let url = format!("http://{}/", browser_addr(addr));
            announce_url(&url, &selected, note.as_deref(), json)?;
            for warning in servers.warnings().into_iter().chain(server.warnings()) {
                eprintln!("warning: {warning}");
            }
            if command.open {
                browser::open_url(&url);
            }
            server.serve(listener, shutdown_signal()).await?;
            Ok(ExitCode::SUCCESS)
        })
    };
    // No elicitor: there is no user at the stdin of a server.
    remote_servers::with_runtime(project, registry, CommandLifetime::LongRunning, None, work)
}

/// Parses `ADDR:PORT`, or a port alone, which is on localhost.
fn parse_addr(text: &str) -> Result<SocketAddr, String> {
    if let Ok(addr) = text.parse() {
        return Ok(addr);
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => (host, port),
        None => ("", text),
    };
    if !matches!(host, "" | "localhost") {
        return Err(format!(
            "expected an IP address or localhost before the port: write localhost:{port}, or 0.0.0.0:{port} for every network"
        ));
    }
    match port.parse() {
        Ok(port) => Ok(SocketAddr::new(DEFAULT_ADDR.ip(), port)),
        Err(_) if port.is_empty() || port.contains('.') => Err(format!(
            "the port is missing: write {DEFAULT_ADDR}, or {} alone",
            DEFAULT_ADDR.port()
        )),
        Err(_) => Err("a port is a number from 0 to 65535".to_owned()),
    }
}

/// How clients authenticate.
struct AuthConfig {
    token: Option<Secret>,
    oauth: Option<ResourceServer>,
}

/// The model, its tools and the store.
struct AssistantConfig<'a> {
    invoker: Invoker,
    hosted_tools: Vec<HostedTool>,
    selected_model: &'a SelectedModel,
    store: ConversationStore,
}

fn resolve_token(command: &ServeArgs, config: &Config) -> Result<Option<Secret>, CliError> {
    let configured: Option<String> = config.get_optional("server.token")?;
    let token = command.token.clone().or(configured);
    Ok(token.map(Secret::new))
}

/// Binds the requested address, else the first free port from the default one on; the note names a port in use.
async fn bind_listener(
    requested_addr: Option<SocketAddr>,
) -> Result<(TcpListener, Option<String>), CliError> {
    if let Some(addr) = requested_addr {
        let listener = TcpListener::bind(addr).await;
        let listener = listener
            .map_err(|error| CliError::failure(format!("cannot listen on {addr}: {error}")))?;
        return Ok((listener, None));
    }
    let mut first_error = None;
    for port in DEFAULT_ADDR.port()..=DEFAULT_ADDR.port().saturating_add(EXTRA_PORT_ATTEMPTS) {
        match TcpListener::bind((DEFAULT_ADDR.ip(), port)).await {
            Ok(listener) if port == DEFAULT_ADDR.port() => return Ok((listener, None)),
            Ok(listener) => {
                let note =
                    format!("port {} is taken: this is the next one free", DEFAULT_ADDR.port());
                return Ok((listener, Some(note)));
            }
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    let cause = first_error.map_or_else(String::new, |error| format!(": {error}"));
    Err(CliError::failure(format!(
        "no port from {} on is free{cause}; --addr 127.0.0.1:0 takes any",
        DEFAULT_ADDR.port()
    )))
}

fn build_server(
    command: &ServeArgs,
    config: &Config,
    assistant: AssistantConfig<'_>,
    auth: AuthConfig,
    addr: SocketAddr,
    warnings: impl Fn() -> Vec<String> + Send + Sync + 'static,
) -> Result<Server, CliError> {
    let AssistantConfig { invoker, hosted_tools, selected_model: selected, store } = assistant;
    let system = system_message(command.system.as_deref(), config)?;
    let prices = load_prices(config)?;
    let keep = journal_keep(config)?;
    let mut endpoint = Endpoint::assistant().system(system);
    if command.ask {
        endpoint = endpoint.ask_before_each_call();
    }
    let (names, resolve) = selectable_models(config, selected);
    let mut hosts = command.hosts.clone();
    if !addr.ip().is_loopback() && !addr.ip().is_unspecified() {
        hosts.push(addr.ip().to_string());
    }
    let mut server = ServerBuilder::new(invoker, Arc::clone(&selected.model))
        .name("toolwright", env!("CARGO_PKG_VERSION"))
        .model_reason(&*selected.reason)
        .warnings(warnings)
        .models(names, resolve)
        .store(Arc::clone(store.store()), store.location())
        .node_name(unique_node_name("process"))
        .configure_chat(move |chat| {
            let chat = chat.prices(prices.clone()).lease_duration(LEASE_DURATION);
            hosted_tools.iter().fold(chat, |chat, tool| chat.hosted_tool(tool.clone()))
        })
        .configure_auth(move |auth| auth.allowed_hosts(hosts))
        .allowed_origins(command.origins.iter().cloned())
        .limits(|limits| limits.max_conversation_age = keep)
        .endpoint(endpoint);
    if let Some(token) = auth.token {
        server = server.token(token);
    }
    if let Some(oauth) = auth.oauth {
        server = server.configure_auth(|auth| auth.oauth(oauth));
    }
    Ok(server.build()?)
}

type ModelResolver = Box<dyn Fn(&str) -> Result<Arc<dyn Model>, String> + Send + Sync>;

/// The models that a client may select: the one of the command line, those whose keys are set, and the demo.
fn selectable_models(config: &Config, selected: &SelectedModel) -> (Vec<String>, ModelResolver) {
    let mut names = vec![selected.model.id().to_string()];
    for name in model_selection::available_models(config) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let (config, first) = (config.clone(), Arc::clone(&selected.model));
    let resolve = move |name: &str| match first.id().to_string() == name {
        true => Ok(Arc::clone(&first)),
        false => model_selection::resolve_model(name, &config, String::new())
            .map(|selected| selected.model),
    };
    (names, Box::new(resolve))
}

/// An address that a browser on this machine can open.
fn browser_addr(addr: SocketAddr) -> SocketAddr {
    match addr.ip().is_unspecified() {
        true => SocketAddr::new(DEFAULT_ADDR.ip(), addr.port()),
        false => addr,
    }
}

/// Prints the URL and the model: on stderr, or with `json` on stdout.
fn announce_url(
    url: &str,
    selected: &SelectedModel,
    note: Option<&str>,
    json: bool,
) -> Result<(), CliError> {
    let id = selected.model.id();
    if json {
        let line = serde_json::json!({
            "url": url,
            "model": { "vendor": id.vendor, "name": id.name, "why": selected.reason },
            "note": note,
        });
        return output::print_text(&format!("{line}\n"));
    }
    let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
    let line = format!("{url}  {}{note}\n", selected.summary());
    let mut err = io::stderr().lock();
    // A closed stderr does not stop the server.
    let _ = err.write_all(line.as_bytes());
    Ok(())
}

/// Waits for Ctrl-C, or SIGTERM on Unix.
async fn shutdown_signal() {
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let terminated = async {
            match signal(SignalKind::terminate()) {
                Ok(mut signal) => drop(signal.recv().await),
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            () = interrupted => {}
            () = terminated => {}
        }
    }
    #[cfg(not(unix))]
    interrupted.await;
}
