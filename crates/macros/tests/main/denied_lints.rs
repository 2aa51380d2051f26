//! A module that denies nearly everything still takes tools.

#![deny(
    deprecated_in_future,
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    let_underscore_drop,
    missing_copy_implementations,
    missing_debug_implementations,
    missing_docs,
    non_camel_case_types,
    non_local_definitions,
    rust_2018_idioms,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unnameable_types,
    unreachable_pub,
    unused,
    unused_import_braces,
    unused_lifetimes,
    unused_qualifications,
    unused_results,
    variant_size_differences,
    warnings
)]
#![forbid(unsafe_code)]

pub mod shop {
    //! Tools of every shape.

    use futures::stream::{self, Stream};
    use toolwright::{Caller, Json, Maybe, State, ToolError, Updates, prompt, tool, tools};

    /// A shop.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Shop {
        open: bool,
    }

    /// Adds two numbers.
    #[tool(read_only, title = "Add", timeout = "5s", concurrency = 2)]
    pub fn add(a: i64, #[param(default = 1)] b: i64) -> i64 {
        a + b
    }

    /// Greets the caller.
    #[tool]
    async fn greet(Maybe(caller): Maybe<Caller>, State(shop): State<Shop>) -> String {
        format!("{caller:?} {}", shop.open)
    }

    /// Counts down.
    #[tool]
    pub(crate) fn count_down(from: u32) -> Updates<impl Stream<Item = String> + use<>> {
        Updates(stream::iter((0..=from).rev().map(|n| n.to_string())))
    }

    /// An old tool.
    #[tool(blocking)]
    #[deprecated]
    pub fn old(#[param(default = "x")] _word: String) {}

    /// Asks what there is, in the words of a text that is filled in.
    #[prompt(title = "What is there?", role = user)]
    pub fn what(kind: String, #[param(default = 3)] most: u32, caller: Caller) -> &'static str {
        "Name up to ${most} kinds of ${kind}."
    }

    #[tools]
    impl Shop {
        /// Asks to be let in.
        #[prompt]
        async fn knock(&self, #[param(default = "x")] _word: String) -> Result<String, ToolError> {
            Ok(format!("open: {}", self.open))
        }

        /// Tells whether the shop is open.
        #[tool]
        pub fn is_open(&self) -> Json<bool> {
            Json(self.open)
        }

        /// Waits for nothing.
        #[tool]
        async fn wait(#[param(default = "x")] word: String) -> Result<(), ToolError> {
            drop(word);
            Ok(())
        }
    }
}

#[test]
fn such_tools_run() {
    assert_eq!(shop::add(1, 2), 3);
    assert_eq!(shop::add::tool().name().as_str(), "add");
}
