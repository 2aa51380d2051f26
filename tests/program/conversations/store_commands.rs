//! `store backup|restore|verify|rotate-key|prune|erase`.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sqlx::{Connection as _, SqliteConnection};
use test_support::servers::postgres::{NO_FSYNC, PostgresServer};
use tokio::runtime::Runtime;
use toolwright::chat::{
    Append, Entry, InboxBody, InboxItem, Lease, Owner, PrincipalRecord, Store, import_journal,
};

use super::{CommandOutput, TestHome, mode, storage};

/// A store that this process has open, as a server does.
struct OpenStore {
    runtime: Runtime,
    store: Arc<dyn Store>,
}

impl OpenStore {
    fn new(url: &str) -> Self {
        let runtime = Runtime::new().unwrap();
        let store = runtime.block_on(toolwright::store::open(url)).unwrap();
        Self { runtime, store }
    }

    fn acquire(&self, conversation: &str) -> Lease {
        let acquired = self.store.acquire(conversation, "test", Duration::from_secs(600));
        self.runtime.block_on(acquired).unwrap().unwrap()
    }

    fn release(&self, lease: &Lease) {
        self.runtime.block_on(self.store.release(lease)).unwrap();
    }

    fn append(&self, conversation: &str, entries: &[Entry]) {
        let lease = self.acquire(conversation);
        self.runtime.block_on(self.store.append(&lease, Append::new(entries))).unwrap();
        self.release(&lease);
    }

    fn push(&self, conversation: &str, subject: &str) {
        let item = InboxItem::new("m", 7, InboxBody::Stop);
        let item = item.with_principal(Some(PrincipalRecord::new(subject)));
        self.runtime.block_on(self.store.push_inbox(conversation, &item, 9)).unwrap().unwrap();
    }

    /// The names of all conversations.
    fn names(&self) -> Vec<String> {
        let listed = self.runtime.block_on(self.store.list(99)).unwrap();
        let mut names: Vec<String> = listed.into_iter().map(|it| it.conversation).collect();
        names.sort();
        names
    }
}

/// A message of a subject and the end of its turn, of 1970.
fn turn_of(subject: &str) -> Vec<Entry> {
    let content = json!([{ "type": "text", "text": "a secret" }]);
    let message = json!({
        "id": "1", "at": 1, "what": { "user": { "content": content } },
        "principal": { "subject": subject },
    });
    let end = json!({ "id": "2", "at": 2, "what": { "ended": { "end": { "end": "answered" } } } });
    [message, end].map(|entry| Entry::from_json(&entry.to_string()).unwrap()).into()
}

fn url_of(home: &TestHome) -> String {
    format!("sqlite:{}", home.path(storage::FILE).display())
}

#[test]
fn a_backup_is_made_while_the_store_is_used_and_restored_into_an_empty_one() {
    let home = TestHome::new();
    home.ask("a", "Convert 100 C to Fahrenheit");
    let open = OpenStore::new(&url_of(&home));
    let lease = open.acquire("a");
    let made = home.run(&["store", "backup", "b.sqlite"]).assert_success();
    assert!(made.err.contains("bytes written to b.sqlite"), "{made:?}");
    open.release(&lease);
    assert_eq!(mode(&home.path("b.sqlite")), 0o600);
    let first = std::fs::read(home.path("b.sqlite")).unwrap();
    home.ask("b", "Convert 1 C to Fahrenheit");
    home.run(&["store", "backup", "b.sqlite"]).assert_failure(1, "replace it with --force");
    assert_eq!(std::fs::read(home.path("b.sqlite")).unwrap(), first);
    let made = home.run(&["store", "backup", "b.sqlite", "--force", "--json"]).assert_success();
    let made: Value = serde_json::from_str(&made.out).unwrap();
    assert_eq!(made["file"], "b.sqlite");
    assert_eq!(mode(&home.path("b.sqlite")), 0o600);
    let itself = ["store", "backup", storage::FILE, "--force"];
    home.run(&itself).assert_failure(2, "is the store itself");

    let restore = ["store", "restore", "b.sqlite", "--store", "sqlite:new.sqlite"];
    let restored = home.run(&restore).assert_success();
    assert_eq!(restored.err, "2 conversations with 12 entries restored\n");
    let exported = ["conversations", "export", "b", "--store", "sqlite:new.sqlite"];
    assert_eq!(home.run(&exported).assert_success().out, home.export("b"));
    home.run(&restore).assert_failure(1, "has conversations");
    home.run(&["store", "restore", "none.sqlite"]).assert_failure(1, "there is no file");
    home.run(&["store", "backup", "c", "--store", "sqlite:no"]).assert_failure(1, "no file `no`");
    let memory = ["store", "backup", "c", "--store", "memory:"];
    home.run(&memory).assert_failure(1, "in memory");
    let files = std::fs::read_dir(home.path("")).unwrap();
    let partial = files.filter(|file| {
        let name = file.as_ref().unwrap().file_name().into_string().unwrap();
        name.contains("partial") || name.contains("-new-")
    });
    assert_eq!(partial.count(), 0);
}

