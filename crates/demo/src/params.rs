//! The parameters of an input schema: what kind of value each takes, and what the value means.

use std::collections::HashSet;

use serde_json::{Value, json};
use toolwright_core::schema::{Schema, Tape};
use toolwright_search::{quoted_values, stems, unit_named, words};

use crate::text::{head, is_in};

// Limits, because schemas may come from foreign servers.
const MAX_ITEMS: usize = 64;
const MAX_SUBSCHEMAS: usize = 512;
const MAX_DEPTH: usize = 3;
const MAX_DESCRIPTION: usize = 400;

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
    pub(crate) description_words: Vec<String>,
    pub(crate) required: bool,
    pub(crate) default: Option<Value>,
    pub(crate) kind: Kind,
    pub(crate) meaning: Meaning,
    /// The options of a choice, the fields of an object, and the element of a list.
    pub(crate) options: Vec<Value>,
    pub(crate) fields: Vec<Param>,
    pub(crate) element: Option<Box<Param>>,
    /// A schema with only the type and the pattern of the value.
    pub(crate) schema: Option<Schema>,
    /// The schema's `format`, as `date`, or an empty text.
    pub(crate) format: String,
    pub(crate) examples: Vec<String>,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Boolean,
    Integer,
    Number,
    Text,
    Choice,
    List,
    Object,
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

use Meaning::{Date, Email, Free, Id, Language, Path, Person, Place, Time, Unit, Url};

/// Values of the schema's `format`, and words of parameter names, that show a meaning.
const NAMES: [(Meaning, &str); 20] = [
    (Id, "id isbn sku code identifier uuid"),
    (Id, "reference zip postcode"),
    (Url, "url uri uri-reference link website webpage"),
    (Email, "email mail"),
    (Path, "path filename directory folder file dir"),
    (Date, "date date-time day deadline birthday due"),
    (Time, "time hour"),
    (Unit, "unit currency"),
    (Language, "language lang locale"),
    (Place, "city town country place location region"),
    (Place, "state capital destination origin"),
    (Place, "airport station departure arrival"),
    (Person, "author person customer member recipient"),
    (Person, "guest assignee owner employee contact"),
    (Person, "patient user username who attendee"),
    (Person, "sender reader"),
    (Free, "topic query text message content title"),
    (Free, "subject question prompt reason note body"),
    (Free, "description comment summary keyword term"),
    (Free, "search task word phrase sentence item"),
];

/// Words of parameter descriptions that show a meaning.
const DESCRIPTIONS: [(Meaning, &str); 6] = [
    (Id, "number identifier id"),
    (Place, "city town country"),
    (Url, "url"),
    (Path, "file directory folder"),
    (Language, "language"),
    (Email, "email"),
];

fn meaning_of(word: &str, table: &[(Meaning, &str)]) -> Option<Meaning> {
    let is_listed = |words: &str| is_in(word, words) || is_in(word.trim_end_matches('s'), words);
    let row = table.iter().find(|(_, words)| is_listed(words));
    row.map(|(meaning, _)| *meaning)
}

/// Returns the meaning of a name: of its last word that has one, as a `member_id` is an id and a `city_name` a place.
pub(crate) fn meaning_of_name(words: &[String]) -> Option<Meaning> {
    let mut specific = words.iter().rev().filter(|word| *word != "name");
    let found = specific.find_map(|word| meaning_of(word, &NAMES));
    found.or_else(|| words.contains(&"name".to_owned()).then_some(Free))
}

impl Param {
    /// Returns true if the name contains one of these words, which are separated by spaces.
    pub(crate) fn has_word(&self, words: &str) -> bool {
        self.words.iter().any(|word| is_in(word, words))
    }

    /// Returns true if the name means where something comes from.
    pub(crate) fn is_source(&self) -> bool {
        self.has_word("from source origin departure depart sender")
    }

    /// Returns true if the name means where something goes to.
    pub(crate) fn is_target(&self) -> bool {
        self.has_word("to target into destination dest arrival recipient") && !self.is_source()
    }

    /// Returns the name's words that distinguish it from other parameters.
    pub(crate) fn specific_words(&self) -> impl Iterator<Item = &String> {
        self.words.iter().filter(|word| !is_in(word, UNSPECIFIC))
    }

    pub(crate) fn is_text(&self) -> bool {
        self.kind == Kind::Text
    }

    /// Returns true for a value of the parameter's type, which matches its pattern.
    pub(crate) fn accepts(&self, value: &Value) -> bool {
        let is_valid = |schema: &Schema| schema.is_valid(Tape::from_value(value).root());
        match self.kind {
            Kind::Choice => self.options.contains(value),
            _ => self.schema.as_ref().is_some_and(is_valid),
        }
    }

    /// Returns the value of a required parameter that the schema alone determines.
    pub(crate) fn fallback(&self) -> Option<Value> {
        let only = self.options.first().filter(|_| self.options.len() == 1);
        let value = self.default.as_ref().or(only).cloned();
        value.filter(|_| self.required)
    }

