//! Prompts: separate from tools, with the same views, rendered like calls.

use serde_json::json;
use toolwright::{
    Authorise, Bundle, CallScope, Caller, Config, ConfigSources, DefineError, Invoker, Outcome,
    Registry, RegistryError, RenderedPrompt, Role, ToolCall, ToolResult, View, prompt, tools,
};

use crate::fixtures::{assert_rejected, registry, tool_named};

/// Tells how to summarise.
#[prompt]
fn summarize(topic: String, #[param(default = 100)] max_words: u32) -> &'static str {
    "Summarise ${topic} in ${max_words} words."
}

/// Asks for a poem.
#[prompt(role = user, title = "Poem")]
fn poem(#[param(default = "${project_dir:-home}")] about: String, tone: Option<String>) -> String {
    match tone {
        Some(_) => "A ${tone} poem about ${about}, please.".to_owned(),
        None => format!("A poem about {about}, please."),
    }
}

/// Fails.
#[prompt]
fn broken() -> Result<String, std::num::ParseIntError> {
    "x".parse::<u8>().map(|number| number.to_string())
}

/// Fails badly.
#[prompt]
fn panics() -> String {
    panic!("on purpose")
}

struct Desk;

#[tools(manual)]
impl Desk {
    /// Opens the desk.
    #[tool]
    fn open(&self) -> &'static str {
        "opened"
    }

    /// Asks to open the desk.
    #[prompt(name = "open")]
    fn ask(&self) -> &'static str {
        "Open the desk."
    }
}

async fn render(
    prompts: impl Bundle,
    name: &str,
    sent: &str,
) -> Result<RenderedPrompt, ToolResult> {
    let invoker = Invoker::new(registry(prompts)).unwrap();
    invoker.render_prompt(name, sent).await
}

fn names(view: &View) -> (Vec<String>, Vec<String>) {
    let snapshot = view.snapshot().unwrap();
    let tools = snapshot.iter().map(|entry| entry.spec().name.to_string());
    let prompts = snapshot.prompts().map(|prompt| prompt.name().to_string());
    (tools.collect(), prompts.collect())
}

#[test]
fn tools_and_prompts_do_not_meet() {
    let registry = registry(Desk);
    registry.add(tool_named("summarize")).unwrap();
    registry.add(summarize::prompt()).unwrap();
    registry.add(tool_named("only_tool")).unwrap();
    registry.add(poem::prompt()).unwrap();
    let snapshot = registry.snapshot();
    assert_eq!(snapshot.len(), 3);
    assert_eq!(snapshot.prompts().len(), 3);
    assert!(snapshot.get("poem").is_none() && registry.get("poem").is_none());
    assert!(snapshot.prompt("only_tool").is_none() && registry.prompt("only_tool").is_none());
    assert!(snapshot.nearest("pome", 1).is_empty());
    assert_eq!(snapshot.nearest_prompts("pome", 1), ["poem"]);
    assert!(registry.remove("poem").is_none());
    assert!(registry.remove_prompt("only_tool").is_none());
    assert_eq!(registry.remove_prompt("poem").unwrap().title(), "Poem");
    assert!(registry.prompt("poem").is_none());
    assert!(registry.remove("open").is_some());
    assert!(registry.prompt("open").is_some());
    assert_eq!(registry.bundles().len(), 3);
}

#[test]
fn a_duplicate_prompt_is_rejected_with_both_bundles() {
    mod other {
        use toolwright::prompt;

        /// Asks for another poem.
        #[prompt]
        pub(super) fn poem() -> &'static str {
            "Another poem."
        }
    }
    let registry = registry(poem::prompt());
    let version = registry.snapshot().version();
    let refused = registry.add(vec![summarize::prompt(), other::poem::prompt()]);
    assert_eq!(
        refused.unwrap_err().to_string(),
        "two prompts are named `poem`: one of bundle `main::prompts`, one of bundle \
         `main::prompts::other`; \
         rename one or add a prefix"
    );
    let twice = registry.add(vec![summarize::prompt(), summarize::prompt()]);
    assert!(matches!(twice, Err(RegistryError::Duplicate { kind: "prompt", .. })));
    assert!(registry.prompt("summarize").is_none());
    assert_eq!(registry.snapshot().version(), version);
}

#[test]
fn an_invalid_prompt_is_rejected_by_the_registry() {
    type Words = u32;

    /// Has a default that does not fit.
    #[prompt]
    fn unfit(#[param(default = "many")] words: Words) -> String {
        words.to_string()
    }
    let refused = Registry::new().add(unfit::prompt()).unwrap_err();
    assert!(
        matches!(&refused, RegistryError::Define(DefineError::Parameter { parameter, .. }) if parameter == "words"),
        "{refused}"
    );
}

