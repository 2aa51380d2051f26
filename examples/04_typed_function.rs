//! A function from one type to another: both become schemas, and the result is structured.
//!
//! ```console
//! $ cargo run -q --example 04_typed_function
//! name: string
//! since: integer
//! {"type":"object","properties":{"author":{"type":"string"},"titles":{"type":"array","items":{"type":"string"}}},"required":["author","titles"],"description":"What was found."}
//! text: {"author":"Woolf","titles":["Orlando"]}
//! first title: "Orlando"
//! ```

use std::error::Error;

use toolwright::{HandlerContext, Invoker, Json, Registry, Tool, ToolCall, json, tool_type};

/// Whose books to find.
#[tool_type]
struct Author {
    /// The author's family name.
    name: String,
    /// Only books since this year.
    since: Option<u16>,
}

/// What was found.
#[tool_type]
struct Books {
    author: String,
    titles: Vec<String>,
}

const CATALOG: [(&str, &str, u16); 3] =
    [("Woolf", "Mrs Dalloway", 1925), ("Woolf", "Orlando", 1928), ("Mann", "Der Zauberberg", 1924)];

fn books_by(author: Author, _: HandlerContext) -> Json<Books> {
    let (author, since) = (author.name, author.since.unwrap_or_default());
    let all = CATALOG.iter();
    let found = all.filter(|(by, _, year)| *by == author && *year >= since);
    let titles = found.map(|(_, title, _)| (*title).to_owned()).collect();
    Json(Books { author, titles })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let tool = Tool::builder("books_by_author", "Finds an author's books.")
        .input::<Author>()
        .output::<Books>()
        .read_only(true)
        .run(books_by)?;
    for param in tool.params() {
        println!("{}: {}", param.name, param.json_type);
    }
    if let Some(output) = &tool.spec().output {
        println!("{}", output.as_value());
    }

    let registry = Registry::of(tool)?;
    let invoker = Invoker::new(&registry)?;
    let call = ToolCall::new("books_by_author", json!({"name": "Woolf", "since": 1926}));
    let result = invoker.invoke(&call).await;
    // The model reads the text; a program reads the same as JSON.
    println!("text: {}", result.text());
    let value = result.structured.map(|json| json.to_value());
    let first = value.as_ref().and_then(|value| value.pointer("/titles/0"));
    println!("first title: {}", first.ok_or("nothing was found")?);
    Ok(())
}
