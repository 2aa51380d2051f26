//! An input schema in, parameters out: what kind of value each wants, and how to recognise one.

use std::collections::HashSet;

use serde_json::{Map, Value};
use toolwright_core::schema::Schema;

use crate::meaning::Meaning;
use crate::words::{head, parts};

mod told;

use told::Quoted;

/// How many parameters of a tool are read, and how many options of a parameter.
const MOST: usize = 64;

/// How many subschemas are looked at; schemas may come from strangers.
const VISITED: usize = 512;

/// How deep objects and lists are read into.
const DEPTH: usize = 3;

/// How many bytes of a description are read.
const ABOUT: usize = 400;

/// One parameter, as far as a question can fill it.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub(crate) name: String,
    /// The stems of its name.
    pub(crate) words: Vec<String>,
    pub(crate) about: String,
    /// The stems of its description.
    pub(crate) hints: Vec<String>,
    pub(crate) required: bool,
    pub(crate) default: Option<Value>,
    pub(crate) shape: Shape,
    pub(crate) meaning: Meaning,
    /// What the schema says its text is, as `date`.
    pub(crate) format: Option<String>,
    /// What its author gives for examples.
    pub(crate) examples: Vec<String>,
}

/// What a value looks like.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// Yes or no.
    Flag,
    /// A number.
    Number {
        /// Without a fraction.
        whole: bool,
    },
    /// A text.
    Text {
        /// What its author demands besides, as a pattern.
        demand: Option<Schema>,
    },
    /// One of these.
    Choice(Vec<Value>),
    /// Any number of values.
    List(Box<Param>),
    /// Values by name.
    Object(Vec<Param>),
    /// Nothing that a question could fill.
    Other,
}

/// Reads the parameters of an object's schema: those it requires first, else in their order.
pub(crate) fn params(schema: &Value) -> Vec<Param> {
    let mut reading = Reading {
        root: schema,
        left: VISITED,
    };
    reading.object(schema, DEPTH)
}

/// Reads a schema as the one value it wants.
pub(crate) fn value(name: &str, schema: &Value) -> Param {
    let mut reading = Reading {
        root: schema,
        left: VISITED,
    };
    reading.param(name, schema, true, DEPTH)
}

/// Returns the options that a description lists, and no examples.
pub(crate) fn told_options(about: &str) -> Vec<String> {
    Quoted::of(about).options
}

/// Returns the options that a schema lists, itself or where it refers to.
pub(crate) fn listed_options<'s>(root: &'s Value, schema: &'s Value) -> Vec<&'s str> {
    let reading = Reading { root, left: 8 }.resolved(schema);
    match reading.get("oneOf").and_then(Value::as_array) {
        Some(branches) => {
            let constants = branches.iter().take(MOST).filter_map(|it| it.get("const"));
            constants.filter_map(Value::as_str).collect()
        }
        None => strings(reading.get("enum")).take(MOST).collect(),
    }
}

struct Reading<'s> {
    root: &'s Value,
    left: usize,
}

