//! One tool, in ten lines, for everything: the program of README.md.
//!
//! ```console
//! $ cargo run -q --example 27_ten_lines -- tools call find_books author=Woolf
//! Woolf: Orlando, The Waves
//! ```

use toolwright::tool;

/// Finds the books of an author in the shop.
#[tool(read_only)]
fn find_books(author: String) -> String {
    format!("{author}: Orlando, The Waves")
}

fn main() -> std::process::ExitCode {
    toolwright::app!().run()
}
