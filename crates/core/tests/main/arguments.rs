//! The handling of the argument text that a model sends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use toolwright::schema::InputLimits;
use toolwright::{
    ErrorKind, Invoker, JsonSchema, OnMalformed, Outcome, Tool, ToolCall, ToolResult,
    UnknownArguments, tool,
};

use crate::fixtures::{assert_ok, assert_rejected, call, registry};

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Unit {
    Celsius,
    Fahrenheit,
}

/// Forecasts the weather.
#[tool(read_only)]
fn forecast(
    /// The city.
    city: String,
    #[param(default = 3)] days: u8,
    unit: Option<Unit>,
) -> String {
    format!("{city} {days} {unit:?}")
}

/// Forecasts the weather, whatever else is sent.
#[tool(extra = ignore)]
fn generous(city: String, days: Option<u8>) -> String {
    format!("{city} {days:?}")
}

/// Ends the turn when its arguments are no JSON.
#[tool(on_malformed = error)]
fn unforgiving(city: String) -> String {
    city
}

/// Adds numbers.
#[tool]
fn sum(numbers: Vec<i64>) -> i64 {
    numbers.iter().sum()
}

/// Does nothing.
#[tool]
fn rest() {}

async fn forecasts(arguments: &str) -> ToolResult {
    call(forecast::tool(), arguments).await
}

#[tokio::test]
async fn blank_arguments_are_an_empty_object() {
    for blank in ["", " ", "\n\t ", "{}"] {
        assert_ok(&call(rest::tool(), blank).await, "Done");
    }
    assert_rejected(&forecasts("").await, &["/city: missing"]);
}

#[tokio::test]
async fn null_in_place_of_arguments_is_an_empty_object() {
    let open = Tool::from_schema("open", "Takes anything.", "{}").unwrap();
    let open = open.run(|args, _| args.as_map().len().to_string()).unwrap();
    for (tool, text) in [(rest::tool(), "Done"), (open, "0")] {
        let result = call(tool, " null ").await;
        assert_ok(&result, text);
        assert_eq!(result.notes, ["null read as {}"]);
    }
    assert_rejected(&forecasts("null").await, &["/city: missing; expected a string"]);
}

