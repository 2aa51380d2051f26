//! A form and what is known in, an answer in that form out; or why there is none.

use serde_json::Value;
use toolwright_chat::ResponseFormat;
use toolwright_core::schema::Tape;

use crate::fill::{Setting, fill};
use crate::recall::Known;
use crate::say;
use crate::shape::{Param, Shape, value};
use crate::words::Text;

/// How many results are read for values.
const RESULTS: usize = 4;

/// Answers in a form; in plain words when a value is missing, because none is made up.
pub(crate) fn answer(form: &ResponseFormat, question: &str, known: &Known) -> String {
    let root = value(&form.name, form.schema.as_value());
    let (value, missing) = match &root.shape {
        Shape::Object(fields) => object(fields, question, known),
        _ => (single(&root, question, known), vec![form.name.clone()]),
    };
    match value {
        Some(value) if form.schema.is_valid(Tape::from_value(&value).root()) => value.to_string(),
        Some(_) => say::no_form(&form.name, &[], known),
        None => say::no_form(&form.name, &missing, known),
    }
}

/// Fills fields from results by name, then from their texts, then from the question.
fn object(fields: &[Param], question: &str, known: &Known) -> (Option<Value>, Vec<String>) {
    let mut found = serde_json::Map::new();
    let sources = known.texts.iter().take(RESULTS).map(String::as_str);
    let sources: Vec<&str> = sources.chain([question]).collect();
    for field in fields {
        let told = known.field(field).or_else(|| known.argument(field));
        if let Some(told) = told.filter(|told| is_like(field, told)) {
            found.insert(field.name.clone(), told.clone());
        }
    }
    for source in sources {
        let open: Vec<Param> = fields
            .iter()
            .filter(|field| !found.contains_key(&field.name))
            .cloned()
            .collect();
        let filled = fill(&open, &Text::new(source), Setting::default());
        found.extend(filled.arguments);
    }
    let required = fields.iter().filter(|field| field.required);
    let missing = required.filter(|field| !found.contains_key(&field.name));
    let missing: Vec<String> = missing.map(|field| field.name.clone()).collect();
    // In the order of the form, whatever was found first.
    let ordered = fields
        .iter()
        .filter_map(|field| found.remove_entry(&field.name));
    let whole = Value::Object(ordered.collect());
    (missing.is_empty().then_some(whole), missing)
}

/// One value: the text of the newest result, or what can be read from it.
fn single(param: &Param, question: &str, known: &Known) -> Option<Value> {
    let newest = known.texts.first().map(String::as_str);
    if let (Shape::Text { .. }, Some(text)) = (&param.shape, newest) {
        return Some(text.into());
    }
    let source = newest.unwrap_or(question);
    let filled = fill(
        std::slice::from_ref(param),
        &Text::new(source),
        Setting::default(),
    );
    filled.arguments.into_iter().next().map(|(_, value)| value)
}

fn is_like(field: &Param, value: &Value) -> bool {
    match &field.shape {
        Shape::Flag => value.is_boolean(),
        Shape::Number { .. } => value.is_number(),
        Shape::Text { .. } => value.is_string(),
        Shape::Choice(options) => options.contains(value),
        Shape::List(_) => value.is_array(),
        Shape::Object(_) => value.is_object(),
        Shape::Other => false,
    }
}
