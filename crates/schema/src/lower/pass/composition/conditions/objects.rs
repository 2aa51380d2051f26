//! Conditions on the properties of objects.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::sentences::{self, describe_value};
use super::{admits_anything, admits_nothing, as_count, describe_loss, take_unsupported};
use crate::lower::pass::applies_to::is_assertion;
use crate::lower::pass::describe::drop_keyword;
use crate::lower::{JsonObject, KeywordLookup, SchemaCursor};

/// More names are not written as properties, and more alternatives not as a union.
const MAX_NAMES: usize = 64;

/// What must hold if a property is present.
enum Dependency {
    Names(Vec<String>),
    Schema(Value),
}

impl Dependency {
    fn from_value(value: Value) -> Self {
        let only_names = |schema: &JsonObject| {
            schema.keys().all(|keyword| keyword == "required" || !is_assertion(keyword))
        };
        let list = match &value {
            Value::Object(schema) if only_names(schema) => schema.keyword("required"),
            other => Some(other),
        };
        match list.and_then(Value::as_array) {
            Some(list) => {
                let names = list.iter().filter_map(Value::as_str);
                Self::Names(names.map(str::to_owned).collect())
            }
            None => Self::Schema(value),
        }
    }

    /// The sentence for it, unless the required properties already imply it.
    fn describe(&self, name: &str, required: &HashSet<String>) -> Option<String> {
        match self {
            Self::Names(names) => {
                let missing = names.iter().map(String::as_str);
                let missing: Vec<&str> =
                    missing.filter(|other| *other != name && !required.contains(*other)).collect();
                let missing = (!missing.is_empty()).then(|| sentences::join_names(missing))?;
                Some(format!("if `{name}` is given, {missing} must be given too"))
            }
            Self::Schema(schema) if admits_anything(schema) => None,
            Self::Schema(schema) if admits_nothing(schema) => {
                Some(format!("`{name}` must not be given"))
            }
            Self::Schema(schema) => Some(format!(
                "if `{name}` is given, then {}",
                sentences::describe_requirement(schema)
            )),
        }
    }
}

/// `dependentRequired`, `dependentSchemas`, and `dependencies`, which is either.
pub(super) fn rewrite_dependencies(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    const KEYWORDS: [&str; 3] = ["dependentRequired", "dependentSchemas", "dependencies"];
    let mut dependencies: Vec<(&str, String, Dependency)> = Vec::new();
    for keyword in KEYWORDS {
        if let Some(Value::Object(given)) = take_unsupported(members, cursor, keyword) {
            let given = given.into_iter();
            dependencies
                .extend(given.map(|(name, value)| (keyword, name, Dependency::from_value(value))));
        }
    }
    if dependencies.is_empty() {
        return;
    }
    let required = require_dependencies(members, &dependencies);
    for keyword in KEYWORDS {
        let sentences = dependencies.iter().filter(|(from, ..)| *from == keyword);
        let sentences =
            sentences.filter_map(|(_, name, dependency)| dependency.describe(name, &required));
        describe_loss(members, cursor, keyword, sentences.collect());
    }
}

/// Adds the dependencies of required properties to `required`, transitively; returns all required names.
fn require_dependencies(
    members: &mut JsonObject,
    dependencies: &[(&str, String, Dependency)],
) -> HashSet<String> {
    let mut asked: HashMap<&str, Vec<&String>> = HashMap::new();
    for (_, name, dependency) in dependencies {
        if let Dependency::Names(names) = dependency {
            asked.entry(name).or_default().extend(names);
        }
    }
    let mut next: Vec<String> = members.required_names().map(str::to_owned).collect();
    let mut required: HashSet<String> = next.iter().cloned().collect();
    let mut added = Vec::new();
    while let Some(name) = next.pop() {
        for other in asked.remove(name.as_str()).into_iter().flatten() {
            if required.insert(other.clone()) {
                next.push(other.clone());
                added.push(Value::String(other.clone()));
            }
        }
    }
    if let (Some(Value::Array(list)), false) = (members.keyword_mut("required"), added.is_empty()) {
        list.append(&mut added);
    }
    required
}

