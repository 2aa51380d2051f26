//! Methods become a bundle of tools; what the model should not decide is injected.
//!
//! ```console
//! $ cargo run -q --example 02_a_bundle
//! ```

use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};

use toolwright::{
    CallContext, Caller, Invoker, Param, Registry, Scope, State, ToolCall, ToolError, tools,
};

/// The host's own, shared by all bundles: the invoker is given one.
struct Office {
    town: &'static str,
}

/// An extractor: a parameter the model never sees, taken from the call.
struct Author(String);

impl Param for Author {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        let name = cx.caller().name();
        let name = name.ok_or_else(|| ToolError::failed("sign in to write letters"))?;
        Ok(Self(name.to_owned()))
    }
}

/// The bundle: its fields are shared by its methods.
#[derive(Default)]
struct Letters {
    written: AtomicU32,
}

#[tools]
impl Letters {
    /// Writes a letter and returns it.
    #[tool]
    fn write_letter(
        &self,
        /// Whom it is for.
        to: String,
        /// What it says.
        #[param(default = "All is well.")]
        body: String,
        /// How it begins.
        #[param(default = "Dear ${to},")]
        opening: String,
        State(office): State<Office>,
        Author(author): Author,
    ) -> String {
        let number = self.written.fetch_add(1, Ordering::Relaxed) + 1;
        format!("no. {number} to {to}, {}: {opening} {body} {author}", office.town)
    }

    /// Counts the letters written so far.
    #[tool(read_only)]
    fn count_letters(&self) -> u32 {
        self.written.load(Ordering::Relaxed)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::new();
    registry.add(Letters::default())?;
    let seen = registry.get("write_letter").map(|tool| tool.params());
    for param in seen.into_iter().flatten() {
        println!("{}: {}", param.name, param.description.unwrap_or_default());
    }
    let invoker = Invoker::builder(&registry).state(Office { town: "Rome" }).build()?;

    let ada = Scope::new().caller(Caller::new("Ada"));
    let short = ToolCall::new("write_letter", r#"{"to": "Bob"}"#);
    let long = ToolCall::new("write_letter", r#"{"to": "Bob", "opening": "Hi!"}"#);
    let count = ToolCall::new("count_letters", "{}");
    for (scope, call) in [(&ada, &short), (&ada, &long), (&Scope::new(), &short), (&ada, &count)] {
        println!("-> {}", invoker.invoke_in(scope, call).await.text());
    }
    Ok(())
}
