//! What holds between dialects, on schemas made at random.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Any JSON, with words of JSON Schema for names and values where they may hurt.
fn anything() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "type",
        "properties",
        "required",
        "items",
        "anyOf",
        "allOf",
        "oneOf",
        "$ref",
        "$defs",
        "enum",
        "const",
        "$id",
        "$anchor",
        "format",
        "pattern",
        "description",
        "additionalProperties",
        "minItems",
        "maxItems",
        "prefixItems",
        "$schema",
        "propertyOrdering",
        "x-mcp-header",
        "not",
        "a",
        "object",
        "string",
        "array",
        "null",
        "#",
        "#/$defs/a",
        "#a",
        "(?=",
        "",
        "dependencies",
        "nullable",
        "http://json-schema.org/draft-07/schema#",
    ]);
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..6).prop_map(|members| {
                members
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect::<serde_json::Map<_, _>>()
                    .into()
            }),
        ]
    })
}

/// What every provider understands.
fn common() -> BoxedStrategy<Value> {
    let leaf = prop::sample::select(vec![
        json!({"type": "string"}),
        json!({"type": "string", "description": "d"}),
        json!({"type": "string", "enum": ["a", "b"]}),
        json!({"type": "integer"}),
        json!({"type": "boolean"}),
    ]);
    object(nesting(leaf, Just(false)), Just(false)).boxed()
}

/// A schema that is often accepted by one dialect or another.
fn schema() -> BoxedStrategy<Value> {
    let leaf = prop::sample::select(vec![
        json!({"type": "string"}),
        json!({"type": "string", "enum": ["a", "b"]}),
        json!({"type": ["number", "null"]}),
        json!({"type": "string", "format": "uuid"}),
        json!({"type": "string", "minLength": 1}),
        json!({"type": "integer", "minimum": 1}),
        json!({"$ref": "#/$defs/n"}),
        json!({}),
    ]);
    let inner = nesting(leaf, prop::bool::weighted(0.8));
    let root = object(inner.clone(), prop::bool::weighted(0.8));
    let whole = (root, inner, prop::bool::weighted(0.8));
    whole
        .prop_map(
            |(root, definition, defines)| {
                if defines { with_definitions(root, json!({"n": definition})) } else { root }
            },
        )
        .boxed()
}

fn nesting(
    leaf: impl Strategy<Value = Value> + 'static,
    closes: impl Strategy<Value = bool> + Clone + 'static,
) -> BoxedStrategy<Value> {
    let nested = leaf.prop_recursive(3, 12, 3, move |inner| {
        prop_oneof![
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            prop::collection::vec(inner.clone(), 1..3)
                .prop_map(|branches| json!({"anyOf": branches})),
            object(inner, closes.clone()),
        ]
    });
    nested.boxed()
}

fn object(
    inner: impl Strategy<Value = Value>,
    closes: impl Strategy<Value = bool>,
) -> impl Strategy<Value = Value> {
    let members = prop::collection::btree_map("[a-c]", inner, 1..3);
    (members, closes).prop_map(|(members, closes)| {
        let mut object = json!({"type": "object"});
        if closes {
            object["required"] = members.keys().cloned().collect();
            object["additionalProperties"] = json!(false);
        }
        object["properties"] = members.into_iter().collect::<serde_json::Map<_, _>>().into();
        object
    })
}

fn accepted(dialect: Dialect, schema: &Value) -> bool {
    validate_for(dialect, schema).is_empty()
}

/// The number of schemas of each test: 256 in CI, else 64.
fn cases() -> u32 {
    let is_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
    if is_ci { 256 } else { 64 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn nothing_makes_it_panic(schema in anything(), names in prop::collection::vec(any::<String>(), 0..5)) {
        for dialect in Dialect::ALL {
            validate_for(dialect, &schema);
            crate::validate_tools_for(dialect, names.iter().map(String::as_str));
        }
    }

    #[test]
    fn what_is_portable_is_accepted_everywhere(schema in common()) {
        for dialect in Dialect::ALL.into_iter().filter(|dialect| !dialect.name().ends_with("-strict")) {
            let refusals = validate_for(dialect, &schema);
            prop_assert!(refusals.is_empty(), "{} {:?}", dialect.name(), refusals);
        }
    }

    #[test]
    fn what_is_accepted_strictly_is_accepted_plainly(schema in schema()) {
        let pairs = [
            (Dialect::OPENAI_STRICT, Dialect::OPENAI),
            (Dialect::DEEPSEEK_STRICT, Dialect::DEEPSEEK),
            (Dialect::ANTHROPIC_STRICT, Dialect::ANTHROPIC),
        ];
        for (strict, plain) in pairs {
            prop_assert!(!accepted(strict, &schema) || accepted(plain, &schema), "{}", strict.name());
        }
    }

    #[test]
    fn what_any_provider_accepts_may_be_served(schema in schema()) {
        // Ollama keeps definitions without reading them.
        for dialect in Dialect::ALL.into_iter().filter(|dialect| *dialect != Dialect::OLLAMA) {
            prop_assert!(!accepted(dialect, &schema) || accepted(Dialect::MCP, &schema), "{}", dialect.name());
        }
    }

    #[test]
    fn every_path_leads_somewhere(schema in anything()) {
        for dialect in Dialect::ALL {
            for refusal in validate_for(dialect, &schema) {
                prop_assert!(schema.pointer(&refusal.path).is_some(), "{}", refusal);
            }
        }
    }
}
