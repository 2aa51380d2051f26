//! Generated code names everything by its full path.

#![no_implicit_prelude]

use ::std::string::String;
use ::toolwright::{prompt, tool, tools};

/// Repeats a word.
#[tool(read_only)]
fn repeat(#[param(default = "word")] word: String, times: ::std::option::Option<u32>) -> String {
    let _ = times;
    word
}

/// Repeats a word later.
#[tool]
async fn later(word: String) -> ::std::result::Result<String, String> {
    ::std::result::Result::Ok(word)
}

/// Asks for a word.
#[prompt]
fn ask(word: String) -> ::std::result::Result<&'static str, String> {
    ::std::result::Result::Ok("Say ${word}.")
}

#[derive(::std::default::Default)]
struct Shop;

#[tools]
impl Shop {
    /// Opens the shop.
    #[tool(blocking)]
    fn open(&self, #[param(default = 1 + 1)] doors: u32) -> u32 {
        doors
    }

    /// Asks to open the shop.
    #[prompt(name = "open", role = user)]
    async fn please(&self) -> String {
        ::std::convert::From::from("Please open the shop.")
    }
}

#[test]
fn such_tools_are_discovered() {
    let registry = ::toolwright::Registry::discover().unwrap();
    ::std::assert!(registry.get("open").is_some());
    ::std::assert!(registry.get("later").is_some());
    ::std::assert!(registry.prompt("open").is_some());
    ::std::assert!(registry.prompt("ask").is_some());
}
