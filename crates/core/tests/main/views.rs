//! Views of a registry.

use serde::Deserialize;
use serde_json::{Value, json};
use toolwright::{
    ApprovalPolicy, DefineError, Invoker, JsonSchema, NamedBundle, Outcome, RegistryError, Tool,
    ToolCall, ToolSelection, UnknownArguments, View, tool, tools,
};

use crate::fixtures::{assert_ok, assert_rejected, registry, tool_named};

fn names(view: &View) -> Vec<String> {
    let snapshot = view.snapshot().unwrap();
    snapshot.iter().map(|entry| entry.spec().name.to_string()).collect()
}

fn letters() -> toolwright::Registry {
    registry(vec![tool_named("a"), tool_named("b"), tool_named("c")])
}

#[test]
fn a_selection_skips_unknown_names_and_keeps_the_registrys_order() {
    let registry = letters();
    assert_eq!(names(&registry.select(["c", "nobody", "a"])), ["a", "c"]);
    assert!(names(&registry.select(["nobody"])).is_empty());
    assert!(names(&registry.select(Vec::<String>::new())).is_empty());
}

#[test]
fn tools_are_excluded_and_filtered() {
    let registry = letters();
    assert_eq!(names(&registry.all().exclude(["b", "nobody"])), ["a", "c"]);
    let view = registry.all().filter(|spec| spec.name.as_str() > "a");
    assert_eq!(names(&view), ["b", "c"]);
}

struct AdminTools;

#[tools(manual)]
impl AdminTools {
    /// Deletes everything.
    #[tool]
    fn wipe() {}

    /// Starts an audit.
    #[prompt]
    fn audit() -> &'static str {
        "Audit!"
    }
}

/// The tools and prompts of a view.
fn all_names(view: &View) -> Vec<String> {
    let snapshot = view.snapshot().unwrap();
    let prompts = snapshot.prompts().map(|prompt| prompt.name().to_string());
    names(view).into_iter().chain(prompts).collect()
}

#[test]
fn a_bundle_is_selected_and_excluded_by_its_type() {
    let registry = letters();
    registry.add(AdminTools).unwrap();
    assert_eq!(all_names(&registry.all().only_bundle::<AdminTools>()), ["wipe", "audit"]);
    assert_eq!(all_names(&registry.all().exclude_bundle::<AdminTools>()), ["a", "b", "c"]);
    let selects = |selection: ToolSelection| all_names(&selection.apply(registry.all()));
    let all = ToolSelection::default;
    assert_eq!(selects(all().only_bundle::<AdminTools>()), ["wipe", "audit"]);
    assert_eq!(selects(all().only_bundle::<AdminTools>().exclude(["audit"])), ["wipe"]);
    assert_eq!(selects(all().only_tools_named(["a", "audit"])), ["a", "audit"]);
    assert_eq!(selects(all().exclude_bundle::<AdminTools>()), ["a", "b", "c"]);
    assert_eq!(selects(all().only_tools(AdminTools).exclude_bundle::<AdminTools>()), [""; 0]);
    assert_eq!(selects(all().filter(|spec| spec.name.as_str() > "a")), ["b", "c", "wipe", "audit"]);
    assert_eq!(selects(all().only_tools_named(["a", "b"]).filter(|spec| spec.name == "b")), ["b"]);
    assert_eq!(all().only_tools_named(["audit"]).unknown_names(&registry.snapshot()), [""; 0]);
}

#[test]
fn a_tool_that_joins_an_excluded_bundle_later_is_excluded_too() {
    let registry = letters();
    let selection = ToolSelection::default().exclude_bundle::<AdminTools>();
    let views = [selection.apply(registry.all()), registry.all().exclude_bundle::<AdminTools>()];
    assert!(views.iter().all(|view| all_names(view) == ["a", "b", "c"]));
    registry.add(AdminTools).unwrap();
    let late = Tool::builder("late", "Joins later.").bundle(AdminTools::NAME).run(|_, _| "done");
    registry.add(late.unwrap()).unwrap();
    assert!(views.iter().all(|view| all_names(view) == ["a", "b", "c"]));
    let snapshot = registry.snapshot();
    let kept = snapshot.iter().filter(|tool| selection.keeps(tool.spec())).count();
    assert_eq!(kept, 3);
}