#[test]
fn views_show_prompts_as_they_show_tools() {
    let registry = registry(Desk);
    registry.add(vec![summarize::prompt(), poem::prompt()]).unwrap();
    registry.add(tool_named("summarize")).unwrap();
    let both = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let view = registry.select(["summarize", "poem", "nobody"]);
    assert_eq!(names(&view), (both(&["summarize"]), both(&["summarize", "poem"])));
    let view = registry.all().exclude(["open", "poem"]).prefix("my");
    assert_eq!(names(&view), (both(&["my_summarize"]), both(&["my_summarize"])));
    let view = registry.all().rename("poem", "ode").filter(|spec| spec.name.as_str() < "p");
    assert_eq!(names(&view), (both(&["open"]), both(&["open", "ode"])));
    let view = registry.all().filter(|spec| spec.hints.read_only == Some(true));
    assert_eq!(names(&view), (both(&[]), both(&["open", "summarize", "poem"])));
    let clash = registry.all().rename("poem", "open").snapshot().unwrap_err();
    assert!(matches!(clash, RegistryError::Duplicate { kind: "prompt", .. }), "{clash}");
    let name = registry.all().exclude(["summarize"]).rename("poem", "a b");
    assert!(matches!(
        name.snapshot().unwrap_err(),
        RegistryError::Define(DefineError::Name { .. })
    ));
}

