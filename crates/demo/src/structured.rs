//! Structured answers: JSON for a schema, filled from results and the question.

use serde_json::{Map, Value};
use toolwright_chat::ResponseFormat;
use toolwright_core::schema::Tape;

use crate::arguments::{Context, fill};
use crate::memory::{Memory, nearest};
use crate::params::{Param, params};
use crate::reply;
use crate::text::Text;

/// How many results are read for values.
const MAX_RESULTS: usize = 4;

/// Returns the answer as JSON text, or a sentence if a value is missing: none is made up.
pub(crate) fn answer(form: &ResponseFormat, question: &str, memory: &Memory) -> String {
    let fields = params(form.schema.as_value());
    let mut found = Map::new();
    for field in &fields {
        let value = nearest(&memory.fields, field).or_else(|| nearest(&memory.arguments, field));
        if let Some(value) = value.filter(|value| field.accepts(value)) {
            found.insert(field.name.clone(), value.clone());
        }
    }
    let results = memory.texts.iter().take(MAX_RESULTS).map(String::as_str);
    for source in results.chain([question]) {
        let open = fields.iter().filter(|field| !found.contains_key(&field.name));
        let open: Vec<Param> = open.cloned().collect();
        found.extend(fill(&open, &Text::new(source), Context::default()).arguments);
    }
    let missing = fields.iter().filter(|field| field.required && !found.contains_key(&field.name));
    let missing: Vec<&str> = missing.map(|field| field.name.as_str()).collect();
    if !missing.is_empty() {
        return reply::no_structured_answer(&form.name, &missing, memory);
    }
    let ordered = fields.iter().filter_map(|field| found.remove_entry(&field.name));
    let value: Value = ordered.collect();
    match form.schema.is_valid(Tape::from_value(&value).root()) {
        true => value.to_string(),
        false => reply::no_structured_answer(&form.name, &[], memory),
    }
}