#[test]
fn damage_is_reported_with_what_to_do() {
    let home = TestHome::new();
    home.ask("a", "Convert 100 C to Fahrenheit");
    let intact = home.run(&["store", "verify"]).assert_success();
    assert_eq!(
        (&*intact.out, &*intact.err),
        ("", "1 conversations, 6 entries, 0 inbox items: 0 problems\n")
    );
    let damage = async {
        let file = home.path(storage::FILE);
        let mut connection = SqliteConnection::connect(file.to_str().unwrap()).await.unwrap();
        let damage = sqlx::query("UPDATE entries SET entry = '{' WHERE entry LIKE '%started%'");
        damage.execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    };
    Runtime::new().unwrap().block_on(damage);
    let damaged = home.run(&["store", "verify"]);
    assert_eq!(damaged.code, Some(1), "{damaged:?}");
    assert!(damaged.out.starts_with("conversation `a`: entry `"), "{damaged:?}");
    assert!(
        damaged.out.ends_with("; restore a backup, or delete the conversation\n"),
        "{damaged:?}"
    );
    let damaged = home.run(&["store", "verify", "--json"]);
    assert_eq!(damaged.code, Some(1), "{damaged:?}");
    let report: Value = serde_json::from_str(&damaged.out).unwrap();
    assert_eq!(
        (&report["entries"], &report["problems"][0]["conversation"]),
        (&json!(6), &json!("a"))
    );
}

#[test]
fn a_new_key_signs_and_old_ones_verify() {
    let home = TestHome::new();
    home.ask("a", "Convert 100 C to Fahrenheit");
    let rotated = home.run(&["store", "rotate-key"]).assert_success();
    assert!(rotated.err.contains("old approvals stay valid"), "{rotated:?}");
    let old_keys = |keep: &str| {
        let rotated = home.run(&["store", "rotate-key", "--keep", keep, "--json"]);
        let rotated: Value = serde_json::from_str(&rotated.assert_success().out).unwrap();
        rotated["old_keys"].clone()
    };
    assert_eq!([old_keys("4"), old_keys("2"), old_keys("0")], [2, 2, 0]);
    home.run(&["store", "rotate-key", "--store", "memory:"]).assert_failure(2, "keeps nothing");
}

#[test]
fn conversations_that_are_too_old_are_pruned() {
    let home = TestHome::new();
    home.ask("new", "Convert 100 C to Fahrenheit");
    let open = OpenStore::new(&url_of(&home));
    open.append("old", &turn_of("ada"));
    open.append("open", &turn_of("ada")[..1]);
    open.append("waiting", &turn_of("ada"));
    open.push("waiting", "ada");
    home.run(&["store", "prune"]).assert_failure(2, "pass --older-than 90d");
    let odd = ["store", "prune", "--older-than", "1y"];
    home.run(&odd).assert_failure(2, "--older-than: `1y` is no age: write 90d");
    let dry = home.run(&["store", "prune", "--older-than", "90d", "--dry-run"]).assert_success();
    assert!(dry.out.starts_with("old "), "{dry:?}");
    assert_eq!((dry.out.lines().count(), &*dry.err), (1, "1 conversations would be deleted\n"));
    assert_eq!(open.names().len(), 4);

    let with_keep = |keep: &str, arguments: &[&str]| -> CommandOutput {
        let mut command = home.command(arguments);
        command.env("TOOLWRIGHT_JOURNAL_KEEP", keep).output().unwrap().into()
    };
    for command in [["store", "prune"], ["config", "show"]] {
        let wrong = with_keep("soon", &command);
        wrong.assert_failure(1, "`journal.keep`");
        wrong.assert_failure(1, "TOOLWRIGHT_JOURNAL_KEEP");
    }
    std::fs::write(home.path("toolwright.toml"), "[journal]\nkepe = \"90d\"\n").unwrap();
    home.run(&["store", "prune"]).assert_failure(1, "did you mean `keep`");
    std::fs::write(home.path("toolwright.toml"), "[journal]\nkeep = \"90d\"\n").unwrap();
    assert!(home.run(&["config", "show"]).assert_success().out.contains("journal.keep"));
    let pruned = home.run(&["store", "prune", "--json"]).assert_success();
    let pruned: Value = serde_json::from_str(&pruned.out).unwrap();
    assert_eq!(
        (pruned[0]["conversation"].as_str(), pruned.as_array().unwrap().len()),
        (Some("old"), 1)
    );
    assert_eq!(open.names(), ["new", "open", "waiting"]);
}

