//! What a parameter is about, from its name and description: a place, a file, a date.

use serde_json::Value;

use crate::shape::Shape;
use crate::units::attached;

/// What a value stands for in the world; it decides how one is recognised in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A city, a country, a room that has a name.
    Place,
    /// A number or code that somebody was given.
    Id,
    /// An address on the web.
    Url,
    /// An e-mail address.
    Email,
    /// A file or directory.
    Path,
    /// A day.
    Date,
    /// A time of day.
    Time,
    /// Somebody.
    Person,
    /// What a number counts.
    Unit,
    /// A language that people speak.
    Language,
    /// Anything that can be said.
    Free,
}

/// Stems of names that decide alone, the telling ones first.
const NAMED: [(Meaning, &[&str]); 11] = [
    (
        Meaning::Id,
        &[
            "id",
            "isbn",
            "sku",
            "cod",
            "identifier",
            "referenc",
            "uuid",
            "zip",
            "postcod",
        ],
    ),
    (Meaning::Url, &["url", "uri", "link", "websit", "webpag"]),
    (Meaning::Email, &["email", "mail", "e-mail"]),
    (
        Meaning::Path,
        &["path", "filenam", "directory", "folder", "fil", "dir"],
    ),
    (Meaning::Date, &["dat", "day", "deadlin", "birthday", "du"]),
    (Meaning::Time, &["tim", "hour"]),
    (Meaning::Unit, &["unit", "currency"]),
    (Meaning::Language, &["languag", "lang", "local"]),
    (
        Meaning::Place,
        &[
            "city",
            "town",
            "country",
            "plac",
            "location",
            "region",
            "stat",
            "destin",
            "destination",
            "origin",
            "airport",
            "station",
            "locat",
            "capital",
            "departur",
            "arrival",
        ],
    ),
    (
        Meaning::Person,
        &[
            "author",
            "person",
            "customer",
            "member",
            "recipient",
            "guest",
            "assigne",
            "owner",
            "employe",
            "contact",
            "patient",
            "user",
            "usernam",
            "who",
            "attende",
            "sender",
            "reader",
        ],
    ),
    (
        Meaning::Free,
        &[
            "topic",
            "query",
            "text",
            "messag",
            "content",
            "titl",
            "subject",
            "question",
            "prompt",
            "reason",
            "not",
            "description",
            "body",
            "comment",
            "summary",
            "keyword",
            "term",
            "search",
            "task",
            "name",
            "nam",
            "word",
            "phras",
            "sentenc",
            "item",
        ],
    ),
];

impl Meaning {
    pub(super) fn of(
        format: Option<&str>,
        name: &[String],
        about: &[String],
        examples: &[String],
        shape: &Shape,
    ) -> Self {
        match format {
            Some("uri" | "url" | "uri-reference") => return Self::Url,
            Some("email") => return Self::Email,
            Some("date" | "date-time") => return Self::Date,
            Some("time") => return Self::Time,
            Some("uuid") => return Self::Id,
            _ => {}
        }
        if let Shape::Choice(options) = shape
            && options
                .iter()
                .all(|it| it.as_str().and_then(attached).is_some())
        {
            return Self::Unit;
        }
        // The last word of a name says what it is: a `member_id` is an id.
        let named = name
            .iter()
            .rev()
            .filter(|stem| *stem != "nam")
            .find_map(|stem| named(stem));
        let named = named.or_else(|| name.iter().find_map(|stem| named_free(stem)));
        if let Some(meaning) = named {
            return meaning;
        }
        let digits = |text: &String| text.bytes().any(|byte| byte.is_ascii_digit());
        if !examples.is_empty() && examples.iter().all(digits) {
            return Self::Id;
        }
        match shape {
            Shape::Text { .. } => about
                .iter()
                .find_map(|stem| described(stem))
                .unwrap_or(Self::Free),
            _ => Self::Free,
        }
    }

    /// Reads a meaning from a name alone.
    pub(crate) fn of_name(name: &[String]) -> Self {
        Self::of(None, name, &[], &[], &Shape::Other)
    }
}

fn named(stem: &str) -> Option<Meaning> {
    let row = NAMED.iter().find(|(_, stems)| stems.contains(&stem));
    row.map(|(meaning, _)| *meaning)
}

fn named_free(stem: &str) -> Option<Meaning> {
    named(stem).filter(|meaning| *meaning == Meaning::Free)
}

/// In a description only these words are plain enough.
fn described(stem: &str) -> Option<Meaning> {
    match stem {
        "number" | "identifier" | "id" => Some(Meaning::Id),
        "city" | "town" | "country" => Some(Meaning::Place),
        "url" => Some(Meaning::Url),
        "fil" | "directory" | "folder" => Some(Meaning::Path),
        "languag" => Some(Meaning::Language),
        "email" | "e-mail" => Some(Meaning::Email),
        _ => None,
    }
}

/// Returns what a choice spells, as far as it is text.
pub(crate) fn spelling(option: &Value) -> Option<String> {
    match option {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
