//! No secret of the settings is printed, logged, exported or shown: every setting has a marker as its value, which looks like none.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::reference::{keys_of_page, read};

/// The value of every secret: nothing about its form is secret.
const MARKER: &str = "blue giraffes sing";

/// The same for values without spaces.
const WORD: &str = "blue-giraffes-sing";

/// The secrets among the keys of the page.
const SECRET_KEYS: [&str; 11] = [
    "MCP.authorization",
    "credentials.key",
    "login.a.client_secret",
    "mcp.servers.a.authorization",
    "mcp.servers.a.client_secret",
    "mcp.servers.a.env",
    "mcp.servers.a.headers",
    "models.VENDOR.headers",
    "models.VENDOR.key",
    "server.token",
    "tools.smtp.password",
];

const VENDORS: [&str; 16] = [
    "openai",
    "openai-chat",
    "anthropic",
    "gemini",
    "ollama",
    "azure",
    "azure-chat",
    "groq",
    "mistral",
    "deepseek",
    "xai",
    "openrouter",
    "together",
    "vllm",
    "llama.cpp",
    "lm-studio",
];

/// Keys of tools, which no table has.
const KEYS_OF_TOOLS: [&str; 7] = [
    "mail.key",
    "mail.stripekey",
    "mail.api_token",
    "mail.clientSecret",
    "mail.smtp_password",
    "mail.Authorization",
    "mail.headers.x",
];

/// What a command prints on stdout and stderr.
fn printed(folder: &Path, arguments: &[&str], variables: &[(String, &str)]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    command.args(arguments).env_clear().current_dir(folder).stdin(Stdio::null());
    command.env("HOME", folder).env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("RUST_BACKTRACE", "full").envs(variables.iter().map(|(name, value)| (name, value)));
    let output = command.output().unwrap();
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[track_caller]
fn assert_hidden(printed: &str, what: &str) {
    for secret in [MARKER, WORD] {
        assert!(!printed.contains(secret), "{what}:\n{printed}");
    }
}

/// The keys of the page that are secret, one for each vendor.
fn secret_keys() -> Vec<String> {
    let keys = keys_of_page(&read("docs/reference/settings.md"));
    let ends = ["key", "token", "secret", "password", "authorization", "headers", "env"];
    let is_secret = |key: &&String| ends.iter().any(|end| key.ends_with(end));
    let mut found: Vec<&str> = keys.iter().filter(is_secret).map(String::as_str).collect();
    found.push("tools.smtp.password");
    found.sort_unstable();
    found.dedup();
    assert_eq!(found, SECRET_KEYS, "a setting that looks secret by its name has to be listed here");
    let keys = found.iter().filter(|key| !key.starts_with("tools.")).flat_map(|key| {
        let key = if key.ends_with("headers") || key.ends_with("env") {
            format!("{key}.x-team")
        } else {
            (*key).to_owned()
        };
        let vendors = if key.contains("VENDOR") { &VENDORS[..] } else { &[""] };
        vendors.iter().map(move |vendor| key.replace("VENDOR", vendor))
    });
    keys.chain(KEYS_OF_TOOLS.map(str::to_owned)).collect()
}

#[test]
fn config_show_masks_every_secret_setting_whatever_its_value() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("toolwright.toml");
    let keys = secret_keys();
    let lines: Vec<String> = keys.iter().map(|key| format!("{key} = {MARKER:?}\n")).collect();
    fs::write(&file, lines.concat()).unwrap();
    for arguments in [&["config", "show"][..], &["config", "show", "--json"]] {
        let shown = printed(folder.path(), arguments, &[]);
        assert_hidden(&shown, "config show");
        assert_eq!(shown.matches("***").count(), keys.len(), "{shown}");
    }
    // From the environment.
    let variables = keys
        .iter()
        .map(|key| (format!("TOOLWRIGHT_{}", key.replace(['.', '-'], "_").to_uppercase()), WORD));
    let shown = printed(folder.path(), &["config", "show"], &variables.collect::<Vec<_>>());
    assert_hidden(&shown, "variables");
    assert!(shown.contains("server.token = *** (TOOLWRIGHT_SERVER_TOKEN)"), "{shown}");
    // Each of another type.
    for value in [format!("[{MARKER:?}]"), format!("[{{ a = {MARKER:?} }}]")] {
        let lines: Vec<String> = keys.iter().map(|key| format!("{key} = {value}\n")).collect();
        fs::write(&file, lines.concat()).unwrap();
        for command in ["config show", "mcp list", "serve --port 0", "quota show", "tools list"] {
            let arguments: Vec<&str> = command.split(' ').collect();
            assert_hidden(&printed(folder.path(), &arguments, &[]), command);
        }
        for vendor in VENDORS {
            let model = format!("{vendor}:test");
            let asked = printed(folder.path(), &["chat", "--once", "Hi", "--model", &model], &[]);
            assert_hidden(&asked, &model);
        }
    }
}

