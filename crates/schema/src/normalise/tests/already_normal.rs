//! A schema that is right already stays as it is.

use std::collections::{BTreeMap, HashMap, HashSet};

use proptest::prelude::*;
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{assert_unchanged, normalise};

#[derive(JsonSchema, Serialize, Deserialize, Default)]
#[serde(default)]
struct Place {
    /// Where it is.
    city: String,
    #[schemars(range(min = 0, max = 9))]
    zip: Option<u32>,
    #[schemars(length(min = 1), regex(pattern = "^[a-z]+$"))]
    tag: String,
    unit: Unit,
}

#[derive(JsonSchema, Serialize, Deserialize, Default)]
enum Unit {
    /// In kelvin.
    #[default]
    Kelvin,
    Celsius,
}

#[derive(JsonSchema)]
#[serde(tag = "kind")]
#[allow(dead_code, reason = "only its schema is looked at")]
enum Tagged {
    Unit,
    Fields { at: Place, near: Option<Box<Tagged>> },
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is looked at")]
enum External {
    Nothing,
    One(Place),
    Two(u8, String),
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code, reason = "only its schema is looked at")]
struct Tree {
    children: Vec<Tree>,
    by_name: BTreeMap<String, Tree>,
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is looked at")]
struct Flattened {
    #[serde(flatten)]
    place: Place,
    #[serde(flatten)]
    tagged: Tagged,
    #[serde(flatten)]
    rest: HashMap<String, Value>,
}

#[derive(JsonSchema)]
#[schemars(extend("x-order" = {"type": "string"}), title = "Nothing at all", description = "Takes nothing.")]
struct Empty {}

type Part = fn(&mut SchemaGenerator) -> schemars::Schema;

fn part<T: JsonSchema>(generator: &mut SchemaGenerator) -> schemars::Schema {
    generator.subschema_for::<T>()
}

const PARTS: [Part; 24] = [
    part::<String>,
    part::<char>,
    part::<bool>,
    part::<u8>,
    part::<i64>,
    part::<f32>,
    part::<()>,
    part::<Value>,
    part::<Map<String, Value>>,
    part::<Option<u64>>,
    part::<Option<Place>>,
    part::<Vec<Place>>,
    part::<HashSet<Unit>>,
    part::<[u8; 3]>,
    part::<(u8, String)>,
    part::<BTreeMap<String, Vec<Unit>>>,
    part::<BTreeMap<u32, bool>>,
    part::<std::time::Duration>,
    part::<Result<u8, String>>,
    part::<Place>,
    part::<Tagged>,
    part::<External>,
    part::<Tree>,
    part::<Flattened>,
];

#[test]
fn what_schemars_makes_of_a_type_stays() {
    fn root<T: JsonSchema>() -> Value {
        schemars::schema_for!(T).to_value()
    }
    for schema in [
        root::<Place>(),
        root::<Tagged>(),
        root::<External>(),
        root::<Tree>(),
        root::<Flattened>(),
        root::<Empty>(),
        root::<Value>(),
        root::<Vec<Place>>(),
        root::<Option<Unit>>(),
        root::<String>(),
        root::<(u8, Place)>(),
    ] {
        assert_unchanged(schema);
    }
}

proptest! {
    #[test]
    fn what_schemars_makes_of_any_struct_stays(
        fields in proptest::collection::vec(("[a-zA-Z_ /~]{1,9}|items|type|required|properties|nullable|optional|enum|default", 0..PARTS.len(), any::<bool>()), 0..8),
        inline in any::<bool>(),
        closed in any::<bool>(),
    ) {
        let mut generator = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = inline).into_generator();
        let mut properties = Map::new();
        let mut required = Vec::new();
        for (name, at, must) in fields {
            if must && !properties.contains_key(&name) {
                required.push(name.clone());
            }
            properties.insert(name, PARTS[at](&mut generator).to_value());
        }
        let mut schema = json!({"type": "object", "properties": properties, "required": required});
        if closed {
            schema["additionalProperties"] = json!(false);
        }
        schema["$defs"] = Value::Object(generator.take_definitions(true));
        let before = schema.to_string();
        prop_assert_eq!(normalise(&mut schema), Ok(Vec::new()));
        prop_assert_eq!(schema.to_string(), before);
    }
}
