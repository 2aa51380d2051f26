//! A tool that `macro_rules!` writes is a tool like any other.

use toolwright::{Registry, tool, tools};

macro_rules! speaker {
    ($(#[$doc:meta])* $name:ident, $word:ty, $default:expr, $instead:literal) => {
        $(#[$doc])*
        #[tool]
        fn $name(
            #[param(default = $default)] word: $word,
            #[param(default = $instead)] other: $word,
            #[param(default = 3)] times: u32,
        ) -> Result<$word, String> {
            let _ = times;
            Ok(word + &other)
        }
    };
}

speaker! {
    /// Says a word.
    say, String, "hello", "world"
}

macro_rules! bundle {
    ($type:ident, $method:ident, $result:ty) => {
        #[derive(Default)]
        struct $type;

        #[tools]
        impl $type {
            /// Opens the shop.
            #[tool]
            async fn $method(&self, door: u32) -> $result {
                door
            }
        }
    };
}

bundle!(Shop, open_by_macro, u32);

#[test]
fn tools_and_bundles_are_discovered() {
    let registry = Registry::discover().unwrap();
    let snapshot = registry.snapshot();
    let say = snapshot.get("say").unwrap().spec();
    assert_eq!(say.description, "Says a word.");
    assert_eq!(say.params()[0].default, Some("hello".into()));
    assert!(snapshot.get("open_by_macro").is_some());
}
