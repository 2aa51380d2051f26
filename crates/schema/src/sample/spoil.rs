//! A good value in, the same value with one mistake out.

use serde_json::{Map, Value, json};

use super::{array::Shape, dice::Dice, kinds::Kinds, number::Bounds, rules::Rules};

/// Puts one mistake in, one that the rules are likely to notice if there is such.
pub(super) fn spoil(value: Value, rules: &Rules<'_>, dice: &mut Dice) -> Value {
    let mut mistakes = Mistakes {
        rules,
        found: Vec::new(),
    };
    match &value {
        Value::Object(members) => mistakes.members(members, dice),
        Value::Array(elements) => mistakes.elements(elements),
        Value::String(text) => mistakes.text(text),
        Value::Number(_) => mistakes.number(&value),
        Value::Bool(flag) if rules.options().is_some() => mistakes.found.push(json!(!flag)),
        Value::Bool(_) | Value::Null => {}
    }
    mistakes.kind(&value, dice);
    let chosen = dice.below(mistakes.found.len());
    mistakes.found.into_iter().nth(chosen).unwrap_or(value)
}

struct Mistakes<'r, 's> {
    rules: &'r Rules<'s>,
    found: Vec<Value>,
}

impl Mistakes<'_, '_> {
    /// The same in another kind, as models confuse them.
    fn kind(&mut self, value: &Value, dice: &mut Dice) {
        let alike = match value {
            Value::String(text) => json!([text]),
            Value::Null => json!("null"),
            Value::Array(elements) => elements.first().cloned().unwrap_or_default(),
            other => json!(other.to_string()),
        };
        let others = [
            json!(null),
            json!(true),
            json!(7),
            json!(0.5),
            json!("text"),
            json!([]),
            json!({}),
        ];
        let options = self.rules.options();
        let refused = |other: &&Value| {
            let fits = |options: &[&[Value]]| options.iter().all(|list| list.contains(other));
            !self.rules.kinds.has(Kinds::of(other)) || !options.as_deref().is_none_or(fits)
        };
        let others: Vec<&Value> = others.iter().filter(refused).collect();
        let other = dice.pick(&others).map(|other| (*other).clone());
        self.found
            .extend(Some(alike).filter(|alike| refused(&alike)));
        self.found.extend(other);
    }

    fn text(&mut self, text: &str) {
        let Self { rules, found } = self;
        let count = text.chars().count();
        let least = rules.least("minLength");
        if least > 0 {
            found.push(text.chars().take(least - 1).collect::<String>().into());
        }
        if let Some(most) = rules.most("maxLength").filter(|most| *most < 100_000) {
            let more = "x".repeat(most.saturating_sub(count) + 1);
            found.push(format!("{text}{more}").into());
        }
        let judged = ["enum", "const", "pattern", "format"];
        if judged
            .iter()
            .any(|keyword| rules.each(keyword).next().is_some())
        {
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

    fn number(&mut self, value: &Value) {
        let Self { rules, found } = self;
        let bounds = Bounds::of(rules);
        for (end, away) in [(bounds.low, -1), (bounds.high, 1)] {
            let Some(end) = end else { continue };
            found.push(if end.open {
                end.at.clone()
            } else {
                moved(end.at, away)
            });
        }
        if rules.options().is_some() {
            found.push(moved(value, 1));
        }
        if let Some(step) = rules.each("multipleOf").filter_map(Value::as_f64).next() {
            found.push(json!(value.as_f64().unwrap_or_default() + step / 2.0));
        }
        if !rules.kinds.has(Kinds::FRACTION) {
            found.push(json!(value.as_f64().unwrap_or_default() + 0.5));
        }
    }

    fn elements(&mut self, elements: &[Value]) {
        let Self { rules, found } = self;
        let shape = Shape::of(rules);
        if let Some(fewer) = shape.least.checked_sub(1) {
            found.push(elements.iter().take(fewer).cloned().collect());
        }
        if let Some(first) = elements.first() {
            let mut more = elements.to_vec();
            more.resize(elements.len() + 1, first.clone());
            if shape.unique {
                found.push(more.clone().into());
            }
            if shape.most < 1_000 {
                more.resize(shape.most + 1, first.clone());
                found.push(more.into());
            }
        } else if shape.most == 0 {
            found.push(json!([null]));
        }
        if rules.each("contains").next().is_some() {
            found.push(json!([]));
        }
    }

    fn members(&mut self, members: &Map<String, Value>, dice: &mut Dice) {
        let Self { rules, found } = self;
        let required: Vec<&str> = rules
            .listed("required")
            .filter(|name| members.contains_key(*name))
            .collect();
        if let Some(name) = dice.pick(&required) {
            let mut fewer = members.clone();
            fewer.shift_remove(*name);
            found.push(fewer.into());
        }
        let names: Vec<&String> = members.keys().collect();
        if let Some(name) = dice.pick(&names) {
            let misspelt = format!("{name}s");
            let renamed = members.iter().map(|(key, value)| {
                let key = if key == *name { &misspelt } else { key };
                (key.clone(), value.clone())
            });
            found.push(Value::Object(renamed.collect()));
        }
        let told = [
            "additionalProperties",
            "unevaluatedProperties",
            "propertyNames",
            "maxProperties",
        ];
        if told
            .iter()
            .any(|keyword| rules.each(keyword).next().is_some())
        {
            let mut more = members.clone();
            more.insert("unknown property".to_owned(), json!([null]));
            found.push(more.into());
        }
    }
}

/// A number one further up or down.
fn moved(value: &Value, by: i64) -> Value {
    match value.as_i64().and_then(|number| number.checked_add(by)) {
        Some(number) => json!(number),
        None => json!(value.as_f64().unwrap_or_default() + by as f64),
    }
}
