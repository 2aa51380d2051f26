//! Wraps output schemas in an object, for protocols whose structured results must be objects.

use serde_json::{Map, Value, json};
use toolwright_schema::Schema;

/// Returns true if values of the schema are wrapped as `{"result": …}`.
pub fn needs_result_wrapper(schema: &Schema) -> bool {
    schema.as_value().get("type").and_then(Value::as_str) != Some("object")
}

/// Wraps a schema like its values; a schema of objects is returned unchanged.
pub fn wrap_output_schema(schema: &Schema) -> Value {
    let mut inner = schema.as_value().clone();
    if !needs_result_wrapper(schema) {
        return inner;
    }
    let mut outer = Map::new();
    outer.insert("type".to_owned(), "object".into());
    outer.insert("properties".to_owned(), json!({}));
    outer.insert("required".to_owned(), json!(["result"]));
    // References start at the root, so definitions have to stay there.
    if let Some(fields) = inner.as_object_mut() {
        for shared in ["$schema", "$defs", "definitions"] {
            outer.extend(fields.shift_remove_entry(shared));
        }
    }
    redirect_root_refs(&mut inner);
    if let Some(defs) = outer.get_mut("$defs") {
        redirect_root_refs(defs);
    }
    outer.insert("properties".to_owned(), json!({ "result": inner }));
    outer.into()
}

/// Changes references to the root to its new location.
fn redirect_root_refs(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(target) if name == "$ref" && target == "#" => {
                        "#/properties/result".clone_into(target);
                    }
                    field => redirect_root_refs(field),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redirect_root_refs),
        _ => {}
    }
}
