//! A schema on its way to a dialect, and how passes walk it.

use serde_json::{Map, Value};

use super::{
    Impossible, Loss, Severity,
    lift::{LIFT, strip},
};
use crate::{Dialect, dialect::Rules};

/// No schema that anybody wrote comes near it; references that multiply do.
pub(crate) const MOST_NODES: usize = 20_000;

/// Passes call themselves for every level; values that deep are refused where a request is checked, too.
const MOST_DEPTH: usize = 128;

/// What the passes work on.
pub(crate) struct Draft {
    pub(crate) schema: Value,
    pub(crate) spot: Spot,
    /// What the root tells where the dialect has no room for it there.
    pub(crate) remark: Option<String>,
}

/// Where a pass is, and what it reports to.
pub(crate) struct Spot {
    /// The JSON pointer of the schema being visited.
    pub(crate) path: String,
    pub(crate) rules: &'static Rules,
    losses: Vec<Loss>,
}

impl Spot {
    /// Reports something given up here.
    pub(crate) fn lose(&mut self, keyword: &str, severity: Severity, spilled: Option<String>) {
        if severity != Severity::Note && self.path.split('/').any(turns_around) {
            // To admit more in what is negated is to admit less, and the other way round.
            let other = match severity {
                Severity::Wider => Severity::Narrower,
                _ => Severity::Wider,
            };
            self.report(keyword, other, None);
        }
        self.report(keyword, severity, spilled);
    }

    fn report(&mut self, keyword: &str, severity: Severity, spilled: Option<String>) {
        let loss = Loss {
            path: self.path.clone(),
            keyword: keyword.to_owned(),
            severity,
            spilled,
        };
        // Passes that meet one schema twice, as a branch copied into several, report once.
        if !self.losses.contains(&loss) {
            self.losses.push(loss);
        }
    }

    /// Gives up a keyword whose meaning the description takes over: more is admitted than before.
    pub(crate) fn spill(&mut self, schema: &mut Map<String, Value>, keyword: &str, words: String) {
        describe(schema, &words);
        self.lose(keyword, Severity::Wider, Some(words));
    }

    /// Runs `visit` one step below.
    pub(crate) fn below<T>(
        &mut self,
        keyword: &str,
        name: Option<&str>,
        visit: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let back = self.path.len();
        push_step(&mut self.path, keyword, name);
        let out = visit(self);
        self.path.truncate(back);
        out
    }
}

impl Draft {
    pub(crate) fn new(canonical: &Value, dialect: Dialect) -> Result<Self, Impossible> {
        let Marked(marked) = bounded(canonical)?;
        let mut draft = Self {
            schema: canonical.clone(),
            spot: Spot {
                path: String::new(),
                rules: dialect.rules(),
                losses: Vec::new(),
            },
            remark: None,
        };
        if marked {
            strip(&mut draft.schema);
        }
        Ok(draft)
    }

    /// Refuses a draft that has grown beyond all reason.
    pub(crate) fn bounded(&self) -> Result<(), Impossible> {
        bounded(&self.schema).map(drop)
    }

    pub(crate) fn finish(self) -> (Value, Vec<Loss>, Option<String>) {
        (self.schema, self.spot.losses, self.remark)
    }

    /// Visits every schema, each before the schemas in it; what a visit puts into a schema is visited too.
    pub(crate) fn walk(&mut self, mut visit: impl FnMut(&mut Value, &mut Spot)) {
        down(&mut self.schema, &mut self.spot, &mut visit);
    }

    /// Visits every schema, each after the schemas in it.
    pub(crate) fn walk_up(&mut self, mut visit: impl FnMut(&mut Value, &mut Spot)) {
        up(&mut self.schema, &mut self.spot, &mut visit);
    }
}

/// Goes one step further down a JSON pointer.
pub(crate) fn push_step(path: &mut String, keyword: &str, name: Option<&str>) {
    path.push('/');
    path.push_str(keyword);
    if let Some(name) = name {
        path.push('/');
        if name.contains(['~', '/']) {
            path.push_str(&name.replace('~', "~0").replace('/', "~1"));
        } else {
            path.push_str(name);
        }
    }
}

pub(crate) fn too_large() -> Impossible {
    Impossible::new(
        "",
        format!("the schema, its references written out, has more than {MOST_NODES} parts"),
    )
}

fn too_deep() -> Impossible {
    Impossible::new(
        "",
        format!("the schema, its references written out, is more than {MOST_DEPTH} levels deep"),
    )
}

