//! Settings that attach the program that reads them, directly or through another one.

use super::{TOOLWRIGHT, TestProject};

#[test]
fn a_program_whose_settings_attach_it_skips_itself_with_a_warning() {
    let settings = format!(
        "[mcp.servers.me]\ncommand = {TOOLWRIGHT:?}\nargs = [\"mcp\"]\ntrust = \"calls\"\n"
    );
    let project = TestProject::with(&settings);
    let listed = project.run(&["tools", "list"]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    assert!(listed.out.contains("get_weather"), "{listed:?}");
    assert!(!listed.out.contains("me_"), "{listed:?}");
    let warning = "server `me` is this program with these settings";
    assert!(listed.err.contains(warning), "{listed:?}");
    let shown = project.run(&["mcp", "list"]);
    assert!(shown.err.contains(warning), "{shown:?}");
}

#[test]
fn a_program_that_another_attaches_in_turn_is_left_out_there() {
    let attaching = |name: &str, file: &str| {
        format!(
            "[mcp.servers.{name}]\ncommand = {TOOLWRIGHT:?}\nargs = [\"mcp\", \"--config\", \"{file}\"]\n"
        )
    };
    let project = TestProject::with(&attaching("there", "other.toml"));
    project.write("other.toml", &attaching("back", "toolwright.toml"));
    let listed = project.run(&["tools", "list"]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    assert!(listed.out.contains("there_get_weather"), "{listed:?}");
    assert!(!listed.out.contains("there_back_"), "{listed:?}");
}

#[test]
fn the_same_program_with_other_settings_is_attached() {
    let settings = format!(
        "[mcp.servers.other]\ncommand = {TOOLWRIGHT:?}\nargs = [\"mcp\", \"--config\", \"other.toml\"]\n"
    );
    let project = TestProject::with(&settings);
    project.write("other.toml", "");
    let listed = project.run(&["tools", "list"]);
    assert_eq!((listed.code, listed.err.as_str()), (Some(0), ""));
    assert!(listed.out.contains("other_get_weather"), "{listed:?}");
}

#[test]
fn yes_on_the_command_line_also_answers_the_question_of_the_server_that_has_the_tool() {
    let settings = format!(
        "[mcp.servers.far]\ncommand = {TOOLWRIGHT:?}\nargs = [\"mcp\", \"--config\", \"far.toml\"]\n"
    );
    let project = TestProject::with(&settings);
    project.write("far.toml", "");
    let call = ["tools", "call", "far_issue_refund", "order=A-1042", "amount=5"];
    let denied = project.run(&call);
    assert_eq!(denied.code, Some(1), "{denied:?}");
    let mut approved = call.to_vec();
    approved.push("--yes");
    let approved = project.run(&approved);
    assert_eq!(approved.code, Some(0), "{approved:?}");
    assert!(approved.out.contains("Refunded 5.00 EUR"), "{approved:?}");
}

#[test]
fn yes_on_the_command_line_answers_no_other_question_of_a_server() {
    let Some(project) = super::terminal::asking() else {
        return;
    };
    let answered = project.run(&["tools", "call", "rude_say", "--yes"]);
    let declined = r#"{"action": "decline"}"#;
    assert!(answered.out.contains(declined), "{answered:?}");
    // A form without fields is accepted only if it asks about the tool of the command line.
    let empty = std::fs::read_to_string(project.path().join("rude.py")).unwrap();
    let (before, rest) = empty.split_once("        form = ").unwrap();
    let (_, after) = rest.split_once('\n').unwrap();
    let form = "        form = {\"type\": \"object\", \"properties\": {}}\n";
    for (message, action) in [
        ("May `erase` run?\\n\\nErases.", "decline"),
        ("Send us your files?", "decline"),
        ("May `say` run?\\n\\nSays.\\n\\nArguments:\\n{}", "accept"),
    ] {
        let server = format!("{before}{form}{after}").replace("Who\\x1b[8m are you?", message);
        project.write("rude.py", &server);
        let answered = project.run(&["tools", "call", "rude_say", "--yes"]);
        let expected = format!(r#""action": "{action}""#);
        assert!(answered.out.contains(&expected), "{message}: {answered:?}");
    }
}
