//! A schema on its way to a dialect, and how passes walk it.

use serde_json::{Map, Value};

use super::{
    Impossible, Lookup, LookupMut, Loss, Part, Path, Seen, Severity, lift::strip, look::Look,
};
use crate::{Dialect, dialect::Rules};

/// What the passes work on.
pub(crate) struct Draft {
    pub(crate) schema: Value,
    pub(crate) rules: &'static Rules,
    losses: Vec<Loss>,
    /// What the root tells where the dialect has no room for it there.
    pub(crate) remark: Option<String>,
    /// What occurs in the schema, until a pass has changed that.
    seen: Option<Seen>,
}

/// Where a pass is, and what it reports to.
pub(crate) struct Spot<'p> {
    /// The place of the schema being visited.
    pub(crate) path: Path<'p>,
    pub(crate) rules: &'static Rules,
    losses: &'p mut Vec<Loss>,
}

impl Spot<'_> {
    /// Reports something given up here.
    pub(crate) fn lose(&mut self, keyword: &str, severity: Severity, spilled: Option<String>) {
        let path = self.path.pointer();
        if severity != Severity::Note && path.split('/').any(turns_around) {
            // To admit more in what is negated is to admit less, and the other way round.
            let other = match severity {
                Severity::Wider => Severity::Narrower,
                _ => Severity::Wider,
            };
            self.report(path.clone(), keyword, other, None);
        }
        self.report(path, keyword, severity, spilled);
    }

    fn report(&mut self, path: String, keyword: &str, severity: Severity, spilled: Option<String>) {
        let loss = Loss {
            path,
            keyword: keyword.to_owned(),
            severity,
            spilled,
        };
        // Passes that meet one schema twice, as a branch copied into several, report once.
        if !self.losses.contains(&loss) {
            self.losses.push(loss);
        }
    }

    /// Reports a closed object that becomes an open one.
    pub(crate) fn lose_closing(&mut self, keyword: &str) {
        let path = self.path.pointer();
        // What a definition means depends on where it is referred to.
        let is_definition = path.starts_with("/$defs/");
        match is_definition || path.split('/').any(turns_around) {
            // There, an open object can make others invalid.
            true => self.lose(keyword, Severity::Wider, None),
            false => self.report(path, keyword, Severity::Note, None),
        }
    }

    /// Gives up a keyword whose meaning the description takes over: more is admitted than before.
    pub(crate) fn spill(&mut self, schema: &mut Map<String, Value>, keyword: &str, words: String) {
        describe(schema, &words);
        self.lose(keyword, Severity::Wider, Some(words));
    }

    /// The same report, one step below.
    pub(crate) fn below<'s>(&'s mut self, keyword: &'s str, part: Part<'s>) -> Spot<'s> {
        Spot {
            path: self.path.below(keyword, part),
            rules: self.rules,
            losses: self.losses,
        }
    }
}

impl Draft {
    pub(crate) fn new(canonical: &Value, dialect: Dialect) -> Result<Self, Impossible> {
        let look = Look::at(canonical)?;
        let mut draft = Self {
            schema: canonical.clone(),
            rules: dialect.rules(),
            losses: Vec::new(),
            remark: None,
            seen: Some(look.seen),
        };
        if look.marked {
            strip(&mut draft.schema);
        }
        Ok(draft)
    }

    /// The whole schema, and the spot it is at.
    pub(crate) fn root(&mut self) -> (&mut Value, Spot<'_>) {
        let spot = Spot {
            path: Path::ROOT,
            rules: self.rules,
            losses: &mut self.losses,
        };
        (&mut self.schema, spot)
    }

    /// Reports something given up at a place that no pass is at.
    pub(crate) fn lose_at(
        &mut self,
        pointer: &str,
        keyword: &str,
        severity: Severity,
        spilled: Option<String>,
    ) {
        let (_, mut spot) = self.root();
        spot.path = Path::Written(pointer);
        spot.lose(keyword, severity, spilled);
    }

    /// Refuses a draft that has grown beyond all reason.
    pub(crate) fn bounded(&mut self) -> Result<(), Impossible> {
        self.seen = Some(Look::at(&self.schema)?.seen);
        Ok(())
    }

