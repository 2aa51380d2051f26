//! `#[tool]`, `#[prompt]` and `#[tools]`: a function becomes a tool or a prompt, and stays a function. `#[tool_type]`: a type
//! becomes an argument or a result.
//!
//! Stages: attribute (`attribute_keys`, `args`) → signature (`parse`) → errors (`check`) → code (`expand`,
//! `calling_convention`), or, if there are errors, all of them and a placeholder (`fallback`), so that they
//! cause no further errors.

use proc_macro::TokenStream;
use syn::parse_macro_input;

mod app_kind;
mod args;
mod attribute_keys;
mod calling_convention;
mod check;
mod default;
mod expand;
mod fallback;
mod parse;
mod tool_type;

use args::DefinitionKind;

/// Makes a tool of a function; inside `#[tools] impl`, of a method.
///
/// The doc comments of the function and of its parameters are the descriptions. The function
/// stays callable; `function::tool()` is the tool.
///
/// | key | meaning |
/// |---|---|
/// | `name = "…"` | the name in calls, else the function's |
/// | `title = "…"` | the display name |
/// | `icon = "https://…"` | the URL of an icon |
/// | `description = "…"` | instead of the doc comment |
/// | `read_only`, `destructive`, `idempotent`, `open_world` | hints, published when declared; each may be `= false` |
/// | `approval = always` / `never` / `auto` | when a call needs approval; auto: if destructive |
/// | `approvers = "role:manager"` | who may approve: `owner` (default), `role:NAME`, `subject:ID`, separated by commas |
/// | `blocking` | the function blocks: it runs on a thread of its own |
/// | `timeout = "30s"` | the time limit of a call (`ms`, `s`, `m`, `h`) |
/// | `concurrency = 4` | the limit of concurrent calls |
/// | `strict = auto` / `on` / `off` | whether providers may enforce the schema |
/// | `extra = refuse` / `ignore` | the handling of unknown arguments |
/// | `errors = message` / `generic` / `end` | the part of an error that the model reads, or the end of the turn |
/// | `on_malformed = retry` / `error` | arguments that are not JSON: the model tries again, or the turn ends |
/// | `expand_result` | fills in `${argument}` in a text result; not for tools that return text from elsewhere |
/// | `return_direct` | the result goes to the user directly, without another model step |
/// | `pinned` | requests to a model contain the tool even if the model searches for the others |
/// | `examples({"city": "Paris"}, …)` | examples of the arguments, which must satisfy the schema; a value may be an expression |
/// | `tags("…", …)`, `questions("…", …)` | keywords, and questions that the tool answers, which tool search finds it by; no model sees them |
/// | `replayable` | an interrupted call is run again from its beginning, with the recorded results of its child calls |
///
/// Parameters take `#[param(name = "…", description = "…", default = …, required)]`. A text default
/// may use `${earlier_parameter}` and `${project_dir}`.
///
/// A method, even one without `self`, is a tool only inside `#[tools] impl`.
///
/// A function and its tool share one name, so `mod weather; use weather::weather;` collides: import
/// the tool from a module of another name.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as syn::Item);
    expand::expand_function(DefinitionKind::Tool, attribute.into(), item).into()
}

/// Makes a prompt of a function; inside `#[tools] impl`, of a method.
///
/// A prompt is a text template that a person picks; a tool is a function that a model calls. It is defined
/// like a tool: the doc comments are the descriptions, parameters take `#[param]`, extractors are allowed.
/// It returns text: `String`, `&'static str`, or a `Result` of either. `${argument}` and `${project_dir}` in
/// that text are filled in; `$${` stands for `${`. The function stays callable; `function::prompt()` is the
/// prompt.
///
/// | key | meaning |
/// |---|---|
/// | `name = "…"` | the name, else the function's |
/// | `title = "…"` | the display name |
/// | `description = "…"` | instead of the doc comment |
/// | `role = assistant` / `user` | the role of the message, `assistant` by default |
///
/// A tool and a prompt may have the same name, but one function cannot be both.
#[proc_macro_attribute]
pub fn prompt(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as syn::Item);
    expand::expand_function(DefinitionKind::Prompt, attribute.into(), item).into()
}

/// Makes a bundle of an `impl` block: each method with `#[tool]` becomes a tool of it, each method
/// with `#[prompt]` a prompt.
///
/// | key | meaning |
/// |---|---|
/// | `new = path` | the constructor for discovery, instead of `Default` |
/// | `manual` | not discovered; only `registry.add(bundle)` adds it |
/// | `prefix = "…"` | precedes each name, with `_` |
/// | `supported_for(App, …)` | discovered only for these applications |
#[proc_macro_attribute]
pub fn tools(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as syn::Item);
    expand::expand_tools(attribute.into(), item).into()
}

/// Makes a struct or an enum the type of arguments and results of tools, or a part of such a type.
///
/// It derives `Serialize`, `Deserialize` and `JsonSchema`, except those that a `#[derive]` below it does, and needs neither
/// serde nor schemars in `Cargo.toml`. Doc comments of the type, its fields and variants are descriptions that the model
/// reads; `#[serde(…)]` and `#[schemars(…)]` work as usual, below this attribute.
///
/// `#[tool_type(input)]` leaves out `Serialize`, `#[tool_type(output)]` leaves out `Deserialize`: for types that cannot be both.
///
/// ```
/// use toolwright::{tool, tool_type};
///
/// #[tool_type]
/// struct Order {
///     /// As printed on the receipt.
///     number: u32,
///     size: Size,
/// }
///
/// #[tool_type]
/// #[serde(rename_all = "lowercase")]
/// enum Size {
///     Small,
///     Large,
/// }
///
/// /// Places an order.
/// #[tool]
/// fn place(order: Order) -> Vec<Order> {
///     vec![order]
/// }
/// ```
#[proc_macro_attribute]
pub fn tool_type(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as syn::Item);
    tool_type::expand_tool_type(attribute.into(), item).into()
}

/// Makes a type an application that bundles can be restricted to with `#[tools(supported_for(…))]`.
///
/// `#[app_kind(Other, …)]` names other applications whose bundles it accepts too.
#[proc_macro_derive(AppKind, attributes(app_kind))]
pub fn derive_app_kind(item: TokenStream) -> TokenStream {
    let input = parse_macro_input!(item as syn::DeriveInput);
    app_kind::expand_app_kind(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}
