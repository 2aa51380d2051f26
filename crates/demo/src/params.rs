//! The parameters of an input schema: what kind of value each takes, and what the value means.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use serde_json::{Value, json};
use toolwright_core::schema::{Schema, Tape};
use toolwright_search::{stem, stems, words};

use crate::quantity::unit_named;
use crate::text::{head, is_in};

// Limits, because schemas may come from foreign servers.
const MAX_ITEMS: usize = 64;
const MAX_SUBSCHEMAS: usize = 512;
const MAX_DEPTH: usize = 3;
const MAX_DESCRIPTION: usize = 400;
const MAX_OPTION: usize = 32;

/// Words in names of parameters that do not distinguish one from another.
const UNSPECIFIC: &str = "id name number no code value to from";

/// One parameter, as far as a question can fill it.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub(crate) name: String,
    /// The words of its name in lower case, and their stems.
    pub(crate) words: Vec<String>,
    pub(crate) stems: Vec<String>,
    pub(crate) description: String,
    pub(crate) description_stems: Vec<String>,
    pub(crate) required: bool,
    pub(crate) default: Option<Value>,
    pub(crate) kind: Kind,
    pub(crate) meaning: Meaning,
    /// The schema's `format`, as `date`.
    pub(crate) format: Option<String>,
    pub(crate) examples: Vec<String>,
}

/// The type of a value.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Boolean,
    Number {
        integer: bool,
    },
    Text {
        /// A schema with only the pattern that the text must match.
        pattern: Option<Schema>,
    },
    Choice(Vec<Value>),
    List(Box<Param>),
    Object(Vec<Param>),
    /// Nothing that a question can fill.
    Other,
}

/// What a value stands for, which decides how it is recognised in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Place,
    Id,
    Url,
    Email,
    Path,
    Date,
    Time,
    Person,
    Unit,
    Language,
    /// Any text.
    Free,
}

/// The words of parameter names that show a meaning.
const NAMES: [(Meaning, &str); 11] = [
    (
        Meaning::Id,
        "id isbn sku code identifier reference uuid zip postcode",
    ),
    (Meaning::Url, "url uri link website webpage"),
    (Meaning::Email, "email mail"),
    (Meaning::Path, "path filename directory folder file dir"),
    (Meaning::Date, "date day deadline birthday due"),
    (Meaning::Time, "time hour"),
    (Meaning::Unit, "unit currency"),
    (Meaning::Language, "language lang locale"),
    (
        Meaning::Place,
        "city town country place location region state destination origin airport station capital departure arrival",
    ),
    (
        Meaning::Person,
        "author person customer member recipient guest assignee owner employee contact patient user username who attendee \
         sender reader",
    ),
    (
        Meaning::Free,
        "topic query text message content title subject question prompt reason note description body comment summary \
         keyword term search task name word phrase sentence item",
    ),
];

/// The words of parameter descriptions that show a meaning.
const DESCRIPTIONS: [(Meaning, &str); 6] = [
    (Meaning::Id, "number identifier id"),
    (Meaning::Place, "city town country"),
    (Meaning::Url, "url"),
    (Meaning::Path, "file directory folder"),
    (Meaning::Language, "language"),
    (Meaning::Email, "email"),
];

type Meanings = LazyLock<HashMap<String, Meaning>>;
static MEANING_OF_NAME: Meanings = LazyLock::new(|| by_stem(&NAMES));
static MEANING_OF_DESCRIPTION: Meanings = LazyLock::new(|| by_stem(&DESCRIPTIONS));

fn by_stem(table: &[(Meaning, &str)]) -> HashMap<String, Meaning> {
    let rows = table.iter();
    rows.flat_map(|(meaning, words)| words.split(' ').map(|word| (stem(word), *meaning)))
        .collect()
}