    /// Whether any of these keywords occurs; a pass that concerns no others can leave the draft alone.
    pub(crate) fn mentions(&mut self, keywords: &[&str]) -> bool {
        self.has(Seen::of(keywords))
    }

    /// Whether anything of this kind occurs.
    pub(crate) fn has(&mut self, any: Seen) -> bool {
        let look = || Look::at(&self.schema).map_or(Seen::EVERYTHING, |look| look.seen);
        self.seen.get_or_insert_with(look).has(any)
    }

    /// Takes note of what a pass may have written for the first time.
    pub(crate) fn adds(&mut self, some: Seen) {
        if let Some(seen) = &mut self.seen {
            *seen = seen.or(some);
        }
    }

    /// Has the draft looked through again before the next pass is left out.
    pub(crate) fn changed(&mut self) {
        self.seen = None;
    }

    /// Whether what is said to occur is all that does.
    pub(crate) fn knows_itself(&self) -> bool {
        let (Some(seen), Ok(look)) = (self.seen, Look::at(&self.schema)) else {
            return true;
        };
        seen.covers(look.seen)
    }

    pub(crate) fn finish(self) -> (Value, Vec<Loss>, Option<String>) {
        (self.schema, self.losses, self.remark)
    }

    /// Visits every schema, each before the schemas in it; what a visit puts into a schema is visited too.
    pub(crate) fn walk(&mut self, mut visit: impl FnMut(&mut Value, &mut Spot<'_>)) {
        let (schema, mut spot) = self.root();
        down(schema, &mut spot, &mut visit);
    }

    /// Visits every schema, each after the schemas in it.
    pub(crate) fn walk_up(&mut self, mut visit: impl FnMut(&mut Value, &mut Spot<'_>)) {
        let (schema, mut spot) = self.root();
        up(schema, &mut spot, &mut visit);
    }
}

fn down(
    schema: &mut Value,
    spot: &mut Spot<'_>,
    visit: &mut impl FnMut(&mut Value, &mut Spot<'_>),
) {
    visit(schema, spot);
    each_part(schema, spot, &mut |part, spot| down(part, spot, visit));
}

pub(crate) fn up(
    schema: &mut Value,
    spot: &mut Spot<'_>,
    visit: &mut impl FnMut(&mut Value, &mut Spot<'_>),
) {
    each_part(schema, spot, &mut |part, spot| up(part, spot, visit));
    visit(schema, spot);
}

/// Visits the schemas directly in this one.
pub(crate) fn each_part(
    schema: &mut Value,
    spot: &mut Spot<'_>,
    visit: &mut impl FnMut(&mut Value, &mut Spot<'_>),
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
                visit(value, &mut spot.below(keyword, Part::Only));
            }
            (Parts::Many | Parts::OneOrMany, Value::Array(parts)) => {
                for (at, part) in parts.iter_mut().enumerate() {
                    visit(part, &mut spot.below(keyword, Part::At(at)));
                }
            }
            (Parts::Named, Value::Object(parts)) => {
                for (name, part) in parts {
                    visit(part, &mut spot.below(keyword, Part::Named(name)));
                }
            }
            _ => {}
        }
    }
}

/// What stands below a keyword.
#[derive(PartialEq)]
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
        // By far the most frequent.
        "properties" => Parts::Named,
        "enum" | "required" => Parts::None,
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
        "$defs" | "definitions" | "dependentSchemas" | "patternProperties" => Parts::Named,
        _ => Parts::None,
    }
}

/// Whether what is said below a keyword may count the other way.
fn turns_around(keyword: &str) -> bool {
    matches!(keyword, "not" | "if" | "oneOf" | "contains")
}

/// Adds words to a schema's description.
pub(crate) fn describe(schema: &mut Map<String, Value>, words: &str) {
    let text = match schema.find("description").and_then(Value::as_str) {
        Some(told) if told.contains(words) => return,
        Some(told) if !told.trim().is_empty() => format!("{} ({words})", told.trim_end()),
        _ => {
            let mut letters = words.chars();
            let first = letters.next().into_iter().flat_map(char::to_uppercase);
            first.chain(letters).collect()
        }
    };
    schema.put("description", Value::String(text));
}
