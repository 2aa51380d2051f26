//! Stored conversations: listed, shown, exported, imported, resumed; and their store.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use test_support::CommandOutput;
use toolwright::chat::{Append, Entry, Store as _};

mod assign;
mod export_import;
mod list_show_delete;
mod quota_commands;
mod resume;
mod storage;
mod store_commands;

/// A home directory without settings, keys or history.
struct TestHome(tempfile::TempDir);

impl TestHome {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
        self.set_environment(&mut command);
        command.args(arguments);
        command
    }

    fn set_environment(&self, command: &mut Command) {
        command.env_clear().current_dir(self.0.path());
        command.env("HOME", self.0.path()).env("TERM", "xterm");
        // A port without a listener.
        command.env("OLLAMA_HOST", "http://127.0.0.1:1");
        command.env("TOOLWRIGHT_MODEL", "demo");
        command.stdin(Stdio::null());
    }

    fn run(&self, arguments: &[&str]) -> CommandOutput {
        self.command(arguments).output().unwrap().into()
    }

    /// Sends a message in a stored conversation.
    fn ask(&self, conversation: &str, question: &str) -> CommandOutput {
        let arguments = ["chat", "--once", question, "--conversation", conversation];
        self.run(&arguments).assert_success()
    }

    fn export(&self, conversation: &str) -> String {
        self.run(&["conversations", "export", conversation]).assert_success().out
    }

    /// Stores the entries of an export unchanged, as after a crash; an import would repair them.
    fn import_entries(&self, exported: &[&str], conversation: &str) {
        let file = self.path(storage::FILE);
        let url = format!("sqlite:{}", file.display());
        let entries = exported.iter().skip(1);
        let entries = entries.map(|line| serde_json::from_str(line).unwrap());
        let entries: Vec<Entry> = entries.collect();
        let kept = async {
            let store = toolwright::store::open(&url).await?;
            let lease = store.acquire(conversation, "test", Duration::from_secs(60)).await?;
            let lease = lease.unwrap();
            store.append(&lease, Append::new(&entries)).await?;
            store.release(&lease).await
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(kept).unwrap();
    }

    /// Writes lines to a file and imports it under this name.
    fn import(&self, lines: &[&str], conversation: &str) -> CommandOutput {
        let file = self.path(&format!("{conversation}.jsonl"));
        std::fs::write(&file, lines.join("\n")).unwrap();
        let file = file.to_str().unwrap();
        self.run(&["conversations", "import", file, "--as", conversation])
    }
}

/// The kind of each entry of an export, in order.
fn entry_kinds(exported: &str) -> Vec<String> {
    let entries = exported.lines().skip(1);
    let kind = |line: &str| {
        let entry: Value = serde_json::from_str(line).unwrap();
        entry["what"].as_object().unwrap().keys().next().cloned()
    };
    entries.filter_map(kind).collect()
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().unwrap().permissions().mode() & 0o777
}
