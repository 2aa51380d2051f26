//! The settings and handlers of endpoints.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolwright::chat::{
    EntryBody, HistoryWindow, HostedTool, MemoryStore, ModelId, ModelRequest, Store, entry_title,
};
use toolwright::testing::{FnModel, ModelReply, ScriptedModel};
use toolwright::{Tool, ToolError};
use toolwright_server::{
    Endpoint, IncomingMessage, Mount, Path, PeerCount, ServerBuildError, ServerBuilder, Session,
};

use crate::support::{ManualModel, event_types, find_event, invoker, joined_text, no_tools, serve};

fn tool(name: &str) -> Tool {
    let tool = Tool::builder(name, "Does something.");
    tool.run(|_, _| Ok::<_, ToolError>("done")).unwrap()
}

fn tools() -> Vec<Tool> {
    vec![tool("first"), tool("second"), tool("third")]
}

#[tokio::test]
async fn a_message_is_answered_and_a_follow_up_has_its_history() {
    let model = ScriptedModel::new().replies("Hello.").replies("Again.");
    let server = serve(ServerBuilder::new(no_tools(), model.clone())).await;
    let events = server.post_and_collect("/api/conversations/a", "Hi").await;
    assert_eq!(event_types(&events), ["said", "began", "text", "step", "ended"]);
    assert_eq!(joined_text(&events), "Hello.");
    assert_eq!(find_event(&events, "said")["content"][0]["text"], "Hi");
    server.post_and_collect("/api/conversations/a", "Once more").await;
    assert_eq!(model.requests()[1].messages.len(), 3);
    server.post_and_collect("/api/conversations/b", "Hi").await;
}

#[tokio::test]
async fn a_handler_adds_tools_to_its_turn_and_a_resolver_to_every_turn() {
    let model = ScriptedModel::new().replies("One.").replies("Two.");
    let endpoint = Endpoint::new("/support/{customer}")
        .only_tools_named(["first", "plugin"])
        .resolver(|name: &str| (name == "plugin").then(|| tool("plugin")))
        .on_message(
            |message: IncomingMessage, session: Session, Path(customer): Path<String>| async move {
                if customer == "ada" {
                    session.add_tools(tool("orders_of_ada"));
                }
                session.answer_with_model(message).await
            },
        );
    let server = ServerBuilder::new(invoker(tools()), model.clone()).endpoint(endpoint);
    let server = serve(server).await;
    for (index, (customer, expected)) in
        [("ada", &["first", "orders_of_ada", "plugin"][..]), ("bob", &["first", "plugin"])]
            .into_iter()
            .enumerate()
    {
        server.post_and_collect(&format!("/support/{customer}"), "Hi").await;
        let request = &model.requests()[index];
        let names: Vec<_> = request.tools.iter().map(|tool| tool.spec().name.to_string()).collect();
        assert_eq!(names, expected);
    }
}

#[test]
fn an_endpoint_excludes_hosted_tools_by_name() {
    let warnings = |endpoint: Endpoint| {
        let server = ServerBuilder::new(no_tools(), ScriptedModel::new()).endpoint(endpoint);
        let server = server.configure_chat(|chat| chat.hosted_tool(HostedTool::web_search()));
        server.build().unwrap().warnings().len()
    };
    assert_eq!(warnings(Endpoint::assistant()), 1);
    assert_eq!(warnings(Endpoint::assistant().exclude(["web_search"])), 0);
    assert_eq!(warnings(Endpoint::assistant().only_tools_named(["web_search"])), 1);
}

#[test]
fn what_all_clients_share_has_no_hosted_tool_that_an_endpoint_excludes() {
    // Each endpoint that has the tool warns that the vendor of its model does not.
    let warnings = |endpoint: Endpoint, mount: Mount| {
        let model = ScriptedModel::new().with_id(ModelId::new("script", "shared"));
        let server = ServerBuilder::new(no_tools(), model)
            .configure_chat(|chat| chat.hosted_tool(HostedTool::web_search()))
            .endpoint(endpoint.model(ScriptedModel::new()).exclude(["web_search"]))
            .mount(mount)
            .build();
        server.unwrap().warnings()
    };
    let support = || Endpoint::new("/support/{customer}");
    for mount in [Mount::api(), Mount::ag_ui(), Mount::openai()] {
        assert_eq!(warnings(support(), mount.clone()), [""; 0], "{mount:?}");
        let own = warnings(support(), mount.only_tools_named(["web_search"]));
        assert_eq!(own.len(), 1, "a selection of its own: {own:?}");
    }
}

