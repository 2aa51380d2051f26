//! What only informs is taken out; what a model should know of it moves into the description.
//!
//! This is also where `$schema` goes. Until then it decided what the keywords mean, so what an older draft says is said in
//! the words of 2020-12 first.

use serde_json::{Map, Value};

use crate::lower::{Draft, Impossible, LIFT, Lookup, LookupMut, Seen, Severity, Spot, describe};

/// What is taken out besides keywords that nobody knows.
const INFORMING: [&str; 6] = [
    "$anchor",
    "$dynamicAnchor",
    "$id",
    "$schema",
    "default",
    "title",
];

/// Longer values are cut when they are told.
const SHOWN: usize = 80;

pub(crate) fn run(draft: &mut Draft) -> Result<(), Impossible> {
    if !draft.has(Seen::of(&INFORMING).or(Seen::OTHER)) {
        return Ok(());
    }
    let edition = Edition::of(&draft.schema);
    let keeps_default = draft.rules.keeps("default");
    let stays = |keyword: &str| match keyword {
        "default" => keeps_default,
        _ => edition.knows(keyword),
    };
    draft.walk(|schema, spot| {
        let Value::Object(members) = schema else {
            return;
        };
        if edition < Edition::NEWEST {
            renew(members);
        }
        if members.keys().all(|keyword| stays(keyword)) {
            return;
        }
        title(members);
        content(members, spot, edition);
        if !keeps_default {
            default(members, spot);
        }
        members.retain(|keyword, _| stays(keyword));
    });
    if edition < Edition::NEWEST {
        draft.changed();
    }
    Ok(())
}

/// The draft of JSON Schema that a schema is written in, by number or year.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Edition(u16);

impl Edition {
    const NEWEST: Self = Self(2020);

    fn of(schema: &Value) -> Self {
        let name = schema
            .find("$schema")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let known = [
            ("draft-04", 4),
            ("draft-06", 6),
            ("draft-07", 7),
            ("2019-09", 2019),
        ];
        known
            .into_iter()
            .find(|(part, _)| name.contains(part))
            .map_or(Self::NEWEST, |(_, number)| Self(number))
    }

    /// Whether a keyword means anything: one that the draft does not define is an annotation.
    fn knows(self, keyword: &str) -> bool {
        let since = match keyword {
            // By far the most frequent.
            "type" | "description" => return true,
            "$defs"
            | "$ref"
            | "additionalItems"
            | "additionalProperties"
            | "allOf"
            | "anyOf"
            | "definitions"
            | "dependencies"
            | "enum"
            | "exclusiveMaximum"
            | "exclusiveMinimum"
            | "format"
            | "items"
            | "maxItems"
            | "maxLength"
            | "maxProperties"
            | "maximum"
            | "minItems"
            | "minLength"
            | "minProperties"
            | "minimum"
            | "multipleOf"
            | "not"
            | "oneOf"
            | "pattern"
            | "patternProperties"
            | "properties"
            | "required"
            | "uniqueItems" => 4,
            "const" | "contains" | "propertyNames" => 6,
            "else" | "if" | "then" => 7,
            "$recursiveRef"
            | "dependentRequired"
            | "dependentSchemas"
            | "maxContains"
            | "minContains"
            | "unevaluatedItems"
            | "unevaluatedProperties" => 2019,
            // `items` and `prefixItems` of an older draft have been renewed by now.
            "$dynamicRef" | "prefixItems" => return true,
            // Later passes write these; a schema that was lowered before has them already.
            "nullable" | "propertyOrdering" | LIFT => return true,
            _ => return false,
        };
        self >= Self(since)
    }
}

/// Says in the newest draft what an older one said otherwise.
fn renew(members: &mut Map<String, Value>) {
    // The older draft does not know it, and it would mean something from now on.
    members.take_out("prefixItems");
    let rest = members.take_out("additionalItems");
    if members.find("items").is_some_and(Value::is_array) {
        if let Some(first) = members.take_out("items") {
            members.put("prefixItems", first);
        }
        if let Some(rest) = rest {
            members.put("items", rest);
        }
    }
    for (bound, exclusive) in [
        ("minimum", "exclusiveMinimum"),
        ("maximum", "exclusiveMaximum"),
    ] {
        if let Some(Value::Bool(flag)) = members.find(exclusive) {
            let flag = *flag;
            members.take_out(exclusive);
            if flag && let Some(value) = members.take_out(bound) {
                members.put(exclusive, value);
            }
        }
    }
}

/// A title speaks where there is no description.
fn title(members: &mut Map<String, Value>) {
    let text = |keyword: &str| members.find(keyword).and_then(Value::as_str).map(str::trim);
    let title = text("title").filter(|title| !title.is_empty());
    if let (Some(title), None | Some("")) = (title, text("description")) {
        let title = Value::from(title);
        members.put("description", title);
    }
}

/// How text is encoded, and what it is then.
fn content(members: &mut Map<String, Value>, spot: &mut Spot<'_>, edition: Edition) {
    let text = |keyword: &str| members.find(keyword).and_then(Value::as_str);
    let words = match (text("contentMediaType"), text("contentEncoding")) {
        (Some(kind), Some(encoding)) => format!("{kind} as {encoding} text"),
        (Some(one), None) | (None, Some(one)) => format!("{one} text"),
        (None, None) => return,
    };
    describe(members, &words);
    // Draft 6 and 7 assert what the newer ones only tell.
    let severity = match edition {
        Edition(6 | 7) => Severity::Wider,
        _ => Severity::Note,
    };
    for keyword in ["contentMediaType", "contentEncoding"] {
        if members.has(keyword) {
            spot.lose(keyword, severity, Some(words.clone()));
        }
    }
}

fn default(members: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    if let Some(value) = members.find("default") {
        let words = format!("default: {}", shown(value));
        describe(members, &words);
        spot.lose("default", Severity::Note, Some(words));
    }
}

fn shown(value: &Value) -> String {
    let mut text = value.to_string();
    if let Some((end, _)) = text.char_indices().nth(SHOWN) {
        text.truncate(end);
        text.push('…');
    }
    text
}
