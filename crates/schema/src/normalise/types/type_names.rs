//! The names of types in various languages, and the JSON types they mean.

/// The JSON types, any type, and none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonType {
    Any,
    Array,
    Boolean,
    Integer,
    Null,
    Number,
    Object,
    String,
}

impl JsonType {
    /// The name in JSON Schema; `None` where no `type` is needed.
    pub(crate) fn json_schema_name(self) -> Option<&'static str> {
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

/// The names of each type, in lower case.
const TYPE_NAMES: [(JsonType, &str); 8] = [
    (
        JsonType::String,
        "string str text char character varchar date datetime date-time uuid uri url email",
    ),
    (
        JsonType::Integer,
        "integer int long short byte bigint biginteger int8 int16 int32 int64 \
         uint uint8 uint16 uint32 uint64 i32 i64 u32 u64",
    ),
    (
        JsonType::Number,
        "number float double decimal bigdecimal real num numeric float32 float64 f32 f64",
    ),
    (JsonType::Boolean, "boolean bool"),
    (
        JsonType::Object,
        "object dict dictionary map mapping hashmap hashtable treemap linkedhashmap \
         ordereddict defaultdict record struct json",
    ),
    (
        JsonType::Array,
        "array list tuple arraylist linkedlist vector vec set frozenset hashset treeset \
         queue deque stack sequence iterable collection",
    ),
    (JsonType::Null, "null none nonetype nil undefined void"),
    (JsonType::Any, "any unknown mixed dynamic type_unspecified"),
];

/// The type that a name means, ignoring letter case.
pub(crate) fn json_type(word: &str) -> Option<JsonType> {
    each_name().find(|(_, name)| name.eq_ignore_ascii_case(word)).map(|(json_type, _)| json_type)
}

/// Returns true if JSON Schema has a type with exactly this name.
pub(crate) fn is_json_schema_type(word: &str) -> bool {
    TYPE_NAMES.iter().any(|(json_type, _)| json_type.json_schema_name() == Some(word))
}

/// Every known name.
pub(crate) fn all_names() -> impl Iterator<Item = &'static str> {
    each_name().map(|(_, word)| word)
}

fn each_name() -> impl Iterator<Item = (JsonType, &'static str)> {
    TYPE_NAMES.iter().flat_map(|(json_type, words)| words.split(' ').map(|word| (*json_type, word)))
}