#[tokio::test]
async fn a_resolver_brings_no_tool_that_the_endpoint_excludes() {
    let names = |request: &ModelRequest| {
        let names = request.tools.iter().map(|tool| tool.spec().name.to_string());
        ModelReply::text(names.collect::<Vec<_>>().join(" "))
    };
    let endpoint = Endpoint::new("/chat/{room}")
        .only_tools_named(["plugin", "gadget"])
        .resolver(|name: &str| Some(tool(name)))
        .filter(|spec| spec.name != "gadget");
    let server =
        serve(ServerBuilder::new(no_tools(), FnModel::new(names)).endpoint(endpoint)).await;
    assert_eq!(joined_text(&server.post_and_collect("/chat/x", "Hi").await), "plugin");
}

#[tokio::test]
async fn an_endpoint_without_memory_sends_no_history_to_the_model() {
    let model = ScriptedModel::new().replies("One.").replies("Two.");
    let endpoint = Endpoint::new("/forgetful/{room}");
    let server = ServerBuilder::new(no_tools(), model.clone()).endpoint(endpoint);
    let server = serve(server).await;
    server.post_and_collect("/forgetful/x", "Hi").await;
    server.post_and_collect("/forgetful/x", "Hi again").await;
    assert_eq!(model.requests()[1].messages.len(), 1);
    let shown = server.get("/forgetful/x").await.json();
    assert_eq!(shown["entries"], json!([]));
}

#[tokio::test]
async fn a_window_limits_the_history_that_the_model_receives() {
    let model = FnModel::new(|request| format!("{} messages", request.messages.len()));
    let endpoint = Endpoint::new("/chat/{room}").memory(true).window(HistoryWindow::all().turns(1));
    let server = serve(ServerBuilder::new(no_tools(), model).endpoint(endpoint)).await;
    for expected in ["1 messages", "3 messages", "3 messages"] {
        let events = server.post_and_collect("/chat/x", "Hi").await;
        assert_eq!(joined_text(&events), expected);
    }
}

#[tokio::test]
async fn the_system_prompt_may_be_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("system.md");
    std::fs::write(&file, "Be brief.").unwrap();
    let model = FnModel::new(|request| request.system.clone().unwrap_or_default());
    let endpoint = Endpoint::new("/chat/{room}").system_file(&file);
    let server = serve(ServerBuilder::new(no_tools(), model.clone()).endpoint(endpoint)).await;
    assert_eq!(joined_text(&server.post_and_collect("/chat/x", "Hi").await), "Be brief.");
    let missing = Endpoint::new("/chat/{room}").system_file(folder.path().join("nowhere"));
    let built = ServerBuilder::new(no_tools(), model).endpoint(missing).build();
    assert!(matches!(built.err(), Some(ServerBuildError::Endpoint { .. })));
}

#[tokio::test]
async fn tools_are_named_excluded_and_added_per_endpoint() {
    let model = FnModel::new(|request| {
        let names = request.tools.iter().map(|tool| tool.spec().name.to_string());
        names.collect::<Vec<_>>().join(" ")
    });
    let server = ServerBuilder::new(invoker(tools()), model)
        .endpoint(Endpoint::new("/all/{r}"))
        .endpoint(Endpoint::new("/some/{r}").only_tools_named(["first", "third"]))
        .endpoint(Endpoint::new("/but/{r}").exclude(["second"]))
        .endpoint(Endpoint::new("/more/{r}").tools(tool("own")))
        .endpoint(Endpoint::new("/own/{r}").only_tools(tool("own")));
    let server = serve(server).await;
    for (path, expected) in [
        ("/all/x", "first second third"),
        ("/some/x", "first third"),
        ("/but/x", "first third"),
        ("/more/x", "first second third own"),
        ("/own/x", "own"),
    ] {
        assert_eq!(joined_text(&server.post_and_collect(path, "Hi").await), expected, "{path}");
    }
}

#[test]
fn what_is_not_there_fails_when_the_server_is_built() {
    let build = |endpoint| {
        let server = ServerBuilder::new(invoker(tools()), FnModel::echo());
        let built = server.endpoint(endpoint).build();
        built.err().unwrap().to_string()
    };
    let error = build(Endpoint::new("/chat/{r}").exclude(["frist"]));
    assert!(error.contains("no tool `frist`; did you mean `first`?"), "{error}");
    let error = build(Endpoint::new("/chat/{r}").only_tools_named(["fourth"]));
    assert!(error.contains("no tool `fourth`"), "{error}");
    let error = build(Endpoint::new("/chat/{r}").bundles(["nobody"]));
    assert!(error.contains("no bundle `nobody`"), "{error}");
    let error = build(Endpoint::new("chat"));
    assert!(error.contains("begin with a slash"), "{error}");
    for taken in ["/api/mine", "/mcp", "/index.html", "/{anything}"] {
        build(Endpoint::new(taken));
    }
    let server = ServerBuilder::new(no_tools(), FnModel::echo());
    let twice =
        server.endpoint(Endpoint::new("/chat/{r}")).endpoint(Endpoint::new("/chat/{other}"));
    assert!(twice.build().is_err());
}

