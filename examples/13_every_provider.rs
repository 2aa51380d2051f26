//! One definition in every provider's format: the request, what lowering loses, and how a call is lifted back.
//!
//! ```console
//! $ cargo run -q --example 13_every_provider
//! openai: strict, about 78 tokens
//! anthropic: not strict, about 100 tokens
//! anthropic-strict would lose:
//!   /properties/nights: minimum (wider), described as "at least 1"
//!   /properties/nights: maximum (wider), described as "at most 30"
//! [{"type":"function","name":"book_room","description":"Books a room.","parameters":{"type":"object","properties":{"nights":{"type":"integer","minimum":1,"maximum":30},"extra":{"type":["string","null"],"enum":["breakfast","parking",null]}},"required":["nights","extra"],"additionalProperties":false},"strict":true}]
//! back: {"nights":2}
//! booked for 2 nights
//! ```

use std::error::Error;

use toolwright::schema::Dialect;
use toolwright::wire::ToolPlanner;
use toolwright::{Invoker, Registry, ToolCall, tool, tool_type};

#[tool_type]
struct Nights(#[schemars(range(min = 1, max = 30))] u8);

#[tool_type]
#[serde(rename_all = "lowercase")]
enum Extra {
    Breakfast,
    Parking,
}

/// Books a room.
#[tool]
fn book_room(nights: Nights, extra: Option<Extra>) -> String {
    let with = match extra {
        Some(Extra::Breakfast) => " with breakfast",
        Some(Extra::Parking) => " with parking",
        None => "",
    };
    format!("booked for {} nights{with}", nights.0)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::of(book_room::tool())?;
    let invoker = Invoker::new(&registry)?;
    let tools = invoker.snapshot()?;

    for dialect in [Dialect::OPENAI, Dialect::ANTHROPIC] {
        let plan = ToolPlanner::new(dialect).plan(&*tools);
        let strict = plan.tools().iter().all(|tool| tool.dialect.is_strict());
        let word = if strict { "strict" } else { "not strict" };
        println!("{dialect}: {word}, about {} tokens", plan.tokens());
    }

    let strict =
        tools.iter().find_map(|tool| tool.spec().input.lower(Dialect::ANTHROPIC_STRICT).ok());
    println!("anthropic-strict would lose:");
    for loss in strict.into_iter().flat_map(|lowered| lowered.losses()) {
        println!("  {loss}");
    }

    let plan = ToolPlanner::new(Dialect::OPENAI).plan(&*tools);
    println!("{}", plan.json());
    // In strict mode all parameters are required, and null stands for an omitted one.
    let call = plan.lift(ToolCall::new("book_room", r#"{"nights": 2, "extra": null}"#));
    println!("back: {}", call.arguments.as_str());
    println!("{}", invoker.invoke(&call).await.text());
    Ok(())
}