#[test]
fn no_setting_shows_the_credentials_of_an_address() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("toolwright.toml");
    let url = format!("https://ada:{WORD}@127.0.0.1:9/x?key={WORD}&api_key={WORD}");
    for key in keys_of_page(&read("docs/reference/settings.md")) {
        let key = key.replace("VENDOR", "openai");
        fs::write(&file, format!("{key} = {url:?}\n")).unwrap();
        assert_hidden(&printed(folder.path(), &["config", "show"], &[]), &key);
        fs::write(&file, format!("{key} = [{url:?}]\n")).unwrap();
        assert_hidden(&printed(folder.path(), &["config", "show"], &[]), &key);
    }
    // The value of a flag.
    let flags = format!("mcp.servers.a.args = [\"--api-key\", {MARKER:?}, \"--token={WORD}\"]\n");
    fs::write(&file, flags).unwrap();
    assert_hidden(&printed(folder.path(), &["config", "show"], &[]), "args");
}

/// A vendor that quotes the key and the header that it was sent in its error.
fn quoting_vendor() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 65536];
            let mut head = String::new();
            while !head.contains("\r\n\r\n") {
                let Ok(length @ 1..) = stream.read(&mut request) else { break };
                head.push_str(&String::from_utf8_lossy(&request[..length]));
            }
            assert!(head.contains(WORD), "{head}");
            let message = format!("Incorrect API key provided: {WORD} ({MARKER})");
            let body =
                format!(r#"{{"error": {{"message": "{message}", "code": "invalid_api_key"}}}}"#);
            let _ = write!(
                stream,
                "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    address
}

/// A project in which everything is secret that can be, and everything fails.
fn failing_project(folder: &Path) {
    let vendor = quoting_vendor();
    let settings = format!(
        "model = \"openai-chat:test\"\nstore = \"sqlite:here.sqlite\"\n\
         [server]\ntoken = \"{WORD}\"\n\
         [models.openai-chat]\nkey = \"{WORD}\"\nbase_url = \"http://{vendor}/v1?key={WORD}\"\n\
         [models.openai-chat.headers]\nX-Team = \"{MARKER}\"\n\
         [models.mistral]\nkey = \"{WORD}\"\n[mail]\nsmtp_password = \"{WORD}\"\n\
         [mcp.servers.dead]\nurl = \"http://127.0.0.1:9/mcp?key={WORD}\"\nauthorization = \"{WORD}\"\n\
         [mcp.servers.talkative]\ncommand = \"sh\"\nargs = [\"-c\", \"echo $PASSPHRASE >&2; exit 1\"]\n\
         [mcp.servers.talkative.env]\nPASSPHRASE = \"{MARKER}\"\n\
         [MCP]\nname = \"wiki\"\nurl = \"http://127.0.0.1:9/mcp\"\nauthorization = \"{WORD}\"\nmode = \"client\"\n"
    );
    fs::write(folder.join("toolwright.toml"), settings).unwrap();
}

/// A server that is killed on drop.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(folder: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
        command.args(["serve", "--port", "0", "--log", "debug"]).env_clear().current_dir(folder);
        command.env("HOME", folder).env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let log = fs::File::create(folder.join("log")).unwrap();
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("http://127.0.0.1:") || line.contains("warning") {
            line.clear();
            assert!(lines.read_line(&mut line).unwrap() > 0, "it ended");
            (&log).write_all(line.as_bytes()).unwrap();
        }
        let address = line.split_once("http://").unwrap().1.split('/').next().unwrap().to_owned();
        thread::spawn(move || std::io::copy(&mut lines, &mut &log));
        Self { child, address }
    }

    fn send(&self, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {WORD}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}",
            self.address
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn no_command_no_log_and_no_page_has_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    failing_project(folder.path());
    let server = Server::start(folder.path());
    let said = r#"{"messages":[{"role":"user","parts":[{"type":"text","text":"Hi"}]}],"id":"c"}"#;
    let answer = server.send("POST", "/api/chat", said);
    assert!(answer.contains("Incorrect API key provided: ***"), "{answer}");
    assert_hidden(&answer, "answer");
    for path in [
        "/metrics",
        "/openapi.json",
        "/readyz",
        "/api/info",
        "/api/me",
        "/api/tools",
        "/api/conversations",
        "/api/conversations/c",
        "/api/conversations/c/export",
        "/api/quota",
        "/api/connections",
        "/api/openapi.json",
    ] {
        assert_hidden(&server.send("GET", path, ""), path);
    }
    assert!(server.send("GET", "/metrics", "").contains("toolwright"), "no metrics");
    drop(server);
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(log.contains("http://127.0.0.1:9/mcp"), "{log}");
    assert_hidden(&log, "log");
    for command in [
        "config show",
        "config show --json",
        "tools list",
        "tools show get_weather",
        "tools call get_weather city=Oslo",
        "tools schema get_weather",
        "tools search weather",
        "prompts list",
        "prompts render summarize_instructions",
        "check",
        "mcp list",
        "mcp list --verbose",
        "mcp list --json",
        "conversations list",
        "conversations show c",
        "conversations show c --json",
        "conversations export c",
        "store verify",
        "quota show",
        "sessions list",
        "nodes list",
        "chat --once Hi",
        "chat --once Hi --json",
        "conversations list --json",
        "quota show --json",
        "publish",
        "mcp accept dead_tool",
        "mcp login dead",
        "mcp logout dead",
        "mcp rotate-key",
        "store rotate-key",
    ] {
        let arguments: Vec<&str> = command.split(' ').collect();
        assert_hidden(&printed(folder.path(), &arguments, &[]), command);
    }
}
