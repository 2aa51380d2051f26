//! Tools that return their arguments, each with a second version that takes the slow path.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::LazyLock;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use toolwright::{
    ApprovalDecision, ApprovalPolicy, ApprovalRequest, Approver, Arguments, Invoker, JsonSchema,
    Tool, ToolCall, ToolResult, tool,
};

use crate::fixtures::registry;

/// One definition, on both paths.
#[derive(Debug)]
pub(super) struct ToolPair {
    pub(super) name: &'static str,
    pub(super) tool: Tool,
    fast: Invoker,
    careful: Invoker,
}

struct ApproveAll;

impl Approver for ApproveAll {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        Box::pin(async move { request.approve() })
    }
}

impl ToolPair {
    fn new(name: &'static str, tool: Tool, careful: Tool) -> Self {
        assert_eq!(tool.spec().input, careful.spec().input);
        assert!(careful.needs_approval() && !tool.needs_approval());
        let careful = Invoker::builder(registry(careful)).approver(ApproveAll);
        Self {
            name,
            fast: Invoker::new(registry(tool.clone())).unwrap(),
            tool,
            careful: careful.build().unwrap(),
        }
    }

    /// Takes both paths.
    pub(super) fn call<A: Copy>(&self, arguments: A) -> (ToolResult, ToolResult)
    where
        Arguments: From<A>,
    {
        // The approver's time limit is the maximum of a timer.
        static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
            let mut builder = tokio::runtime::Builder::new_current_thread();
            builder.enable_time().build().unwrap()
        });
        let _entered = RUNTIME.enter();
        // A call of its own for each path: one that is parsed keeps its value.
        let result = |invoker: &Invoker| {
            invoker.invoke(&ToolCall::new("echo", arguments)).now_or_never().unwrap()
        };
        (result(&self.fast), result(&self.careful))
    }
}

/// Defines a function twice.
macro_rules! twin {
    ($name:ident, ($($params:tt)*), [$($param:ident),*]) => {{
        mod fast {
            use super::*;
            /// Echoes.
            #[tool(read_only, name = "echo")]
            pub(super) fn $name($($params)*) -> String {
                json!({$(stringify!($param): $param),*}).to_string()
            }
        }
        mod careful {
            use super::*;
            /// Echoes.
            #[tool(read_only, name = "echo", approval = always)]
            pub(super) fn $name($($params)*) -> String {
                json!({$(stringify!($param): $param),*}).to_string()
            }
        }
        ToolPair::new(stringify!($name), fast::$name::tool(), careful::$name::tool())
    }};
}

