//! Invokers derived from another one, with other tools or policies.

use toolwright::{
    ApprovalPolicy, BundleItem, Config, ConfigSources, DefineError, ErrorPolicy, Invoker,
    InvokerError, Outcome, Registry, RegistryError, State, Tool, ToolCall, prompt, tool,
};

use crate::fixtures::{assert_ok, registry, tool_named};

/// Greets a person.
#[prompt]
fn hello() -> &'static str {
    "Hello!"
}

/// Counts the shelves.
#[tool(read_only)]
fn shelves(State(shelves): State<Vec<String>>) -> usize {
    shelves.len()
}

/// Says where it is.
#[tool(read_only)]
fn place(project_dir: String) -> String {
    project_dir
}

fn names(invoker: &Invoker) -> Vec<String> {
    let snapshot = invoker.snapshot().unwrap();
    let names = snapshot.iter().map(|entry| entry.spec().name.to_string());
    names.collect()
}

fn settings<const N: usize>(settings: [(&str, &str); N]) -> Config {
    let sources = ConfigSources::new().defaults(settings);
    Config::load(sources).unwrap().config
}

#[test]
fn additions_are_local_to_the_view() {
    let registry = registry(tool_named("a"));
    let items: Vec<BundleItem> = vec![tool_named("b").into(), hello::prompt().into()];
    let snapshot = registry.all().with(items).snapshot().unwrap();
    assert!(snapshot.get("b").is_some() && snapshot.prompt("hello").is_some());
    let snapshot = registry.all().snapshot().unwrap();
    assert!(snapshot.get("b").is_none() && snapshot.prompt("hello").is_none());
}

#[test]
fn additions_go_through_the_later_steps() {
    let view = registry(tool_named("a")).all().with(tool_named("b")).prefix("my");
    let view = view.exclude(["my_a"]).with(tool_named("c"));
    let snapshot = view.snapshot().unwrap();
    let names: Vec<&str> = snapshot.iter().map(|it| it.spec().name.as_str()).collect();
    assert_eq!(names, ["my_b", "c"]);
}

#[test]
fn a_name_that_is_taken_cannot_be_added() {
    let tools = registry(tool_named("a")).all().with(tool_named("a"));
    let error = tools.snapshot().unwrap_err();
    assert!(matches!(error, RegistryError::Duplicate { name, .. } if name == "a"));
    let prompts = registry(hello::prompt()).all().with(hello::prompt());
    let error = prompts.snapshot().unwrap_err();
    assert!(
        matches!(error, RegistryError::Duplicate { kind: "prompt", name, .. } if name == "hello")
    );
    // A tool and a prompt may have the same name; an excluded one does not clash.
    let both = registry(hello::prompt()).all().with(tool_named("hello"));
    both.snapshot().unwrap();
    let instead = registry(tool_named("a")).all().exclude(["a"]).with(tool_named("a"));
    instead.snapshot().unwrap();
}

type Words = u32;

/// Has a default that does not fit.
#[tool]
fn defective(#[param(default = "many")] words: Words) -> u32 {
    words
}

#[test]
fn an_invalid_addition_is_an_error() {
    let view = Registry::new().all().with(defective::tool());
    let error = view.snapshot().unwrap_err();
    assert!(matches!(
        error,
        RegistryError::Define(DefineError::Parameter { parameter, .. }) if parameter == "words"
    ));
    let invoker = Invoker::new(Registry::new()).unwrap();
    let error = invoker.with_view(|view| view.with(defective::tool()));
    assert!(matches!(error, Err(InvokerError::Registry(_))));
}

#[tokio::test]
async fn other_tools_have_the_same_set_up() {
    let invoker = Invoker::builder(registry(tool_named("a")))
        .state(vec!["one".to_owned(), "two".to_owned()])
        .project_dir("/srv/shop")
        .config(settings([("tools.a.enabled", "false")]))
        .build()
        .unwrap();
    let added = vec![shelves::tool(), place::tool()];
    let other = invoker.with_view(|view| view.with(added)).unwrap();
    assert_eq!(names(&other), ["shelves", "place"], "`a` is not enabled");
    assert_ok(&other.invoke(&ToolCall::new("shelves", "{}")).await, "2");
    assert_ok(&other.invoke(&ToolCall::new("place", "{}")).await, "/srv/shop");
    assert!(names(&invoker).is_empty(), "the other one is as it was");
}

