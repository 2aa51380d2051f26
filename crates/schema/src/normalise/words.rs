//! A type word of any language in, the JSON kind it means out.

/// The kinds of JSON values, and the want of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Any,
    Array,
    Boolean,
    Integer,
    Null,
    Number,
    Object,
    String,
}

impl Kind {
    /// The word of JSON Schema; `None` where no word is the way to say it.
    pub(super) fn word(self) -> Option<&'static str> {
        Some(match self {
            Self::Any => return None,
            Self::Array => "array",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Null => "null",
            Self::Number => "number",
            Self::Object => "object",
            Self::String => "string",
        })
    }
}

/// The words of each kind, in lower case.
const WORDS: [(Kind, &str); 8] = [
    (
        Kind::String,
        "string str text char character varchar date datetime date-time uuid uri url email",
    ),
    (
        Kind::Integer,
        "integer int long short byte bigint biginteger int8 int16 int32 int64 \
         uint uint8 uint16 uint32 uint64 i32 i64 u32 u64",
    ),
    (
        Kind::Number,
        "number float double decimal bigdecimal real num numeric float32 float64 f32 f64",
    ),
    (Kind::Boolean, "boolean bool"),
    (
        Kind::Object,
        "object dict dictionary map mapping hashmap hashtable treemap linkedhashmap \
         ordereddict defaultdict record struct json",
    ),
    (
        Kind::Array,
        "array list tuple arraylist linkedlist vector vec set frozenset hashset treeset \
         queue deque stack sequence iterable collection",
    ),
    (Kind::Null, "null none nonetype nil undefined void"),
    (Kind::Any, "any unknown mixed dynamic type_unspecified"),
];

/// The kind that a word means, whatever its letter case.
pub(super) fn kind(word: &str) -> Option<Kind> {
    let mut known = each();
    known
        .find(|(_, known)| known.eq_ignore_ascii_case(word))
        .map(|(kind, _)| kind)
}

/// Whether JSON Schema knows this very word.
pub(super) fn is_own(word: &str) -> bool {
    WORDS.iter().any(|(kind, _)| kind.word() == Some(word))
}

/// Every known word.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    each().map(|(_, word)| word)
}

fn each() -> impl Iterator<Item = (Kind, &'static str)> {
    WORDS
        .iter()
        .flat_map(|(kind, words)| words.split(' ').map(|word| (*kind, word)))
}
