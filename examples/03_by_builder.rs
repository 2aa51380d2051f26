//! A tool without a macro: from parameters one by one, or from an existing JSON Schema.
//!
//! ```console
//! $ cargo run -q --example 03_by_builder
//! calculate_area
//! - width: number
//! - height: number
//! - unit: string = "m"
//! set_heating
//! - room: string
//! - celsius: number = 20
//! -> 10 m²
//! -> set to 20 °C
//! -> invalid arguments for `set_heating`:
//! /room: expected one of "kitchen", "bedroom", got "attic"
//! /celsius: expected at most 30, got 90
//! ```

use std::error::Error;

use toolwright::{Args, HandlerContext, Invoker, Registry, Tool, ToolCall, ToolError, json};

/// A schema as another system might publish it.
const THERMOSTAT: &str = r#"{
    "type": "object",
    "properties": {
        "room": { "enum": ["kitchen", "bedroom"] },
        "celsius": { "type": "number", "maximum": 30, "default": 20 }
    },
    "required": ["room"],
    "additionalProperties": false
}"#;

fn area(args: Args, _: HandlerContext) -> Result<String, ToolError> {
    let (width, height): (f64, f64) = (args.get("width")?, args.get("height")?);
    let unit: String = args.get("unit")?;
    Ok(format!("{} {unit}²", width * height))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let calculate_area = Tool::builder("calculate_area", "Area of a rectangle.")
        .param::<f64>("width", "How wide it is.")
        .param::<f64>("height", "How high it is.")
        .param_of_type("unit", "The unit of both.", "string", false)
        .default("m")
        .read_only(true)
        .run(area)?;
    let set_heating = Tool::from_schema("set_heating", "Sets a room's heating.", THERMOSTAT)?
        .idempotent(true)
        .run(|args, _| format!("set to {} °C", args.as_map()["celsius"]))?;

    for tool in [&calculate_area, &set_heating] {
        println!("{}", tool.name());
        for param in tool.params() {
            let default = param.default.map(|value| format!(" = {value}"));
            let default = default.unwrap_or_default();
            println!("- {}: {}{default}", param.name, param.json_type);
        }
    }
    let registry = Registry::of([calculate_area, set_heating])?;
    let invoker = Invoker::new(&registry)?;
    for (name, arguments) in [
        ("calculate_area", json!({"width": 2.5, "height": 4})),
        ("set_heating", json!({"room": "kitchen"})),
        ("set_heating", json!({"room": "attic", "celsius": 90})),
    ] {
        let result = invoker.invoke(&ToolCall::new(name, arguments)).await;
        println!("-> {}", result.text());
    }
    Ok(())
}
