//! Names, titles and descriptions of tools.

use toolwright::tool;

use crate::call::published;

/// Looks up an order.
///
/// Use it whenever a customer names a number:
///
/// - `A-1042` is a number,
///   and so is `A-7`.
#[tool]
fn described_by_docs(
    /// The number printed on the receipt,
    /// e.g. `A-1042`.
    order: String,
    /** In a block. */
    block: String,
    plain: String,
) -> String {
    order + &block + &plain
}

/// For programmers.
#[tool(name = "described-by-keys", title = "Described by keys", description = "For models.")]
fn described_by_keys(
    /// For programmers.
    #[param(name = "order-number", description = "For models.")]
    order: String,
) -> String {
    order
}

#[test]
fn the_doc_comment_is_the_description_line_by_line() {
    let tool = described_by_docs::tool();
    assert_eq!(
        tool.spec().description,
        "Looks up an order.\n\nUse it whenever a customer names a number:\n\n- `A-1042` is a number,\n  and so is `A-7`."
    );
    assert_eq!(
        published(&tool, "order")["description"],
        "The number printed on the receipt,\ne.g. `A-1042`."
    );
    assert_eq!(published(&tool, "block")["description"], "In a block.");
    assert_eq!(published(&tool, "plain").get("description"), None);
}

#[test]
fn keys_override_names_and_descriptions() {
    let tool = described_by_keys::tool();
    assert_eq!(tool.name().as_str(), "described-by-keys");
    assert_eq!(tool.spec().title.as_deref(), Some("Described by keys"));
    assert_eq!(tool.spec().description, "For models.");
    let order = published(&tool, "order-number");
    assert_eq!(order["description"], "For models.");
    assert_eq!(published(&tool, "order"), serde_json::Value::Null);
}

#[test]
fn without_a_title_people_read_the_name() {
    let tool = described_by_docs::tool();
    assert_eq!(tool.spec().title, None);
    assert_eq!(tool.spec().display_name(), "described_by_docs");
}
