//! Introduces one mistake into a valid value.

use serde_json::{Map, Value, json};

use crate::{
    array::ArrayShape, constraints::ValueConstraints, number::NumberRange, rng::SeededRng,
    type_set::TypeSet,
};

/// Introduces one mistake, preferably one that violates the constraints.
pub(super) fn mutate(
    value: Value,
    constraints: &ValueConstraints<'_>,
    rng: &mut SeededRng,
) -> Value {
    let mut mistakes = Mutator { constraints, mutations: Vec::new() };
    match &value {
        Value::Object(members) => mistakes.mutate_members(members, rng),
        Value::Array(elements) => mistakes.mutate_elements(elements),
        Value::String(text) => mistakes.mutate_text(text),
        Value::Number(_) => mistakes.mutate_number(&value),
        Value::Bool(flag) if constraints.enum_lists().is_some() => {
            mistakes.mutations.push(json!(!flag))
        }
        Value::Bool(_) | Value::Null => {}
    }
    mistakes.change_type(&value, rng);
    let chosen = rng.below(mistakes.mutations.len());
    mistakes.mutations.into_iter().nth(chosen).unwrap_or(value)
}

struct Mutator<'r, 's> {
    constraints: &'r ValueConstraints<'s>,
    mutations: Vec<Value>,
}

impl Mutator<'_, '_> {
    /// The same value in another type, as models confuse them.
    fn change_type(&mut self, value: &Value, rng: &mut SeededRng) {
        let alike = match value {
            Value::String(text) => json!([text]),
            Value::Null => json!("null"),
            Value::Array(elements) => elements.first().cloned().unwrap_or_default(),
            other => json!(other.to_string()),
        };
        let others =
            [json!(null), json!(true), json!(7), json!(0.5), json!("text"), json!([]), json!({})];
        let options = self.constraints.enum_lists();
        let refused = |other: &&Value| {
            let fits = |options: &[&[Value]]| options.iter().all(|list| list.contains(other));
            !self.constraints.types.intersects(TypeSet::type_of(other))
                || !options.as_deref().is_none_or(fits)
        };
        let others: Vec<&Value> = others.iter().filter(refused).collect();
        let other = rng.pick(&others).map(|other| (*other).clone());
        self.mutations.extend(Some(alike).filter(|alike| refused(&alike)));
        self.mutations.extend(other);
    }

    fn mutate_text(&mut self, text: &str) {
        let Self { constraints, mutations: found } = self;
        let count = text.chars().count();
        let min = constraints.min_limit("minLength");
        if min > 0 {
            found.push(text.chars().take(min - 1).collect::<String>().into());
        }
        if let Some(max) = constraints.max_limit("maxLength").filter(|max| *max < 100_000) {
            let more = "x".repeat(max.saturating_sub(count) + 1);
            found.push(format!("{text}{more}").into());
        }
        let judged = ["enum", "const", "pattern", "format"];
        if judged.iter().any(|keyword| constraints.keyword_values(keyword).next().is_some()) {
            let mut shorter = text.to_owned();
            shorter.pop();
            let turned = if text.chars().any(char::is_lowercase) {
                text.to_uppercase()
            } else {
                text.to_lowercase()
            };
            found
                .extend([shorter, turned, format!("{text} "), format!("!{text}")].map(Value::from));
            found.retain(|spoiled| spoiled != text);
        }
    }

    fn mutate_number(&mut self, value: &Value) {
        let Self { constraints, mutations: found } = self;
        let bounds = NumberRange::of(constraints);
        for (end, away) in [(bounds.low, -1), (bounds.high, 1)] {
            let Some(end) = end else { continue };
            found.push(if end.exclusive {
                end.value.clone()
            } else {
                offset_number(end.value, away)
            });
        }
        if constraints.enum_lists().is_some() {
            found.push(offset_number(value, 1));
        }
        if let Some(step) =
            constraints.keyword_values("multipleOf").filter_map(Value::as_f64).next()
        {
            found.push(json!(value.as_f64().unwrap_or_default() + step / 2.0));
        }
        if !constraints.types.intersects(TypeSet::FRACTION) {
            found.push(json!(value.as_f64().unwrap_or_default() + 0.5));
        }
    }

    fn mutate_elements(&mut self, elements: &[Value]) {
        let Self { constraints, mutations: found } = self;
        let shape = ArrayShape::of(constraints);
        if let Some(fewer) = shape.min_length.checked_sub(1) {
            found.push(elements.iter().take(fewer).cloned().collect());
        }
        if let Some(first) = elements.first() {
            let mut more = elements.to_vec();
            more.resize(elements.len() + 1, first.clone());
            if shape.unique {
                found.push(more.clone().into());
            }
            if shape.max_length < 1_000 {
                more.resize(shape.max_length + 1, first.clone());
                found.push(more.into());
            }
        } else if shape.max_length == 0 {
            found.push(json!([null]));
        }
        if constraints.keyword_values("contains").next().is_some() {
            found.push(json!([]));
        }
    }

    fn mutate_members(&mut self, members: &Map<String, Value>, rng: &mut SeededRng) {
        let Self { constraints, mutations: found } = self;
        let required: Vec<&str> = constraints
            .keyword_strings("required")
            .filter(|name| members.contains_key(*name))
            .collect();
        if let Some(name) = rng.pick(&required) {
            let mut fewer = members.clone();
            fewer.shift_remove(*name);
            found.push(fewer.into());
        }
        let names: Vec<&String> = members.keys().collect();
        if let Some(name) = rng.pick(&names) {
            let misspelt = format!("{name}s");
            let renamed = members.iter().map(|(key, value)| {
                let key = if key == *name { &misspelt } else { key };
                (key.clone(), value.clone())
            });
            found.push(Value::Object(renamed.collect()));
        }
        let has_property_rules =
            ["additionalProperties", "unevaluatedProperties", "propertyNames", "maxProperties"];
        if has_property_rules
            .iter()
            .any(|keyword| constraints.keyword_values(keyword).next().is_some())
        {
            let mut more = members.clone();
            more.insert("unknown property".to_owned(), json!([null]));
            found.push(more.into());
        }
    }
}

/// A number with an offset.
fn offset_number(value: &Value, by: i64) -> Value {
    match value.as_i64().and_then(|number| number.checked_add(by)) {
        Some(number) => json!(number),
        None => json!(value.as_f64().unwrap_or_default() + by as f64),
    }
}