    fn read_meaning(&self) -> Meaning {
        let is_unit = |option: &Value| option.as_str().and_then(unit_named).is_some();
        if !self.options.is_empty() && self.options.iter().all(is_unit) {
            return Unit;
        }
        let has_digit = |text: &String| text.bytes().any(|byte| byte.is_ascii_digit());
        let is_code = !self.examples.is_empty() && self.examples.iter().all(has_digit);
        let mut described = self.description_words.iter().filter(|_| self.is_text());
        meaning_of(&self.format, &NAMES)
            .or_else(|| meaning_of_name(&self.words))
            .or(is_code.then_some(Id))
            .or_else(|| described.find_map(|word| meaning_of(word, &DESCRIPTIONS)))
            .unwrap_or(Free)
    }
}

/// Returns the parameters of an object schema, the required ones first.
pub(crate) fn params(schema: &Value) -> Vec<Param> {
    let (root, budget) = (schema, MAX_SUBSCHEMAS);
    Reader { root, budget }.params(schema, MAX_DEPTH)
}

struct Reader<'s> {
    root: &'s Value,
    budget: usize,
}

impl<'s> Reader<'s> {
    fn params(&mut self, schema: &'s Value, depth: usize) -> Vec<Param> {
        let required: HashSet<&str> = strings(schema.get("required")).collect();
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut properties: Vec<_> = properties.into_iter().flatten().collect();
        properties.sort_by_key(|(name, _)| !required.contains(name.as_str()));
        let properties = properties.into_iter().take(MAX_ITEMS);
        let param = |(name, schema): (&String, &'s Value)| {
            self.param(name, schema, required.contains(name.as_str()), depth)
        };
        properties.map(param).collect()
    }

    fn param(&mut self, name: &str, outer: &'s Value, required: bool, depth: usize) -> Param {
        let schema = self.resolve(outer);
        let text = |key: &str| schema.get(key).and_then(Value::as_str);
        let description = outer.get("description").and_then(Value::as_str);
        let description = description.or(text("description")).unwrap_or_default();
        let description = head(description, MAX_DESCRIPTION);
        let (listed, examples) = quoted_values(description);
        let given = strings(schema.get("examples").or_else(|| schema.get("example")));
        let default = schema.get("default").filter(|default| !default.is_null());
        let (type_name, pattern) = (type_of(schema), text("pattern").unwrap_or_default());
        let mut param = Param {
            name: name.to_owned(),
            words: words(name),
            stems: stems(name),
            description: description.to_owned(),
            description_words: words(description),
            required,
            // Strict modes require every property, and null stands for an omitted one.
            default: default.cloned().or(is_nullable(outer).then_some(Value::Null)),
            kind: Kind::Other,
            meaning: Free,
            options: options(schema),
            fields: Vec::new(),
            element: None,
            schema: Schema::check(json!({"type": type_name, "pattern": pattern})).ok(),
            format: text("format").unwrap_or_default().to_owned(),
            examples: examples.into_iter().chain(given).map(str::to_owned).collect(),
        };
        if type_name == "string" && param.options.is_empty() {
            param.options = listed.into_iter().map(Value::from).collect();
        }
        if let Some(depth) = depth.checked_sub(1) {
            let items = schema.get("items").filter(|_| type_name == "array");
            let element = items.map(|items| self.param(name, items, true, depth));
            param.element = element.map(Box::new);
            param.fields = self.params(schema, depth);
        }
        param.kind = match type_name {
            _ if !param.options.is_empty() => Kind::Choice,
            "boolean" => Kind::Boolean,
            "integer" => Kind::Integer,
            "number" => Kind::Number,
            "string" => Kind::Text,
            "array" if param.element.is_some() => Kind::List,
            "object" if !param.fields.is_empty() => Kind::Object,
            _ => Kind::Other,
        };
        param.meaning = param.read_meaning();
        param
    }

    /// Follows references, and the only branch that is not null.
    fn resolve(&mut self, mut schema: &'s Value) -> &'s Value {
        while self.budget > 0 {
            self.budget -= 1;
            let reference = schema.get("$ref").and_then(Value::as_str);
            let path = reference.and_then(|reference| reference.strip_prefix('#'));
            let next = match path {
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

/// Returns the values that a schema lists: by `enum`, by `const`, or by a constant in each branch.
fn options(schema: &Value) -> Vec<Value> {
    let constants = || {
        let constants = branches(schema).map(|branch| branch.get("const"));
        constants.collect::<Option<Vec<_>>>().unwrap_or_default()
    };
    let listed = match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => vec![only],
        (None, Some(Value::Array(list))) => list.iter().collect(),
        _ => constants(),
    };
    let listed = listed.into_iter().filter(|option| !option.is_null());
    listed.take(MAX_ITEMS).cloned().collect()
}

fn branches(schema: &Value) -> impl Iterator<Item = &Value> {
    let keywords = ["anyOf", "oneOf", "allOf"].into_iter();
    let branches = keywords.filter_map(|keyword| schema.get(keyword)?.as_array());
    branches.flatten().take(MAX_ITEMS)
}

fn only_branch(schema: &Value) -> Option<&Value> {
    let mut branches = branches(schema).filter(|branch| type_of(branch) != "null");
    branches.next().filter(|_| branches.next().is_none())
}

fn is_nullable(schema: &Value) -> bool {
    let is_null = |schema: &Value| strings(schema.get("type")).any(|name| name == "null");
    is_null(schema) || branches(schema).any(is_null)
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
