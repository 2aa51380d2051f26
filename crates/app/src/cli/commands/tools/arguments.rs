//! Tool arguments as they are written on the command line.

use std::io::{self, IsTerminal as _};

use serde_json::{Map, Value};
use toolwright_core::schema::coerce;
use toolwright_core::{Arguments, ToolSpec};

use crate::cli::cli_error::CliError;
use crate::cli::terminal::input::read_stdin;

/// Parses `key=value …` pairs, one JSON object, or `-` for JSON from stdin.
pub(crate) fn parse_arguments(
    arguments: &[String],
    spec: &ToolSpec,
) -> Result<Arguments, CliError> {
    match arguments {
        [only] if only == "-" => {
            if io::stdin().is_terminal() {
                eprintln!("reading JSON from stdin; end it with Ctrl-D");
            }
            Ok(Arguments::from(read_stdin()?))
        }
        [only] if only.trim_start().starts_with('{') => Ok(Arguments::from(only.as_str())),
        pairs => parse_pairs(pairs, spec),
    }
}

/// Builds an object from `key=value` pairs and converts the values to the types in the schema; a repeated key makes a list.
fn parse_pairs(pairs: &[String], spec: &ToolSpec) -> Result<Arguments, CliError> {
    let mut object = Map::new();
    for pair in pairs {
        let Some((key, value)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            return Err(CliError::usage(format!(
                "`{pair}` is no argument: write key=value, one JSON object, or `-` for stdin"
            )));
        };
        let value = Value::from(value);
        match object.get_mut(key) {
            None => drop(object.insert(key.to_owned(), value)),
            Some(Value::Array(values)) => values.push(value),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }
    let mut arguments = Value::Object(object);
    coerce(&mut arguments, &spec.input);
    Ok(Arguments::from(arguments))
}

/// Splits at white space, except inside of quotes; a JSON object is one word.
pub(crate) fn split_words(text: &str) -> Result<Vec<String>, String> {
    if text.starts_with('{') {
        return Ok(vec![text.to_owned()]);
    }
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in text.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    match quote {
        Some(open) => Err(format!("a quote is not closed: {open}")),
        None => Ok(words),
    }
}