impl<'s> Reading<'s> {
    fn object(&mut self, schema: &'s Value, depth: usize) -> Vec<Param> {
        let required: HashSet<&str> = strings(schema.get("required")).collect();
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return Vec::new();
        };
        let is_required = |name: &str| required.contains(name);
        let first = properties.iter().filter(|(name, _)| is_required(name));
        let then = properties.iter().filter(|(name, _)| !is_required(name));
        first
            .chain(then)
            .take(MOST)
            .map(|(name, schema)| self.param(name, schema, is_required(name), depth))
            .collect()
    }

    fn param(&mut self, name: &str, schema: &'s Value, required: bool, depth: usize) -> Param {
        let about = schema.get("description").and_then(Value::as_str);
        // Strict modes require everything: null is how something is left out there.
        let absent = is_nullable(schema).then_some(Value::Null);
        let schema = self.resolved(schema);
        let about = about.or_else(|| schema.get("description")?.as_str());
        let about = head(about.unwrap_or_default(), ABOUT);
        let quoted = Quoted::of(about);
        let words = parts(name);
        let mut shape = self.shape(name, schema, depth);
        if let Shape::Text { .. } = &shape
            && quoted.options.len() > 1
        {
            shape = Shape::Choice(quoted.options.into_iter().map(Value::from).collect());
        }
        let hints = parts(about);
        let mut examples = quoted.examples;
        let given = schema.get("examples").or_else(|| schema.get("example"));
        examples.extend(strings(given).map(str::to_owned));
        let format = schema.get("format").and_then(Value::as_str);
        Param {
            meaning: Meaning::of(format, &words, &hints, &examples, &shape),
            format: format.map(str::to_owned),
            name: name.to_owned(),
            about: about.to_owned(),
            required,
            default: schema
                .get("default")
                .filter(|it| !it.is_null())
                .cloned()
                .or(absent),
            words,
            hints,
            shape,
            examples,
        }
    }

    fn shape(&mut self, name: &str, schema: &'s Value, depth: usize) -> Shape {
        if let Some(only) = schema.get("const") {
            return Shape::Choice(vec![only.clone()]);
        }
        if let Some(options) = schema.get("enum").and_then(Value::as_array) {
            return choice(options.iter().take(MOST));
        }
        let branches = schema.get("oneOf").or_else(|| schema.get("anyOf"));
        if let Some(branches) = branches.and_then(Value::as_array) {
            let constants = branches.iter().map(|branch| branch.get("const"));
            let constants: Option<Vec<&Value>> = constants.take(MOST).collect();
            return constants.map_or(Shape::Other, |options| choice(options.into_iter()));
        }
        match kind(schema) {
            "boolean" => Shape::Flag,
            "integer" => Shape::Number { whole: true },
            "number" => Shape::Number { whole: false },
            "string" => text(schema),
            "array" if depth > 0 => match schema.get("items") {
                Some(items) => Shape::List(Box::new(self.param(name, items, true, depth - 1))),
                None => Shape::Other,
            },
            "object" if depth > 0 => match self.object(schema, depth - 1) {
                fields if fields.is_empty() => Shape::Other,
                fields => Shape::Object(fields),
            },
            _ => Shape::Other,
        }
    }

    /// Follows references, and steps into what may only be null besides.
    fn resolved(&mut self, mut schema: &'s Value) -> &'s Value {
        loop {
            let Some(left) = self.left.checked_sub(1) else {
                return &Value::Null;
            };
            self.left = left;
            let next = match schema.get("$ref").and_then(Value::as_str) {
                Some(name) => name
                    .strip_prefix('#')
                    .and_then(|path| self.root.pointer(path)),
                None => only_branch(schema),
            };
            match next {
                Some(next) => schema = next,
                None => return schema,
            }
        }
    }
}

/// Returns the one alternative that is more than null.
fn only_branch(schema: &Value) -> Option<&Value> {
    let branches = ["anyOf", "oneOf", "allOf"]
        .into_iter()
        .find_map(|keyword| schema.get(keyword)?.as_array())?;
    let mut branches = branches
        .iter()
        .take(MOST)
        .filter(|branch| kind(branch) != "null");
    match (branches.next(), branches.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

fn is_nullable(schema: &Value) -> bool {
    let branches = schema.get("anyOf").or_else(|| schema.get("oneOf"));
    let mut branches = branches.and_then(Value::as_array).into_iter().flatten();
    let is_null = |schema: &Value| strings(schema.get("type")).any(|kind| kind == "null");
    is_null(schema) || branches.any(is_null)
}

fn kind(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(kinds) => strings(Some(kinds))
            .find(|kind| *kind != "null")
            .unwrap_or_default(),
        None => "",
    }
}

fn strings(list: Option<&Value>) -> impl Iterator<Item = &str> {
    let list = match list {
        Some(Value::Array(list)) => list.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    list.iter().take(MOST * 16).filter_map(Value::as_str)
}

fn choice<'v>(options: impl Iterator<Item = &'v Value>) -> Shape {
    let options: Vec<Value> = options.filter(|it| !it.is_null()).cloned().collect();
    if options.is_empty() {
        return Shape::Other;
    }
    Shape::Choice(options)
}

/// A pattern that lists its words is a choice; another one is asked about each candidate.
fn text(schema: &Value) -> Shape {
    let Some(pattern) = schema.get("pattern").and_then(Value::as_str) else {
        return Shape::Text { demand: None };
    };
    let bare = pattern.trim_start_matches('^').trim_end_matches('$');
    let bare = bare.trim_start_matches("(?:").trim_matches(['(', ')']);
    let words: Vec<&str> = bare.split('|').take(MOST).collect();
    let is_word =
        |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_');
    if words.len() > 1 && words.iter().all(is_word) {
        return Shape::Choice(words.into_iter().map(Value::from).collect());
    }
    let pattern = Value::from(pattern);
    let demand = Map::from_iter([("pattern".to_owned(), pattern)]);
    Shape::Text {
        demand: Schema::check(Value::Object(demand)).ok(),
    }
}
