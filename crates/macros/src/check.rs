//! A definition in, every mistake in it out, each on its own token and with what to write instead.

use std::collections::HashSet;

use syn::spanned::Spanned as _;
use syn::{
    Expr, ExprLit, ExprUnary, FnArg, Lit, LitStr, Receiver, ReceiverKind, Safety, Signature, Type,
    UnOp,
};

use crate::args::Mistakes;
use crate::parse::{Definition, Param};

/// How many parameters a definition can keep track of.
const MOST_PARAMS: usize = 64;

/// Checks what the signature alone shows.
pub(crate) fn signature(signature: &Signature, in_bundle: bool, mistakes: &mut Mistakes) {
    if !signature.generics.params.is_empty() {
        mistakes.add(
            signature.generics.span(),
            "a tool cannot be generic, because a model sends values, not types: write the types out",
        );
    }
    let unsafety = match &signature.safety {
        Safety::Unsafe(token) => Some(token.span()),
        _ => None,
    };
    let abi = signature.abi.as_ref().map(|abi| abi.span());
    for (span, what) in [(unsafety, "unsafe"), (abi, "extern")] {
        if let Some(span) = span {
            mistakes.add(
                span,
                format!("a tool cannot be `{what}`: write a plain `fn` that calls it"),
            );
        }
    }
    for input in &signature.inputs {
        match input {
            FnArg::Receiver(receiver) if !in_bundle => mistakes.add(
                receiver.span(),
                "a free tool has no `self`: write `#[tools]` on the `impl` block, or drop `self`",
            ),
            FnArg::Receiver(receiver) => check_receiver(receiver, mistakes),
            FnArg::Typed(typed) => check_type(&typed.ty, mistakes),
        }
    }
}

/// Calls run at the same time, so all they can have of the bundle is a shared reference.
fn check_receiver(receiver: &Receiver, mistakes: &mut Mistakes) {
    let shared = matches!(receiver.kind, ReceiverKind::Reference(_, _, None));
    if !shared {
        mistakes.add(
            receiver.span(),
            "calls share the bundle: write `&self`, and keep what changes in a `Mutex` or an atomic",
        );
    }
}

