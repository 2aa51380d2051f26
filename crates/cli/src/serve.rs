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

use crate::attach::{Servers, Stay, pins};
use crate::chat::prices::prices;
use crate::chat::setup::{LEASE, SYSTEM, attach};
use crate::config::Surroundings;
use crate::conversations::holder;
use crate::failure::Failure;
use crate::model::{self, Chosen};
use crate::store::{Kept, Otherwise};
use crate::{call, print};

mod browser;
mod files;
mod log;

/// Where it listens unless somebody says otherwise.
const ADDR: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8787);

/// How many ports are tried after the default one.
const TRIES: u16 = 20;

/// Where to listen, and who is let in.
#[derive(clap::Args, Default)]
pub(crate) struct Serve {
    /// Where to listen: ADDR:PORT, or a port of this machine alone [default: 127.0.0.1:8787, or the next port that is free]
    #[arg(long, value_name = "ADDR:PORT", value_parser = address)]
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
    log: log::Amount,
}

pub(crate) fn execute(
    command: Serve,
    json: bool,
    surroundings: &Surroundings,
    registry: &Registry,
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
) -> Result<ExitCode, Failure> {
    let config = surroundings.config().clone();
    let chosen = model::choose(&config)?;
    let token = token(&command, &config)?;
    let oauth = ResourceServer::from_config(&config).map_err(|error| Failure::finding(&error))?;
    let wanted = command.port.map(|port| SocketAddr::new(ADDR.ip(), port));
    let wanted = command.addr.or(wanted);
    if let Some(addr) = wanted.filter(|addr| !addr.ip().is_loopback())
        && token.is_none()
        && oauth.is_none()
    {
        return Err(Failure::usage(format!(
            "--addr {addr} is open to other machines: pass --token, set [mcp.oauth], or listen on 127.0.0.1"
        )));
    }
    log::begin(command.log, json);
    files::allow_many();
    let runtime = call::runtime()?;
    // Nobody sits at stdin to be asked.
    let servers = Servers::new(registry, pins(surroundings, Stay::Long), None, Stay::Long);
    // The log says what goes wrong later.
    servers.report_with(|_| {});
    runtime.block_on(attach(&servers, &config, &*chosen.model))?;
    let builder = setup(surroundings.apply(Invoker::builder(registry)));
    let invoker = servers.build(builder, &config)?;
    let hosted = hosted(&config, &servers)?;
    let guard = Guard { token, oauth };
    let served = runtime.block_on(async {
        let (listener, note) = listen(wanted).await?;
        let addr = listener
            .local_addr()
            .map_err(|error| Failure::finding(&error))?;
        let store = Kept::open(&config, Otherwise::Data).await?;
        let answered = Answered {
            invoker,
            hosted,
            chosen: &chosen,
            store,
        };
        let warnings = servers.watch();
        let site = site(&command, &config, answered, guard, addr, warnings)?;
        let url = format!("http://{}/", shown(addr));
        announce(&url, &chosen, note.as_deref(), json)?;
        for warning in servers.warnings().into_iter().chain(site.warnings()) {
            eprintln!("warning: {warning}");
        }
        if command.open {
            browser::open(&url);
        }
        let served = site.serve(listener, ended()).await;
        served.map_err(|error| Failure::finding(&error))
    });
    runtime.block_on(servers.detach());
    // A blocking tool that nobody waits for any more must not keep the process.
    runtime.shutdown_background();
    served.map(|()| ExitCode::SUCCESS)
}

/// Reads `ADDR:PORT`, or a port alone: of this machine, as `localhost` is.
fn address(written: &str) -> Result<SocketAddr, String> {
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
        Ok(port) => Ok(SocketAddr::new(ADDR.ip(), port)),
        Err(_) if port.is_empty() || port.contains('.') => Err(format!(
            "the port is missing: write {ADDR}, or {} alone",
            ADDR.port()
        )),
        Err(_) => Err("a port is a number from 0 to 65535".to_owned()),
    }
}

/// Who is let in.
struct Guard {
    token: Option<Secret>,
    oauth: Option<ResourceServer>,
}

/// Who answers, with what, and where it is kept.
struct Answered<'a> {
    invoker: Invoker,
    hosted: Vec<HostedTool>,
    chosen: &'a Chosen,
    store: Kept,
}

fn token(command: &Serve, config: &Config) -> Result<Option<Secret>, Failure> {
    let set: Option<String> = config
        .get_optional("server.token")
        .map_err(|error| Failure::finding(&error))?;
    let token = command.token.clone().or(set);
    Ok(token.map(Secret::new))
}

