//! The tools of a request: all, more, fewer, by name, by bundle, through a resolver.

use std::sync::Arc;

use toolwright::chat::{Chat, ChatError, ToolChoice, TurnRequest};
use toolwright::testing::{FnModel, ScriptedModel};
use toolwright::{Config, ConfigSources, Invoker, Registry, Tool, ToolCall};

use crate::support::{Log, builder, chat, constant_tool, last_result_texts, registry, tool_names};

/// Selects the tools of a request.
type Configure = fn(TurnRequest) -> TurnRequest;

fn in_bundle(name: &str, bundle: &str) -> Tool {
    Tool::builder(name, "Does something.").bundle(bundle).run(|_, _| "done").unwrap()
}

fn tools() -> Vec<Tool> {
    vec![
        in_bundle("read_file", "files"),
        in_bundle("write_file", "files"),
        in_bundle("search", "web"),
    ]
}

/// The tools of a request to a model, which answers at once.
async fn shows(ask: impl FnOnce(TurnRequest) -> TurnRequest) -> Result<Vec<String>, ChatError> {
    let model = ScriptedModel::new().replies("Hello.");
    let chat = builder(model.clone(), tools())
        .resolver(|name: &str| (name == "resolved").then(|| constant_tool("resolved", "first")))
        .resolver(|name: &str| {
            let known = ["resolved", "second"].contains(&name);
            known.then(|| constant_tool(name, "second"))
        })
        .build();
    let result = ask(chat.message().user("Hello!")).call().await;
    match result {
        Ok(_) => Ok(tool_names(&model.requests()[0])),
        Err(error) => {
            assert!(model.requests().is_empty(), "the model was asked");
            Err(error)
        }
    }
}

#[tokio::test]
async fn a_request_has_the_tools_it_selects() {
    let all = ["read_file", "write_file", "search"];
    let cases: [(Configure, &[&str]); 13] = [
        (|ask| ask, &all),
        (|ask| ask.tools(constant_tool("own", "")), &["read_file", "write_file", "search", "own"]),
        (|ask| ask.only_tools(constant_tool("own", "")), &["own"]),
        (|ask| ask.only_tools(Vec::<Tool>::new()), &[]),
        (|ask| ask.only_tools_named(["search"]), &["search"]),
        (
            |ask| ask.only_tools_named(["search", "search", "second", "second"]),
            &["search", "second"],
        ),
        (|ask| ask.only_tools_named(["own"]).tools(constant_tool("own", "")), &["own"]),
        (|ask| ask.bundles(["files"]), &["read_file", "write_file"]),
        (|ask| ask.bundles(["files"]).only_tools_named(["search"]), &all),
        (|ask| ask.exclude(["search"]), &["read_file", "write_file"]),
        (|ask| ask.bundles(["files"]).exclude(["write_file"]), &["read_file"]),
        (|ask| ask.filter(|spec| &*spec.bundle != "files"), &["search"]),
        (
            |ask| {
                ask.exclude(["own", "second"])
                    .only_tools(constant_tool("own", ""))
                    .only_tools_named(["second", "search"])
            },
            &["search"],
        ),
    ];
    for (at, (ask, expected)) in cases.into_iter().enumerate() {
        assert_eq!(shows(ask).await.unwrap(), expected, "case {at}");
    }
}

#[tokio::test]
async fn unknown_names_are_an_error_before_any_request() {
    let cases: [(Configure, &str); 5] = [
        (
            |ask| ask.only_tools_named(["serch", "nobody"]),
            "nobody knows `serch`, `nobody`; did you mean `search`?",
        ),
        (|ask| ask.bundles(["web", "nowhere"]), "nobody knows `nowhere`"),
        (
            |ask| ask.exclude(["write_files"]),
            "nobody knows `write_files`; did you mean `write_file`?",
        ),
        (|ask| ask.only_tools_named(["Search"]), "nobody knows `Search`; did you mean `search`?"),
        (
            |ask| ask.tool_choice(ToolChoice::Named("serch".to_owned())),
            "nobody knows `serch`; did you mean `search`?",
        ),
    ];
    for (ask, message) in cases {
        assert_eq!(shows(ask).await.unwrap_err().to_string(), message);
    }
}

#[tokio::test]
async fn two_tools_of_one_name_are_an_error_before_any_request() {
    let error = shows(|ask| ask.tools(constant_tool("search", ""))).await;
    assert!(error.unwrap_err().to_string().contains("`search`"));
}

#[tokio::test]
async fn the_first_resolver_that_knows_a_name_is_asked() {
    let model = ScriptedModel::new().calls("resolved", "{}").replies("Done.");
    let chat = builder(model.clone(), tools())
        .resolver(|_: &str| None)
        .resolver(|name: &str| Some(constant_tool(name, "first")))
        .resolver(|name: &str| Some(constant_tool(name, "second")))
        .build();
    let ask = chat.message().only_tools_named(["resolved"]).user("Go!");
    ask.call().await.unwrap();
    assert_eq!(last_result_texts(&model), ["first"]);
}

