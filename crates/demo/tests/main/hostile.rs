//! Whatever it is given, it answers soon and never panics.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolwright_core::{Tool, ToolResult};

use crate::bundles::assistant;
use crate::driver::Talk;

/// Generous: a machine with much other work is fine, a square of the input is not.
const SOON: Duration = Duration::from_secs(200);

fn tool(name: &str, about: &str, schema: Value) -> Tool {
    let builder = Tool::builder(name, about).schema(schema).unwrap();
    builder.run(|_, _| "done".to_owned()).unwrap()
}

#[tokio::test]
async fn ten_megabytes_of_question() {
    let began = Instant::now();
    for text in [
        "weather ".repeat(1_300_000),
        "x".repeat(10_000_000),
        "\"(".repeat(5_000_000),
        "1,".repeat(5_000_000),
        "😀".repeat(2_500_000),
        "and Paris ".repeat(1_000_000),
    ] {
        assistant().ask(&text).await;
    }
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
}

#[tokio::test]
async fn ten_thousand_tools() {
    let tools: Vec<Tool> = (0..10_000)
        .map(|number| {
            let about = format!("Does the thing number {number} with a city.");
            let builder = Tool::builder(format!("thing_{number}"), about);
            let builder = builder.param::<String>("city", "The city.");
            builder.run(|_, _| "done".to_owned()).unwrap()
        })
        .collect();
    let mut talk = Talk::new(tools);
    let began = Instant::now();
    let turn = talk.ask("thing_77 in Paris").await;
    assert_eq!(turn.calls(), [("thing_77".to_owned(), json!({"city": "Paris"}))]);
    for _ in 0..5 {
        talk.ask("do the thign with misspeld wrods in Parris").await;
    }
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_huge_schema_and_a_deep_one() {
    let mut properties = serde_json::Map::new();
    for number in 0..5_000 {
        let about = "a city ".repeat(20);
        let field = json!({"type": "string", "description": about});
        properties.insert(format!("field_{number}"), field);
    }
    let required: Vec<String> = properties.keys().cloned().collect();
    let huge = json!({"type": "object", "properties": properties, "required": required});
    let mut deep = json!({"type": "string"});
    for _ in 0..30 {
        deep = json!({"type": "object", "properties": {"inner": deep}, "required": ["inner"]});
    }
    let endless = json!({
        "type": "object",
        "properties": {"node": {"$ref": "#/$defs/node"}},
        "required": ["node"],
        "$defs": {"node": {
            "type": "object",
            "properties": {"node": {"$ref": "#/$defs/node"}},
            "required": ["node"]
        }}
    });
    let options: Vec<String> = (0..5_000).map(|number| format!("option {number}")).collect();
    let wide =
        json!({"type": "object", "properties": {"pick": {"enum": options}}, "required": ["pick"]});
    let mut talk = Talk::new(vec![
        tool("huge", "Fills a huge form.", huge),
        tool("deep", "Digs deep.", deep),
        tool("endless", "Walks an endless tree.", endless),
        tool("wide", "Picks an option.", wide),
    ]);
    let began = Instant::now();
    for question in [
        "fill the huge form for Paris",
        "dig deep in Paris",
        "walk the endless tree",
        "pick option 12",
    ] {
        let turn = talk.ask(question).await;
        assert!(turn.text.len() < 200_000);
    }
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
}

#[tokio::test]
async fn results_that_are_no_answer() {
    for result in [
        "[".repeat(100_000),
        "{\"a\":".repeat(1_000),
        "9".repeat(400),
        String::new(),
        "\u{0}\u{202e}`$%°€£¥".repeat(1_000),
        "22C ".repeat(1_000_000),
    ] {
        let odd = Tool::builder("odd_thing", "Returns the odd thing.")
            .run(move |_, _| ToolResult::success(result.clone()))
            .unwrap();
        let mut talk = Talk::new(vec![odd, assistant_tools::convert_temperature::tool()]);
        talk.ask("Get the odd thing").await;
        talk.ask("Convert that to Fahrenheit").await;
    }
}

#[tokio::test]
async fn odd_sentences() {
    for text in [
        "?",
        "'",
        "\"",
        "``",
        "-",
        "--",
        "−",
        "1e999",
        "$",
        "€€",
        "°",
        "%",
        "0x",
        "x×x",
        "3x",
        "9x9x9",
        ":",
        "=",
        "a=b=c",
        "in",
        "in in in",
        "to to",
        "convert to",
        "convert from to",
        "and and",
        "and",
        "or",
        "then,",
        ",,,,",
        "weather in",
        "weather in \"",
        "the the the",
        "no",
        "minus",
        "minus minus 4",
        "twenty-",
        "-twenty",
        "March",
        "of March 2026",
        "31 of",
        "ß",
        "İstanbul weather",
        "天気 東京",
        "Wetter in München",
        "convert 1,2,3 C",
        "refund refund refund",
        "\u{feff}time",
        "time\u{0}",
        "what’s the time",
        "convert ½ C",
        "٣ C to F",
    ] {
        let mut talk = assistant();
        talk.ask(text).await;
        talk.ask(text).await;
    }
}