fn check_type(ty: &Type, mistakes: &mut Mistakes) {
    match ty {
        Type::Reference(reference) => {
            let owned = match &*reference.elem {
                Type::Path(path) if path.path.is_ident("str") => "String".to_owned(),
                Type::Slice(slice) => {
                    let element = &slice.elem;
                    format!("Vec<{}>", quote::quote!(#element))
                }
                other => quote::quote!(#other).to_string(),
            };
            mistakes.add(
                ty.span(),
                format!("a tool owns its arguments: write `{owned}`"),
            );
        }
        Type::ImplTrait(_) => {
            mistakes.add(
                ty.span(),
                "a model sends values, not types: write a concrete type instead of `impl`",
            );
        }
        _ => {}
    }
}

/// Checks everything else about a definition.
pub(crate) fn definition(definition: &Definition, mistakes: &mut Mistakes) {
    check_name(&definition.name, mistakes);
    if definition.description.trim().is_empty() {
        mistakes.add(
            definition.function.span(),
            "a tool needs a description, because the model chooses by it: write a doc comment (`/// …`) above the function",
        );
    }
    if let (Some(span), true) = (definition.args.blocking, definition.is_async) {
        mistakes.add(
            span,
            "an async function does not block: drop `blocking`, or drop `async`",
        );
    }
    if let (Some(_), Some(span)) = (definition.args.read_only, definition.args.destructive) {
        mistakes.add(
            span,
            "a tool that only reads destroys nothing: drop `read_only` or `destructive`",
        );
    }
    if let Some(param) = definition.params.get(MOST_PARAMS) {
        mistakes.add(
            param.ty.span(),
            format!("a tool takes at most {MOST_PARAMS} parameters: group them in a struct"),
        );
    }
    let mut seen: HashSet<String> = HashSet::new();
    for param in &definition.params {
        check_param(param, &seen, mistakes);
        if let Some(name) = &param.name
            && !seen.insert(name.value())
        {
            mistakes.add(
                name.span(),
                format!(
                    "two parameters are named `{}`: give one another name",
                    name.value()
                ),
            );
        }
    }
}

fn check_name(name: &LitStr, mistakes: &mut Mistakes) {
    let text = name.value();
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if text.is_empty() || text.len() > 64 || !text.chars().all(fits) {
        let mut instead: String = text
            .chars()
            .map(|c| if fits(c) { c } else { '_' })
            .take(64)
            .collect();
        if instead.is_empty() {
            instead.push_str("my_tool");
        }
        mistakes.add(
            name.span(),
            format!("`{text}` cannot be a tool's name (1 to 64 letters, digits, `_` or `-`): write `name = \"{instead}\"`"),
        );
    }
}

fn check_param(param: &Param, earlier: &HashSet<String>, mistakes: &mut Mistakes) {
    if let (Some(span), Some(_)) = (param.args.required, &param.args.default) {
        mistakes.add(
            span,
            "a required parameter never takes its default: drop `required` or `default`",
        );
    }
    if let Some(name) = param
        .args
        .name
        .as_ref()
        .filter(|name| name.value().is_empty())
    {
        mistakes.add(
            name.span(),
            "a parameter needs a name: write `name = \"…\"`, or leave it out",
        );
    }
    let Some(default) = &param.args.default else {
        return;
    };
    if let Some(text) = text_literal(default) {
        for unknown in placeholders(&text.value()) {
            if !earlier.contains(&unknown) && unknown != "project_dir" {
                mistakes.add(
                    text.span(),
                    format!("`${{{unknown}}}` names no earlier parameter: name one, or write `$${{` for a literal `${{`"),
                );
            }
        }
        if !placeholders(&text.value()).is_empty() {
            return;
        }
    }
    if let Some(instead) = wrong_literal(&param.ty, default) {
        mistakes.add(
            default.span(),
            format!("a default of another type than the parameter's: write {instead}"),
        );
    }
}

/// Returns the literal if the expression is one text.
pub(crate) fn text_literal(expr: &Expr) -> Option<&LitStr> {
    match expr {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text),
        _ => None,
    }
}

/// Lists the names in `${name}` and `${name:-fallback}`, by the rules the library expands them with.
pub(crate) fn placeholders(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, from) = rest.split_at(at);
        let inner = from.strip_prefix("${").unwrap_or_default();
        if before.ends_with('$') {
            rest = inner;
            continue;
        }
        let Some((name, after)) = inner.split_once('}') else {
            break;
        };
        names.push(
            name.split_once(":-")
                .map_or(name, |(name, _)| name)
                .to_owned(),
        );
        rest = after;
    }
    names
}

/// Tells what to write where a literal cannot be of a well-known type.
///
/// Only the plainest cases: the compiler itself checks every other default against its type.
fn wrong_literal(ty: &Type, default: &Expr) -> Option<String> {
    let Type::Path(path) = ty else {
        return None;
    };
    let name = path.path.get_ident()?.to_string();
    let (lit, minus) = match default {
        Expr::Lit(ExprLit { lit, .. }) => (lit, ""),
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr,
            ..
        }) => match &**expr {
            Expr::Lit(ExprLit { lit, .. }) => (lit, "-"),
            _ => return None,
        },
        _ => return None,
    };
    let written = match lit {
        Lit::Str(text) => text.value(),
        Lit::Int(number) => format!("{minus}{}", number.base10_digits()),
        Lit::Float(number) => format!("{minus}{}", number.base10_digits()),
        Lit::Bool(yes) => yes.value().to_string(),
        Lit::Char(c) => c.value().to_string(),
        _ => return None,
    };
    match (name.as_str(), lit) {
        ("String", Lit::Str(_)) | ("bool", Lit::Bool(_)) | ("char", Lit::Char(_)) => None,
        ("String", _) => Some(format!("`default = {written:?}`")),
        ("bool", _) => Some("`default = true` or `default = false`".to_owned()),
        ("char", _) => Some("`default = 'x'`".to_owned()),
        ("f32" | "f64", Lit::Float(_)) => None,
        ("f32" | "f64", Lit::Int(_)) => Some(format!("`default = {written}.0`")),
        ("f32" | "f64", _) => Some("a number such as `default = 1.0`".to_owned()),
        (int, Lit::Int(_)) if is_integer(int) && (minus.is_empty() || int.starts_with('i')) => None,
        (int, _) if is_integer(int) => Some(format!(
            "a whole number that fits `{int}`, such as `default = 1`"
        )),
        _ => None,
    }
}

fn is_integer(name: &str) -> bool {
    let bits = name.strip_prefix('i').or_else(|| name.strip_prefix('u'));
    matches!(bits, Some("8" | "16" | "32" | "64" | "128" | "size"))
}