/// Takes an address: the one that was asked for, else the first that is free.
async fn listen(wanted: Option<SocketAddr>) -> Result<(TcpListener, Option<String>), Failure> {
    if let Some(addr) = wanted {
        let listener = TcpListener::bind(addr).await;
        let listener =
            listener.map_err(|error| Failure::told(format!("cannot listen on {addr}: {error}")))?;
        return Ok((listener, None));
    }
    let mut trouble = None;
    for port in ADDR.port()..=ADDR.port().saturating_add(TRIES) {
        match TcpListener::bind((ADDR.ip(), port)).await {
            Ok(listener) if port == ADDR.port() => return Ok((listener, None)),
            Ok(listener) => {
                let note = format!("port {} is taken: this is the next one free", ADDR.port());
                return Ok((listener, Some(note)));
            }
            Err(error) => trouble = trouble.or(Some(error)),
        }
    }
    let trouble = trouble.map_or_else(String::new, |error| format!(": {error}"));
    Err(Failure::told(format!(
        "no port from {} on is free{trouble}; --addr 127.0.0.1:0 takes any",
        ADDR.port()
    )))
}

fn site(
    command: &Serve,
    config: &Config,
    answered: Answered<'_>,
    guard: Guard,
    addr: SocketAddr,
    warnings: impl Fn() -> Vec<String> + Send + Sync + 'static,
) -> Result<Server, Failure> {
    let Answered {
        invoker,
        hosted,
        chosen,
        store,
    } = answered;
    let unreadable = |error| Failure::finding(&error);
    let system = match &command.system {
        Some(system) => system.clone(),
        None => config
            .get_or("system", SYSTEM.to_owned())
            .map_err(unreadable)?,
    };
    let prices = prices(config)?;
    let mut assistant = Endpoint::assistant().system(system);
    if command.ask {
        assistant = assistant.ask_before_each_call();
    }
    let (names, resolve) = models(config, chosen);
    let mut hosts = command.hosts.clone();
    if !addr.ip().is_loopback() && !addr.ip().is_unspecified() {
        hosts.push(addr.ip().to_string());
    }
    let mut server = ServerBuilder::new(invoker, Arc::clone(&chosen.model))
        .name("toolwright", env!("CARGO_PKG_VERSION"))
        .model_reason(&*chosen.why)
        .warnings(warnings)
        .models(names, resolve)
        .store(Arc::clone(store.store()), store.place())
        .node_name(holder())
        .configure_chat(move |chat| {
            let chat = chat.prices(prices.clone()).lease_duration(LEASE);
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
    server.build().map_err(|error| Failure::finding(&error))
}

/// What the vendor may run, except what we have attached ourselves.
fn hosted(config: &Config, servers: &Servers) -> Result<Vec<HostedTool>, Failure> {
    let unreadable = |error| Failure::finding(&error);
    let search = config.web_search().map_err(unreadable)?;
    let groups = config.mcp_servers().map_err(unreadable)?;
    let groups = groups.into_iter().filter(|group| !servers.has(&group.name));
    let search = search.into_iter().map(HostedTool::WebSearch);
    Ok(search.chain(groups.map(HostedTool::Mcp)).collect())
}

type Resolve = Box<dyn Fn(&str) -> Result<Arc<dyn Model>, String> + Send + Sync>;

/// The models that a page may choose: the one that was chosen, those whose keys are set, and the demo.
fn models(config: &Config, chosen: &Chosen) -> (Vec<String>, Resolve) {
    let mut names = vec![chosen.model.id().to_string()];
    for name in model::at_hand(config) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let (config, first) = (config.clone(), Arc::clone(&chosen.model));
    let resolve = move |name: &str| match first.id().to_string() == name {
        true => Ok(Arc::clone(&first)),
        false => model::named(name, &config, String::new()).map(|chosen| chosen.model),
    };
    (names, Box::new(resolve))
}

/// An address that a browser on this machine can open.
fn shown(addr: SocketAddr) -> SocketAddr {
    match addr.ip().is_unspecified() {
        true => SocketAddr::new(ADDR.ip(), addr.port()),
        false => addr,
    }
}

/// Says where it is, and who answers.
fn announce(url: &str, chosen: &Chosen, note: Option<&str>, json: bool) -> Result<(), Failure> {
    let id = chosen.model.id();
    if json {
        let line = serde_json::json!({
            "url": url,
            "model": { "vendor": id.vendor, "name": id.name, "why": chosen.why },
            "note": note,
        });
        return print::text(&format!("{line}\n"));
    }
    let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
    let line = format!("{url}  {}{note}\n", chosen.line());
    let mut err = io::stderr().lock();
    // Whoever reads stderr may have gone; the server serves all the same.
    let _ = err.write_all(line.as_bytes());
    Ok(())
}

/// Waits until somebody ends the program: Ctrl-C, or whoever supervises it.
async fn ended() {
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
