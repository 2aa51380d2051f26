//! The command line under test, with a clock that can be moved, and the user who logs in.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use test_support::{CommandOutput, real};

use super::collector::Collector;
use super::shop::Shop;

/// A project directory with settings, which is also the home directory.
pub(crate) struct Program {
    folder: tempfile::TempDir,
    library: PathBuf,
    clock: Mutex<i64>,
    /// Everything that commands have printed.
    printed: Arc<Mutex<String>>,
    collector: Collector,
}

impl Program {
    /// A project that attaches the server, with one login for all.
    pub(crate) fn new(shop: &Shop) -> Option<Self> {
        Self::with_mode(shop, "shared")
    }

    /// A project that attaches the server, with this value of `oauth`; `None` where libfaketime is not installed.
    pub(crate) fn with_mode(shop: &Shop, oauth: &str) -> Option<Self> {
        let library = real::libfaketime()?;
        let folder = tempfile::tempdir().unwrap();
        let settings = format!(
            "model = \"demo\"\n[mcp.servers.shop]\nurl = \"http://127.0.0.1:{}/mcp\"\noauth = \"{oauth}\"\ntrust = \"calls\"\n",
            shop.port
        );
        fs::write(folder.path().join("toolwright.toml"), settings).unwrap();
        let (clock, printed) = (Mutex::default(), Arc::default());
        Some(Self { folder, library, clock, printed, collector: Collector::start() })
    }

    /// The collector that every command sends its spans to.
    pub(crate) fn collector(&self) -> &Collector {
        &self.collector
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Everything that commands have printed.
    pub(crate) fn printed(&self) -> String {
        self.printed.lock().unwrap().clone()
    }

    /// Moves the clock of later commands and of the server.
    pub(crate) fn advance(&self, shop: &mut Shop, seconds: i64) {
        let mut clock = self.clock.lock().unwrap();
        *clock += seconds;
        shop.send(&format!("clock {clock}"));
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
        command.env_clear().current_dir(self.path()).env("HOME", self.path()).args(arguments);
        command.env("LD_PRELOAD", &self.library);
        command.env("FAKETIME", format!("{:+}", self.clock.lock().unwrap()));
        // Timeouts and sleeps use the monotonic clock, which stays as it is.
        command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        command.env("OLLAMA_HOST", "http://127.0.0.1:1");
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &self.collector.url);
        // At once, as some commands are killed; and what a crash prints is as long as it can be.
        command.env("OTEL_BSP_SCHEDULE_DELAY", "1").env("RUST_BACKTRACE", "full");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> CommandOutput {
        self.record(self.command(arguments).output().unwrap().into())
    }

    fn record(&self, output: CommandOutput) -> CommandOutput {
        let mut printed = self.printed.lock().unwrap();
        printed.push_str(&output.out);
        printed.push_str(&output.err);
        output
    }

    /// Starts a command in the background.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().unwrap()
    }

    /// Waits for the end of a command.
    pub(crate) fn finish(&self, child: Child) -> CommandOutput {
        self.record(child.wait_with_output().unwrap().into())
    }

    /// Kills a command, which cannot handle that.
    pub(crate) fn kill(&self, mut child: Child) {
        child.kill().unwrap();
        self.finish(child);
    }

    /// Starts a login, and returns the page that the user is shown.
    pub(crate) fn start_login(&self) -> (Child, String) {
        let mut command = self.command(&["mcp", "login", "shop"]);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let page = lines.by_ref().map(Result::unwrap).find(|line| line.contains("http://"));
        let page = page.expect("a link is shown").trim().to_owned();
        self.printed.lock().unwrap().push_str(&page);
        self.record_lines(lines);
        (child, page)
    }

    /// Records what a command prints from now on.
    pub(crate) fn record_lines(
        &self,
        lines: impl Iterator<Item = std::io::Result<String>> + Send + 'static,
    ) {
        let printed = Arc::clone(&self.printed);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                printed.lock().unwrap().push_str(&format!("{line}\n"));
            }
        });
    }

    /// Records a text, such as the response of a server.
    pub(crate) fn record_text(&self, text: &str) {
        self.printed.lock().unwrap().push_str(text);
    }

    /// Logs in, in a browser on this machine.
    pub(crate) fn log_in(&self) {
        let (mut login, page) = self.start_login();
        let redirect = visit(&page).1.expect("the provider redirects");
        assert_eq!(visit(&redirect).0, 200);
        assert!(login.wait().unwrap().success());
    }

    /// Logs in by pasting the address that a browser on another machine was redirected to.
    pub(crate) fn log_in_by_pasting(&self) {
        let (mut login, page) = self.start_login();
        let redirect = visit(&page).1.expect("the provider redirects");
        let mut stdin = login.stdin.take().unwrap();
        writeln!(stdin, "what?\n{redirect}").unwrap();
        assert!(login.wait().unwrap().success());
    }

    /// Calls the tool; the result must be 5.
    pub(crate) fn call(&self) {
        let called = self.run(&CALL);
        assert_eq!((called.code, called.out.as_str()), (Some(0), "5\n"), "{called:?}");
    }

    /// Calls the tool; the error must ask for a login.
    pub(crate) fn call_needs_login(&self) {
        let called = self.run(&CALL);
        assert_ne!(called.code, Some(0), "{called:?}");
        assert!(called.err.contains("run `toolwright mcp login shop`"), "{called:?}");
    }
}

pub(crate) const CALL: [&str; 5] = ["tools", "call", "shop_add", "a=2", "b=3"];

/// Requests a page of this machine, and returns the status and the address of a redirect.
pub(crate) fn visit(url: &str) -> (u16, Option<String>) {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let status = response.split(' ').nth(1).unwrap().parse().unwrap();
    let location = response.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("location").then(|| value.to_owned())
    });
    (status, location)
}
