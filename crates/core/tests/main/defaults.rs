//! Absent arguments: defaults, placeholders, bound parameters.

use std::path::PathBuf;

use serde::Deserialize;
use toolwright::{
    Args, CallScope, DefineError, Invoker, JsonSchema, PROJECT_DIR_PARAM, Registry,
    SESSION_ID_PARAM, SessionId, Tool, ToolBuilder, ToolCall, ToolResult, tool,
};

use crate::fixtures::{assert_ok, assert_rejected, call, registry};

#[derive(Clone, Copy, Debug, serde::Serialize, Deserialize, JsonSchema)]
enum Mode {
    Read,
    Write,
}

/// Opens a file.
#[tool]
fn open(
    /// The folder.
    #[param(name = "folder")]
    _folder: String,
    #[param(name = "name", default = "notes")] _name: String,
    #[param(default = "${folder}/${name}.txt")] path: PathBuf,
    #[param(default = Mode::Read)] mode: Mode,
    #[param(default = 4)] retries: u8,
    #[param(default = "${retries}")] limit: u64,
) -> String {
    format!("{} {mode:?} {retries} {limit}", path.display())
}

#[tokio::test]
async fn defaults_are_filled_in_for_absent_arguments() {
    assert_ok(&call(open::tool(), r#"{"folder": "/a"}"#).await, "/a/notes.txt Read 4 4");
    assert_ok(
        &call(open::tool(), r#"{"folder": "/a", "mode": "Write", "retries": 9}"#).await,
        "/a/notes.txt Write 9 9",
    );
    assert_ok(
        &call(open::tool(), r#"{"folder": "/a", "path": "/b", "limit": 1}"#).await,
        "/b Read 4 1",
    );
}

#[tokio::test]
async fn null_means_the_default_for_a_template_too() {
    let sent = r#"{"folder": "/a", "name": null, "path": null, "limit": null}"#;
    assert_ok(&call(open::tool(), sent).await, "/a/notes.txt Read 4 4");
}

#[test]
fn defaults_are_published_but_templates_are_described() {
    let params = open::tool().params();
    let default = |name: &str| {
        let param = params.iter().find(|param| param.name == name).unwrap();
        (param.required, param.default.clone())
    };
    assert_eq!(default("folder"), (true, None));
    assert_eq!(default("name"), (false, Some("notes".into())));
    assert_eq!(default("mode"), (false, Some("Read".into())));
    assert_eq!(default("retries"), (false, Some(4.into())));
    assert_eq!(default("path"), (false, None));
    assert_eq!(params[2].description.as_deref(), Some("Defaults to `${folder}/${name}.txt`."));
}

fn greeting() -> ToolBuilder {
    Tool::builder("greet", "Greets.").param::<String>("name", "Whom.")
}

fn text_of(args: Args) -> String {
    serde_json::to_string(args.as_map()).unwrap()
}

#[tokio::test]
async fn a_builder_fills_in_defaults_and_templates_in_order() {
    let greet = greeting()
        .param::<String>("greeting", "How.")
        .default("Hello")
        .param::<String>("text", "What.")
        .default("${greeting}, ${name}${mark:-!}$${x}")
        .run(|args, _| text_of(args));
    assert_eq!(
        greet.unwrap_err().to_string(),
        "tool `greet`, parameter `text`: its default names `mark`, which is no earlier parameter; write `$${` for a literal `${`"
    );
    let greet = greeting()
        .param::<String>("greeting", "How.")
        .default("Hello")
        .param::<Option<String>>("mark", "The last character.")
        .param::<String>("text", "What.")
        .default("${greeting}, ${name}${mark:-!} $${x}")
        .run(|args, _| text_of(args))
        .unwrap();
    assert_ok(
        &call(greet.clone(), r#"{"name": "Ada"}"#).await,
        r#"{"name":"Ada","greeting":"Hello","text":"Hello, Ada! ${x}"}"#,
    );
    assert_ok(
        &call(greet, r#"{"name": "Ada", "mark": "?", "greeting": null}"#).await,
        r#"{"name":"Ada","mark":"?","greeting":"Hello","text":"Hello, Ada? ${x}"}"#,
    );
}

#[tokio::test]
async fn a_later_parameter_cannot_be_named_in_a_default() {
    let greet = Tool::builder("greet", "Greets.")
        .param::<String>("text", "What.")
        .default("Hello, ${name}")
        .param::<String>("name", "Whom.")
        .run(|args, _| text_of(args));
    assert!(matches!(
        greet,
        Err(DefineError::Parameter { parameter, .. }) if parameter == "text"
    ));
}

#[tokio::test]
async fn placeholders_in_arguments_are_not_expanded() {
    let greet = greeting()
        .param::<String>("secret", "Nothing.")
        .default("s3cret")
        .param::<String>("text", "What.")
        .default("Hello, ${name}")
        .run(|args, _| args.get::<String>("text"))
        .unwrap();
    assert_ok(&call(greet, r#"{"name": "${secret}"}"#).await, "Hello, ${secret}");
}

#[tokio::test]
async fn a_template_that_lacks_a_value_makes_its_parameter_required() {
    let log = Tool::builder("log", "Logs.")
        .param::<Option<String>>("topic", "About what.")
        .param::<String>("file", "Where.")
        .default("${project_dir}/${topic:-all}.log")
        .run(|args, _| args.get::<String>("file"))
        .unwrap();
    assert_rejected(
        &call(log.clone(), "{}").await,
        &["/file: missing; its default `${project_dir}/${topic:-all}.log` needs `project_dir`"],
    );
    assert_ok(&call(log.clone(), r#"{"file": "/x"}"#).await, "/x");
    let invoker = Invoker::builder(registry(log)).project_dir("/project").build().unwrap();
    let result = invoker.invoke(&ToolCall::new("log", r#"{"topic": "a"}"#)).await;
    assert_ok(&result, "/project/a.log");
}

#[tokio::test]
async fn a_template_without_a_value_is_reported_with_the_other_errors() {
    /// Writes a file.
    #[tool]
    fn write(
        name: String,
        #[param(default = "${name}.txt")] file: String,
        #[param(default = "${file}.bak")] backup: String,
        lines: u8,
    ) -> String {
        format!("{name} {file} {backup} {lines}")
    }
    assert_rejected(
        &call(write::tool(), "{}").await,
        &[
            "/name: missing; expected a string",
            "/lines: missing; expected an integer",
            "/file: missing; its default `${name}.txt` needs `name`",
        ],
    );
    let sent = r#"{"lines": "many", "nam": "a"}"#;
    assert_rejected(
        &call(write::tool(), sent).await,
        &["/lines: expected", "did you mean `name`?"],
    );
    let sent = r#"{"file": "a", "lines": 1}"#;
    let result = call(write::tool(), sent).await;
    assert_rejected(&result, &["/name: missing; expected a string"]);
    assert!(!result.text().contains("/file"), "{}", result.text());
}

#[tokio::test]
async fn a_template_whose_text_does_not_fit_is_refused() {
    let tool = Tool::builder("wait", "Waits.")
        .param::<String>("how_long", "In seconds.")
        .param::<u8>("seconds", "In seconds too.")
        .default("${how_long}")
        .run(|args, _| args.get::<u8>("seconds"))
        .unwrap();
    assert_ok(&call(tool.clone(), r#"{"how_long": "7"}"#).await, "7");
    assert_rejected(
        &call(tool, r#"{"how_long": "long"}"#).await,
        &["/seconds: expected an integer"],
    );
}

#[tokio::test]
async fn the_expanded_text_is_converted_even_where_coercion_is_off() {
    let registry = registry(open::tool());
    let invoker = Invoker::builder(&registry).coerce(false).build().unwrap();
    let result = invoker.invoke(&ToolCall::new("open", r#"{"folder": "/a", "retries": 2}"#)).await;
    assert_ok(&result, "/a/notes.txt Read 2 2");
}

#[tokio::test]
async fn sentinels_mean_required_and_absent() {
    let tool = Tool::builder("find", "Finds.")
        .param::<String>("name", "Whom.")
        .default("___NOT_DEFINED___")
        .param::<f64>("radius", "How far.")
        .default("___NULL___")
        .param_of_type("unit", "Of the radius.", "string", true)
        .default("___NULL___")
        .run(|args, _| {
            let radius = args.get::<Option<f64>>("radius")?;
            Ok::<_, toolwright::ToolError>((radius, args.get::<Option<String>>("unit")?))
        })
        .unwrap();
    let required: Vec<bool> = tool.params().iter().map(|param| param.required).collect();
    assert_eq!(required, [true, false, false]);
    assert!(tool.params().iter().all(|param| param.default.is_none()));
    assert_rejected(&call(tool.clone(), "{}").await, &["/name: missing"]);
    assert_ok(&call(tool.clone(), r#"{"name": "a"}"#).await, "[null,null]");
    assert_ok(
        &call(tool, r#"{"name": "a", "radius": null, "unit": "km"}"#).await,
        r#"[null,"km"]"#,
    );
}

#[tokio::test]
async fn sentinels_are_plain_text_to_the_macro_and_the_model() {
    /// Says something.
    #[tool]
    fn say(#[param(default = "___NULL___")] text: String) -> String {
        text
    }
    assert_ok(&call(say::tool(), "{}").await, "___NULL___");
    assert_ok(&call(say::tool(), r#"{"text": "___NOT_DEFINED___"}"#).await, "___NOT_DEFINED___");
}

/// Reports on a project.
#[tool(expand_result)]
fn report(
    topic: String,
    #[param(name = "pages", default = 2)] _pages: u8,
    note: Option<String>,
) -> String {
    format!(
        "${{topic}} on ${{pages}} pages, $${{topic}} ${{nobody}} ${{nobody:-nowhere}} ${{note}} {}",
        note.unwrap_or(topic)
    )
}

#[tokio::test]
async fn a_result_is_expanded_with_expand_result() {
    assert_ok(
        &call(report::tool(), r#"{"topic": "tea"}"#).await,
        "tea on 2 pages, ${topic} ${nobody} nowhere ${note} tea",
    );
}

#[tokio::test]
async fn values_in_a_result_are_not_expanded_again() {
    assert_ok(
        &call(report::tool(), r#"{"topic": "x", "note": "${pages}"}"#).await,
        // The tool's own text and that of the model cannot be distinguished here: neither is expanded.
        "x on ${pages} pages, ${topic} ${nobody} nowhere ${pages} ${pages}",
    );
}

#[tokio::test]
async fn a_result_is_not_expanded_by_default() {
    /// Says something.
    #[tool]
    fn say(text: String) -> String {
        format!("${{text}} {text}")
    }
    assert_ok(&call(say::tool(), r#"{"text": "hi"}"#).await, "${text} hi");
}

#[tokio::test]
async fn structured_results_are_never_expanded() {
    #[derive(serde::Serialize, JsonSchema)]
    struct Report {
        text: String,
    }
    /// Says something.
    #[tool(expand_result)]
    fn say(text: String) -> toolwright::Json<Report> {
        toolwright::Json(Report { text: format!("{text} ${{text}}") })
    }
    let result = call(say::tool(), r#"{"text": "\"hi\""}"#).await;
    assert_ok(&result, r#"{"text":"\"hi\" ${text}"}"#);
    assert_eq!(result.structured.as_ref().unwrap().as_str(), result.text());
}

/// Lists files.
#[tool]
fn list_files(
    project_dir: PathBuf,
    #[param(default = "${project_dir}/src")] below: String,
) -> String {
    format!("{} {below}", project_dir.display())
}

#[derive(Deserialize, JsonSchema)]
struct Listing {
    project_dir: String,
    #[serde(default)]
    below: String,
}

/// The same tool defined in each way.
fn listings() -> Vec<Tool> {
    vec![
        list_files::tool(),
        Tool::builder("list_files", "Lists files.")
            .param::<String>(PROJECT_DIR_PARAM, "Where.")
            .param::<String>("below", "Which.")
            .default("${project_dir}/src")
            .run(|args, _| {
                let below = args.get::<String>("below")?;
                Ok::<_, toolwright::ToolError>(format!("{} {below}", args.get::<String>(PROJECT_DIR_PARAM)?))
            })
            .unwrap(),
        Tool::builder("list_files", "Lists files.")
            .input::<Listing>()
            .run(|it, _| format!("{} {}", it.project_dir, it.below))
            .unwrap(),
        Tool::from_schema(
            "list_files",
            "Lists files.",
            r#"{"properties": {"project_dir": {"type": "string"}, "below": {"type": "string"}}, "required": ["project_dir"]}"#,
        )
        .unwrap()
        .run(|args, _| {
            let below = args.get::<Option<String>>("below")?.unwrap_or_default();
            Ok::<_, toolwright::ToolError>(format!("{} {below}", args.get::<String>(PROJECT_DIR_PARAM)?))
        })
        .unwrap(),
    ]
}

async fn listed(invoker: &Invoker, arguments: &str) -> ToolResult {
    invoker.invoke(&ToolCall::new("list_files", arguments)).await
}

#[tokio::test]
async fn the_project_directory_is_filled_in_hidden_and_not_the_models_to_set() {
    for tool in listings() {
        let invoker = Invoker::builder(registry(tool)).project_dir("/work").build().unwrap();
        let snapshot = invoker.snapshot().unwrap();
        let spec = snapshot.get("list_files").unwrap().spec();
        let names: Vec<String> = spec.params().into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["below"]);
        assert!(!spec.input.as_value()["required"].to_string().contains("project_dir"));
        assert_ok(&listed(&invoker, r#"{"below": "x"}"#).await, "/work x");
        for sent in [
            r#"{"below": "x", "project_dir": "/etc"}"#,
            r#"{"project_dir": "/work", "below": "x"}"#,
            r#"{"project_dir": null, "below": "x"}"#,
        ] {
            let result = listed(&invoker, sent).await;
            assert_rejected(&result, &["/project_dir: unknown argument"]);
        }
    }
}

#[tokio::test]
async fn without_a_project_directory_it_is_an_ordinary_required_parameter() {
    for tool in listings() {
        let invoker = Invoker::new(registry(tool)).unwrap();
        let result = listed(&invoker, r#"{"project_dir": "/a", "below": "x"}"#).await;
        assert_ok(&result, "/a x");
        let result = listed(&invoker, r#"{"below": "x"}"#).await;
        assert_rejected(&result, &["/project_dir: missing"]);
    }
}

#[tokio::test]
async fn a_template_sees_the_project_directory_wherever_it_comes_from() {
    for tool in listings().into_iter().take(2) {
        let registry = registry(tool);
        let set = Invoker::builder(&registry).project_dir("/a").build().unwrap();
        assert_ok(&listed(&set, "{}").await, "/a /a/src");
        let bound = Invoker::new(registry.all().bind(PROJECT_DIR_PARAM, "/b")).unwrap();
        assert_ok(&listed(&bound, "{}").await, "/b /b/src");
        let sent = Invoker::new(&registry).unwrap();
        assert_ok(&listed(&sent, r#"{"project_dir": "/c"}"#).await, "/c /c/src");
    }
}

#[tokio::test]
async fn a_template_sees_bound_parameters() {
    let tool = Tool::builder("find", "Finds.")
        .param::<String>("tenant", "Whose.")
        .param::<String>("table", "Which.")
        .default("${tenant}_orders")
        .run(|args, _| args.get::<String>("table"))
        .unwrap();
    let invoker = Invoker::new(registry(tool).all().bind("tenant", "acme")).unwrap();
    let result = invoker.invoke(&ToolCall::new("find", "{}")).await;
    assert_ok(&result, "acme_orders");
}

#[tokio::test]
async fn bound_arguments_are_not_filled_into_a_result() {
    let tool = Tool::builder("echo", "Echoes.")
        .param::<String>("api_key", "Secret.")
        .param::<String>("text", "What.")
        .param::<String>(SESSION_ID_PARAM, "Filled in.")
        .expand_result(true)
        .run(|args, _| args.get::<String>("text"))
        .unwrap();
    let invoker = Invoker::new(registry(tool).all().bind("api_key", "k3y")).unwrap();
    let text = r#"{"text": "${api_key} ${mcp_client_session_id} ${text}"}"#;
    let scope = CallScope::new().session("s-1");
    let result = invoker.invoke_in(&scope, &ToolCall::new("echo", text)).await;
    assert!(result.text().starts_with("${api_key} ${mcp_client_session_id} "));
}

/// Counts visits.
#[tool]
fn visits(mcp_client_session_id: String, page: Option<String>) -> String {
    format!("{mcp_client_session_id} {page:?}")
}

#[tokio::test]
async fn the_session_parameter_is_filled_in_hidden_and_not_the_models_to_set() {
    let by_hand = Tool::builder("visits", "Counts visits.")
        .param::<String>(SESSION_ID_PARAM, "Whose.")
        .param::<Option<String>>("page", "Which.")
        .run(|args, _| {
            let session = args.get::<String>(SESSION_ID_PARAM)?;
            let page = args.get::<Option<String>>("page")?;
            Ok::<_, toolwright::ToolError>(format!("{session} {page:?}"))
        })
        .unwrap();
    for tool in [visits::tool(), by_hand] {
        let invoker = Invoker::new(registry(tool)).unwrap();
        let snapshot = invoker.snapshot().unwrap();
        assert_eq!(snapshot.get("visits").unwrap().spec().params().len(), 1);
        let scope = CallScope::new().session("conversation-7");
        let call = ToolCall::new("visits", r#"{"page": "home"}"#);
        assert_ok(&invoker.invoke_in(&scope, &call).await, r#"conversation-7 Some("home")"#);
        let process = SessionId::process_default();
        assert_ok(&invoker.invoke(&call).await, &format!(r#"{process} Some("home")"#));
        let sent = format!(r#"{{"{SESSION_ID_PARAM}": "mine"}}"#);
        let result = invoker.invoke(&ToolCall::new("visits", sent)).await;
        assert_rejected(&result, &["/mcp_client_session_id: unknown argument"]);
    }
}

#[test]
fn a_session_parameter_that_cannot_hold_a_session_is_an_error() {
    let tool = Tool::builder("visits", "Counts visits.")
        .param::<u8>(SESSION_ID_PARAM, "Whose.")
        .run(|_, _| "")
        .unwrap();
    let refused = Invoker::new(registry(tool)).unwrap_err().to_string();
    assert!(refused.contains("cannot bind `mcp_client_session_id`"), "{refused}");
}

#[test]
fn a_registry_refuses_a_macro_made_default_that_does_not_fit() {
    #[derive(serde::Serialize, Deserialize, JsonSchema)]
    struct Percent(#[schemars(range(min = 0, max = 100))] u8);
    /// Dims the light.
    #[tool]
    fn dim(#[param(default = Percent(200))] to: Percent) -> u8 {
        to.0
    }
    let refused = Registry::new().add(dim::tool()).unwrap_err();
    assert!(refused.to_string().starts_with("tool `dim`, parameter `to`: "), "{refused}");
}
