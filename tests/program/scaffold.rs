//! `toolwright new`: the created projects compile, and their tests pass.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use test_support::{CommandOutput, real};

/// The values of `--template`.
const TEMPLATES: [&str; 4] = ["app", "axum", "chat", "mcp"];

/// A temporary folder outside of the workspace, so that Cargo does not find the workspace.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("toolwright-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Files that remain in the temporary directory do no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Creates a project, with these flags after its directory.
fn new(directory: &Path, flags: &[&str]) -> CommandOutput {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    // Relative paths are relative to this workspace.
    command.arg("new").arg(directory).args(flags).current_dir(env!("CARGO_MANIFEST_DIR"));
    command.output().unwrap().into()
}

/// The line of a new project that has the dependency on toolwright.
fn dependency_line(project: &Path) -> String {
    let manifest = fs::read_to_string(project.join("Cargo.toml")).unwrap();
    manifest.lines().find(|line| line.starts_with("toolwright = ")).unwrap().to_owned()
}

/// The build directory of all projects.
fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/scaffold")
}

/// Runs Cargo in a folder, with the build directory of the workspace.
fn cargo(folder: &Path, arguments: &[&str]) -> CommandOutput {
    let mut command = Command::new(env!("CARGO"));
    command
        .args(arguments)
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target())
        // Debug information of the dependencies takes gigabytes.
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "0");
    let output = CommandOutput::from(command.output().unwrap());
    assert_eq!(output.code, Some(0), "{arguments:?}: {}\n{}", output.err, output.out);
    output
}

#[test]
fn a_new_project_of_every_template_compiles_passes_its_tests_and_runs() {
    let folder = Folder::new("scaffold");
    for template in TEMPLATES {
        let project = folder.0.join(format!("hello-{template}"));
        let made = new(&project, &["--template", template, "--path", "."]);
        assert_eq!(made.code, Some(0), "{}", made.err);
    }
    // One workspace, so that the dependencies are compiled once.
    let members = TEMPLATES.map(|template| format!("\"hello-{template}\"")).join(", ");
    let workspace = format!("[workspace]\nresolver = \"3\"\nmembers = [{members}]\n");
    fs::write(folder.0.join("Cargo.toml"), workspace).unwrap();
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock");
    fs::copy(lock, folder.0.join("Cargo.lock")).unwrap();

    let tested = cargo(&folder.0, &["test", "--workspace", "--quiet"]);
    let passed = tested.out.matches("test result: ok. ").count();
    assert_eq!(passed, TEMPLATES.len(), "{}", tested.out);
    let tests = tested.out.matches("test result: ok. 0 passed").count();
    assert_eq!(tests, 0, "each has a test: {}", tested.out);

    // All of them again, because one alone has other features, with which its dependencies would be compiled once more.
    cargo(&folder.0, &["build", "--workspace", "--quiet"]);
    let run = |arguments: &[&str]| {
        let mut command = Command::new(target().join("debug/hello-app"));
        let home = folder.0.join("home");
        command.args(arguments).env_clear().env("HOME", home).current_dir(&folder.0);
        CommandOutput::from(command.output().unwrap())
    };
    let listed = run(&["tools", "list"]).out;
    assert_eq!(listed, "hello_app::tools\n  greet  Greets a person by name.\n");
    // What the console suggests; the test of the console's page below compares it with that.
    let once = ["chat", "--model", "demo", "--conversation", "c", "--once", SUGGESTION];
    let answered = run(&once).out;
    assert!(answered.contains("Hello, Ada!"), "{answered}");
    // Another process finds the conversation, so it was stored.
    let kept = run(&["conversations", "list"]);
    assert!(kept.out.starts_with("c ") && kept.out.contains(SUGGESTION), "{kept:?}");

    let mut command = Command::new(target().join("debug/hello-app"));
    let home = folder.0.join("home");
    command.args(["serve", "--addr", "127.0.0.1:0", "--model", "demo", "--store", "memory:"]);
    command.env_clear().env("HOME", home).current_dir(&folder.0);
    let server = ServerProcess::start(command);
    let info = server.get("/api/info");
    assert_eq!(info["console"]["greeting"], "This is Hello app. What can I do for you?");
    if let Some(suggestions) = suggested_messages(&folder.0, &server.get("/api/tools")) {
        assert_eq!(suggestions, [SUGGESTION]);
    }
}

/// The message that the console of a new project suggests.
const SUGGESTION: &str = "Greet a person by name: Ada";

