//! Placeholders in results: those of the tool are filled in, those from arguments are not.

use serde_json::{Value, json};
use toolwright::{Invoker, Tool, ToolCall, tool};

use crate::fixtures::{assert_ok, registry};

const SECRET: &str = "/srv/secret";

/// Calls the tool in a project directory, and returns its text.
async fn text(tool: Tool, arguments: Value) -> String {
    let call = ToolCall::new(tool.name(), arguments);
    let invoker = Invoker::builder(registry(tool)).project_dir(SECRET);
    let result = invoker.build().unwrap().invoke(&call).await;
    assert!(!result.is_error(), "{}", result.text());
    result.text().into_owned()
}

/// Echoes.
#[tool(expand_result)]
fn echo(t: String) -> String {
    t
}

#[tokio::test]
async fn text_from_the_model_is_returned_as_it_was_sent() {
    for sent in [
        "${project_dir}",
        "in ${project_dir}: ${t} $${t} ${nobody:-x} ${",
        "$${project_dir}",
        "$$${project_dir}",
        "${project_dir:-x}",
        "${${project_dir}}",
        "\n\n  ${project_dir}\r\n\t${t}",
        "{project_dir}",
    ] {
        assert_eq!(text(echo::tool(), json!({"t": sent})).await, sent);
    }
}

#[tokio::test]
async fn the_authors_placeholders_are_filled_in_around_text_from_the_model() {
    /// Reports.
    #[tool(expand_result)]
    fn report(topic: String, note: String) -> String {
        drop(topic);
        format!("${{topic}} in ${{project_dir}}, $${{topic}}, ${{nobody:-x}}: {note}.")
    }
    let sent = json!({"topic": "tea", "note": "costs $5 {net} and ${topic} ${topic:-x}"});
    assert_eq!(
        text(report::tool(), sent).await,
        "tea in /srv/secret, ${topic}, x: costs $5 {net} and ${topic} ${topic:-x}."
    );
}

#[tokio::test]
async fn text_from_the_model_is_not_expanded_wherever_a_tool_puts_it() {
    /// Joins.
    #[tool(expand_result)]
    fn join(parts: Vec<String>) -> String {
        parts.concat()
    }
    /// Quotes.
    #[tool(expand_result)]
    fn quote(parts: Vec<String>) -> String {
        format!("{parts:?}")
    }
    /// Sells.
    #[tool(expand_result)]
    fn price(amount: String) -> String {
        format!("costs ${amount}")
    }
    /// Completes.
    #[tool(expand_result)]
    fn complete(t: String) -> String {
        format!("{t}_dir}}")
    }
    /// Frames.
    #[tool(expand_result)]
    fn frame(t: String) -> String {
        format!("${{{t}}}")
    }
    /// Ends a sum.
    #[tool(expand_result)]
    fn sum(t: String) -> String {
        format!("{t}{{project_dir}}")
    }
    /// Changes the case.
    #[tool(expand_result)]
    fn lower(t: String) -> String {
        t.to_lowercase()
    }
    /// Takes words apart.
    #[tool(expand_result)]
    fn words(t: String) -> String {
        t.split(' ').collect::<Vec<_>>().join("\n")
    }
    /// Leaves spaces out.
    #[tool(expand_result)]
    fn squeeze(t: String) -> String {
        t.replace(' ', "")
    }
    /// Lists keys.
    #[tool(expand_result)]
    fn keys(map: std::collections::BTreeMap<String, Vec<String>>) -> String {
        format!("{map:?}")
    }
    for (tool, sent) in [
        (join::tool(), json!({"parts": ["$", "{project_dir}"]})),
        (join::tool(), json!({"parts": ["${", "project_dir", "}"]})),
        (join::tool(), json!({"parts": ["${pro", "ject_dir}"]})),
        (join::tool(), json!({"parts": ["$", "{", "project_dir}"]})),
        (quote::tool(), json!({"parts": ["\"${project_dir}\""]})),
        (price::tool(), json!({"amount": "{project_dir}"})),
        (complete::tool(), json!({"t": "${project"})),
        (frame::tool(), json!({"t": "project_dir"})),
        (sum::tool(), json!({"t": "5 $"})),
        (lower::tool(), json!({"t": "${PROJECT_DIR}"})),
        (words::tool(), json!({"t": "a ${project_dir} b"})),
        (squeeze::tool(), json!({"t": "$ { project _dir }"})),
        (keys::tool(), json!({"map": {"${project_dir}": []}})),
        (keys::tool(), json!({"map": {"a": ["x ${project_dir}"]}})),
    ] {
        let text_result = text(tool.clone(), sent.clone()).await;
        assert!(!text_result.contains(SECRET), "{}({sent}): {text_result}", tool.name());
    }
}

#[tokio::test]
async fn a_model_cannot_request_a_default_with_the_project_directory() {
    /// Joins.
    #[tool(expand_result)]
    fn join(
        parts: Vec<String>,
        #[param(name = "out", default = "${project_dir}/out")] _out: String,
    ) -> String {
        parts.concat()
    }
    let sent = json!({"parts": ["${o", "ut}"]});
    assert_eq!(text(join::tool(), sent).await, "${out}");
}

#[tokio::test]
async fn quoted_text_from_the_model_is_still_text_from_the_model() {
    /// Quotes.
    #[tool(expand_result)]
    fn quote(t: String) -> String {
        format!("${{t}} is {t:?}")
    }
    let sent = json!({"t": "a \"${t}\"\nb"});
    assert_eq!(text(quote::tool(), sent).await, "a \"${t}\"\nb is \"a \\\"${t}\\\"\\nb\"");
}

#[tokio::test]
async fn a_text_that_names_itself_a_thousand_times_does_not_fill_the_memory() {
    /// Takes words apart.
    #[tool(expand_result)]
    fn words(t: String) -> String {
        t.split(' ').collect::<Vec<_>>().join("\n")
    }
    let sent = format!("{}{}", "${t} ".repeat(900), "x".repeat(100_000));
    let call = ToolCall::new("words", json!({"t": sent}));
    let invoker = Invoker::builder(registry(words::tool())).output_limit(usize::MAX);
    let result = invoker.build().unwrap().invoke(&call).await;
    assert!(result.text().len() < 20_000_000, "{}", result.text().len());
}

#[tokio::test]
async fn values_of_placeholders_are_not_expanded_again() {
    /// Repeats.
    #[tool(expand_result)]
    fn repeat(t: String) -> &'static str {
        drop(t);
        "${t} in ${project_dir}"
    }
    let call = ToolCall::new("repeat", json!({"t": "a ${t}"}));
    let invoker = Invoker::builder(registry(repeat::tool())).project_dir(SECRET);
    let result = invoker.build().unwrap().invoke(&call).await;
    assert_ok(&result, "a ${t} in /srv/secret");
}
