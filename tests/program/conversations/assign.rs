//! Handing a conversation over to its person.

use serde_json::{Value, json};
use toolwright::chat::Store as _;
use toolwright::{SharedState as _, subject_key};

use super::TestHome;
use super::storage::FILE;

#[test]
fn an_operator_hands_a_conversation_from_before_over_to_its_person() {
    let home = TestHome::new();
    home.ask("notes", "Convert 100 C to Fahrenheit");
    let before = home.export("notes");
    let assigned = home.run(&["conversations", "assign", "notes", "--to", "ada"]).assert_success();
    assert!(assigned.err.contains("@ada/notes: 6 entries, now of ada"), "{assigned:?}");
    let list = home.run(&["conversations", "list", "--json"]).assert_success();
    let list: Value = serde_json::from_str(&list.out).unwrap();
    assert_eq!(list.as_array().unwrap().len(), 1);
    assert_eq!(list[0]["conversation"], "@ada/notes");
    let entries =
        |export: &str| -> Vec<String> { export.lines().skip(1).map(str::to_owned).collect() };
    assert_eq!(entries(&home.export("@ada/notes")), entries(&before));
    // From one person to another, too.
    home.run(&["conversations", "assign", "@ada/notes", "--to", "auth0|7"]).assert_success();
    assert_eq!(entries(&home.export("@auth0%7C7/notes")), entries(&before));
    home.run(&["store", "verify"]).assert_success();
}

#[test]
fn a_conversation_is_not_assigned_over_another_one_nor_if_it_is_unknown() {
    let home = TestHome::new();
    home.ask("notes", "Convert 100 C to Fahrenheit");
    home.ask("@ada/notes", "What is the weather in Paris?");
    let taken = home.run(&["conversations", "assign", "notes", "--to", "ada"]);
    assert!(taken.err.contains("already"), "{taken:?}");
    assert!(home.export("@ada/notes").contains("Paris"));
    assert!(home.export("notes").contains("Fahrenheit"));
    let unknown = home.run(&["conversations", "assign", "note", "--to", "ada"]);
    assert!(unknown.err.contains("did you mean `notes`"), "{unknown:?}");
    let own = home.run(&["conversations", "assign", "@ada/notes", "--to", "ada"]);
    assert!(own.err.contains("already"), "{own:?}");
}

#[test]
fn the_links_of_the_former_owner_do_not_come_back_with_the_conversation() {
    let home = TestHome::new();
    home.ask("@ada/notes", "Convert 100 C to Fahrenheit");
    let url = format!("sqlite:{}", home.path(FILE).display());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let state = runtime.block_on(toolwright::store::open(&url)).unwrap().shared_state();
    let share = json!({
        "id": "s1", "conversation": "@ada/notes", "entry": "e1", "access": "read", "created": 1,
        "expires": null, "owner_name": null, "link": "l1",
    });
    let key = subject_key(Some("ada"), "s1");
    runtime.block_on(state.put("share", &key, &share.to_string(), None)).unwrap();
    runtime.block_on(state.put("share_link", "l1", &key, None)).unwrap();
    for (conversation, subject) in [("@ada/notes", "bob"), ("@bob/notes", "ada")] {
        let command = ["conversations", "assign", conversation, "--to", subject];
        home.run(&command).assert_success();
    }
    assert_eq!(runtime.block_on(state.get("share", &key)).unwrap(), None);
    assert_eq!(runtime.block_on(state.get("share_link", "l1")).unwrap(), None);
}
