//! Structured answers: JSON for a schema, filled from results and the question.

use serde_json::{Map, Value};
use toolwright_chat::AnswerForm;
use toolwright_core::schema::Tape;

use crate::arguments::{Context, fill};
use crate::memory::Memory;
use crate::params::{Kind, Param, param};
use crate::reply;
use crate::text::Text;

/// How many results are read for values.
const MAX_RESULTS: usize = 4;

/// Returns the answer as JSON text, or a sentence if a value is missing: none is made up.
pub(crate) fn answer(form: &AnswerForm, question: &str, memory: &Memory) -> String {
    let root = param(&form.name, form.schema.as_value());
    let results = memory.texts.iter().take(MAX_RESULTS).map(String::as_str);
    let sources: Vec<&str> = results.chain([question]).collect();
    let answer = match root.kind {
        Kind::Object => object(&root.fields, &sources, memory),
        _ => single(root, &sources, memory).ok_or_else(|| vec![form.name.clone()]),
    };
    match answer {
        Ok(value) if form.schema.is_valid(Tape::of(&value).root()) => value.to_string(),
        Ok(_) => reply::no_structured_answer(&form.name, &[], memory),
        Err(missing) => reply::no_structured_answer(&form.name, &missing, memory),
    }
}

/// Fills fields by their names from earlier values, then from the sources; returns the missing ones otherwise.
fn object(fields: &[Param], sources: &[&str], memory: &Memory) -> Result<Value, Vec<String>> {
    let mut found = Map::new();
    for field in fields {
        let value = memory.field(field).or_else(|| memory.argument(field));
        if let Some(value) = value.filter(|value| field.accepts(value)) {
            found.insert(field.name.clone(), value.clone());
        }
    }
    for source in sources {
        let open = fields
            .iter()
            .filter(|field| !found.contains_key(&field.name));
        let open: Vec<Param> = open.cloned().collect();
        found.extend(fill(&open, &Text::new(source), Context::default()).arguments);
    }
    let is_missing = |field: &&Param| field.required && !found.contains_key(&field.name);
    let missing: Vec<String> = fields
        .iter()
        .filter(is_missing)
        .map(|field| field.name.clone())
        .collect();
    if !missing.is_empty() {
        return Err(missing);
    }
    let ordered = fields
        .iter()
        .filter_map(|field| found.remove_entry(&field.name));
    Ok(Value::Object(ordered.collect()))
}

/// Returns one value: the text of the newest result, or a value in it.
fn single(param: Param, sources: &[&str], memory: &Memory) -> Option<Value> {
    let newest = memory.texts.first().filter(|_| param.is_text());
    let read = || {
        fill(&[param], &Text::new(sources.first()?), Context::default())
            .arguments
            .into_iter()
            .next()
    };
    newest
        .map(|text| text.as_str().into())
        .or_else(|| read().map(|(_, value)| value))
}