#[test]
fn a_handler_that_no_path_of_the_endpoint_fits_fails_when_the_server_is_built() {
    async fn handler(Path(_): Path<(String, String)>, session: Session) {
        session.send_text("never");
    }
    let build = |endpoint| {
        let server = ServerBuilder::new(no_tools(), FnModel::echo());
        server.endpoint(endpoint).build().err().map(|error| error.to_string())
    };
    let error = build(Endpoint::new("/chat/{room}").on_message(handler)).unwrap();
    for part in ["`/chat/{room}`", "`room`", "on_message", "handler", "String, alloc"] {
        assert!(error.contains(part), "{part:?} in {error}");
    }
    let error = build(Endpoint::new("/chat/{room}").on_ready(|_: Path<Place>| async {})).unwrap();
    assert!(error.contains("on_ready") && error.contains("`floor`"), "{error}");
    let error =
        build(Endpoint::new("/house/{floor}/{room}").on_disconnect(|_: Path<u64>| async {}));
    assert!(error.unwrap().contains("on_disconnect"));
    // Values can only be checked at run time.
    let endpoint = Endpoint::new("/house/{floor}/{room}");
    assert_eq!(build(endpoint.on_message(|_: Path<Place>| async {})), None);
    assert_eq!(build(Endpoint::new("/help").on_message(|_: Path<u64>| async {})), None);
}

#[tokio::test]
async fn a_handler_may_read_the_path_into_a_tuple() {
    let endpoint = Endpoint::new("/house/{floor}/{room}").on_message(
        |session: Session, Path((floor, room)): Path<(u8, String)>| async move {
            session.send_text(format!("{room} on {floor}"));
        },
    );
    let server =
        serve(ServerBuilder::new(no_tools(), ScriptedModel::new()).endpoint(endpoint)).await;
    let events = server.post_and_collect("/house/3/kitchen", "Hi").await;
    assert_eq!(find_event(&events, "ended")["content"][0]["text"], "kitchen on 3");
}

#[derive(serde::Deserialize)]
struct Place {
    floor: u8,
    room: String,
}

#[tokio::test]
async fn a_handler_receives_its_arguments_and_may_answer_itself() {
    let endpoint = Endpoint::new("/house/{floor}/{room}").memory(true).on_message(
        |message: IncomingMessage,
         session: Session,
         Path(place): Path<Place>,
         PeerCount(peers): PeerCount| async move {
            session.send_progress(Some(1.0), Some(2.0), "thinking");
            session.send_metadata("peers", peers);
            session.send_text(format!("{} on {}: ", place.room, place.floor));
            session.send_text(message.text());
        },
    );
    let server =
        serve(ServerBuilder::new(no_tools(), ScriptedModel::new()).endpoint(endpoint)).await;
    let events = server.post_and_collect("/house/3/kitchen", "Hi").await;
    assert_eq!(event_types(&events), ["said", "status", "metadata", "text", "ended"]);
    assert_eq!(find_event(&events, "ended")["content"][0]["text"], "kitchen on 3: Hi");
    let shown = server.get("/house/3/kitchen").await.json();
    assert_eq!(shown["id"], "/house/3/kitchen");
    let whats: Vec<String> = shown["entries"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|entry| entry["what"].as_object().unwrap().keys().cloned())
        .collect();
    assert_eq!(whats, ["user", "step", "ended"]);
    let wrong = server.post_and_collect("/house/high/kitchen", "Hi").await;
    assert_eq!(find_event(&wrong, "error")["kind"], "path");
}

#[tokio::test]
async fn a_handler_may_hand_the_prompt_on_changed() {
    let endpoint = Endpoint::new("/loud").on_message(
        |message: IncomingMessage, session: Session| async move {
            session.answer_with_model(message.text().to_uppercase()).await
        },
    );
    let server = serve(ServerBuilder::new(no_tools(), FnModel::echo()).endpoint(endpoint)).await;
    assert_eq!(joined_text(&server.post_and_collect("/loud/7", "hello").await), "HELLO");
}