impl Meaning {
    /// Returns the meaning of a name: of its last word that has one, as a `member_id` is an id.
    pub(crate) fn of_name(stems: &[String]) -> Option<Self> {
        let known = |stem: &String| MEANING_OF_NAME.get(stem).copied();
        let specific = stems.iter().rev().filter(|stem| *stem != "name");
        specific
            .filter_map(known)
            .next()
            .or_else(|| stems.iter().find_map(known))
    }

    fn of(param: &Param) -> Self {
        match param.format.as_deref() {
            Some("uri" | "url" | "uri-reference") => return Self::Url,
            Some("email") => return Self::Email,
            Some("date" | "date-time") => return Self::Date,
            Some("time") => return Self::Time,
            Some("uuid") => return Self::Id,
            _ => {}
        }
        let is_unit = |option: &Value| option.as_str().and_then(unit_named).is_some();
        if matches!(&param.kind, Kind::Choice(options) if options.iter().all(is_unit)) {
            return Self::Unit;
        }
        let has_digit = |text: &String| text.bytes().any(|byte| byte.is_ascii_digit());
        let coded = !param.examples.is_empty() && param.examples.iter().all(has_digit);
        let described = || {
            let mut stems = param.description_stems.iter();
            stems.find_map(|stem| MEANING_OF_DESCRIPTION.get(stem).copied())
        };
        Self::of_name(&param.stems)
            .or(coded.then_some(Self::Id))
            .or_else(|| described().filter(|_| param.is_text()))
            .unwrap_or(Self::Free)
    }
}

impl Param {
    /// Returns true if the name contains one of these words, which are separated by spaces.
    pub(crate) fn has_word(&self, words: &str) -> bool {
        self.words.iter().any(|word| is_in(word, words))
    }

    /// Returns the stems of the name's words that distinguish it from other parameters.
    pub(crate) fn specific_stems(&self) -> impl Iterator<Item = &String> {
        let words = self.words.iter().zip(&self.stems);
        words.filter_map(|(word, stem)| (!is_in(word, UNSPECIFIC)).then_some(stem))
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Text { .. })
    }

    /// Returns a value of the parameter's type for this JSON value, if there is one.
    pub(crate) fn adopt(&self, value: &Value) -> Option<Value> {
        let adopted = match (&self.kind, value) {
            (Kind::Text { .. }, Value::Number(number)) if self.meaning == Meaning::Id => {
                number.to_string().into()
            }
            _ => value.clone(),
        };
        self.accepts(&adopted).then_some(adopted)
    }

    /// Returns true for a value of the parameter's type, which matches its pattern.
    pub(crate) fn accepts(&self, value: &Value) -> bool {
        match &self.kind {
            Kind::Boolean => value.is_boolean(),
            Kind::Number { integer } => value.is_number() && !(*integer && value.is_f64()),
            Kind::Text { pattern } => {
                let matches = |pattern: &Schema| pattern.is_valid(Tape::of(value).root());
                value.is_string() && pattern.as_ref().is_none_or(matches)
            }
            Kind::Choice(options) => options.contains(value),
            Kind::List(_) => value.is_array(),
            Kind::Object(_) => value.is_object(),
            Kind::Other => false,
        }
    }

    /// Returns the value of a required parameter that the schema alone determines.
    pub(crate) fn fallback(&self) -> Option<Value> {
        match &self.kind {
            _ if !self.required => None,
            _ if self.default.is_some() => self.default.clone(),
            Kind::Choice(options) if options.len() == 1 => options.first().cloned(),
            Kind::Object(fields) => {
                let fields = fields.iter().filter(|field| field.required);
                let values = fields.map(|field| Some((field.name.clone(), field.fallback()?)));
                values.collect::<Option<_>>().map(Value::Object)
            }
            _ => None,
        }
    }
}

/// Returns the parameters of an object schema, the required ones first.
pub(crate) fn params(schema: &Value) -> Vec<Param> {
    Reader::new(schema).object(schema, MAX_DEPTH)
}

