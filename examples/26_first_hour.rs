//! The program of the first hour (`docs/first-hour.md`): one that reads, one that changes something.
//!
//! ```console
//! $ cargo run -q --example 26_first_hour -- tools call find_books author=Woolf
//! Orlando
//! The Waves
//! ```

use toolwright::tool;

/// Finds the books of an author in the shop.
#[tool(read_only)]
fn find_books(
    /// The author's family name, for example `Woolf`.
    author: String,
) -> Vec<&'static str> {
    match author.as_str() {
        "Woolf" => vec!["Orlando", "The Waves"],
        "Eliot" => vec!["Middlemarch"],
        _ => vec![],
    }
}

/// Orders a book from the publisher. This cannot be undone.
#[tool(destructive, title = "Order book")]
fn order_book(
    /// The title, for example `Orlando`.
    title: String,
    /// How many copies.
    #[param(default = 1)]
    copies: u32,
) -> String {
    format!("ordered {copies} × {title}")
}

fn main() -> std::process::ExitCode {
    toolwright::app!().name("bookshop").run()
}
