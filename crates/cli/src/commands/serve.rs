//! `serve`: the console, the endpoints and MCP at one address; what a plain `cargo run` does.

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;

use tokio::net::TcpListener;
use toolwright_chat::{HostedTool, Model};
use toolwright_core::{Config, Invoker, InvokerBuilder, Registry, Secret};
use toolwright_mcp::ResourceServer;
use toolwright_server::{Endpoint, Server, ServerBuilder};

use crate::cli_error::CliError;
use crate::commands::chat::chat_factory::{
    DEFAULT_SYSTEM_MESSAGE, LEASE_DURATION, attach_configured_servers,
};
use crate::commands::conversations::unique_node_name;
use crate::config::ProjectConfig;
use crate::config::conversation_store::{ConversationStore, DefaultStore};
use crate::config::model_selection::{self, SelectedModel};
use crate::config::prices::load_prices;
use crate::remote_servers::{CommandLifetime, RemoteServers, open_pins};
use crate::runtime;
use crate::terminal::output;

mod browser;
mod log;
mod open_file_limit;

/// Where it listens unless somebody says otherwise.
const DEFAULT_ADDR: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8787);

/// How many ports are tried after the default one.
const EXTRA_PORT_ATTEMPTS: u16 = 20;

/// Where to listen, and who is let in.
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
    surroundings: &ProjectConfig,
    registry: &Registry,
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
) -> Result<ExitCode, CliError> {
    let config = surroundings.config().clone();
    let chosen = model_selection::select_model(&config)?;
    let token = resolve_token(&command, &config)?;
    let oauth =
        ResourceServer::from_config(&config).map_err(|error| CliError::from_error(&error))?;
    let wanted = command
        .port
        .map(|port| SocketAddr::new(DEFAULT_ADDR.ip(), port));
    let wanted = command.addr.or(wanted);
    if let Some(addr) = wanted.filter(|addr| !addr.ip().is_loopback())
        && token.is_none()
        && oauth.is_none()
    {
        return Err(CliError::usage(format!(
            "--addr {addr} is open to other machines: pass --token, set [mcp.oauth], or listen on 127.0.0.1"
        )));
    }
    log::init_logging(command.log, json);
    open_file_limit::raise_open_file_limit();
    let runtime = runtime::build_runtime()?;
    // Nobody sits at stdin to be asked.
    let servers = RemoteServers::new(
        registry,
        open_pins(surroundings, CommandLifetime::LongRunning),
        None,
        CommandLifetime::LongRunning,
    );
    // The log says what goes wrong later.
    servers.set_warning_handler(|_| {});
    runtime.block_on(attach_configured_servers(&servers, &config, &*chosen.model))?;
    let builder = setup(surroundings.configure_invoker(Invoker::builder(registry)));
    let invoker = servers.build_invoker(builder, &config)?;
    let hosted = hosted_tools(&config, &servers)?;
    let guard = AuthConfig { token, oauth };
    let served = runtime.block_on(async {
        let (listener, note) = bind_listener(wanted).await?;
        let addr = listener
            .local_addr()
            .map_err(|error| CliError::from_error(&error))?;
        let store = ConversationStore::open(&config, DefaultStore::UserDataFile).await?;
        let answered = AssistantConfig {
            invoker,
            hosted_tools: hosted,
            selected_model: &chosen,
            store,
        };
        let warnings = servers.warnings_fn();
        let site = build_server(&command, &config, answered, guard, addr, warnings)?;
        let url = format!("http://{}/", browser_addr(addr));
        announce_url(&url, &chosen, note.as_deref(), json)?;
        for warning in servers.warnings().into_iter().chain(site.warnings()) {
            eprintln!("warning: {warning}");
        }
        if command.open {
            browser::open_url(&url);
        }
        let served = site.serve(listener, shutdown_signal()).await;
        served.map_err(|error| CliError::from_error(&error))
    });
    runtime.block_on(servers.detach());
    // A blocking tool that nobody waits for any more must not keep the process.
    runtime.shutdown_background();
    served.map(|()| ExitCode::SUCCESS)
}