/// Returns a schema as one required parameter.
pub(crate) fn param(name: &str, schema: &Value) -> Param {
    Reader::new(schema).param(name, schema, true, MAX_DEPTH)
}

struct Reader<'s> {
    root: &'s Value,
    budget: usize,
}

impl<'s> Reader<'s> {
    fn new(root: &'s Value) -> Self {
        let budget = MAX_SUBSCHEMAS;
        Self { root, budget }
    }

    fn object(&mut self, schema: &'s Value, depth: usize) -> Vec<Param> {
        let required: HashSet<&str> = strings(schema.get("required")).collect();
        let properties = schema.get("properties").and_then(Value::as_object);
        let properties = properties.into_iter().flatten();
        let (first, then): (Vec<_>, Vec<_>) =
            properties.partition(|(name, _)| required.contains(name.as_str()));
        let all = first.into_iter().chain(then).take(MAX_ITEMS);
        all.map(|(name, schema)| self.param(name, schema, required.contains(name.as_str()), depth))
            .collect()
    }

    fn param(&mut self, name: &str, schema: &'s Value, required: bool, depth: usize) -> Param {
        let outer = schema;
        let schema = self.resolve(schema);
        let description = [outer, schema]
            .into_iter()
            .find_map(|it| it.get("description")?.as_str());
        let description = head(description.unwrap_or_default(), MAX_DESCRIPTION);
        let (options, mut examples) = quoted_values(description);
        let mut kind = self.kind(name, schema, depth);
        if matches!(kind, Kind::Text { .. }) && options.len() > 1 {
            kind = Kind::Choice(options.into_iter().map(Value::from).collect());
        }
        let given = schema.get("examples").or_else(|| schema.get("example"));
        examples.extend(strings(given).map(str::to_owned));
        let default = schema.get("default").filter(|default| !default.is_null());
        let words = words(name);
        let mut param = Param {
            name: name.to_owned(),
            stems: words.iter().map(|word| stem(word)).collect(),
            words,
            description: description.to_owned(),
            description_stems: stems(description),
            required,
            // Strict modes require every property, and null stands for an omitted one.
            default: default
                .cloned()
                .or(is_nullable(outer).then_some(Value::Null)),
            kind,
            meaning: Meaning::Free,
            format: schema
                .get("format")
                .and_then(Value::as_str)
                .map(str::to_owned),
            examples,
        };
        param.meaning = Meaning::of(&param);
        param
    }

    fn kind(&mut self, name: &str, schema: &'s Value, depth: usize) -> Kind {
        let branches = schema.get("oneOf").or_else(|| schema.get("anyOf"));
        let options: Option<Vec<&Value>> = match (schema.get("const"), schema.get("enum")) {
            (Some(only), _) => Some(vec![only]),
            (None, Some(options)) => options.as_array().map(|options| options.iter().collect()),
            (None, None) => branches.and_then(Value::as_array).map(|branches| {
                let constants = branches.iter().map(|branch| branch.get("const"));
                constants.collect::<Option<_>>().unwrap_or_default()
            }),
        };
        if let Some(options) = options {
            let options = options.into_iter().filter(|option| !option.is_null());
            let options: Vec<Value> = options.take(MAX_ITEMS).cloned().collect();
            return if options.is_empty() {
                Kind::Other
            } else {
                Kind::Choice(options)
            };
        }
        match type_of(schema) {
            "boolean" => Kind::Boolean,
            "integer" => Kind::Number { integer: true },
            "number" => Kind::Number { integer: false },
            "string" => text(schema),
            "array" if depth > 0 => match schema.get("items") {
                Some(items) => Kind::List(Box::new(self.param(name, items, true, depth - 1))),
                None => Kind::Other,
            },
            "object" if depth > 0 => match self.object(schema, depth - 1) {
                fields if fields.is_empty() => Kind::Other,
                fields => Kind::Object(fields),
            },
            _ => Kind::Other,
        }
    }

