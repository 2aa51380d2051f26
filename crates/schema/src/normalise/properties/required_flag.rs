//! Moves the required flag of a property to the `required` list of its object.

use std::collections::HashSet;

use serde_json::Value;

use crate::lower::KeywordLookup;
use crate::normalise::{
    JsonObject, NormaliseResult, Normaliser, keyword_values::parse_bool, required_list::is_property,
};

/// Whether a property is required, as written on the property itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequiredFlag {
    required: bool,
    /// How it was written, for notes.
    source: String,
}

impl RequiredFlag {
    /// Splits `string (optional)` and `str, optional`.
    pub(crate) fn split_type_text(text: &str) -> (&str, Option<Self>) {
        let text = text.trim();
        let parted = match text.strip_suffix(')') {
            Some(open) => open.rsplit_once('('),
            None => text.rsplit_once(','),
        };
        let Some((word, tail)) = parted else {
            return (text, None);
        };
        let required = match tail.trim() {
            tail if tail.eq_ignore_ascii_case("required") => true,
            tail if tail.eq_ignore_ascii_case("optional") => false,
            _ => return (text, None),
        };
        let source = format!("type {}", Value::from(text));
        (word.trim_end(), Some(Self { required, source }))
    }

    /// Removes the flag from a schema: draft 3's `required: true`, or `optional: true`.
    pub(crate) fn extract(
        normaliser: &Normaliser,
        members: &mut JsonObject,
        by_type: Option<Self>,
    ) -> NormaliseResult<Option<Self>> {
        let mut found = by_type;
        for keyword in ["required", "optional"] {
            let Some(given) = members.get(keyword) else {
                continue;
            };
            let names_property = given.as_str().is_some_and(|name| is_property(members, name));
            let text = Some(given).filter(|_| !names_property);
            let text = text.and_then(|text| parse_bool(text)?.as_bool());
            let Some(value) = given.as_bool().or(text) else {
                continue;
            };
            let source = format!("`{keyword}: {given}`");
            let flag = Self { required: value == (keyword == "required"), source };
            members.shift_remove(keyword);
            match &found {
                Some(other) if other.required != flag.required => {
                    let message = format!("{} contradicts {}", flag.source, other.source);
                    return Err(normaliser.error(message));
                }
                _ => found = Some(flag),
            }
        }
        Ok(found)
    }

    /// Adds a note that the flag has no effect on a schema that is not a property.
    pub(crate) fn note_dropped(self, normaliser: &mut Normaliser) {
        normaliser.add_fix(format!("{} dropped: it is no property", self.source));
    }

    fn fix_message(&self, listed: bool) -> String {
        let outcome = match (self.required, listed) {
            (true, _) => "read as required by the object",
            (false, true) => "read as not required, though the object requires it",
            (false, false) => "read as not required",
        };
        format!("{} {outcome}", self.source)
    }
}

/// Applies the flags of the properties to the `required` list of their object.
pub(crate) fn apply_required_flags(
    normaliser: &mut Normaliser,
    members: &mut JsonObject,
    flags: Vec<(String, RequiredFlag)>,
) {
    if flags.is_empty() {
        return;
    }
    let mut names: Vec<String> = members.required_names().map(str::to_owned).collect();
    let mut listed: HashSet<String> = names.iter().cloned().collect();
    let before = listed.len();
    for (name, flag) in flags {
        let message = flag.fix_message(listed.contains(&name));
        normaliser.with_path_segment("properties", |normaliser| {
            normaliser.with_path_segment(&name, |normaliser| normaliser.add_fix(message));
        });
        if !flag.required {
            listed.remove(&name);
        } else if listed.insert(name.clone()) {
            names.push(name);
        }
    }
    names.retain(|name| listed.contains(name));
    if !names.is_empty() {
        members.insert("required".to_owned(), Value::from(names));
    } else if before > 0 {
        members.shift_remove("required");
    }
}