/// A server process, which is killed on drop.
struct ServerProcess {
    child: Child,
    /// Its address, as `127.0.0.1:1234`.
    address: String,
}

impl ServerProcess {
    fn start(mut command: Command) -> Self {
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        err.read_line(&mut line).unwrap();
        // Its output must be read, because a full pipe would block it.
        std::thread::spawn(move || err.lines().for_each(drop));
        let rest = line.split_once("http://").map_or("", |(_, rest)| rest);
        let address = rest.split('/').next().unwrap_or_default().to_owned();
        Self { child, address }
    }

    /// The JSON at a path.
    fn get(&self, path: &str) -> Value {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let host = &self.address;
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let (_, body) = response.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The messages that the console's own script suggests for these tools; `None` without Node, which is a failure in CI.
fn suggested_messages(folder: &Path, tools: &Value) -> Option<Vec<String>> {
    // As modules, which the type of their package decides.
    let scripts = folder.join("scripts");
    let console = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/server/console/js");
    for script in ["chat/suggestions.js", "ui/escape.js"] {
        let copy = scripts.join(script);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(console.join(script), copy).unwrap();
    }
    fs::write(scripts.join("package.json"), r#"{"type": "module"}"#).unwrap();
    // The fields have the names that `toSpec` of the console's client gives them.
    let main = format!(
        "import {{ suggestedMessages }} from \"./chat/suggestions.js\";\n\
         const toSpec = ({{ parameters, hints, ...tool }}) => ({{ inputSchema: parameters, annotations: hints, ...tool }});\n\
         console.log(JSON.stringify(suggestedMessages({tools}.map(toSpec))));\n"
    );
    fs::write(scripts.join("main.js"), main).unwrap();
    let Ok(output) = Command::new("node").arg(scripts.join("main.js")).output() else {
        real::skip("node");
        return None;
    };
    let output = CommandOutput::from(output);
    assert_eq!(output.code, Some(0), "{}", output.err);
    Some(serde_json::from_str(&output.out).unwrap())
}

#[test]
fn the_dependency_is_one_that_others_can_resolve() {
    let folder = Folder::new("dependency");
    let unpublished = new(&folder.0.join("unpublished"), &[]);
    assert_eq!(unpublished.code, Some(2));
    assert!(unpublished.err.contains("pass --git URL"), "{}", unpublished.err);
    assert!(!folder.0.join("unpublished").exists());

    let line = |name: &str, flags: &[&str]| {
        let project = folder.0.join(name);
        let made = new(&project, flags);
        assert_eq!(made.code, Some(0), "{}", made.err);
        (dependency_line(&project), made.err)
    };
    let (git, _) = line("by-git", &["--git", "https://git.example/toolwright"]);
    assert!(git.contains(r#"{ git = "https://git.example/toolwright", features"#), "{git}");
    let (published, _) = line("published", &["--published"]);
    assert!(published.contains(concat!("version = \"", env!("CARGO_PKG_VERSION"), "\"")));
    let (relative, note) = line("relative", &["--path", "."]);
    assert!(relative.contains(r#"path = "../"#), "{relative}");
    assert_eq!(note, "");
    let (absolute, note) = line("absolute", &["--path", env!("CARGO_MANIFEST_DIR")]);
    assert!(absolute.contains(concat!("path = \"", env!("CARGO_MANIFEST_DIR"))), "{absolute}");
    assert!(note.contains("on this machine only"), "{note}");

    let elsewhere = new(&folder.0.join("elsewhere"), &["--path", "docs"]);
    assert_eq!(elsewhere.code, Some(2));
    assert!(elsewhere.err.contains("there is no checkout of toolwright"), "{}", elsewhere.err);
}

#[test]
fn a_directory_that_is_not_empty_is_left_alone() {
    let folder = Folder::new("taken");
    let project = folder.0.join("taken");
    fs::create_dir(&project).unwrap();
    fs::write(project.join("mine.txt"), "mine").unwrap();
    let refused = new(&project, &["--published"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("choose another"), "{}", refused.err);
    assert_eq!(fs::read_dir(&project).unwrap().count(), 1);
}

#[test]
fn a_name_that_cargo_would_refuse_is_refused_with_what_to_use() {
    let folder = Folder::new("named");
    let refused = new(&folder.0.join("My Tools"), &["--published"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("lower-case"), "{}", refused.err);
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0);
}
