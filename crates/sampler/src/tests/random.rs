//! Random schemas, far from what authors write.

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Map, Value, json};

use super::{Sampler, Schema, admits};

fn bound() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-20..20i64).prop_map(Value::from),
        (-2.0..2.0f64).prop_map(Value::from),
        select(vec![
            json!(0.1),
            json!(1e300),
            json!(-1e-300),
            json!(u64::MAX),
            json!(i64::MIN),
            json!(1e20)
        ]),
    ]
}

fn keyword(inner: BoxedStrategy<Value>) -> impl Strategy<Value = (String, Value)> {
    let named = |inner: BoxedStrategy<Value>| {
        vec((select(vec!["a", "b", "c"]), inner), 0..3).prop_map(|members| {
            let members = members.into_iter().map(|(name, it)| (name.to_owned(), it));
            Value::Object(members.collect::<Map<_, _>>())
        })
    };
    let kinds = ["null", "boolean", "integer", "number", "string", "array", "object"];
    let length = prop_oneof![8 => 0..6u64, 1 => Just(u64::MAX)].prop_map(Value::from);
    let step = prop_oneof![Just(json!(0.1)), Just(json!(1e-9)), (1..9u64).prop_map(Value::from)];
    let names = vec(select(vec!["a", "b", "d"]), 0..3)
        .prop_map(|names| json!(names.into_iter().collect::<std::collections::BTreeSet<_>>()));
    let patterns = ["^a", "b$", "[0-9]{2,}", "^(x|y)*$", "(?=.*z)", "^[^a-z]$", "^(a)\\1"];
    let limits = [
        "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
        "minContains",
    ];
    let bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
    let one = [
        "items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else",
        "unevaluatedProperties",
    ];
    let with = |keyword: &'static str| move |value: Value| (keyword.to_owned(), value);
    let any_of = |keywords: &[&'static str]| select(keywords.to_vec()).prop_map(str::to_owned);
    prop_oneof![
        4 => vec(select(kinds.to_vec()), 1).prop_map(|kinds| json!(kinds)).prop_map(with("type")),
        1 => Just(json!(["string", "integer"])).prop_map(with("type")),
        2 => (any_of(&limits), length),
        2 => (any_of(&bounds), bound()),
        1 => step.prop_map(with("multipleOf")),
        1 => select(patterns.to_vec()).prop_map(Value::from).prop_map(with("pattern")),
        1 => names.prop_map(with("required")),
        1 => Just(json!(true)).prop_map(with("uniqueItems")),
        1 => vec(bound(), 1..3).prop_map(Value::from).prop_map(with("enum")),
        1 => select(vec!["#", "#/properties/a", "#/$defs/a"]).prop_map(Value::from).prop_map(with("$ref")),
        3 => named(inner.clone()).prop_map(with("properties")),
        1 => named(inner.clone()).prop_map(with("patternProperties")),
        1 => named(inner.clone()).prop_map(with("dependentSchemas")),
        3 => (any_of(&one), inner.clone()),
        3 => (any_of(&["allOf", "anyOf", "oneOf", "prefixItems"]), vec(inner, 1..3).prop_map(Value::from)),
    ]
}

fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!({"type": "integer"})),
        Just(json!({})),
        Just(json!(false))
    ];
    let nested = leaf.prop_recursive(4, 24, 4, |inner| {
        vec(keyword(inner.boxed()), 1..5)
            .prop_map(|keywords| Value::Object(keywords.into_iter().collect()))
    });
    (nested.clone(), nested).prop_map(|(mut schema, definition)| {
        if let Value::Object(members) = &mut schema {
            members.insert("$defs".to_owned(), json!({"a": definition}));
        }
        schema
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_schema_only_valid_values_are_called_valid(value in any_schema(), seed in any::<u64>()) {
        if let Ok(schema) = Schema::check(value) {
            let mut sampler = Sampler::new(&schema, seed);
            if let Some(value) = sampler.valid() {
                prop_assert!(admits(&schema, &value), "{} by {:?}", value, schema);
            }
            sampler.near_miss();
        }
    }
}
