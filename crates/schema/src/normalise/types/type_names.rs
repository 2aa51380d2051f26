//! The names of types in various languages, and the JSON types they mean.

/// The name of any type; the other types have their names of JSON Schema.
pub(crate) const ANY: &str = "any";

/// The names of each type, in lower case; the first is that of JSON Schema.
const TYPE_NAMES: [&str; 8] = [
    "string str text char character varchar date datetime date-time uuid uri url email",
    "integer int long short byte bigint biginteger int8 int16 int32 int64 \
     uint uint8 uint16 uint32 uint64 i32 i64 u32 u64",
    "number float double decimal bigdecimal real num numeric float32 float64 f32 f64",
    "boolean bool",
    "object dict dictionary map mapping hashmap hashtable treemap linkedhashmap \
     ordereddict defaultdict record struct json",
    "array list tuple arraylist linkedlist vector vec set frozenset hashset treeset \
     queue deque stack sequence iterable collection",
    "null none nonetype nil undefined void",
    "any unknown mixed dynamic type_unspecified",
];

/// The type that a name means, ignoring letter case.
pub(crate) fn json_type(word: &str) -> Option<&'static str> {
    let names = |names: &&'static str| names.split(' ').any(|name| name.eq_ignore_ascii_case(word));
    TYPE_NAMES.into_iter().find(names)?.split(' ').next()
}

/// Returns true if JSON Schema has a type with exactly this name.
pub(crate) fn is_json_schema_type(word: &str) -> bool {
    word != ANY && json_type(word) == Some(word)
}

/// Every known name.
pub(crate) fn all_names() -> impl Iterator<Item = &'static str> {
    TYPE_NAMES.into_iter().flat_map(|names| names.split(' '))
}
