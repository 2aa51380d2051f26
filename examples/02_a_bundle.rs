//! Methods become a bundle of tools; what the model must not decide is injected.
//!
//! ```console
//! $ cargo run -q --example 02_a_bundle
//! to: Whom it is for.
//! opening: How it begins. Defaults to `Dear ${to},`.
//! body: What it says.
//! -> [blue, 1 EUR, to Bob] Dear Bob, all is well. Ada
//! -> sign in to write letters
//! ```

use std::error::Error;

use toolwright::{CallContext, CallScope, Caller, Param, State, ToolCall, ToolError, json, tools};
use toolwright::{Invoker, Registry};

/// The bundle: its methods share its fields.
#[derive(Default)]
struct Letters {
    paper: &'static str,
}

#[tools]
impl Letters {
    /// Writes a letter.
    #[tool]
    fn write_letter(
        &self,
        /// Whom it is for.
        to: String,
        /// How it begins.
        #[param(default = "Dear ${to},")]
        opening: String,
        /// What it says.
        #[param(default = "all is well.")]
        body: String,
        State(stamp): State<Stamp>,
        Author(author): Author,
    ) -> String {
        let (paper, stamp) = (self.paper, stamp.0);
        format!("[{paper}, {stamp}, to {to}] {opening} {body} {author}")
    }
}

/// State of the host: given to the invoker, injected by its type.
struct Stamp(&'static str);

/// An extractor: filled in from the call, hidden from the model.
struct Author(String);

impl Param for Author {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        match cx.caller().name() {
            Some(name) => Ok(Self(name.to_owned())),
            None => Err(ToolError::failed("sign in to write letters")),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::of(Letters { paper: "blue" })?;
    let tool = registry.get("write_letter").ok_or("it was just added")?;
    for param in tool.params() {
        println!("{}: {}", param.name, param.description.unwrap_or_default());
    }

    let invoker = Invoker::builder(&registry).state(Stamp("1 EUR")).build()?;
    let ada = CallScope::new().caller(Caller::new("Ada"));
    let call = ToolCall::new("write_letter", json!({"to": "Bob"}));
    println!("-> {}", invoker.invoke_in(&ada, &call).await.text());
    println!("-> {}", invoker.invoke(&call).await.text());
    Ok(())
}
