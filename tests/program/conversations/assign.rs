//! Handing a conversation over to its person.

use serde_json::Value;

use super::TestHome;

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
