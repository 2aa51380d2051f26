//! With the demo model: no key, no network, the same answer every time.

use serde_json::json;

use super::{TestHome, events};

#[test]
fn the_time_in_a_city_is_asked_of_its_tool() {
    let home = TestHome::new();
    let told = home.run(&["--model", "demo", "--once", "What time is it in Tokyo?"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(
        told.err.contains("→ get_city_time {\"city\":\"Tokyo\"}"),
        "{told:?}"
    );
    assert!(told.out.contains("(JST)"), "{told:?}");
}

#[test]
fn a_temperature_is_converted() {
    let home = TestHome::new();
    let told = home.run(&["--model", "demo", "--once", "Convert 100 C to Fahrenheit"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(told.out.contains("212"), "{told:?}");
}

#[test]
fn json_lines_show_the_call_its_result_and_the_end() {
    let home = TestHome::new();
    let ask = [
        "--model",
        "demo",
        "--once",
        "What is the weather in Paris?",
        "--json",
    ];
    let told = home.run(&ask);
    assert_eq!(told.code, Some(0), "{told:?}");
    let events = events(&told.out);
    assert_eq!(events[0]["model"]["vendor"], "demo");
    let find = |kind: &str| events.iter().find(|event| event["type"] == kind).unwrap();
    assert_eq!(find("call")["call"]["name"], "get_weather");
    assert_eq!(find("result")["result"]["outcome"], "ok");
    let ended = events.last().unwrap();
    assert_eq!(
        (&ended["type"], &ended["end"]),
        (&json!("ended"), &json!("answered"))
    );
    assert_eq!(ended["cost"], 0.0);
}

#[test]
fn without_a_key_the_demo_answers_and_says_why() {
    let told = TestHome::new().run(&["--once", "What time is it in Tokyo?"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    let first = told.err.lines().next().unwrap();
    assert_eq!(
        first,
        "demo: no key is set; set OPENAI_API_KEY or pass --model"
    );
}