/// `propertyNames`; returns true if a schema was copied to several names.
pub(super) fn rewrite_property_names(
    members: &mut JsonObject,
    cursor: &mut SchemaCursor<'_>,
) -> bool {
    let Some(rule) = take_unsupported(members, cursor, "propertyNames") else {
        return false;
    };
    let is_relevant = |(keyword, value): &(&String, &Value)| {
        // Every name is a string anyway.
        is_assertion(keyword) && !(*keyword == "type" && *value == "string")
    };
    let assertions = rule.as_object().into_iter().flatten().filter(is_relevant);
    let keywords: Vec<&str> = assertions.map(|(keyword, _)| keyword.as_str()).collect();
    let allowed: Option<Vec<&str>> =
        match (keywords.as_slice(), rule.keyword("enum"), rule.keyword("const")) {
            _ if admits_nothing(&rule) => Some(Vec::new()),
            ([], ..) => return false,
            (["enum"], Some(Value::Array(list)), _) => {
                Some(list.iter().filter_map(Value::as_str).collect())
            }
            (["const"], _, Some(only)) => Some(only.as_str().into_iter().collect()),
            _ => None,
        };
    if let Some(allowed) = allowed
        && allowed.len() <= MAX_NAMES
        && !members.has_keyword("patternProperties")
    {
        close_to_names(members, &allowed);
        return true;
    }
    let words = match (keywords.as_slice(), rule.keyword("pattern")) {
        (["pattern"], Some(Value::String(pattern))) => format!("property names match `{pattern}`"),
        _ => format!("the name of each property is {}", describe_value(&rule)),
    };
    cursor.move_to_description(members, "propertyNames", words);
    false
}

/// Closes an object to the allowed names, each with the schema that it had.
fn close_to_names(members: &mut JsonObject, allowed: &[&str]) {
    let rest = members.set_keyword("additionalProperties", Value::Bool(false));
    let mut properties = members.take_object("properties");
    // Declared names keep their order.
    properties.retain(|name, _| allowed.contains(&name.as_str()));
    if rest != Some(Value::Bool(false)) {
        let rest = rest.unwrap_or_else(|| json!({}));
        for name in allowed {
            properties.entry(*name).or_insert_with(|| rest.clone());
        }
    }
    members.set_keyword("properties", Value::Object(properties));
}

/// `patternProperties`: where other properties are limited, matching properties must stay valid.
pub(super) fn rewrite_pattern_properties(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    let Some(Value::Object(patterns)) = take_unsupported(members, cursor, "patternProperties")
    else {
        return;
    };
    let every = |pattern: &str| matches!(pattern, "" | "^" | ".*" | "^.*");
    if patterns.len() == 1
        && !members.has_keyword("properties")
        && patterns.keys().all(|pattern| every(pattern))
    {
        // No name remains that would be additional.
        members.remove_keyword("additionalProperties");
        for (_, subschema) in patterns {
            members.set_keyword("additionalProperties", subschema);
        }
        return;
    }
    let rest =
        members.keyword("additionalProperties").filter(|rest| !admits_anything(rest)).cloned();
    let closed = rest.as_ref().is_some_and(admits_nothing);
    if rest.is_none() && patterns.values().all(admits_anything)
        || closed && patterns.values().all(admits_nothing)
    {
        return;
    }
    let mut sentences: Vec<String> = patterns
        .iter()
        .map(|(pattern, subschema)| match admits_nothing(subschema) {
            true => format!("no property name matches `{pattern}`"),
            false if closed && patterns.len() == 1 || admits_anything(subschema) => {
                format!("property names match `{pattern}`")
            }
            false => format!(
                "each property whose name matches `{pattern}` is {}",
                describe_value(subschema)
            ),
        })
        .collect();
    if let Some(rest) = rest {
        if !closed {
            sentences.push(format!("each other property is {}", describe_value(&rest)));
        }
        let allowed = [rest].into_iter().chain(patterns.into_iter().map(|(_, allowed)| allowed));
        match any_of(allowed) {
            Some(rest) => members.set_keyword("additionalProperties", rest),
            None => members.remove_keyword("additionalProperties"),
        };
    }
    describe_loss(members, cursor, "patternProperties", sentences);
}

/// The union of several schemas; `None` if any value is valid.
pub(crate) fn any_of(subschemas: impl Iterator<Item = Value>) -> Option<Value> {
    let mut distinct: Vec<Value> = Vec::new();
    for subschema in subschemas.filter(|subschema| !admits_nothing(subschema)) {
        if admits_anything(&subschema) {
            return None;
        }
        if !distinct.contains(&subschema) {
            distinct.push(subschema);
        }
        if distinct.len() > MAX_NAMES {
            return None;
        }
    }
    match distinct.len() {
        0 => Some(Value::Bool(false)),
        1 => distinct.pop(),
        _ => Some(json!({"anyOf": distinct})),
    }
}

/// `minProperties` and `maxProperties`, unless other keywords imply them.
pub(super) fn describe_property_counts(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    let closed =
        members.is_false("additionalProperties") && !members.has_keyword("patternProperties");
    let max = members.object("properties").map_or(0, JsonObject::len) as u64;
    let min = members.required_names().count() as u64;
    for keyword in ["minProperties", "maxProperties"] {
        let Some(value) = take_unsupported(members, cursor, keyword) else {
            continue;
        };
        let implied = match (keyword, as_count(&value)) {
            (_, None) => true,
            ("minProperties", Some(bound)) => bound <= min,
            (_, Some(bound)) => closed && max <= bound,
        };
        if !implied {
            drop_keyword(members, cursor, keyword, &value);
        }
    }
}