fn typed<T>(name: &'static str) -> ToolPair
where
    T: Serialize + serde::de::DeserializeOwned + JsonSchema + Send + 'static,
{
    let echo = |input: T, _| serde_json::to_string(&input);
    let builder = || Tool::builder("echo", "Echoes.").input::<T>();
    let careful = builder().approval(ApprovalPolicy::Always).run(echo);
    ToolPair::new(name, builder().run(echo).unwrap(), careful.unwrap())
}

fn raw(name: &'static str, schema: &Value) -> ToolPair {
    let builder = || {
        let builder = Tool::builder("echo", "Echoes.");
        builder.schema(schema.clone()).unwrap()
    };
    let echo = |args: toolwright::Args, _| Value::Object(args.into_map());
    let careful = builder().approval(ApprovalPolicy::Always).run(echo);
    ToolPair::new(name, builder().run(echo).unwrap(), careful.unwrap())
}

#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Unit {
    /// Of temperature.
    Celsius,
    DegreesFahrenheit,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Place {
    name: String,
    height: f64,
    near: Vec<Place>,
    unit: Option<Unit>,
    labels: BTreeMap<String, i64>,
    inside: Option<Box<Place>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Limited {
    #[schemars(range(min = 1, max = 10))]
    count: u8,
    #[schemars(length(min = 1, max = 3))]
    text: String,
    #[schemars(regex(pattern = "^[A-Z]{2}$"))]
    code: Option<String>,
    #[schemars(length(max = 2))]
    list: Vec<u8>,
    set: BTreeSet<String>,
    pair: (u8, String),
    three: [i8; 3],
    letter: char,
    some: std::num::NonZeroU8,
    by_number: BTreeMap<u8, bool>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum External {
    Unit,
    Newtype(u8),
    Tuple(u8, String),
    Struct { a: u8, b: Option<String> },
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Internal {
    Nothing,
    OneThing { a: u8 },
    Wrapped(Inner),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Unit,
    Newtype(String),
    Struct { a: u8 },
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Number(u8),
    Inner(Inner),
    Texts(Vec<String>),
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Inner {
    b: bool,
    #[serde(rename = "the text")]
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Flat {
    id: u8,
    #[serde(flatten)]
    inner: Inner,
    #[serde(flatten)]
    choice: Choice,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "choice")]
enum Choice {
    First { one: u8 },
    Second { two: Option<String> },
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Defaulted {
    #[serde(default)]
    count: u32,
    #[serde(default = "noon")]
    time: String,
    #[serde(default)]
    inner: Option<Inner>,
    #[serde(skip_serializing_if = "Option::is_none")]
    maybe: Option<bool>,
    tree: Tree,
}

fn noon() -> String {
    "12:00".to_owned()
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
struct Tree(Vec<Tree>);

pub(super) static TWINS: LazyLock<Vec<ToolPair>> = LazyLock::new(|| {
    vec![
        twin!(
            scalars,
            (a: u8, b: i64, c: u64, d: f64, e: bool, text: String, path: Option<PathBuf>),
            [a, b, c, d, e, text, path]
        ),
        twin!(
            nested,
            (
                place: Place,
                places: Vec<Place>,
                unit: Option<Unit>,
                labels: BTreeMap<String, Vec<Unit>>
            ),
            [place, places, unit, labels]
        ),
        twin!(
            defaults,
            (
                #[param(default = 3)] count: u16,
                #[param(default = "x")] text: String,
                #[param(default = Unit::Celsius)] unit: Unit,
                #[param(default = "${text}")] path: String,
                inner: Option<Inner>
            ),
            [count, text, unit, path, inner]
        ),
        twin!(limits, (it: Limited), [it]),
        twin!(
            enums,
            (
                external: External,
                internal: Internal,
                adjacent: Adjacent,
                untagged: Untagged,
                unit: Option<Unit>
            ),
            [external, internal, adjacent, untagged, unit]
        ),
        twin!(flattened, (flat: Flat, more: Vec<Flat>), [flat, more]),
        twin!(
            required,
            (
                #[param(required)] text: Option<String>,
                #[param(required)] inner: Option<Inner>,
                any: Value
            ),
            [text, inner, any]
        ),
        typed::<Place>("typed place"),
        typed::<Limited>("typed limits"),
        typed::<Defaulted>("typed defaults"),
        typed::<Flat>("typed flat"),
        typed::<Internal>("typed enum"),
        typed::<BTreeMap<String, Place>>("typed map"),
        raw(
            "raw closed",
            &json!({
                "type": "object",
                "properties": {
                    "count": {"type": "integer", "minimum": 1, "maximum": 5},
                    "text": {"type": "string", "default": "none"},
                    "day": {"type": "string", "format": "date"},
                    "choice": {"oneOf": [{"type": "string", "enum": ["a", "B"]}, {"type": "integer"}]},
                    "place": {"$ref": "#/$defs/Place"}
                },
                "required": ["count"],
                "additionalProperties": false,
                "$defs": {"Place": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "in": {"$ref": "#/$defs/Place"}},
                    "required": ["name"]
                }}
            }),
        ),
        raw(
            "raw open",
            &json!({
                "properties": {"count": {"type": ["number", "null"]}, "text": {"const": "x"}},
                "additionalProperties": {"type": ["boolean", "array"], "items": {"type": "integer"}}
            }),
        ),
        raw("raw anything", &json!({})),
    ]
});
