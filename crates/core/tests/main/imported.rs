//! Tools and prompts that other software defines and runs.

use serde_json::{Value, json};
use toolwright::{
    Args, DefineError, HandlerContext, Invoker, Outcome, Prompt, Registry, Role, Tool, ToolCall,
};

/// A tool that returns the arguments it received.
fn echo(description: &str, imported: bool) -> Result<Tool, DefineError> {
    let schema = json!({"type": "object", "properties": {
        "project_dir": {"type": "string"},
        "mcp_client_session_id": {"type": "string"},
        "colour": {"type": "string", "default": "red"},
        "size": {"type": ["integer", "null"]},
        "name": {"type": "string"}
    }, "required": ["name"]});
    let builder = Tool::builder("echo", description).imported(imported);
    let reply = |args: Args, _: HandlerContext| Value::Object(args.into_map()).to_string();
    builder.schema(schema)?.run(reply)
}

async fn received(imported: bool, sent: Value) -> (Outcome, String) {
    let registry = Registry::new();
    registry.add(echo("Echoes.", imported).unwrap()).unwrap();
    let invoker = Invoker::builder(&registry).project_dir("/project/ada");
    let result = invoker.build().unwrap().invoke(&ToolCall::new("echo", &sent)).await;
    (result.outcome, result.text().into_owned())
}

#[test]
fn only_an_imported_tool_may_lack_a_description() {
    assert!(echo("", true).unwrap().is_imported());
    assert!(matches!(echo("", false), Err(DefineError::Description { .. })));
}

#[tokio::test]
async fn an_imported_tool_receives_only_what_was_sent() {
    let (_, theirs) = received(true, json!({"name": "x"})).await;
    assert_eq!(theirs, r#"{"name":"x"}"#);
    let (_, ours) = received(false, json!({"name": "x"})).await;
    assert!(
        ours.contains("/project/ada") && ours.contains("red") && ours.contains("process-"),
        "{ours}"
    );
}

#[tokio::test]
async fn a_null_that_the_schema_rejects_is_dropped() {
    let sent = json!({"name": "x", "project_dir": null, "colour": null, "size": null});
    let (_, theirs) = received(true, sent).await;
    assert_eq!(theirs, r#"{"name":"x","size":null}"#);
    let (outcome, _) = received(true, json!({"name": null})).await;
    assert_eq!(outcome, Outcome::InvalidArguments);
}

#[tokio::test]
async fn the_text_of_an_imported_prompt_is_not_filled_in() {
    let tool = Tool::builder("greet", "").imported(true);
    let tool = tool.run(|_, _| "Hello ${name} of ${project_dir}").unwrap();
    let registry = Registry::new();
    registry.add(Prompt::from_tool(tool, Role::User)).unwrap();
    let invoker = Invoker::builder(&registry).project_dir("/project/ada");
    let rendered = invoker.build().unwrap().render_prompt("greet", "{}").await.unwrap();
    assert_eq!((rendered.role, &*rendered.text), (Role::User, "Hello ${name} of ${project_dir}"));
}

#[test]
fn a_registry_knows_its_clones() {
    let registry = Registry::new();
    assert!(registry.ptr_eq(&registry.clone()) && !registry.ptr_eq(&Registry::new()));
}
