//! Whatever comes in, what goes out is a schema that stays as it is, and has every property that came in.

use std::collections::BTreeSet;

use proptest::{prelude::*, sample::select};
use serde_json::{Map, Value, json};

use super::{super::normalise, Schema};

const KEYWORDS: &str = "type properties required items enum default nullable optional anyOf allOf oneOf not $ref ref \
    defs $defs definitions additionalProperties additionalItems prefixItems dependencies minimum exclusiveMinimum maxLength \
    pattern format title description $schema const examples uniqueItems id x-ui patternProperties divisibleBy propertyNames \
    if then contains";

/// Words that are no keywords.
const OTHERS: &str = "schema name in city days json";

const TEXTS: [&str; 16] = [
    "object",
    "dict",
    "string",
    "str",
    "array",
    "list[str]",
    "Optional[int]",
    "any",
    "true",
    "5",
    "",
    "a, b",
    "str, optional",
    "#/$defs/city",
    "#/defs/city",
    "http://json-schema.org/draft-07/schema#",
];

/// JSON of these words that looks more or less like a schema.
fn anything(words: &str) -> impl Strategy<Value = Value> + use<> {
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..9_i64).prop_map(Value::from),
        select(&TEXTS[..]).prop_map(Value::from),
        select(words.clone()).prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 5, move |inner| {
        let members = proptest::collection::vec((select(words.clone()), inner.clone()), 0..5);
        prop_oneof![
            1 => proptest::collection::vec(inner, 0..4).prop_map(Value::from),
            4 => members.prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

/// One property, written as badly as people do.
fn sloppy(name: String, style: usize) -> (String, Value) {
    let schema = match style {
        0 => json!("str"),
        1 => json!(null),
        2 => json!({"type": "float", "default": "none"}),
        3 => json!({"type": "list[str]", "required": true}),
        4 => json!({"type": "dict", "properties": {"inner": "int"}}),
        5 => json!({"type": "string", "enum": "a", "nullable": true}),
        6 => json!({"type": "tuple", "items": [{"type": "int"}]}),
        7 => json!({"$ref": "#/$defs/x", "nullable": true}),
        8 => json!({"description": ["a", "b"], "optional": "yes"}),
        9 => json!({"type": "strng"}),
        _ => json!({"type": "String, optional", "minLength": "2"}),
    };
    (name, schema)
}

fn names(schema: &Value) -> BTreeSet<String> {
    let named = schema.get("properties").and_then(Value::as_object);
    named.into_iter().flat_map(|named| named.keys().cloned()).collect()
}

proptest! {
    #[test]
    fn what_is_read_stays_as_it_is(value in anything(KEYWORDS)) {
        let mut once = value.clone();
        // Nothing at all in the place of the parameters means that there are none.
        if normalise(&mut once).is_ok() && once != json!({}) {
            let mut twice = once.clone();
            prop_assert!(normalise(&mut twice).is_ok(), "{} became {}", value, once);
            prop_assert_eq!(&once, &twice, "from {}", value);
        }
    }

    #[test]
    fn nothing_panics(value in anything(&format!("{KEYWORDS} {OTHERS}"))) {
        let mut schema = value;
        if normalise(&mut schema).is_ok() {
            let _ = Schema::check(schema);
        }
    }

    #[test]
    fn no_property_is_lost(
        fields in proptest::collection::btree_map("[a-z]{1,6}|type|items|title|description|enum|required|name|id", 0..12_usize, 1..6),
        wrapping in 0..6_usize,
    ) {
        // Nothing but `items` is a list, for all we can know.
        prop_assume!(wrapping != 3 || fields.keys().any(|name| name != "items"));
        let wanted: BTreeSet<String> = fields.keys().cloned().collect();
        // In a list, `{"name": "str"}` is a property called `str`.
        prop_assume!(wrapping != 2 || fields.get("name") != Some(&0));
        // And a bare word beside a keyword is the value of the keyword.
        let is_keyword = |name: &str| KEYWORDS.split_whitespace().any(|known| known == name);
        prop_assume!(wrapping != 3 || !fields.iter().any(|(name, style)| is_keyword(name) && *style < 2));
        let fields: Map<String, Value> = fields.into_iter().map(|(name, style)| sloppy(name, style)).collect();
        let mut schema = match wrapping {
            0 => json!({"type": "dict", "properties": fields, "$defs": {"x": {}}}),
            1 => json!({"properties": fields, "required": null, "$defs": {"x": {}}}),
            2 => json!({"type": "object", "properties": fields.into_iter().map(|(name, schema)| json!({name: schema})).collect::<Vec<_>>(), "$defs": {"x": {}}}),
            3 => Value::Object(fields),
            4 => json!({"type": "object", "properties": {"type": "object", "properties": fields}}),
            _ => json!(json!({"type": "OBJECT", "properties": fields}).to_string()),
        };
        if normalise(&mut schema).is_ok() {
            prop_assert_eq!(names(&schema), wanted);
        }
    }
}
