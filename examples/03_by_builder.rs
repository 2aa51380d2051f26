//! A tool without a macro: from parameters one by one, or from a JSON Schema that came from elsewhere.
//!
//! ```console
//! $ cargo run -q --example 03_by_builder
//! ```

use std::error::Error;

use toolwright::{Args, Context, Invoker, Registry, Tool, ToolCall, ToolError};

/// A schema as another system might publish it.
const THERMOSTAT: &str = r#"{
    "type": "object",
    "properties": {
        "room": { "type": "string", "enum": ["kitchen", "bedroom"] },
        "celsius": { "type": "number", "minimum": 5, "maximum": 30, "default": 20 }
    },
    "required": ["room"],
    "additionalProperties": false
}"#;

fn area(args: Args, _: Context) -> Result<String, ToolError> {
    let (width, height): (f64, f64) = (args.get("width")?, args.get("height")?);
    let unit: String = args.get("unit")?;
    Ok(format!("{} {unit}²", width * height))
}

fn set(args: Args, _: Context) -> Result<String, ToolError> {
    let (room, celsius): (String, f64) = (args.get("room")?, args.get("celsius")?);
    Ok(format!("{room} set to {celsius} °C"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let calculate_area = Tool::builder("calculate_area", "Area of a rectangle.")
        .param::<f64>("width", "How wide it is.")
        .param::<f64>("height", "How high it is.")
        .param_of("unit", "The unit of both.", "string", false)
        .default("m")
        .read_only(true)
        .run(area)?;
    let set_thermostat =
        Tool::from_schema("set_thermostat", "Sets a room's temperature.", THERMOSTAT)?
            .idempotent(true)
            .run(set)?;

    let registry = Registry::new();
    registry.add(vec![calculate_area, set_thermostat])?;
    for entry in registry.snapshot().iter() {
        println!("{}", entry.spec().name);
        for param in entry.spec().params() {
            let default = param.default.map(|default| format!(" = {default}"));
            println!("- {}: {}{}", param.name, param.kind, default.unwrap_or_default());
        }
    }
    let invoker = Invoker::new(&registry)?;
    for (name, arguments) in [
        ("calculate_area", r#"{"width": 2.5, "height": 4}"#),
        ("set_thermostat", r#"{"room": "kitchen"}"#),
        ("set_thermostat", r#"{"room": "attic", "celsius": 90}"#),
    ] {
        let result = invoker.invoke(&ToolCall::new(name, arguments)).await;
        println!("-> {}", result.text());
    }
    Ok(())
}
