//! `chat` with the demo model, which needs no key and no network, and is deterministic.

use serde_json::json;

use super::{TestHome, events};

#[test]
fn the_time_in_a_city_is_asked_of_its_tool() {
    let home = TestHome::new();
    let output = home.run(&["--model", "demo", "--once", "What time is it in Tokyo?"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(output.err.contains("→ get_city_time {\"city\":\"Tokyo\"}"), "{output:?}");
    assert!(output.out.contains("(JST)"), "{output:?}");
}

#[test]
fn a_temperature_is_converted() {
    let home = TestHome::new();
    let output = home.run(&["--model", "demo", "--once", "Convert 100 C to Fahrenheit"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(output.out.contains("212"), "{output:?}");
}

#[test]
fn json_lines_show_the_call_its_result_and_the_end() {
    let home = TestHome::new();
    let ask = ["--model", "demo", "--once", "What is the weather in Paris?", "--json"];
    let output = home.run(&ask);
    assert_eq!(output.code, Some(0), "{output:?}");
    let events = events(&output.out);
    assert_eq!(events[0]["model"]["vendor"], "demo");
    let find = |kind: &str| events.iter().find(|event| event["type"] == kind).unwrap();
    assert_eq!(find("call")["call"]["name"], "get_weather");
    assert_eq!(find("result")["result"]["outcome"], "ok");
    let ended = events.last().unwrap();
    assert_eq!((&ended["type"], &ended["end"]), (&json!("ended"), &json!("answered")));
    assert_eq!(ended["cost"], 0.0);
}

#[test]
fn without_a_key_the_demo_is_selected_and_the_reason_is_printed() {
    let output = TestHome::new().run(&["--once", "What time is it in Tokyo?"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let first = output.err.lines().next().unwrap();
    assert_eq!(first, "demo: no key is set; set OPENAI_API_KEY or pass --model");
}
