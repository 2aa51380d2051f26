//! `#[tool]`, `#[prompt]` and `#[tools]`: a function becomes a tool or a prompt, and stays a function.
//!
//! Stages: attribute (`attribute_keys`, `args`) → signature (`parse`) → errors (`check`) → code (`expand`,
//! `calling_convention`), or, if there are errors, all of them and a placeholder (`fallback`), so that they
//! cause no further errors.

use proc_macro::TokenStream;
use syn::parse_macro_input;

mod args;
mod attribute_keys;
mod calling_convention;
mod check;
mod default;
mod expand;
mod fallback;
mod parse;

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
/// | `blocking` | the function blocks: it runs on a thread of its own |
/// | `timeout = "30s"` | the time limit of a call (`ms`, `s`, `m`, `h`) |
/// | `concurrency = 4` | the limit of concurrent calls |
/// | `strict = auto` / `on` / `off` | whether providers may enforce the schema |
/// | `extra = refuse` / `ignore` | the handling of unknown arguments |
/// | `errors = message` / `generic` / `end` | the part of an error that the model reads, or the end of the turn |
/// | `on_malformed = retry` / `error` | arguments that are not JSON: the model tries again, or the turn ends |
/// | `expand_result` | fills in `${argument}` in a text result; not for tools that return text from elsewhere |
/// | `return_direct` | the result goes to the user directly, without another model step |
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
