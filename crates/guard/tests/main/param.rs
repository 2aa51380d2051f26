//! The guards as parameters of tools.

use std::fs;

use toolwright::{Invoker, InvokerError, Registry, Tool, ToolCall, ToolError, tool};
use toolwright_guard::{Jail, SafeHttp};

/// Reads a file.
#[tool(read_only, blocking)]
fn read(path: String, jail: Jail) -> Result<String, ToolError> {
    Ok(jail.read(&path)?.text)
}

/// Fetches a page.
#[tool(read_only, open_world)]
async fn fetch(url: String, http: SafeHttp) -> Result<String, ToolError> {
    Ok(http.get(&url).await?.text())
}

fn registry(tool: Tool) -> Registry {
    let registry = Registry::new();
    registry.add(tool).unwrap();
    registry
}

#[tokio::test]
async fn the_jail_is_the_one_given_to_the_invoker() {
    let (given, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(given.path().join("a"), "given").unwrap();
    fs::write(project.path().join("a"), "project").unwrap();
    let registry = registry(read::tool());
    let call = ToolCall::new("read", r#"{"path": "a"}"#);

    let invoker = Invoker::builder(&registry)
        .project_dir(project.path())
        .state(Jail::new(given.path()).unwrap());
    assert_eq!(invoker.build().unwrap().invoke(&call).await.text(), "given");

    let invoker = Invoker::builder(&registry).project_dir(project.path());
    assert_eq!(invoker.build().unwrap().invoke(&call).await.text(), "project");
}

#[test]
fn a_tool_without_a_jail_is_refused_before_any_call() {
    let error = Invoker::new(registry(read::tool())).unwrap_err();
    let InvokerError::MissingDependency { tool, message } = error else { panic!("{error:?}") };
    assert_eq!(tool, "read");
    assert!(message.contains(".state(Jail::new(dir)?)"), "{message}");
}

#[tokio::test]
async fn the_model_never_reads_the_path_of_the_jail() {
    let project = tempfile::tempdir().unwrap();
    let invoker =
        Invoker::builder(registry(read::tool())).project_dir(project.path()).build().unwrap();
    project.close().unwrap();
    let result = invoker.invoke(&ToolCall::new("read", r#"{"path": "a"}"#)).await;
    assert!(result.is_error());
    assert_eq!(result.text(), "the directory that tools may use cannot be opened");
}

#[test]
fn the_guards_are_no_parameters_of_the_model() {
    for tool in [read::tool(), fetch::tool()] {
        let seen: Vec<String> = tool.params().into_iter().map(|param| param.name).collect();
        assert!(seen == ["path"] || seen == ["url"], "{seen:?}");
    }
}

#[tokio::test]
async fn the_default_client_refuses_private_addresses() {
    let invoker = Invoker::new(registry(fetch::tool())).unwrap();
    let call = ToolCall::new("fetch", r#"{"url": "http://127.0.0.1/"}"#);
    let result = invoker.invoke(&call).await;
    assert_eq!(result.text(), "the host `127.0.0.1` has an address that tools may not connect to");
}
