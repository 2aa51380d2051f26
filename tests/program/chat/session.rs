//! A session through a pipe: no terminal, so neither an input prompt nor approvals.

use super::{TestHome, events, run_with_stdin};
use crate::vendor::{MockAnswer, MockVendor};

#[test]
fn a_session_through_a_pipe_goes_on_after_an_error_and_keeps_the_conversation() {
    let vendor = MockVendor::answering([
        MockAnswer::Text(&["Hello."]),
        MockAnswer::Error(400, "no"),
        MockAnswer::Text(&["Again."]),
    ]);
    let home = TestHome::new();
    let output = run_with_stdin(home.ask(&vendor, &[]), "Hi\\\nthere\n\nfail\nonce more\n");
    assert_eq!((output.code, output.out.as_str()), (Some(0), "Hello.\nAgain.\n"));
    assert!(!output.err.contains("> "), "no prompt without a terminal: {output:?}");
    assert_eq!(vendor.asked()["messages"][1]["content"], "Hi\nthere");
    vendor.asked();
    let request = vendor.asked()["messages"].to_string();
    for text in ["there", "Hello.", "once more"] {
        assert!(request.contains(text), "{text} is not in {request}");
    }
}

#[test]
fn commands_work_through_a_pipe() {
    let vendor = MockVendor::answering([MockAnswer::Text(&["Hello."])]);
    let home = TestHome::new();
    let lines =
        "/help\n/tools\nHi\n/usage\n/model\n/tolls\n/model groq\n/save\n/quit\nnever asked\n";
    let output = run_with_stdin(home.ask(&vendor, &[]), lines);
    assert_eq!(output.code, Some(0));
    for shown in [
        "/prompt NAME key=value",
        "  get_weather          Returns the weather in a city.",
        "Hello.",
        "price unknown",
        "openai-chat:test: chosen by TOOLWRIGHT_MODEL",
    ] {
        assert!(output.out.contains(shown), "{shown} is not in {output:?}");
    }
    for shown in ["there is no /tolls; did you mean /tools?", "write groq:NAME", "write /save FILE"]
    {
        assert!(output.err.contains(shown), "{shown} is not in {output:?}");
    }
}

#[test]
fn a_conversation_is_saved_as_json_lines_and_nothing_is_overwritten() {
    let vendor =
        MockVendor::answering([MockAnswer::Text(&["Hello."]), MockAnswer::Text(&["Bye."])]);
    let home = TestHome::new();
    let lines = "Hi\n/save a.jsonl\n/clear\nHo\n/save a.jsonl\n/save b.jsonl\n";
    let output = run_with_stdin(home.ask(&vendor, &[]), lines);
    assert!(output.err.contains("a.jsonl is there already"), "{output:?}");
    let read = |name: &str| std::fs::read_to_string(home.0.path().join(name)).unwrap();
    for (file, text) in [("a.jsonl", "Hi"), ("b.jsonl", "Ho")] {
        let mut entries = events(&read(file));
        let header = entries.remove(0);
        assert_eq!(header["toolwright"], "journal");
        let kind =
            |entry: &serde_json::Value| entry["what"].as_object().unwrap().keys().next().cloned();
        let kinds: Vec<String> = entries.iter().filter_map(kind).collect();
        assert_eq!(kinds, ["user", "step", "ended"]);
        assert_eq!(entries[0]["what"]["user"]["content"][0]["text"], text);
    }
}

#[test]
fn a_prompt_is_inserted_in_its_role_before_the_next_question() {
    let vendor = MockVendor::answering([MockAnswer::Text(&["Buzz."])]);
    let home = TestHome::new();
    let lines = "/prompt summarise_instructions topic=x\n\
                 /prompt summarize_instructions topic=\"wild bees\" max_words=50\nGo on\n";
    let output = run_with_stdin(home.ask(&vendor, &[]), lines);
    assert!(output.err.contains("did you mean `summarize_instructions`?"), "{output:?}");
    let messages = vendor.asked()["messages"].clone();
    assert_eq!(messages[1]["role"], "assistant");
    let inserted = messages[1]["content"].to_string();
    assert!(inserted.contains("on wild bees concisely, in 50 words"), "{inserted}");
    assert_eq!(messages[2]["content"], "Go on");
}

#[test]
fn settings_give_the_model_the_system_prompt_and_prices() {
    let vendor = MockVendor::answering([MockAnswer::Text(&["Hello."])]);
    let home = TestHome::new();
    let settings = "model = \"openai-chat:test\"\nsystem = \"Be brief.\"\n\
        [[prices]]\nmodel = \"openai-chat:test\"\ninput = 1.25\noutput = 10\n\
        [WebSearchTool]\ntype = \"default\"\n";
    std::fs::write(home.0.path().join("toolwright.toml"), settings).unwrap();
    let mut command = home.ask(&vendor, &[]);
    command.env_remove("TOOLWRIGHT_MODEL");
    let output = run_with_stdin(command, "Hi\n/usage\n");
    assert!(
        output.err.starts_with("openai-chat:test: chosen by toolwright.toml:1\n"),
        "{output:?}"
    );
    assert!(output.err.contains("web search"), "{output:?}");
    assert!(output.out.contains("cost    0.00002"), "{output:?}");
    assert_eq!(vendor.asked()["messages"][0]["content"], "Be brief.");
}
