//! Defaults of parameters.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolwright::{JsonSchema, Registry, tool, tools};

use crate::call::{call_with, published, required, text};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Unit {
    Celsius,
    Fahrenheit,
}

const MOST: u32 = 10;

/// Has a default for everything.
#[tool]
fn all_have_defaults(
    #[param(default = "Paris")] city: String,
    #[param(default = -3)] offset: i32,
    #[param(default = 0.5)] scale: f64,
    #[param(default = true)] verbose: bool,
    #[param(default = 'x')] mark: char,
    #[param(default = MOST * 2)] most: u32,
    #[param(default = Unit::Celsius)] unit: Unit,
    #[param(default = "fahrenheit")] other: Unit,
    #[param(default = vec!["a".to_owned()])] words: Vec<String>,
    #[param(default = Some(1))] maybe: Option<u8>,
    #[param(default = "$${city} costs $5")] literal: String,
) -> String {
    format!(
        "{city} {offset} {scale} {verbose} {mark} {most} {unit:?} {other:?} {words:?} {maybe:?} {literal}"
    )
}

/// Names a report after its subject.
#[tool]
fn name_report(
    subject: String,
    copies: u32,
    #[param(default = "${subject}-${copies}-${project_dir:-none}")]
    /// The file's name.
    file: String,
    #[param(default = "${copies}")] pages: u64,
) -> String {
    format!("{file} {pages} {subject} {copies}")
}

const ALL: &str = r#"Paris -3 0.5 true x 20 Celsius Fahrenheit ["a"] Some(1) ${city} costs $5"#;

#[tokio::test]
async fn an_absent_argument_has_its_default() {
    let tool = all_have_defaults::tool();
    assert!(required(&tool).is_empty());
    assert_eq!(text(tool, "all_have_defaults", json!({})).await, ALL);
}

#[tokio::test]
async fn null_means_the_default() {
    let nulls = json!({"city": null, "most": null, "unit": null, "other": null});
    let text = text(all_have_defaults::tool(), "all_have_defaults", nulls).await;
    assert_eq!(text, ALL);
}

#[tokio::test]
async fn a_sent_argument_overrides_the_default() {
    let sent = json!({"city": "Rome", "unit": "fahrenheit", "maybe": null});
    let text = text(all_have_defaults::tool(), "all_have_defaults", sent).await;
    let expected = r#"Rome -3 0.5 true x 20 Fahrenheit Fahrenheit ["a"] None ${city} costs $5"#;
    assert_eq!(text, expected);
}

#[test]
fn defaults_are_published_as_the_model_would_send_them() {
    let tool = all_have_defaults::tool();
    for (name, value) in [
        ("city", json!("Paris")),
        ("offset", json!(-3)),
        ("scale", json!(0.5)),
        ("verbose", json!(true)),
        ("most", json!(20)),
        ("unit", json!("celsius")),
        ("other", json!("fahrenheit")),
        ("words", json!(["a"])),
        ("maybe", json!(1)),
        ("literal", json!("${city} costs $5")),
    ] {
        assert_eq!(published(&tool, name)["default"], value, "{name}");
    }
}

#[tokio::test]
async fn a_template_is_filled_in_from_earlier_arguments() {
    let arguments = json!({"subject": "cats", "copies": 3});
    let text = text(name_report::tool(), "name_report", arguments.clone()).await;
    assert_eq!(text, "cats-3-none 3 cats 3");
    let tool = name_report::tool();
    let there = call_with(tool, |it| it.project_dir("/srv"), "name_report", arguments);
    assert_eq!(there.await.text(), "cats-3-/srv 3 cats 3");
}

#[tokio::test]
async fn placeholders_in_arguments_are_not_expanded() {
    let arguments = json!({"subject": "${copies}", "copies": 3, "file": "${subject}"});
    let text = text(name_report::tool(), "name_report", arguments).await;
    assert_eq!(text, "${subject} 3 ${copies} 3");
}

#[test]
fn a_template_is_described_instead_of_published() {
    let file = published(&name_report::tool(), "file");
    assert_eq!(file.get("default"), None);
    let description = file["description"].as_str().unwrap();
    assert!(description.starts_with("The file's name."), "{description}");
    assert!(description.contains("${subject}-${copies}"), "{description}");
    assert_eq!(required(&name_report::tool()), ["subject", "copies"]);
}

#[test]
fn a_text_default_of_another_type_is_refused_by_the_registry() {
    let refused = Registry::new().add(Impossible).unwrap_err();
    let message = refused.to_string();
    assert!(message.contains("`impossible_default`"), "{message}");
    assert!(message.contains("`unit`"), "{message}");
}

/// A manual bundle, because its error would make discovery fail in all tests.
struct Impossible;

#[tools(manual)]
impl Impossible {
    /// Has a default that cannot be.
    #[tool]
    fn impossible_default(#[param(default = "kelvin")] unit: Unit) -> String {
        format!("{unit:?}")
    }
}

struct Pages;

impl Pages {
    const MOST: u32 = 7;

    fn first() -> u32 {
        1
    }
}

#[tools(manual)]
impl Pages {
    /// Defaults that speak of the bundle itself.
    #[tool]
    fn pages_of_self(
        &self,
        #[param(default = Self::first())] from: u32,
        #[param(default = Self::MOST)] to: u32,
    ) -> Value {
        json!([from, to])
    }
}

#[tokio::test]
async fn a_default_may_speak_of_the_bundle_as_self() {
    assert_eq!(text(Pages, "pages_of_self", json!({})).await, "[1,7]");
}