#[tokio::test]
async fn a_resolver_answers_for_the_name_it_was_asked_and_no_other() {
    let model = ScriptedModel::new();
    let chat = builder(model.clone(), tools())
        .resolver(|_: &str| Some(constant_tool("something_else", "")))
        .build();
    let error = chat.message().only_tools_named(["wanted"]).user("Go!").call().await;
    assert_eq!(error.unwrap_err().to_string(), "nobody knows `wanted`");
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn no_resolver_is_called_within_a_turn() {
    let log = Log::default();
    let asked = log.clone();
    let model = ScriptedModel::new().calls("one", "{}").calls("two", "{}").replies("Done.");
    let chat = builder(model.clone(), tools())
        .resolver(move |name: &str| {
            asked.write(name);
            Some(constant_tool(name, "resolved"))
        })
        .build();
    let ask = chat.message().only_tools_named(["one"]).user("Go!");
    ask.call().await.unwrap();
    assert_eq!(log.lines(), ["one"]);
    let requests = model.requests();
    assert!(requests.iter().all(|request| tool_names(request) == ["one"]));
    assert!(last_result_texts(&model)[0].contains("there is no tool `two`"));
}

#[tokio::test]
async fn a_change_of_the_registry_does_not_change_a_turn() {
    let registry = Registry::new();
    let held = registry.clone();
    let meddle = Tool::builder("meddle", "Changes the registry.").run(move |_, _| {
        held.remove("victim");
        held.add(constant_tool("late", "")).map_err(|error| error.to_string())
    });
    registry.add(vec![meddle.unwrap(), constant_tool("victim", "still here")]).unwrap();
    let model = ScriptedModel::new()
        .calls("meddle", "{}")
        .calls_all([("victim", "{}"), ("late", "{}")])
        .replies("Done.")
        .replies("Next.");
    let chat = Chat::new(&Invoker::new(&registry).unwrap(), model.clone());
    chat.message().user("Go!").call().await.unwrap();
    let texts = last_result_texts(&model);
    assert_eq!(texts[0], "still here");
    assert!(texts[1].contains("there is no tool `late`"));
    chat.message().user("And now?").call().await.unwrap();
    let requests = model.requests();
    assert!(requests[..3].iter().all(|it| tool_names(it) == ["meddle", "victim"]));
    assert_eq!(tool_names(&requests[3]), ["meddle", "late"]);
}

#[tokio::test]
async fn the_tools_of_one_request_are_not_the_next_ones() {
    let model = ScriptedModel::new()
        .calls("own", "{}")
        .replies("Done.")
        .calls("own", "{}")
        .replies("Gone.");
    let chat = chat(model.clone(), tools());
    let ask = || chat.message().conversation("room").user("Go!");
    ask().only_tools(constant_tool("own", "mine")).call().await.unwrap();
    assert_eq!(last_result_texts(&model), ["mine"]);
    ask().call().await.unwrap();
    assert!(last_result_texts(&model)[0].contains("there is no tool `own`"));
    assert_eq!(tool_names(&model.requests()[3]).len(), 3);
}

#[tokio::test]
async fn limits_of_settings_count_over_all_requests() {
    let sources = ConfigSources::new().defaults([("tools.search.rate_limit", "1/1h")]);
    let config = Config::load(sources).unwrap().config;
    let invoker = Invoker::builder(registry(tools())).config(config);
    let model = FnModel::new(|request| match request.messages.len() {
        1 => ToolCall::new("search", "{}").into(),
        _ => toolwright::testing::ModelReply::text("Done."),
    });
    let chat = Chat::new(&invoker.build().unwrap(), model);
    let narrow: [Configure; 4] = [
        |ask| ask,
        |ask| ask.only_tools_named(["search"]),
        |ask| ask.exclude(["read_file"]),
        |ask| ask.tools(constant_tool("own", "")),
    ];
    let mut ran = 0;
    for ask in narrow {
        let response = ask(chat.message()).user("Search!").call().await.unwrap();
        ran += usize::from(!response.results()[0].is_error());
    }
    assert_eq!(ran, 1);
}

#[tokio::test]
async fn a_wish_for_a_tool_is_for_the_first_round_only() {
    for choice in [
        ToolChoice::Auto,
        ToolChoice::None,
        ToolChoice::Required,
        ToolChoice::Named("search".to_owned()),
    ] {
        let model = ScriptedModel::new().calls("search", "{}").replies("Done.");
        let chat = chat(model.clone(), tools());
        let ask = chat.message().tool_choice(choice.clone()).user("Go!");
        ask.call().await.unwrap();
        let requests = model.requests();
        assert_eq!(requests[0].tool_choice, choice);
        let then = match choice {
            ToolChoice::None => ToolChoice::None,
            _ => ToolChoice::Auto,
        };
        assert_eq!(requests[1].tool_choice, then);
    }
}

#[tokio::test]
async fn the_same_tools_are_the_same_list() {
    let model = ScriptedModel::new().replies("One.").replies("Two.");
    let chat = chat(model.clone(), tools());
    for _ in 0..2 {
        chat.message().user("Hello!").call().await.unwrap();
    }
    let requests = model.requests();
    assert!(Arc::ptr_eq(&requests[0].tools, &requests[1].tools));
}
