//! Generated code passes denied lints: clippy's here, the compiler's in `denied_lints`.

#![deny(
    clippy::all,
    clippy::nursery,
    clippy::pedantic,
    clippy::absolute_paths,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::as_conversions,
    clippy::clone_on_ref_ptr,
    clippy::default_trait_access,
    clippy::exhaustive_enums,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_docs_in_private_items,
    clippy::missing_inline_in_public_items,
    clippy::panic,
    clippy::pattern_type_mismatch,
    clippy::pub_underscore_fields,
    clippy::question_mark_used,
    clippy::same_name_method,
    clippy::shadow_reuse,
    clippy::unreachable,
    clippy::wildcard_enum_match_arm,
    missing_docs,
    unused
)]

use serde_json::json;
use tokio::task::yield_now;
use toolwright::{Caller, Json, State, prompt, tool, tools};

use crate::call::{call_with, text};

/// State of the tools.
#[derive(Debug, Default)]
struct Shelf {
    /// The number of books.
    books: u32,
}

/// Tells how many books there are.
#[tool(read_only, idempotent, title = "Count books")]
async fn count_books(State(shelf): State<Shelf>, caller: Caller) -> Json<u32> {
    assert!(caller.name().is_none(), "nobody has signed in");
    yield_now().await;
    Json(shelf.books)
}

/// Asks for a book.
#[prompt(title = "Ask for a book", role = user)]
async fn ask_for_book(title: String, #[param(default = 1)] copies: u32) -> &'static str {
    yield_now().await;
    "I would like ${copies} of ${title}."
}

#[tools]
impl Shelf {
    /// Asks to tidy up.
    #[prompt]
    fn tidy_up(&self, #[param(default = "now")] when: String) -> Result<String, String> {
        if when.is_empty() {
            Err(when)
        } else {
            Ok(format!("Tidy up {} books ${{when}}.", self.books))
        }
    }

    /// Finds a book.
    #[tool(blocking)]
    fn find_book(
        &self,
        #[param(default = "${project_dir:-any}")] title: String,
    ) -> Result<String, String> {
        if self.books == 0 { Ok(title) } else { Err(format!("{title} is not there")) }
    }

    /// Takes a book, one by default.
    #[tool]
    fn take_book(&self, #[param(default = 1)] books: u32, why: Option<String>) -> u32 {
        let none = why.is_none();
        self.books.saturating_sub(books) + u32::from(none)
    }
}

#[tokio::test]
async fn such_tools_run() {
    let shelf = Shelf { books: 3 };
    let tool = count_books::tool();
    let count = call_with(tool, |it| it.state(shelf), "count_books", json!({})).await;
    assert_eq!(count.text(), "3");
    let books = json!({"books": 2});
    assert_eq!(text(Shelf { books: 3 }, "take_book", books).await, "2");
    assert_eq!(text(Shelf::default(), "find_book", json!({})).await, "any");
}
