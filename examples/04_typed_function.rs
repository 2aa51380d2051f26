//! A function from one type to another: both become schemas, and the result is structured.
//!
//! ```console
//! $ cargo run -q --example 04_typed_function
//! ```

use std::error::Error;

use serde::{Deserialize, Serialize};
use toolwright::{Context, Invoker, Json, JsonSchema, Registry, Tool, ToolCall, schemars};

/// What the model sends.
#[derive(Deserialize, JsonSchema)]
struct Author {
    /// The author's family name.
    name: String,
    /// Only books since this year.
    since: Option<u16>,
}

/// What it gets back.
#[derive(Serialize, JsonSchema)]
struct Books {
    /// In the order they were published.
    books: Vec<Book>,
}

#[derive(Serialize, JsonSchema)]
struct Book {
    title: String,
    year: u16,
}

const SHELF: [(&str, &str, u16); 3] = [
    ("Woolf", "Mrs Dalloway", 1925),
    ("Woolf", "Orlando", 1928),
    ("Mann", "Der Zauberberg", 1924),
];

fn books_by(author: Author, _: Context) -> Json<Books> {
    let since = author.since.unwrap_or_default();
    let wanted = SHELF.iter().filter(|(by, _, year)| *by == author.name && *year >= since);
    let books = wanted.map(|&(_, title, year)| Book { title: title.to_owned(), year });
    Json(Books { books: books.collect() })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let tool = Tool::builder("books_by_author", "Finds an author's books.")
        .input::<Author>()
        .output::<Books>()
        .read_only(true)
        .run(books_by)?;
    println!("input: {}", tool.spec().input.as_value());
    if let Some(output) = &tool.spec().output {
        println!("output: {}", output.as_value());
    }

    let registry = Registry::new();
    registry.add(tool)?;
    let invoker = Invoker::new(&registry)?;
    let call = ToolCall::new("books_by_author", r#"{"name": "Woolf", "since": 1926}"#);
    let result = invoker.invoke(&call).await;
    // The model reads the text; a program reads the same as JSON.
    println!("text: {}", result.text());
    let structured = result.structured.ok_or("the tool declares an output")?;
    println!("title: {}", structured.to_value()["books"][0]["title"]);
    Ok(())
}
