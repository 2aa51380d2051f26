//! `#[tool]`, `#[prompt]` and `#[tools]`: a function becomes a tool or a prompt, and stays a function.
//!
//! Stages: attribute (`keys`, `args`) → signature (`parse`) → mistakes (`check`) → code (`expand`,
//! `wire`), or, when there are mistakes, all of them and a stand-in (`fallback`), so that nothing else
//! fails because of them.

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
/// The doc comment is the description, and so is the doc comment of each parameter. The function
/// stays callable; `function::tool()` is the tool.
///
/// | key | meaning |
/// |---|---|
/// | `name = "…"` | the name the model calls, else the function's |
/// | `title = "…"` | the name people read |
/// | `icon = "https://…"` | a picture that people know it by |
/// | `description = "…"` | in place of the doc comment |
/// | `read_only`, `destructive`, `idempotent`, `open_world` | hints, published when declared; each may be `= false` |
/// | `approval = always` / `never` / `auto` | who has to be asked; auto: when destructive |
/// | `blocking` | the function blocks: it runs on a thread of its own |
/// | `timeout = "30s"` | how long a call may take (`ms`, `s`, `m`, `h`) |
/// | `concurrency = 4` | how many calls may run at once |
/// | `strict = auto` / `on` / `off` | whether providers may hold the model to the schema |
/// | `extra = refuse` / `ignore` | what becomes of unknown arguments |
/// | `errors = message` / `generic` / `end` | what the model reads of an error, or that it ends the turn |
/// | `on_malformed = tell` / `error` | what becomes of arguments that are not JSON |
/// | `expand_result` | fills in `${argument}` in a text result, where the author wrote it; not for tools that return text from elsewhere |
/// | `return_direct` | the result answers the person without another model step |
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
/// A prompt is a named text that a person picks and fills in, where a tool is a function that a model
/// calls. It is written like a tool: the doc comments are the descriptions, parameters take `#[param]`,
/// extractors are filled in. It returns text: `String`, `&'static str`, or a `Result` of either.
/// `${argument}` and `${project_dir}` in that text are filled in; `$${` stands for `${`. The function
/// stays callable; `function::prompt()` is the prompt.
///
/// | key | meaning |
/// |---|---|
/// | `name = "…"` | the name it is picked by, else the function's |
/// | `title = "…"` | the name people read |
/// | `description = "…"` | in place of the doc comment |
/// | `role = assistant` / `user` | in whose name the text is said, `assistant` if it is left out |
///
/// A tool and a prompt may have one name, but not be one function.
#[proc_macro_attribute]
pub fn prompt(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as syn::Item);
    expand::expand_function(DefinitionKind::Prompt, attribute.into(), item).into()
}

/// Makes a bundle of an `impl` block: each method marked `#[tool]` becomes a tool of it, each one
/// marked `#[prompt]` a prompt.
///
/// | key | meaning |
/// |---|---|
/// | `new = path` | the function that discovery makes the bundle with, in place of `Default` |
/// | `manual` | not discovered; only `registry.add(bundle)` adds it |
/// | `prefix = "…"` | put before each name, with `_` |
/// | `supported_for(App, …)` | discovered only for these applications |
#[proc_macro_attribute]
pub fn tools(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as syn::Item);
    expand::expand_tools(attribute.into(), item).into()
}