#[tokio::test]
async fn a_prefixed_or_renamed_tool_is_called_by_its_new_name() {
    let view = letters().all().prefix("my").rename("my_b", "bee").rename("nobody", "x");
    assert_eq!(names(&view), ["my_a", "bee", "my_c"]);
    let invoker = Invoker::new(view).unwrap();
    assert_ok(&invoker.invoke(&ToolCall::new("bee", "{}")).await, "b");
    assert_ok(&invoker.invoke(&ToolCall::new("my_a", "{}")).await, "a");
    for gone in ["b", "a", "my_b"] {
        let result = invoker.invoke(&ToolCall::new(gone, "{}")).await;
        assert_eq!(result.outcome, Outcome::UnknownTool);
    }
    let result = invoker.invoke(&ToolCall::new("bee", r#"{"x": 1}"#)).await;
    assert_rejected(&result, &["invalid arguments for `bee`"]);
}

#[test]
fn steps_apply_in_the_order_they_are_written() {
    let registry = letters();
    assert_eq!(names(&registry.all().prefix("x").select(["x_a", "b"])), ["x_a"]);
    assert_eq!(names(&registry.select(["a"]).prefix("x")), ["x_a"]);
    assert_eq!(names(&registry.select(["a"]).prefix("x").prefix("y")), ["y_x_a"]);
    let swapped = registry.all().rename("a", "t").rename("b", "a").rename("t", "b");
    assert_eq!(names(&swapped), ["b", "a", "c"]);
}

#[test]
fn two_tools_under_one_name_are_an_error_that_names_both_owners() {
    let tool = |name: &str, bundle: &str| {
        let tool = Tool::builder(name, "Is one of two.").bundle(bundle);
        tool.run(|_, _| "").unwrap()
    };
    let registry = registry(vec![tool("a", "first"), tool("b", "second")]);
    let collision = registry.all().rename("b", "a").snapshot().unwrap_err();
    assert_eq!(
        collision,
        RegistryError::Duplicate {
            kind: "tool",
            name: "a".to_owned(),
            first: "first".to_owned(),
            second: "second".to_owned(),
        }
    );
    assert!(Invoker::new(registry.all().rename("b", "a")).is_err());
}

#[test]
fn an_invalid_name_is_an_error() {
    let registry = letters();
    for view in [
        registry.all().rename("a", "not good"),
        registry.all().rename("a", ""),
        registry.all().prefix("x".repeat(64)),
    ] {
        let refused = view.snapshot().unwrap_err();
        assert!(matches!(refused, RegistryError::Define(DefineError::Name { .. })));
    }
}

#[test]
fn a_view_follows_changes_and_its_snapshots_do_not() {
    let registry = letters();
    let view = registry.all().exclude(["b"]).prefix("x");
    let before = view.snapshot().unwrap();
    assert!(std::sync::Arc::ptr_eq(&before, &view.snapshot().unwrap()));
    registry.add(tool_named("d")).unwrap();
    registry.remove("a").unwrap();
    assert_eq!(names(&view), ["x_c", "x_d"]);
    assert_eq!(before.len(), 2);
    assert!(before.get("x_a").is_some());
    assert!(view.snapshot().unwrap().version() > before.version());
}

#[tokio::test]
async fn an_invoker_with_a_fixed_snapshot_keeps_its_tools() {
    let registry = letters();
    let live = Invoker::new(&registry).unwrap();
    let pinned = live.with_fixed_snapshot().unwrap();
    registry.remove("a").unwrap();
    registry.add(tool_named("d")).unwrap();
    assert_ok(&pinned.invoke(&ToolCall::new("a", "{}")).await, "a");
    let result = pinned.invoke(&ToolCall::new("d", "{}")).await;
    assert_eq!(result.outcome, Outcome::UnknownTool);
    let result = live.invoke(&ToolCall::new("a", "{}")).await;
    assert_eq!(result.outcome, Outcome::UnknownTool);
    assert_ok(&live.invoke(&ToolCall::new("d", "{}")).await, "d");
}

#[tokio::test]
async fn a_view_changes_how_calls_are_treated_and_the_tool_does_not() {
    let tool = Tool::builder("greet", "Greets.")
        .param::<String>("name", "Whom.")
        .run(|args, _| args.get::<String>("name"))
        .unwrap();
    let registry = registry(tool);
    let call = ToolCall::new("greet", r#"{"name": "Ada", "mood": "good"}"#);
    let generous =
        registry.all().map_policy(|_, policy| policy.unknown_arguments = UnknownArguments::Ignore);
    let result = Invoker::new(generous).unwrap().invoke(&call).await;
    assert_ok(&result, "Ada");
    let asking = registry.all().map_policy(|_, policy| {
        policy.approval = ApprovalPolicy::Always;
        policy.unknown_arguments = UnknownArguments::Ignore;
    });
    let result = Invoker::new(asking).unwrap().invoke(&call).await;
    assert_eq!(result.outcome, Outcome::Denied);
    let result = Invoker::new(&registry).unwrap().invoke(&call).await;
    assert_rejected(&result, &["/mood: unknown argument"]);
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "by")]
#[expect(dead_code, reason = "only printed")]
enum Filter {
    Name { name: String },
    Age { over: u8 },
}

/// Finds people.
#[tool]
fn find(tenant: u32, filter: Option<Filter>) -> String {
    format!("{tenant} {filter:?}")
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Search {
    tenant: u32,
    filter: Option<Filter>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Flat {
    tenant: u32,
}

/// The same tool defined in each way; all have a parameter `tenant`.
fn finders() -> Vec<Tool> {
    let raw = |schema: Value| {
        Tool::builder("find", "Finds people.")
            .schema(schema)
            .unwrap()
            .run(|args, _| {
                let tenant = args.get::<u32>("tenant")?;
                Ok::<_, toolwright::ToolError>(format!("{tenant} None"))
            })
            .unwrap()
    };
    vec![
        find::tool(),
        Tool::builder("find", "Finds people.")
            .input::<Search>()
            .run(|it, _| format!("{} {:?}", it.tenant, it.filter))
            .unwrap(),
        Tool::builder("find", "Finds people.")
            .input::<Flat>()
            .run(|it, _| format!("{} None", it.tenant))
            .unwrap(),
        Tool::builder("find", "Finds people.")
            .param::<u32>("tenant", "Whose.")
            .run(|args, _| {
                let tenant = args.get::<u32>("tenant")?;
                Ok::<_, toolwright::ToolError>(format!("{tenant} None"))
            })
            .unwrap(),
        raw(
            json!({"type": "object", "properties": {"tenant": {"type": "integer"}}, "required": ["tenant"]}),
        ),
        raw(json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {"tenant": {"$ref": "#/definitions/Tenant"}},
            "definitions": {"Tenant": {"type": "integer", "minimum": 1}},
        })),
    ]
}

#[tokio::test]
async fn a_bound_parameter_is_filled_in_hidden_and_not_the_models_to_set() {
    for tool in finders() {
        let view = registry(tool).all().bind("tenant", 7).bind("nobody", 1);
        let snapshot = view.snapshot().unwrap();
        let input = snapshot.get("find").unwrap().spec().input.clone();
        assert!(input.as_value()["properties"].get("tenant").is_none());
        let invoker = Invoker::new(view).unwrap();
        let found = |arguments: &'static str| {
            let invoker = invoker.clone();
            async move { invoker.invoke(&ToolCall::new("find", arguments)).await }
        };
        assert_ok(&found("{}").await, "7 None");
        assert_ok(&found("").await, "7 None");
        for sent in
            [r#"{"tenant": 8}"#, r#"{"tenant": 7}"#, r#"{"tenant": null}"#, "{'tenant': '8',}"]
        {
            assert_rejected(&found(sent).await, &["/tenant: unknown argument"]);
        }
    }
}

#[tokio::test]
async fn types_of_any_shape_are_read_beside_a_bound_parameter() {
    for tool in finders().into_iter().take(2) {
        let invoker = Invoker::new(registry(tool).all().bind("tenant", 7)).unwrap();
        let call = ToolCall::new("find", r#"{"filter": {"by": "Age", "over": 3}}"#);
        assert_ok(&invoker.invoke(&call).await, "7 Some(Age { over: 3 })");
        let call = ToolCall::new("find", r#"{"filter": {"by": "Age", "ower": 3}}"#);
        assert_eq!(invoker.invoke(&call).await.outcome, Outcome::InvalidArguments);
    }
}

#[test]
fn a_bound_value_that_does_not_fit_is_an_error() {
    for tool in finders() {
        let registry = registry(tool);
        let refused = registry.all().bind("tenant", "acme").snapshot().unwrap_err();
        assert!(
            matches!(&refused, RegistryError::Bind { tool, parameter, .. } if tool == "find" && parameter == "tenant"),
            "{refused}"
        );
        assert!(refused.to_string().contains("expected an integer"), "{refused}");
        assert!(Invoker::new(registry.all().bind("tenant", "acme")).is_err());
    }
}

#[tokio::test]
async fn a_bound_value_is_converted_like_an_argument_and_the_first_one_stays() {
    let view = registry(find::tool()).all().bind("tenant", "7").bind("tenant", 8);
    let invoker = Invoker::new(view).unwrap();
    assert_ok(&invoker.invoke(&ToolCall::new("find", "")).await, "7 None");
}

#[tokio::test]
async fn one_tool_can_be_bound_differently_in_two_views() {
    let registry = registry(find::tool());
    for tenant in [1, 2] {
        let invoker = Invoker::new(registry.all().bind("tenant", tenant)).unwrap();
        let result = invoker.invoke(&ToolCall::new("find", "{}")).await;
        assert_ok(&result, &format!("{tenant} None"));
    }
    let open = Invoker::new(&registry).unwrap();
    let result = open.invoke(&ToolCall::new("find", r#"{"tenant": 3}"#)).await;
    assert_ok(&result, "3 None");
}
