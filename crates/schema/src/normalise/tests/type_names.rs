//! Types in the words of other languages.

use serde_json::{Value, json};

use super::{assert_property_normalises, refusal};

/// Every word becomes the JSON type, each with one note.
fn all(words: &[&str], meant: &str) {
    for word in words {
        let note = format!("type \"{word}\" read as \"{meant}\"");
        assert_property_normalises(json!({"type": word}), json!({"type": meant}), &[&note]);
    }
}

#[test]
fn the_words_of_other_languages_become_json_types() {
    all(&["dict", "map", "HashMap", "Hashtable", "Object", "OBJECT", "Dictionary"], "object");
    all(&["float", "double", "Decimal", "Number", "NUMBER", "Float"], "number");
    all(
        &["int", "long", "short", "byte", "bigint", "Bigint", "Integer", "INTEGER", "int64"],
        "integer",
    );
    all(&["str", "String", "char", "text", "STRING"], "string");
    all(&["bool", "Boolean", "BOOLEAN"], "boolean");
    all(&["list", "tuple", "Array", "ArrayList", "set", "Queue", "Stack", "ARRAY"], "array");
    all(&["none", "None", "NoneType", "NULL", "undefined"], "null");
}

#[test]
fn a_word_for_anything_leaves_no_type() {
    for word in ["any", "Any", "TYPE_UNSPECIFIED", "unknown", ""] {
        let note = format!("type \"{word}\" read as any value");
        assert_property_normalises(
            json!({"type": word, "description": "d"}),
            json!({"description": "d"}),
            &[&note],
        );
    }
    assert_property_normalises(json!({"type": null}), json!({}), &["type null read as any value"]);
    assert_property_normalises(
        json!({"type": "enum", "enum": ["a", 1]}),
        json!({"enum": ["a", 1]}),
        &["type \"enum\" read as any value"],
    );
}

#[test]
fn types_made_of_types_are_read() {
    let strings = json!({"type": "array", "items": {"type": "string"}});
    for word in [
        "list[str]",
        "List<String>",
        "typing.List[str]",
        "java.util.ArrayList<java.lang.String>",
        "string[]",
        "array of strings",
        "Array of string",
        "tuple[str, ...]",
    ] {
        let note = format!("type \"{word}\" read as {strings}");
        assert_property_normalises(json!({"type": word}), strings.clone(), &[&note]);
    }
    let cases = [
        ("Dict[str, int]", json!({"type": "object", "additionalProperties": {"type": "integer"}})),
        (
            "Map<String, Object>",
            json!({"type": "object", "additionalProperties": {"type": "object"}}),
        ),
        (
            "int[][]",
            json!({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}),
        ),
        (
            "tuple[int, str]",
            json!({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": false, "minItems": 2}),
        ),
        (
            "Union[list[str], None]",
            json!({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}),
        ),
        ("'asc' | 'desc'", json!({"enum": ["asc", "desc"]})),
        ("Literal[1, 2, None]", json!({"enum": [1, 2, null]})),
    ];
    for (word, after) in cases {
        let note = format!("type {} read as {after}", Value::from(word));
        assert_property_normalises(json!({"type": word}), after, &[&note]);
    }
    assert_property_normalises(
        json!({"type": "list[Any]"}),
        json!({"type": "array"}),
        &["type \"list[Any]\" read as \"array\""],
    );
    assert_property_normalises(
        json!({"type": "Dict[str, Any]"}),
        json!({"type": "object"}),
        &["type \"Dict[str, Any]\" read as \"object\""],
    );
}

#[test]
fn a_choice_of_plain_types_becomes_a_list_of_words() {
    for (word, meant) in [
        ("Optional[int]", json!(["integer", "null"])),
        ("Union[str, int]", json!(["string", "integer"])),
        ("string | null", json!(["string", "null"])),
        ("int or float", json!(["integer", "number"])),
        ("number?", json!(["number", "null"])),
    ] {
        let note = format!("type \"{word}\" read as {meant}");
        assert_property_normalises(json!({"type": word}), json!({"type": meant}), &[&note]);
    }
    assert_property_normalises(
        json!({"type": ["str", "None"]}),
        json!({"type": ["string", "null"]}),
        &[r#"type ["str","None"] read as ["string","null"]"#],
    );
    assert_property_normalises(
        json!({"type": ["string", "string"]}),
        json!({"type": "string"}),
        &[r#"type ["string","string"] read as "string""#],
    );
    assert_property_normalises(
        json!({"type": ["string", "any"]}),
        json!({}),
        &[r#"type ["string","any"] read as any value"#],
    );
}

#[test]
fn a_type_that_speaks_of_its_elements_agrees_with_them_or_is_refused() {
    assert_property_normalises(
        json!({"type": "List<String>", "items": {"type": "String", "description": "d"}}),
        json!({"type": "array", "items": {"type": "string", "description": "d"}}),
        &[
            r#"type "List<String>" read as {"type":"array","items":{"type":"string"}}"#,
            r#"/items: type "String" read as "string""#,
        ],
    );
    assert_property_normalises(
        json!({"type": "list[str]", "items": {"description": "d"}}),
        json!({"type": "array", "items": {"description": "d", "type": "string"}}),
        &[r#"type "list[str]" read as {"type":"array","items":{"type":"string"}}"#],
    );
    assert_eq!(
        refusal(json!({"type": "list[str]", "items": {"type": "integer"}})),
        r#"/items: conflicts with the type, which means {"type":"string"}"#
    );
}

#[test]
fn a_word_that_says_optional_is_heard() {
    for word in ["str, optional", "string (optional)"] {
        let before = json!({"type": "object", "properties": {"a": {"type": word}, "b": {"type": "int, required"}}});
        let notes = [
            format!("/properties/a: type \"{word}\" read as \"string\""),
            "/properties/b: type \"int, required\" read as \"integer\"".to_owned(),
            format!("/properties/a: type \"{word}\" read as not required"),
            "/properties/b: type \"int, required\" read as required by the object".to_owned(),
        ];
        super::assert_normalises(
            before,
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["b"]}),
            &notes.each_ref().map(String::as_str),
        );
    }
}

#[test]
fn a_word_that_is_no_type_is_refused_with_the_nearest_one() {
    let place =
        |word: &str| refusal(json!({"type": "object", "properties": {"a/b": {"type": word}}}));
    assert_eq!(
        place("strng"),
        "/properties/a~1b/type: \"strng\" is no type; did you mean `string`?"
    );
    assert_eq!(
        place("List<Integr>"),
        "/properties/a~1b/type: \"Integr\" is no type; did you mean `integer`?"
    );
    assert_eq!(
        place("the user's favourite colour"),
        "/properties/a~1b/type: \"the user's favourite colour\" is no type"
    );
    assert_eq!(refusal(json!({"type": 5})), "/type: a type is a word or a list of words, not 5");
    assert!(place(&"list[".repeat(200)).contains("is no type"));
    assert!(place(&format!("{}int{}", "list[".repeat(20), "]".repeat(20))).contains("is no type"));
    for odd in [
        "list[", "[]", "|", "dict[str]", "list[str, int]", "a[b]", "()", "'x", "list[str]]", "é<",
        "list of dict of str",
    ] {
        refusal(json!({"type": odd}));
    }
}