/// Reads `ADDR:PORT`, or a port alone: of this machine, as `localhost` is.
fn parse_addr(written: &str) -> Result<SocketAddr, String> {
    if let Ok(addr) = written.parse() {
        return Ok(addr);
    }
    let (host, port) = match written.rsplit_once(':') {
        Some((host, port)) => (host, port),
        None => ("", written),
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

/// Who is let in.
struct AuthConfig {
    token: Option<Secret>,
    oauth: Option<ResourceServer>,
}

/// Who answers, with what, and where it is kept.
struct AssistantConfig<'a> {
    invoker: Invoker,
    hosted_tools: Vec<HostedTool>,
    selected_model: &'a SelectedModel,
    store: ConversationStore,
}

fn resolve_token(command: &ServeArgs, config: &Config) -> Result<Option<Secret>, CliError> {
    let set: Option<String> = config
        .get_optional("server.token")
        .map_err(|error| CliError::from_error(&error))?;
    let token = command.token.clone().or(set);
    Ok(token.map(Secret::new))
}

/// Takes an address: the one that was asked for, else the first that is free.
async fn bind_listener(
    wanted: Option<SocketAddr>,
) -> Result<(TcpListener, Option<String>), CliError> {
    if let Some(addr) = wanted {
        let listener = TcpListener::bind(addr).await;
        let listener = listener
            .map_err(|error| CliError::failure(format!("cannot listen on {addr}: {error}")))?;
        return Ok((listener, None));
    }
    let mut trouble = None;
    for port in DEFAULT_ADDR.port()..=DEFAULT_ADDR.port().saturating_add(EXTRA_PORT_ATTEMPTS) {
        match TcpListener::bind((DEFAULT_ADDR.ip(), port)).await {
            Ok(listener) if port == DEFAULT_ADDR.port() => return Ok((listener, None)),
            Ok(listener) => {
                let note = format!(
                    "port {} is taken: this is the next one free",
                    DEFAULT_ADDR.port()
                );
                return Ok((listener, Some(note)));
            }
            Err(error) => trouble = trouble.or(Some(error)),
        }
    }
    let trouble = trouble.map_or_else(String::new, |error| format!(": {error}"));
    Err(CliError::failure(format!(
        "no port from {} on is free{trouble}; --addr 127.0.0.1:0 takes any",
        DEFAULT_ADDR.port()
    )))
}

fn build_server(
    command: &ServeArgs,
    config: &Config,
    answered: AssistantConfig<'_>,
    guard: AuthConfig,
    addr: SocketAddr,
    warnings: impl Fn() -> Vec<String> + Send + Sync + 'static,
) -> Result<Server, CliError> {
    let AssistantConfig {
        invoker,
        hosted_tools: hosted,
        selected_model: chosen,
        store,
    } = answered;
    let unreadable = |error| CliError::from_error(&error);
    let system = match &command.system {
        Some(system) => system.clone(),
        None => config
            .get_or("system", DEFAULT_SYSTEM_MESSAGE.to_owned())
            .map_err(unreadable)?,
    };
    let prices = load_prices(config)?;
    let mut assistant = Endpoint::assistant().system(system);
    if command.ask {
        assistant = assistant.ask_before_each_call();
    }
    let (names, resolve) = selectable_models(config, chosen);
    let mut hosts = command.hosts.clone();
    if !addr.ip().is_loopback() && !addr.ip().is_unspecified() {
        hosts.push(addr.ip().to_string());
    }
    let mut server = ServerBuilder::new(invoker, Arc::clone(&chosen.model))
        .name("toolwright", env!("CARGO_PKG_VERSION"))
        .model_reason(&*chosen.reason)
        .warnings(warnings)
        .models(names, resolve)
        .store(Arc::clone(store.store()), store.location())
        .node_name(unique_node_name())
        .configure_chat(move |chat| {
            let chat = chat.prices(prices.clone()).lease_duration(LEASE_DURATION);
            hosted
                .iter()
                .fold(chat, |chat, hosted| chat.hosted_tool(hosted.clone()))
        })
        .configure_auth(move |guard| guard.allowed_hosts(hosts))
        .allowed_origins(command.origins.iter().cloned())
        .endpoint(assistant);
    if let Some(token) = guard.token {
        server = server.token(token);
    }
    if let Some(oauth) = guard.oauth {
        server = server.configure_auth(|guard| guard.oauth(oauth));
    }
    server.build().map_err(|error| CliError::from_error(&error))
}

/// What the vendor may run, except what we have attached ourselves.
fn hosted_tools(config: &Config, servers: &RemoteServers) -> Result<Vec<HostedTool>, CliError> {
    let unreadable = |error| CliError::from_error(&error);
    let search = config.web_search().map_err(unreadable)?;
    let groups = config.mcp_servers().map_err(unreadable)?;
    let groups = groups
        .into_iter()
        .filter(|group| !servers.contains(&group.name));
    let search = search.into_iter().map(HostedTool::WebSearch);
    Ok(search.chain(groups.map(HostedTool::Mcp)).collect())
}

type ModelResolver = Box<dyn Fn(&str) -> Result<Arc<dyn Model>, String> + Send + Sync>;

/// The models that a page may choose: the one that was chosen, those whose keys are set, and the demo.
fn selectable_models(config: &Config, chosen: &SelectedModel) -> (Vec<String>, ModelResolver) {
    let mut names = vec![chosen.model.id().to_string()];
    for name in model_selection::available_models(config) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let (config, first) = (config.clone(), Arc::clone(&chosen.model));
    let resolve = move |name: &str| match first.id().to_string() == name {
        true => Ok(Arc::clone(&first)),
        false => {
            model_selection::resolve_model(name, &config, String::new()).map(|chosen| chosen.model)
        }
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

/// Says where it is, and who answers.
fn announce_url(
    url: &str,
    chosen: &SelectedModel,
    note: Option<&str>,
    json: bool,
) -> Result<(), CliError> {
    let id = chosen.model.id();
    if json {
        let line = serde_json::json!({
            "url": url,
            "model": { "vendor": id.vendor, "name": id.name, "why": chosen.reason },
            "note": note,
        });
        return output::print_text(&format!("{line}\n"));
    }
    let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
    let line = format!("{url}  {}{note}\n", chosen.summary());
    let mut err = io::stderr().lock();
    // Whoever reads stderr may have gone; the server serves all the same.
    let _ = err.write_all(line.as_bytes());
    Ok(())
}

/// Waits until somebody ends the program: Ctrl-C, or whoever supervises it.
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