    /// Follows references, and the only branch that is not null.
    fn resolve(&mut self, mut schema: &'s Value) -> &'s Value {
        while self.budget > 0 {
            self.budget -= 1;
            let reference = schema.get("$ref").and_then(Value::as_str);
            let next = match reference.and_then(|reference| reference.strip_prefix('#')) {
                Some(path) => self.root.pointer(path),
                None => only_branch(schema),
            };
            match next {
                Some(next) => schema = next,
                None => return schema,
            }
        }
        &Value::Null
    }
}

fn branches(schema: &Value) -> Option<&Vec<Value>> {
    let keywords = ["anyOf", "oneOf", "allOf"];
    keywords
        .into_iter()
        .find_map(|keyword| schema.get(keyword)?.as_array())
}

fn only_branch(schema: &Value) -> Option<&Value> {
    let all = branches(schema)?.iter().take(MAX_ITEMS);
    let mut branches = all.filter(|branch| type_of(branch) != "null");
    branches.next().filter(|_| branches.next().is_none())
}

fn is_nullable(schema: &Value) -> bool {
    let is_null = |schema: &Value| strings(schema.get("type")).any(|name| name == "null");
    is_null(schema) || branches(schema).into_iter().flatten().any(is_null)
}

/// Returns the schema's type: of several, the first that is not null.
fn type_of(schema: &Value) -> &str {
    let mut types = strings(schema.get("type"));
    let first = types.next().unwrap_or_default();
    types.find(|_| first == "null").unwrap_or(first)
}

/// Returns the strings of an array, or the only string.
fn strings(list: Option<&Value>) -> impl Iterator<Item = &str> {
    let list = match list {
        Some(Value::Array(list)) => list.as_slice(),
        other => other.map_or(&[][..], std::slice::from_ref),
    };
    list.iter().take(MAX_ITEMS * 16).filter_map(Value::as_str)
}

/// A text, or a choice where the pattern lists words: `^(red|green)$`.
fn text(schema: &Value) -> Kind {
    let Some(pattern) = schema.get("pattern").and_then(Value::as_str) else {
        return Kind::Text { pattern: None };
    };
    let bare = pattern.trim_start_matches('^').trim_end_matches('$');
    let bare = bare.trim_start_matches("(?:").trim_matches(['(', ')']);
    let words: Vec<&str> = bare.split('|').take(MAX_ITEMS).collect();
    let is_word = |word: &&str| {
        !word.is_empty()
            && word
                .chars()
                .all(|mark| mark.is_alphanumeric() || mark == '_')
    };
    if words.len() > 1 && words.iter().all(is_word) {
        return Kind::Choice(words.into_iter().map(Value::from).collect());
    }
    let pattern = Schema::check(json!({ "pattern": pattern })).ok();
    Kind::Text { pattern }
}

/// Returns what a description has in backticks: the first list of options, and the examples.
fn quoted_values(description: &str) -> (Vec<String>, Vec<String>) {
    let (mut lists, mut examples) = (vec![Vec::new()], Vec::new());
    let mut in_examples = false;
    for (at, piece) in description.split('`').enumerate() {
        if at % 2 == 0 {
            let lower = piece.to_lowercase();
            let introduces = ["example", "e.g", "such as", "like "]
                .iter()
                .any(|it| lower.contains(it));
            in_examples = introduces || in_examples && !lower.contains(['.', ';']);
            // "The unit of `value`" names another parameter: only a list has options.
            if !["", ",", "or", ", or", "/", "|", "and", ", and"].contains(&lower.trim()) {
                lists.push(Vec::new());
            }
        } else if in_examples {
            examples.push(piece.to_owned());
        } else if let Some(list) = lists.last_mut()
            && piece.len() <= MAX_OPTION
            && !piece.contains(['/', ':', '.', '@'])
        {
            list.push(piece.to_owned());
        }
    }
    let options = lists.into_iter().find(|list| list.len() > 1);
    (options.unwrap_or_default(), examples)
}