#[tokio::test]
async fn a_bound_parameter_is_filled_in_and_not_to_be_sent() {
    let view = registry(summarize::prompt()).all().bind("max_words", "7");
    let invoker = Invoker::new(view.prefix("my")).unwrap();
    let snapshot = invoker.snapshot().unwrap();
    assert_eq!(snapshot.prompt("my_summarize").unwrap().params().len(), 1);
    let rendered = invoker.render_prompt("my_summarize", r#"{"topic": "rain"}"#).await;
    assert_eq!(rendered.unwrap().text, "Summarise rain in 7 words.");
    // The error does not reveal hidden prompts.
    let sent = r#"{"topic": "the ${max_words:-x}"}"#;
    let rendered = invoker.render_prompt("my_summarize", sent).await.unwrap();
    assert_eq!(rendered.text, "Summarise the ${max_words:-x} in ${max_words} words.");
    let sent = r#"{"topic": "rain", "max_words": 9}"#;
    let refused = invoker.render_prompt("my_summarize", sent).await.unwrap_err();
    assert_rejected(&refused, &["/max_words: unknown argument"]);
}

#[tokio::test]
async fn the_project_directory_is_a_placeholder_too() {
    let registry = registry(poem::prompt());
    let invoker = Invoker::builder(&registry).project_dir("/srv/app").build().unwrap();
    let rendered = invoker.render_prompt("poem", "").await.unwrap();
    assert_eq!(
        (rendered.role, rendered.text.as_str()),
        (Role::User, "A poem about /srv/app, please.")
    );
    let invoker = Invoker::new(&registry).unwrap();
    assert_eq!(invoker.render_prompt("poem", "").await.unwrap().text, "A poem about home, please.");
}

#[tokio::test]
async fn arguments_go_the_way_of_a_call() {
    let sent = "```json\n{'topic': 'rain', 'max_words': '20',}\n```";
    let rendered = render(summarize::prompt(), "summarize", sent).await.unwrap();
    assert_eq!(rendered.text, "Summarise rain in 20 words.");
    assert!(!rendered.notes.is_empty());
    assert_eq!(
        serde_json::to_value(&rendered).unwrap(),
        json!({"role": "assistant", "text": "Summarise rain in 20 words."})
    );
    let sent = r#"{"max_words": "many", "topik": "rain"}"#;
    let refused = render(summarize::prompt(), "summarize", sent).await.unwrap_err();
    assert_rejected(
        &refused,
        &["invalid arguments for `summarize`", "/max_words", "did you mean `topic`?"],
    );
    assert_eq!(refused.tool.as_str(), "summarize");
    assert!(!refused.call_id.as_str().is_empty());
    let refused = render(summarize::prompt(), "summarize", r#"{"topic": "ra"#).await;
    assert_rejected(&refused.unwrap_err(), &["cut off"]);
}

#[tokio::test]
async fn a_name_is_read_generously_where_only_one_can_be_meant() {
    let rendered = render(summarize::prompt(), "Summarize", r#"{"topic": "rain"}"#).await;
    let notes = rendered.unwrap().notes;
    assert_eq!(notes, ["prompt name `Summarize` read as `summarize`"]);
}

#[tokio::test]
async fn an_unknown_prompt_is_a_result_with_the_names_there_are() {
    let registry = registry(vec![summarize::prompt(), poem::prompt()]);
    registry.add(tool_named("sumarize")).unwrap();
    let invoker = Invoker::new(&registry).unwrap();
    let unknown = invoker.render_prompt("sumarize", "{}").await.unwrap_err();
    assert_eq!(unknown.outcome, Outcome::UnknownTool);
    assert_eq!(
        unknown.text(),
        "there is no prompt `sumarize`; did you mean `summarize`?\navailable prompts: summarize, poem"
    );
    let called = invoker.invoke(&ToolCall::new("poem", "{}")).await;
    assert_eq!(called.text(), "there is no tool `poem`\navailable tools: sumarize");
    let none = render(tool_named("a"), "poem", "{}").await.unwrap_err();
    assert_eq!(none.text(), "there is no prompt `poem`\nno prompts are available");
}

#[tokio::test]
async fn a_prompt_that_fails_is_a_failed_result() {
    let failed = render(broken::prompt(), "broken", "").await.unwrap_err();
    assert_eq!(failed.outcome, Outcome::Failed);
    assert_eq!(failed.text(), "invalid digit found in string");
    let failed = render(panics::prompt(), "panics", "").await.unwrap_err();
    assert_eq!(failed.outcome, Outcome::Failed);
}

#[tokio::test]
async fn lines_that_a_prompt_copies_from_its_arguments_stay_as_they_were_sent() {
    /// Asks for a review.
    #[prompt]
    fn review(
        code: String,
        files: Vec<String>,
        #[param(default = "bash")] language: String,
    ) -> String {
        let quoted: Vec<String> = code.lines().map(|line| format!("> {}", line.trim())).collect();
        let (quoted, files, _) = (quoted.join("\n"), files.join(" "), language);
        format!("Review this ${{language}}, $${{not}} this:\n{quoted}\nof {files}")
    }
    let sent = json!({
        "code": "\techo ${language:-none}\n  $${code} ${project_dir}",
        "files": ["a.sh", "${files}.sh"],
    });
    let invoker =
        Invoker::builder(registry(review::prompt())).project_dir("/srv/app").build().unwrap();
    assert_eq!(
        invoker.render_prompt("review", sent).await.unwrap().text,
        "Review this bash, ${not} this:\n> echo ${language:-none}\n> $${code} ${project_dir}\nof a.sh ${files}.sh"
    );
}

#[tokio::test]
async fn a_caller_that_may_not_see_a_prompt_may_not_render_it() {
    let view = registry(vec![summarize::prompt(), poem::prompt()]).all();
    let view = view.layer(Authorise::new(|caller: &Caller, spec: &toolwright::ToolSpec| {
        caller.name() == Some("ada") || spec.name == "poem"
    }));
    let invoker = Invoker::new(view).unwrap();
    let ada = CallScope::new().caller(Caller::new("ada"));
    let sent = r#"{"topic": "rain"}"#;
    assert_eq!(invoker.list_prompts(&ada).unwrap().len(), 2);
    assert!(invoker.render_prompt_in(&ada, "summarize", sent).await.is_ok());
    assert_eq!(invoker.list_prompts(&CallScope::new()).unwrap()[0].name().as_str(), "poem");
    let denied = invoker.render_prompt("summarize", sent).await.unwrap_err();
    assert_eq!(denied.outcome, Outcome::Denied);
}

#[tokio::test]
async fn a_prompt_needs_no_approval() {
    let view = registry(Desk).all();
    let view = view.map_policy(|_, policy| policy.approval = toolwright::ApprovalPolicy::Always);
    let invoker = Invoker::new(view).unwrap();
    let denied = invoker.invoke(&ToolCall::new("open", "")).await;
    assert_eq!(denied.outcome, Outcome::Denied);
    assert_eq!(invoker.render_prompt("open", "").await.unwrap().text, "Open the desk.");
}

#[test]
fn the_prompts_of_a_disabled_bundle_are_removed() {
    let registry = registry(Desk);
    registry.add(summarize::prompt()).unwrap();
    let desk = "bundles.main::prompts::Desk.enabled";
    let load = |key: &str| {
        let sources = ConfigSources::new().defaults([(key, "false")]);
        Config::load(sources).unwrap().config
    };
    let view = registry.all().settings(&load(desk));
    assert_eq!(names(&view), (vec![], vec!["summarize".to_owned()]));
    let view = registry.all().settings(&load("bundles.main::prompts.enabled"));
    let open = || vec!["open".to_owned()];
    assert_eq!(names(&view), (open(), open()));
}