#[test]
fn the_state_of_other_tools_is_checked() {
    let invoker = Invoker::new(registry(tool_named("a"))).unwrap();
    let error = invoker.with_view(|view| view.with(shelves::tool()));
    match error {
        Err(InvokerError::MissingDependency { tool, .. }) => assert_eq!(tool, "shelves"),
        other => panic!("{:?}", other.is_ok()),
    }
}

#[tokio::test]
async fn derived_invokers_share_the_limits_of_settings() {
    let invoker = Invoker::builder(registry(vec![tool_named("a"), tool_named("b")]))
        .config(settings([("tools.a.rate_limit", "1/1h")]))
        .build()
        .unwrap();
    let call = ToolCall::new("a", "{}");
    let narrowed = invoker.with_view(|view| view.exclude(["b"])).unwrap();
    let adjusted = invoker.with_policy(|_, policy| policy.errors = ErrorPolicy::Generic);
    assert_ok(&narrowed.invoke(&call).await, "a");
    for other in [invoker, narrowed, adjusted.unwrap()] {
        assert!(other.invoke(&call).await.is_error());
    }
}

#[tokio::test]
async fn an_adjustment_wins_over_settings_and_over_the_one_before() {
    let invoker = Invoker::builder(registry(tool_named("a")))
        .config(settings([("tools.a.approval", "never")]))
        .build()
        .unwrap();
    let needs = |invoker: &Invoker| {
        let snapshot = invoker.snapshot().unwrap();
        let entry = snapshot.get("a").unwrap();
        (entry.needs_approval(), entry.policy().errors)
    };
    let asks = |_: &toolwright::ToolSpec, policy: &mut toolwright::Policy| {
        policy.approval = ApprovalPolicy::Always;
    };
    let adjusted = invoker.with_policy(asks).unwrap();
    assert_eq!(needs(&adjusted), (true, ErrorPolicy::Message));
    let twice = adjusted.with_policy(|_, policy| policy.errors = ErrorPolicy::End);
    assert_eq!(needs(&twice.unwrap()), (true, ErrorPolicy::End));
    assert_eq!(needs(&invoker), (false, ErrorPolicy::Message));
    let denied = adjusted.invoke(&ToolCall::new("a", "{}")).await;
    assert_eq!(denied.outcome, Outcome::Denied);
}

#[test]
fn a_derived_invoker_follows_the_registry_until_it_is_fixed() {
    let registry = registry(tool_named("a"));
    let invoker = Invoker::new(&registry).unwrap();
    let other = invoker.with_view(|view| view.with(tool_named("own"))).unwrap();
    let pinned = other.with_fixed_snapshot().unwrap();
    registry.add(tool_named("b")).unwrap();
    assert_eq!(names(&other), ["a", "b", "own"]);
    assert_eq!(names(&pinned), ["a", "own"]);
    registry.add(tool_named("own")).unwrap();
    assert!(other.snapshot().is_err(), "now the name is taken");
    assert_eq!(names(&pinned), ["a", "own"]);
}

#[tokio::test]
async fn a_call_finds_the_tools_of_its_own_invoker() {
    let invoker = Invoker::new(registry(tool_named("a"))).unwrap();
    let own: Tool = tool_named("own");
    let other = invoker.with_view(|view| view.select(["none"]).with(own));
    let call = |name: &str| ToolCall::new(name, "{}");
    let other = other.unwrap();
    assert_ok(&other.invoke(&call("own")).await, "own");
    assert_eq!(other.invoke(&call("a")).await.outcome, Outcome::UnknownTool);
    assert_eq!(invoker.invoke(&call("own")).await.outcome, Outcome::UnknownTool);
}
