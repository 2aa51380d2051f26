//! The user's names and the generated ones never meet.

#![allow(dead_code, unreachable_pub, non_camel_case_types)]

use toolwright::{JsonSchema, Registry, prompt, tool, tools};

#[derive(serde::Deserialize, JsonSchema)]
struct Args {
    word: String,
}

#[derive(serde::Deserialize, JsonSchema)]
struct A;

struct Option;
struct Result;
struct Vec;
struct Tool;
struct Prompt;
struct Item;
struct Role;
trait Default {}

/// Takes arguments of that name.
#[tool]
async fn args(args: Args, a: A) -> String {
    let _: A = a;
    args.word
}

/// A function of that name.
#[tool]
fn receiver(encoders: String, cx: u32, #[param(default = call())] map: u32) -> String {
    format!("{encoders}{cx}{map}")
}

/// A function of that name.
#[tool(blocking)]
fn encoders(index: u32) -> u32 {
    index
}

/// A function of that name.
#[tool]
async fn cx(generator: u32) -> u32 {
    generator
}

/// A function of that name.
#[tool]
fn param_0(param_0: u32, ok: u32, error: u32) -> std::result::Result<u32, String> {
    Ok(param_0 + ok + error)
}

/// A function of that name.
#[tool]
fn ok() {}

/// A function of that name.
#[prompt]
fn role(items: u32) -> &'static str {
    "${items}"
}

fn call() -> u32 {
    5
}

mod bundle {
    use super::*;

    #[derive(std::default::Default)]
    pub struct bundle;

    #[tools]
    impl bundle {
        /// A method of that name.
        #[tool]
        fn tools(&self, word: String) -> String {
            word
        }

        /// A method of that name.
        #[tool]
        fn u32(&self, number: u32) -> u32 {
            number
        }

        /// A method of that name.
        #[prompt]
        fn items(&self, word: String) -> String {
            word
        }
    }
}

#[test]
fn all_of_them_are_discovered() {
    let registry = Registry::discover().unwrap();
    for tool in ["args", "receiver", "encoders", "cx", "param_0", "ok", "tools", "u32"] {
        assert!(registry.get(tool).is_some(), "{tool}");
    }
    for prompt in ["role", "items"] {
        assert!(registry.prompt(prompt).is_some(), "{prompt}");
    }
}
