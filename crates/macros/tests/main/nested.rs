//! serde's attributes on nested types are honoured, in the schema and in the values.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolwright::{JsonSchema, Outcome, Tool, tool};

use crate::call::{call, text};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Order {
    /// As printed on the receipt.
    order_number: String,
    #[serde(default)]
    gift_wrap: bool,
    #[serde(rename = "to")]
    address: Address,
    #[serde(flatten)]
    contact: Contact,
    #[serde(skip)]
    internal: u32,
    pay: Payment,
    size: Size,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Address {
    street: String,
    #[serde(default = "home")]
    country: String,
}

fn home() -> String {
    "NL".to_owned()
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Contact {
    email: String,
    phone: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Payment {
    Cash,
    CreditCard { number: String },
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum Size {
    Small,
    Large,
}

/// Places an order.
#[tool]
fn place_order(order: Order) -> Value {
    assert_eq!(order.internal, 0);
    json!(order)
}

fn order() -> Value {
    json!({
        "orderNumber": "A-1",
        "to": {"street": "Damrak 1"},
        "email": "ada@example.org",
        "pay": {"kind": "credit_card", "number": "1"},
        "size": "LARGE",
    })
}

/// The schema of `Order`, wherever it is published.
fn schema(tool: &Tool) -> Value {
    tool.spec().input.as_value()["$defs"]["Order"].clone()
}

#[tokio::test]
async fn values_are_read_as_serde_would() {
    let placed = text(place_order::tool(), "place_order", json!({"order": order()})).await;
    let placed: Value = serde_json::from_str(&placed).unwrap();
    assert_eq!(placed["giftWrap"], false);
    assert_eq!(placed["to"]["country"], "NL");
    assert_eq!(placed["email"], "ada@example.org");
    assert_eq!(placed["phone"], Value::Null);
    assert_eq!(placed["pay"], json!({"kind": "credit_card", "number": "1"}));
    assert_eq!(placed["size"], "LARGE");
    assert_eq!(placed.get("internal"), None);
}

#[test]
fn names_are_published_as_serde_reads_them() {
    let schema = schema(&place_order::tool());
    let properties = schema["properties"].as_object().unwrap();
    for name in ["orderNumber", "giftWrap", "to", "email", "phone", "pay", "size"] {
        assert!(properties.contains_key(name), "{name}: {schema}");
    }
    assert!(!properties.contains_key("internal"), "{schema}");
    assert_eq!(properties["orderNumber"]["description"], "As printed on the receipt.");
    assert_eq!(properties["giftWrap"]["default"], false);
    let required = schema["required"].to_string();
    assert!(!required.contains("giftWrap"), "{required}");
    assert!(!required.contains("phone"), "{required}");
    assert!(required.contains("email"), "{required}");
}

#[tokio::test]
async fn nested_structs_reject_unknown_fields() {
    for pointer in ["", "/to", "/pay"] {
        let mut order = order();
        let place = order.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
        place.insert("dry_run".to_owned(), json!(true));
        let result = call(place_order::tool(), "place_order", json!({"order": order})).await;
        assert_eq!(result.outcome, Outcome::InvalidArguments, "at `{pointer}`");
        assert!(result.text().contains("dry_run"), "{}", result.text());
    }
}

#[tokio::test]
async fn a_tag_that_is_not_known_is_refused() {
    let mut order = order();
    order["pay"]["kind"] = json!("shells");
    let result = call(place_order::tool(), "place_order", json!({"order": order})).await;
    assert_eq!(result.outcome, Outcome::InvalidArguments);
}