/// Erases what a subject has in a store, and checks the receipt.
fn check_erasure(home: &TestHome, url: &str) {
    let open = OpenStore::new(url);
    let (notes, bobs) = ("@ada/notes", "@bob/notes");
    open.append(notes, &turn_of("ada"));
    open.append("@ada/open", &turn_of("ada")[..1]);
    open.push("@ada/inbox", "ada");
    open.append(bobs, &turn_of("bob"));
    open.append("/rooms/7", &turn_of("ada"));
    let erase = |more: &[&str]| {
        let arguments = ["store", "erase", "--subject", "ada", "--store", url];
        home.run(&[&arguments[..], more].concat())
    };
    let dry = erase(&["--dry-run"]).assert_success();
    let dry: Value = serde_json::from_str(&dry.out).unwrap();
    assert_eq!(
        (dry["dry_run"].as_bool(), dry["erased"].as_array().unwrap().len()),
        (Some(true), 3)
    );
    assert_eq!(open.names().len(), 4);
    let exported = home.run(&["conversations", "export", notes, "--store", url]).assert_success();
    let (_, entries) = exported.out.split_once('\n').unwrap();
    std::fs::write(home.path("entries"), entries).unwrap();
    let sum = std::process::Command::new("sha256sum").arg(home.path("entries")).output().unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap();

    let erased = erase(&["--receipt", "receipt.json"]).assert_success();
    assert!(!erased.out.contains("secret"), "{erased:?}");
    assert_eq!(std::fs::read_to_string(home.path("receipt.json")).unwrap(), erased.out);
    assert_eq!(mode(&home.path("receipt.json")), 0o600);
    let receipt: Value = serde_json::from_str(&erased.out).unwrap();
    let counts = |list: &Value| -> Vec<(String, u64, u64)> {
        let number = |it: &Value| it.as_u64().unwrap();
        let list = list.as_array().unwrap().iter();
        let counts = list.map(|it| {
            let name = it["conversation"].as_str().unwrap().to_owned();
            (name, number(&it["entries"]), number(&it["inbox_items"]))
        });
        counts.collect()
    };
    let expected = [("@ada/inbox", 0, 1), (notes, 2, 0), ("@ada/open", 1, 0)];
    assert_eq!(counts(&receipt["erased"]), expected.map(|(name, a, b)| (name.to_owned(), a, b)));
    assert_eq!(counts(&receipt["not_erased"]), [("/rooms/7".to_owned(), 1, 0)]);
    assert_eq!(receipt["subject"], "ada");
    assert!(sum.starts_with(receipt["erased"][1]["sha256"].as_str().unwrap()), "{sum}");
    assert!(erased.err.contains("1 conversations of others"), "{erased:?}");
    assert_eq!(open.names(), ["/rooms/7", bobs]);
    erase(&["--receipt", "receipt.json"]).assert_failure(1, "nothing was erased");
    let again: Value = serde_json::from_str(&erase(&[]).assert_success().out).unwrap();
    assert_eq!(again["erased"], json!([]));
}

#[test]
fn a_person_is_erased_with_a_receipt() {
    let home = TestHome::new();
    check_erasure(&home, &format!("sqlite:{}", home.path("a.sqlite").display()));
}

#[test]
fn a_conversation_in_use_is_named_and_not_erased() {
    let home = TestHome::new();
    let url = format!("sqlite:{}", home.path("a.sqlite").display());
    let open = OpenStore::new(&url);
    let name = Owner::Subject("auth0|ada".to_owned()).stored_name("notes");
    open.append(&name, &import_journal(turn_of("auth0|ada")).0);
    let lease = open.acquire(&name);
    let erase = ["store", "erase", "--subject", "auth0|ada", "--wait", "0", "--store", &url];
    let in_use = home.run(&erase);
    assert_eq!(in_use.code, Some(1), "{in_use:?}");
    assert!(in_use.err.contains("in use: @auth0%7Cada/notes"), "{in_use:?}");
    let receipt: Value = serde_json::from_str(&in_use.out).unwrap();
    assert_eq!(receipt["erased"], json!([]));
    assert_eq!(receipt["not_erased"][0]["conversation"], "@auth0%7Cada/notes");
    open.release(&lease);
    home.run(&erase).assert_success();
    assert!(open.names().is_empty());
}

#[test]
fn a_store_moves_to_postgresql_and_is_cleaned_up_there() {
    let Some(server) = PostgresServer::start(NO_FSYNC) else {
        return;
    };
    let home = TestHome::new();
    home.ask("a", "Convert 100 C to Fahrenheit");
    let url = server.url("postgres");
    home.run(&["store", "backup", "b.sqlite"]).assert_success();
    home.run(&["store", "restore", "b.sqlite", "--store", &url]).assert_success();
    let exported = home.run(&["conversations", "export", "a", "--store", &url]).assert_success();
    assert_eq!(exported.out, home.export("a"));
    home.run(&["store", "verify", "--store", &url]).assert_success();
    home.run(&["store", "rotate-key", "--store", &url]).assert_success();
    home.run(&["store", "backup", "c.sqlite", "--store", &url]).assert_success();
    home.run(&["store", "verify", "--store", "sqlite:c.sqlite"]).assert_success();
    home.run(&["conversations", "delete", "a", "--yes", "--store", &url]).assert_success();
    check_erasure(&home, &url);
    home.run(&["store", "prune", "--older-than", "90d", "--store", &url]).assert_success();
    assert!(OpenStore::new(&url).names().is_empty());
}
