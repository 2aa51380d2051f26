//! `serve`: the console, the endpoints and MCP at one address; the default command.

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use tokio::net::TcpListener;

use crate::RunningApp;
use crate::attach_options::ProgramLifetime;
use crate::cli::cli_error::CliError;
use crate::cli::program::{Program, print_warning};
use crate::cli::runtime;
use crate::cli::terminal::output;

pub(crate) mod browser;
pub(crate) mod log;
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
    /// The bus to other nodes with the same store: nats://HOST, tls://HOST, postgres://…, or `store` for the store's own database
    /// [default: the setting `cluster.bus`, else none: a single node]
    #[arg(long, value_name = "URL")]
    bus: Option<String>,
    /// Ask before each call, whatever the tools say
    #[arg(long)]
    ask: bool,
    /// How much to tell on stderr of what happens; with --json, as JSON
    #[arg(long, value_enum, default_value_t, value_name = "AMOUNT")]
    log: log::LogLevel,
}

impl ServeArgs {
    /// The settings that flags override.
    pub(crate) fn settings(&self) -> [(&'static str, Option<String>, &'static str); 3] {
        [
            ("cluster.bus", self.bus.clone(), "--bus"),
            ("server.token", self.token.clone(), "--token"),
            ("system", self.system.clone(), "--system"),
        ]
    }
}

pub(crate) fn execute(
    command: ServeArgs,
    json: bool,
    program: Program,
) -> Result<ExitCode, CliError> {
    log::init_logging(command.log, json);
    open_file_limit::raise_open_file_limit();
    let port_addr = command.port.map(|port| SocketAddr::new(DEFAULT_ADDR.ip(), port));
    let requested_addr = command.addr.or(port_addr);
    let runtime = runtime::build_runtime()?;
    let served = runtime.block_on(async {
        let (listener, note) = bind_listener(requested_addr).await?;
        let addr = listener.local_addr()?;
        let app = start(&command, program, addr).await?;
        let served = serve(&command, json, &app, listener, note).await;
        app.shutdown().await;
        served
    });
    // Does not wait for blocking tools that are still running.
    runtime.shutdown_background();
    served
}

/// Starts the program with the flags of the command.
async fn start(
    command: &ServeArgs,
    program: Program,
    addr: SocketAddr,
) -> Result<RunningApp, CliError> {
    // No elicitor: there is no user at the stdin of a server. The person of a turn is asked. Later warnings are in the log.
    let options = program.attach_options(ProgramLifetime::LongRunning, false)?;
    let Program { info, registry, mut setup, project, .. } = program;
    let (mut hosts, origins) = (command.hosts.clone(), command.origins.clone());
    if !addr.ip().is_loopback() && !addr.ip().is_unspecified() {
        hosts.push(addr.ip().to_string());
    }
    setup.configure_server(move |server| {
        let server = server.mount_all().configure_auth(|auth| auth.allowed_hosts(hosts));
        server.allowed_origins(origins)
    });
    if command.ask {
        setup.ask_before_each_call();
    }
    Ok(setup.start(info, registry, &project, options).await?)
}

/// Announces the address, and serves until Ctrl-C.
async fn serve(
    command: &ServeArgs,
    json: bool,
    app: &RunningApp,
    listener: TcpListener,
    note: Option<String>,
) -> Result<ExitCode, CliError> {
    let addr = listener.local_addr()?;
    if !addr.ip().is_loopback() && !app.requires_credentials() {
        return Err(CliError::usage(format!(
            "--addr {addr} is open to other machines: pass --token, set [mcp.oauth] or [login], or listen on 127.0.0.1"
        )));
    }
    let url = format!("http://{}/", browser_addr(addr));
    announce_url(&url, app, note.as_deref(), json)?;
    if !app.settings_of_tools.is_empty() {
        let names = app.settings_of_tools.join(", ");
        output::print_stderr(&format!("note: settings that only tools can read: {names}\n"));
    }
    app.warnings().iter().for_each(|warning| print_warning(warning));
    if command.open {
        browser::open_url(&url);
    }
    app.serve(listener, shutdown_signal()).await?;
    Ok(ExitCode::SUCCESS)
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

/// Binds the requested address, else the first free port from the default one on; the note names a port in use.
async fn bind_listener(
    requested_addr: Option<SocketAddr>,
) -> Result<(TcpListener, Option<String>), CliError> {
    if let Some(addr) = requested_addr {
        let listener = TcpListener::bind(addr).await;
        let listener = listener.map_err(|error| CliError::failure(listen_error(addr, &error)))?;
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
        "no port from {} on is free{cause}; --port 0 takes any",
        DEFAULT_ADDR.port()
    )))
}

fn listen_error(addr: SocketAddr, error: &io::Error) -> String {
    let advice = match error.kind() {
        io::ErrorKind::AddrInUse => {
            "; another program has this port: choose one with --port, 0 takes any that is free"
        }
        io::ErrorKind::PermissionDenied => "; choose a port above 1023 with --port",
        io::ErrorKind::AddrNotAvailable => "; this machine does not have that address",
        _ => "",
    };
    format!("cannot listen on {addr}: {error}{advice}")
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
    app: &RunningApp,
    note: Option<&str>,
    json: bool,
) -> Result<(), CliError> {
    let id = app.model().id();
    if json {
        let line = serde_json::json!({
            "url": url,
            "model": { "vendor": id.vendor, "name": id.name, "why": app.model_reason() },
            "note": note,
        });
        return output::print_text(&format!("{line}\n"));
    }
    let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
    let line = format!("{url}  {id}: {}{note}\n", app.model_reason());
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