fn bounded(schema: &Value) -> Result<Marked, Impossible> {
    let mut left = MOST_NODES;
    let mut marked = false;
    match fits(schema, MOST_DEPTH, &mut left, &mut marked) {
        Fit::Yes => Ok(Marked(marked)),
        Fit::TooDeep => Err(too_deep()),
        Fit::TooLarge => Err(too_large()),
    }
}

/// Whether a schema brings along marks that only passes may leave.
struct Marked(bool);

#[derive(PartialEq)]
enum Fit {
    Yes,
    TooDeep,
    TooLarge,
}

fn fits(value: &Value, deeper: usize, left: &mut usize, marked: &mut bool) -> Fit {
    let Some(rest) = left.checked_sub(1) else {
        return Fit::TooLarge;
    };
    *left = rest;
    let Some(deeper) = deeper.checked_sub(1) else {
        return Fit::TooDeep;
    };
    let parts: &mut dyn Iterator<Item = &Value> = match value {
        Value::Array(elements) => &mut elements.iter(),
        Value::Object(members) => {
            *marked |= members.keys().any(|keyword| keyword == LIFT);
            &mut members.values()
        }
        _ => return Fit::Yes,
    };
    parts
        .map(|part| fits(part, deeper, left, marked))
        .find(|fit| *fit != Fit::Yes)
        .unwrap_or(Fit::Yes)
}

fn down(schema: &mut Value, spot: &mut Spot, visit: &mut impl FnMut(&mut Value, &mut Spot)) {
    visit(schema, spot);
    each_part(schema, spot, &mut |part, spot| down(part, spot, visit));
}

pub(crate) fn up(
    schema: &mut Value,
    spot: &mut Spot,
    visit: &mut impl FnMut(&mut Value, &mut Spot),
) {
    each_part(schema, spot, &mut |part, spot| up(part, spot, visit));
    visit(schema, spot);
}

/// Visits the schemas directly in this one.
pub(crate) fn each_part(
    schema: &mut Value,
    spot: &mut Spot,
    visit: &mut dyn FnMut(&mut Value, &mut Spot),
) {
    let Value::Object(members) = schema else {
        return;
    };
    for (keyword, value) in members {
        // Most keywords hold a text or a number, and no schema.
        if !matches!(value, Value::Object(_) | Value::Array(_) | Value::Bool(_)) {
            continue;
        }
        match (parts(keyword), value) {
            (Parts::One | Parts::OneOrMany, value @ (Value::Object(_) | Value::Bool(_))) => {
                spot.below(keyword, None, |spot| visit(value, spot));
            }
            (Parts::Many | Parts::OneOrMany, Value::Array(parts)) => {
                for (at, part) in parts.iter_mut().enumerate() {
                    spot.below(keyword, Some(&at.to_string()), |spot| visit(part, spot));
                }
            }
            (Parts::Named, Value::Object(parts)) => {
                for (name, part) in parts {
                    spot.below(keyword, Some(name), |spot| visit(part, spot));
                }
            }
            _ => {}
        }
    }
}

/// What stands below a keyword.
pub(crate) enum Parts {
    One,
    /// `items`, which was a list in older drafts.
    OneOrMany,
    Many,
    Named,
    None,
}

pub(crate) fn parts(keyword: &str) -> Parts {
    match keyword {
        "items" => Parts::OneOrMany,
        "additionalItems"
        | "additionalProperties"
        | "contains"
        | "contentSchema"
        | "else"
        | "if"
        | "not"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Parts::One,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Parts::Many,
        "$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties" => {
            Parts::Named
        }
        _ => Parts::None,
    }
}

/// Whether what is said below a keyword may count the other way.
fn turns_around(keyword: &str) -> bool {
    matches!(keyword, "not" | "if" | "oneOf" | "contains")
}

/// Adds words to a schema's description.
pub(crate) fn describe(schema: &mut Map<String, Value>, words: &str) {
    let text = match schema.get("description").and_then(Value::as_str) {
        Some(told) if told.contains(words) => return,
        Some(told) if !told.trim().is_empty() => format!("{} ({words})", told.trim_end()),
        _ => {
            let mut letters = words.chars();
            let first = letters.next().into_iter().flat_map(char::to_uppercase);
            first.chain(letters).collect()
        }
    };
    schema.insert("description".to_owned(), Value::String(text));
}