#[tokio::test]
async fn malformed_arguments_are_refused_with_their_position() {
    for (text, position) in [
        (r#"{"city": Paris}"#, "line 1 column 10"),
        ("{\"city\": \"Paris\"\n\"days\": 2}", "line 2 column 1"),
        (r#"{"city": "Paris"}}"#, "line 1 column 18"),
        ("no JSON at all", "line 1 column 2"),
    ] {
        let result = forecasts(text).await;
        assert_rejected(&result, &["`forecast`", position]);
        assert_eq!(result.error, Some(ErrorKind::Retry));
    }
}

#[tokio::test]
async fn untidy_arguments_are_repaired_and_noted() {
    for (text, note) in [
        (r#"{"city": "Rome",}"#, "trailing comma removed"),
        ("{'city': 'Rome'}", "single quotes replaced"),
        ("```json\n{\"city\": \"Rome\"}\n```", "code fence removed"),
        (r#"{city: "Rome"}"#, "unquoted key quoted"),
        (r#""{\"city\": \"Rome\"}""#, "doubled encoding undone"),
    ] {
        let result = forecasts(text).await;
        assert_ok(&result, "Rome 3 None");
        assert_eq!(result.notes, [format!("repaired: {note}")]);
    }
}

/// A tool that counts its runs.
fn counted() -> (Tool, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&runs);
    let tool = Tool::builder("delete", "Deletes a file.")
        .param::<String>("path", "Which.")
        .param::<bool>("dry_run", "Only says what would be deleted.")
        .default(false)
        .run(move |_, _| count.fetch_add(1, Ordering::SeqCst).to_string())
        .unwrap();
    (tool, runs)
}

#[tokio::test]
async fn cut_off_arguments_never_run() {
    let (tool, runs) = counted();
    let whole = r#"{"path": "/a", "dry_run": true}"#;
    let fenced = format!("```json\n{whole}\n```");
    let doubled = serde_json::to_string(whole).unwrap();
    for whole in [whole, &fenced, &doubled] {
        for end in 1..whole.len() {
            // An incomplete code fence around a complete object.
            let result = call(tool.clone(), &whole[..end]).await;
            assert_eq!(result.outcome, Outcome::InvalidArguments, "{}", &whole[..end]);
        }
    }
    assert_eq!(runs.load(Ordering::SeqCst), 0);
    let result = call(tool, r#"{"path": "/a""#).await;
    assert_rejected(&result, &["cut off, send them whole"]);
}

#[tokio::test]
async fn a_key_named_twice_is_refused() {
    for text in [
        r#"{"city": "Rome", "city": "Oslo"}"#,
        r#"{"city": "Rome", "ci\u0074y": "Oslo"}"#,
        "{'city': 'Rome', 'city': 'Oslo'}",
    ] {
        assert_rejected(&forecasts(text).await, &["`city` is named twice"]);
    }
}

#[tokio::test]
async fn arguments_that_are_too_long_or_too_deep_are_refused() {
    let long = format!(r#"{{"city": "{}"}}"#, "x".repeat(2 << 20));
    let result = forecasts(&long).await;
    assert_rejected(&result, &["at most 1048576"]);
    assert!(result.text().len() < 1_000);
    let deep = format!(r#"{{"city": {}{}}}"#, "[".repeat(70), "]".repeat(70));
    assert_rejected(&forecasts(&deep).await, &["deeper than 64 levels"]);
    let limits = InputLimits { bytes: 20, depth: 1 };
    let invoker = Invoker::builder(registry(sum::tool())).argument_limits(limits).build().unwrap();
    let result = |text| {
        let invoker = invoker.clone();
        async move { invoker.invoke(&ToolCall::new("sum", text)).await }
    };
    assert_rejected(&result(r#"{"numbers": [1]}"#).await, &["deeper than 1"]);
    assert_rejected(&result(r#"{"numbers": [1, 2]   }"#).await, &["at most 20"]);
}

#[tokio::test]
async fn long_text_of_a_model_is_not_echoed() {
    let long = "x".repeat(500_000);
    for text in [
        format!(r#"{{"{long}": 1}}"#),
        format!(r#"{{"{long}": 1, "{long}": 2}}"#),
        format!(r#"{{"city": "Rome", "unit": "{long}"}}"#),
    ] {
        let result = forecasts(&text).await;
        assert_eq!(result.outcome, Outcome::InvalidArguments);
        assert!(result.text().len() <= 100_100, "{}", result.text().len());
    }
}

#[tokio::test]
async fn lossless_coercions_are_made_and_noted() {
    for (text, expected, note) in [
        (r#"{"city": 5}"#, "5 3 None", r#"/city: 5 read as "5""#),
        (r#"{"city": "Rome", "days": "7"}"#, "Rome 7 None", r#"/days: "7" read as 7"#),
        (r#"{"city": "Rome", "days": 7.0}"#, "Rome 7 None", "/days: 7.0 read as 7"),
        (
            r#"{"city": "Rome", "unit": "CELSIUS"}"#,
            "Rome 3 Some(Celsius)",
            r#"/unit: "CELSIUS" read as "celsius""#,
        ),
    ] {
        let result = forecasts(text).await;
        assert_ok(&result, expected);
        assert_eq!(result.notes, [note]);
    }
    let result = call(sum::tool(), r#"{"numbers": 4}"#).await;
    assert_ok(&result, "4");
    assert_eq!(result.notes, ["/numbers: 4 read as an array"]);
}

#[tokio::test]
async fn an_integral_float_is_an_integer_for_every_tool() {
    let tool = Tool::builder("double", "Doubles.")
        .param::<i64>("n", "What.")
        .param::<Option<f64>>("by", "How much.")
        .run(|args, _| Ok::<_, toolwright::ToolError>(args.get::<i64>("n")? * 2))
        .unwrap();
    let result = call(tool.clone(), r#"{"n": 21.0}"#).await;
    assert_ok(&result, "42");
    assert_eq!(result.notes, ["/n: 21.0 read as 21"]);
    let result = call(tool, r#"{"n": 21, "by": 2.0}"#).await;
    assert_ok(&result, "42");
    assert_eq!(result.notes, [""; 0]);
}

#[tokio::test]
async fn a_value_that_cannot_be_coerced_without_loss_is_rejected() {
    for text in [
        r#"{"city": "Rome", "days": "seven"}"#,
        r#"{"city": "Rome", "days": 7.5}"#,
        r#"{"city": "Rome", "days": 300}"#,
        r#"{"city": "Rome", "days": -1}"#,
        r#"{"city": null}"#,
        r#"{"city": ["Rome"]}"#,
        r#"{"city": {"name": "Rome"}}"#,
    ] {
        assert_eq!(forecasts(text).await.outcome, Outcome::InvalidArguments, "{text}");
    }
}

#[tokio::test]
async fn coercion_can_be_switched_off() {
    let invoker = Invoker::builder(registry(forecast::tool())).coerce(false).build().unwrap();
    let result =
        invoker.invoke(&ToolCall::new("forecast", r#"{"city": "Rome", "days": "7"}"#)).await;
    assert_rejected(&result, &[r#"/days: expected an integer, got "7""#]);
    let result = invoker.invoke(&ToolCall::new("forecast", "{'city': 'Rome'}")).await;
    assert_ok(&result, "Rome 3 None");
}

#[tokio::test]
async fn an_unknown_argument_is_refused_with_the_nearest_known_one() {
    let result = forecasts(r#"{"city": "Rome", "dayz": 2}"#).await;
    assert_rejected(&result, &["/dayz: unknown argument; did you mean `days`?"]);
}

#[tokio::test]
async fn an_unknown_argument_can_be_ignored_with_a_note() {
    let result = call(generous::tool(), r#"{"city": "Rome", "mood": "good", "days": 2}"#).await;
    assert_ok(&result, "Rome Some(2)");
    assert_eq!(result.notes, ["/mood: unknown argument ignored"]);
    let result = call(generous::tool(), r#"{"town": "Rome"}"#).await;
    assert_rejected(&result, &["/city: missing"]);
}

#[tokio::test]
async fn ignoring_unknown_arguments_keeps_what_the_schema_allows() {
    #[derive(Deserialize, serde::Serialize, JsonSchema)]
    struct Base {
        id: u8,
    }
    #[derive(Deserialize, serde::Serialize, JsonSchema)]
    #[serde(tag = "kind")]
    enum Shape {
        Circle { radius: u8 },
        Square { side: u8 },
    }
    #[derive(Deserialize, serde::Serialize, JsonSchema)]
    struct Drawing {
        title: String,
        #[serde(flatten)]
        base: Base,
        #[serde(flatten)]
        shape: Shape,
    }
    let echo = |drawing: Drawing, _| serde_json::to_string(&drawing);
    let draw = Tool::builder("draw", "Draws.")
        .input::<Drawing>()
        .unknown_arguments(UnknownArguments::Ignore)
        .run(echo)
        .unwrap();
    let sent = r#"{"title":"a","id":1,"kind":"Circle","radius":2}"#;
    let with_more = sent.replace("}", r#","colour":"red"}"#);
    assert_ok(&call(draw.clone(), sent).await, sent);
    let result = call(draw, &with_more).await;
    assert_ok(&result, sent);
    assert_eq!(result.notes, ["/colour: unknown argument ignored"]);

    let open = Tool::from_schema(
        "open",
        "Takes labels.",
        r#"{"type": "object", "additionalProperties": {"type": "string"}}"#,
    )
    .unwrap()
    .unknown_arguments(UnknownArguments::Ignore)
    .run(|args, _| args.as_map().len().to_string())
    .unwrap();
    assert_ok(&call(open, r#"{"a": "x", "b": "y"}"#).await, "2");
}

#[tokio::test]
async fn a_model_cannot_flood_the_notes() {
    let many: Vec<String> = (0..10_000).map(|n| format!(r#""x{n}": 1"#)).collect();
    let text = format!(r#"{{"city": "Rome", {}}}"#, many.join(", "));
    let result = call(generous::tool(), &text).await;
    assert_ok(&result, "Rome None");
    assert!(result.notes.len() < 100, "{}", result.notes.len());
    assert_eq!(result.notes.last().unwrap(), "… and 9950 more");
}

#[tokio::test]
async fn null_means_the_default_and_none_for_an_option() {
    let result = forecasts(r#"{"city": "Rome", "days": null, "unit": null}"#).await;
    assert_ok(&result, "Rome 3 None");
}

#[tokio::test]
async fn all_violations_are_reported_at_once_with_their_pointers() {
    let result = forecasts(r#"{"days": "many", "unit": "kelvin", "extra": 1}"#).await;
    assert_rejected(
        &result,
        &[
            "invalid arguments for `forecast`:",
            "\n/city: missing",
            "\n/days: expected an integer",
            "\n/unit: expected one of",
            "\n/extra: unknown argument",
        ],
    );
    assert_eq!(result.error, Some(ErrorKind::Retry));
    let result = call(sum::tool(), r#"{"numbers": [1, "x", 2, {}]}"#).await;
    assert_rejected(&result, &["\n/numbers/1: ", "\n/numbers/3: "]);
}

/// Signs in.
#[tool]
fn sign_in(user: String, password: u32, api_key: Option<u32>) -> String {
    format!("{user}{password}{api_key:?}")
}

#[tokio::test]
async fn secrets_are_masked_in_errors() {
    let result = call(
        sign_in::tool(),
        r#"{"user": {}, "password": "hunter2", "api_key": "sk-abcdefgh12345678"}"#,
    )
    .await;
    assert_rejected(&result, &["/password: ", "/api_key: ", "***"]);
    for secret in ["hunter2", "sk-abcdefgh12345678"] {
        assert!(!result.text().contains(secret), "{}", result.text());
    }
    let result =
        call(sign_in::tool(), r#"{"sk-abcdefgh12345678": 1, "sk-abcdefgh12345678": 2}"#).await;
    assert_rejected(&result, &["named twice"]);
    assert!(!result.text().contains("abcdefgh"), "{}", result.text());
}

#[tokio::test]
async fn malformed_arguments_can_end_the_turn() {
    for text in ["{", "nonsense", "[1]"] {
        let result = call(unforgiving::tool(), text).await;
        assert_eq!(result.outcome, Outcome::InvalidArguments);
        assert_eq!(result.error, Some(ErrorKind::Fatal), "{text}");
    }
    let result = call(unforgiving::tool(), r#"{"town": 1}"#).await;
    assert_eq!(result.error, Some(ErrorKind::Retry));
    let tool = Tool::builder("built", "Ends the turn too.")
        .on_malformed(OnMalformed::Error)
        .run(|_, _| "ran")
        .unwrap();
    assert_eq!(call(tool, "{").await.error, Some(ErrorKind::Fatal));
}

#[tokio::test]
async fn arguments_that_are_not_an_object_are_rejected() {
    for (text, kind) in [
        ("[1, 2]", "an array"),
        ("\"Rome\"", "a string"),
        ("5", "a number"),
        ("true", "a boolean"),
        ("\"[1]\"", "an array"),
    ] {
        for tool in [forecast::tool(), rest::tool()] {
            let expected = format!("must be an object, not {kind}");
            assert_rejected(&call(tool, text).await, &[&expected]);
        }
    }
}

/// A type that checks more than its schema.
#[derive(Debug)]
struct Even(u32);

impl<'de> Deserialize<'de> for Even {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            13 => panic!("unlucky"),
            odd if odd % 2 == 1 => Err(serde::de::Error::custom("odd: password=hunter2")),
            even => Ok(Self(even)),
        }
    }
}

impl JsonSchema for Even {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Even".into()
    }

    fn json_schema(
        generator: &mut toolwright::schemars::SchemaGenerator,
    ) -> toolwright::schemars::Schema {
        generator.subschema_for::<u32>()
    }
}

/// Halves a number.
#[tool]
fn halve(number: Even) -> u32 {
    number.0 / 2
}

#[tokio::test]
async fn an_error_of_the_type_is_reported_once_and_redacted() {
    let result = call(halve::tool(), r#"{"number": 3}"#).await;
    assert_rejected(&result, &["\n/number: odd: password=***"]);
    assert_eq!(result.text().matches("/number").count(), 1);
}

#[tokio::test]
async fn a_type_that_panics_in_deserialize_is_a_failed_result() {
    let result = call(halve::tool(), r#"{"number": 13}"#).await;
    assert_eq!(result.outcome, Outcome::Failed);
    assert!(!result.text().contains("unlucky"));
    assert!(result.cause().unwrap().to_string().contains("unlucky"));
}

/// Reads a number where its schema has a string: only the fast path, which skips the validator, accepts it.
struct Probe;

impl<'de> Deserialize<'de> for Probe {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u32::deserialize(deserializer).map(|_| Self)
    }
}

impl JsonSchema for Probe {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Probe".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(
        generator: &mut toolwright::schemars::SchemaGenerator,
    ) -> toolwright::schemars::Schema {
        generator.subschema_for::<String>()
    }
}

/// Returns which path was taken.
#[tool]
fn probe(_probe: Probe, project_dir: Option<String>) -> String {
    format!("{project_dir:?}")
}

#[tokio::test]
async fn plain_types_are_read_without_the_validator() {
    let registry = registry(probe::tool());
    let plain = Invoker::builder(&registry).coerce(false);
    let bound = Invoker::builder(&registry).coerce(false).project_dir("/p");
    for (invoker, expected) in [(plain, "None"), (bound, r#"Some("/p")"#)] {
        let call = ToolCall::new("probe", r#"{"_probe": 5}"#);
        assert_ok(&invoker.build().unwrap().invoke(&call).await, expected);
    }
}
