//! A program made with `app!`: `tests/program/app.rs` runs it.

use std::error::Error;
use std::process::ExitCode;

use toolwright::app::RunningApp;
use toolwright::{Config, ConfigError, Registry, State, ToolCall, tool};

struct Shop {
    stock: u32,
}

impl Shop {
    async fn open(config: Config) -> Result<Self, ConfigError> {
        eprintln!("the shop opens");
        Ok(Self { stock: config.get("shop.stock")? })
    }
}

/// Counts the books that remain after a sale.
#[tool(read_only)]
fn count_books(
    /// How many are sold.
    sold: u32,
    shop: State<Shop>,
) -> u32 {
    shop.stock - sold
}

/// Prints the stock after the sales of the arguments.
async fn report(sales: Vec<String>, app: RunningApp) -> Result<(), std::num::ParseIntError> {
    for sold in sales {
        let arguments = format!(r#"{{"sold": {}}}"#, sold.parse::<u32>()?);
        let result = app.invoker().invoke(&ToolCall::new("count_books", arguments)).await;
        println!("{sold} sold: {} left", result.text());
    }
    Ok(())
}

pub(crate) fn run() -> Result<ExitCode, Box<dyn Error>> {
    let app = toolwright::app!()
        .registry(Registry::of(count_books::tool())?)
        .name("bookshop")
        .description("Sells books.")
        .default_setting("shop.stock", "12")
        .state_with(Shop::open)
        .command("report", "Report the stock after sales", report);
    Ok(app.run())
}