#[tokio::test]
async fn a_handler_that_fails_or_panics_ends_its_turn_and_nothing_else() {
    let endpoint = Endpoint::new("/clumsy").memory(true).on_message(
        |message: IncomingMessage, session: Session| async move {
            match message.text().as_str() {
                "fail" => Err("no luck with sk-live-0123456789abcdefghij"),
                "begin" => {
                    session.send_text("Half ");
                    Err("no more")
                }
                "nothing" => Ok(()),
                _ => panic!("on purpose"),
            }
        },
    );
    let store = Arc::new(MemoryStore::new());
    let server = ServerBuilder::new(no_tools(), FnModel::echo()).endpoint(endpoint);
    let server = serve(server.store(Arc::clone(&store), "memory")).await;
    let failed = server.post_and_collect("/clumsy/1", "fail").await;
    let error = find_event(&failed, "error")["message"].as_str().unwrap();
    assert!(error.contains("no luck") && !error.contains("0123456789"), "{error}");
    let panicked = server.post_and_collect("/clumsy/1", "panic").await;
    assert_eq!(find_event(&panicked, "error")["kind"], "internal");
    server.post_and_collect("/clumsy/1", "begin").await;
    server.post_and_collect("/clumsy/1", "nothing").await;
    // Each message was accepted, so that the journal has it.
    let journal = stored_kinds(&*store, "/clumsy/1").await;
    let (failed, answered) = ("ended: failed", "ended: answered");
    let expected = ["fail", failed, "panic", failed, "begin", "step", failed, "nothing", answered];
    assert_eq!(journal, expected);
    assert!(!format!("{:?}", store.load("/clumsy/1").await.unwrap()).contains("0123456789"));
}

/// The journal of a conversation: the text of messages, and how turns ended.
pub(crate) async fn stored_kinds(store: &dyn Store, conversation: &str) -> Vec<String> {
    let entries = store.load(conversation).await.unwrap();
    let kinds = entries.iter().map(|entry| match &entry.body {
        EntryBody::TurnEnded { end } => {
            format!("ended: {}", serde_json::to_value(end).unwrap()["end"].as_str().unwrap())
        }
        EntryBody::Step { .. } => "step".to_owned(),
        _ => entry_title(entry),
    });
    kinds.collect()
}

#[tokio::test]
async fn a_message_whose_tools_cannot_be_selected_is_kept() {
    let endpoint = Endpoint::new("/picky").memory(true).on_message(
        |message: IncomingMessage, session: Session| async move {
            // The handler hides the error.
            let _ = session.answer_with_model(message).await;
        },
    );
    let resolver = |_: &str| None::<Tool>;
    let endpoint = endpoint.only_tools_named(["plugin_clock"]).resolver(resolver);
    let store = Arc::new(MemoryStore::new());
    let server = ServerBuilder::new(no_tools(), FnModel::echo()).endpoint(endpoint);
    let server = serve(server.store(Arc::clone(&store), "memory")).await;
    server.post_and_collect("/picky/1", "Hi").await;
    assert_eq!(stored_kinds(&*store, "/picky/1").await, ["Hi", "ended: answered"]);
}

#[tokio::test]
async fn a_quiet_stream_shows_that_it_is_alive_and_ends_when_it_was_quiet_for_too_long() {
    let beat = Duration::from_millis(10);
    let endpoint = Endpoint::new("/quiet/{r}").heartbeat(beat).idle_timeout(3 * beat);
    let server = ServerBuilder::new(no_tools(), FnModel::echo()).endpoint(endpoint);
    let server = serve(server).await;
    let answer = server.get("/quiet/x/events").await;
    assert_eq!(answer.text().matches(": still here").count(), 3, "{}", answer.text());
}

#[tokio::test]
async fn a_turn_may_take_only_so_long() {
    let (model, _strings) = ManualModel::new();
    let endpoint = Endpoint::new("/slow/{r}").timeout(Duration::from_millis(10));
    let server = ServerBuilder::new(no_tools(), model).endpoint(endpoint);
    let server = serve(server).await;
    let events = server.post_and_collect("/slow/x", "Hi").await;
    assert_eq!(find_event(&events, "ended")["end"], "limit");
}

#[tokio::test]
async fn an_endpoint_may_have_every_call_approved() {
    let model = ScriptedModel::new().calls("first", "{}");
    let endpoint = Endpoint::new("/careful/{r}").ask_before_each_call();
    let server = ServerBuilder::new(invoker(tools()), model).endpoint(endpoint);
    let server = serve(server).await;
    let events = server.post_and_collect("/careful/x", "Go").await;
    assert_eq!(find_event(&events, "asked")["call"]["name"], "first");
}
