//! A definition in, every mistake in it out, each on its own token and with what to write instead.

use std::collections::HashSet;

use syn::{
    Expr, ExprLit, ExprUnary, FnArg, GenericArgument, GenericParam, Lifetime, Lit, LitStr,
    PathArguments, Receiver, ReceiverKind, ReturnType, Safety, Signature, Type, TypeParamBound,
    UnOp,
};

use crate::keys::Mistakes;
use crate::parse::{Definition, Param, peel, peel_type, type_arguments};

/// What every provider takes.
const LONGEST_NAME: usize = 64;

/// How many parameters a definition can keep track of.
const MOST_PARAMS: usize = 64;

/// Checks what the signature alone shows.
pub(crate) fn signature(signature: &Signature, in_bundle: bool, mistakes: &mut Mistakes) {
    let is_lifetime = |param: &GenericParam| matches!(param, GenericParam::Lifetime(_));
    if !signature.generics.params.iter().all(is_lifetime) {
        mistakes.add(
            &signature.generics,
            "a tool cannot be generic, because a model sends values, not types: write the types out",
        );
    }
    let plain = |what| format!("a tool cannot be `{what}`: write a plain `fn` that calls it");
    if let Safety::Unsafe(token) = &signature.safety {
        mistakes.add(token, plain("unsafe"));
    }
    if let Some(abi) = &signature.abi {
        mistakes.add(abi, plain("extern"));
    }
    for input in &signature.inputs {
        match input {
            FnArg::Receiver(receiver) if !in_bundle => mistakes.add(
                receiver,
                "a free tool has no `self`: write `#[tools]` on the `impl` block, or drop `self`",
            ),
            FnArg::Receiver(receiver) => check_receiver(receiver, mistakes),
            FnArg::Typed(typed) => owned(&typed.ty, Place::Parameter, mistakes),
        }
    }
    if let ReturnType::Type(_, ty) = &signature.output {
        owned(ty, Place::Result, mistakes);
        // Free functions own all they are given, and so have nothing to capture.
        if signature.asyncness.is_none() && signature.receiver().is_some() {
            captures(ty, mistakes);
        }
    }
}

/// Complains about `impl Trait` that may hold on to `&self` for longer than the call.
fn captures(ty: &Type, mistakes: &mut Mistakes) {
    match ty {
        Type::ImplTrait(opaque) => {
            let says = |bound: &TypeParamBound| matches!(bound, TypeParamBound::PreciseCapture(_));
            if !opaque.bounds.iter().any(says) {
                let message =
                    "a result outlives the call: add `+ use<>`, so that it does not borrow `self`";
                mistakes.add(opaque, message);
            }
        }
        Type::Path(path) => {
            for ty in type_arguments(path) {
                captures(ty, mistakes);
            }
        }
        _ => {}
    }
}

/// Calls run at the same time, so all they can have of the bundle is a shared reference.
fn check_receiver(receiver: &Receiver, mistakes: &mut Mistakes) {
    let shared = matches!(receiver.kind, ReceiverKind::Reference(_, _, None));
    if !shared {
        mistakes.add(
            receiver,
            "calls share the bundle: write `&self`, and keep what changes in a `Mutex` or an atomic",
        );
    }
}

/// Which side of the arrow a type is on.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Parameter,
    Result,
}

/// Complains about whatever is borrowed: arguments come from outside, and results outlive the call.
fn owned(ty: &Type, place: Place, mistakes: &mut Mistakes) {
    let why = match place {
        Place::Parameter => "a tool owns its arguments",
        Place::Result => "a result outlives the call",
    };
    let is_static = |lifetime: &Lifetime| lifetime.ident == "static";
    match ty {
        Type::Reference(reference) => {
            let lasts = reference.lifetime.as_ref().is_some_and(is_static);
            if place == Place::Parameter || !lasts {
                let instead = owned_form(&reference.elem);
                mistakes.add(ty, format!("{why}: write `{instead}`"));
            }
        }
        Type::ImplTrait(_) if place == Place::Parameter => mistakes.add(
            ty,
            "a model sends values, not types: write a concrete type instead of `impl`",
        ),
        Type::Path(path) => {
            for segment in &path.path.segments {
                let PathArguments::AngleBracketed(generics) = &segment.arguments else {
                    continue;
                };
                for argument in &generics.args {
                    match argument {
                        GenericArgument::Type(ty) => owned(ty, place, mistakes),
                        GenericArgument::Lifetime(lifetime) if !is_static(lifetime) => {
                            mistakes.add(lifetime, format!("{why}: write `'static`"));
                        }
                        _ => {}
                    }
                }
            }
        }
        Type::Tuple(tuple) => {
            for ty in &tuple.elems {
                owned(ty, place, mistakes);
            }
        }
        Type::Array(array) => owned(&array.elem, place, mistakes),
        Type::Group(group) => owned(&group.elem, place, mistakes),
        Type::Paren(paren) => owned(&paren.elem, place, mistakes),
        _ => {}
    }
}

/// Names the type that owns what `ty` is borrowed from.
fn owned_form(ty: &Type) -> String {
    match ty {
        Type::Path(path) if path.path.is_ident("str") => "String".to_owned(),
        Type::Path(path) if path.path.is_ident("Path") => "PathBuf".to_owned(),
        Type::Slice(slice) => {
            let element = &slice.elem;
            format!("Vec<{}>", quote::quote!(#element))
        }
        other => quote::quote!(#other).to_string(),
    }
}

/// Checks everything else about a definition.
pub(crate) fn definition(
    definition: &Definition,
    prefix: Option<&LitStr>,
    mistakes: &mut Mistakes,
) {
    check_name(&definition.name, prefix, mistakes);
    if definition.description.trim().is_empty() {
        let why = "a tool needs a description, because the model chooses by it";
        match &definition.args.description {
            Some(blank) => {
                mistakes.add(blank, format!("{why}: say what it does and when to use it"))
            }
            None => mistakes.add(
                &definition.function,
                format!("{why}: write a doc comment (`/// …`) above the function"),
            ),
        }
    }
    let args = &definition.args;
    if let (Some(blocking), true) = (&args.blocking, definition.is_async) {
        mistakes.add(
            blocking,
            "an async function does not block: drop `blocking`, or drop `async`",
        );
    }
    if let (Some(_), Some(destructive)) = (&args.read_only, &args.destructive) {
        mistakes.add(
            destructive,
            "a tool that only reads destroys nothing: drop `read_only` or `destructive`",
        );
    }
    if let Some(param) = definition.params.get(MOST_PARAMS) {
        mistakes.add(
            &param.ty,
            format!("a tool takes at most {MOST_PARAMS} parameters: group them in a struct"),
        );
    }
    let mut seen: HashSet<String> = HashSet::new();
    for param in &definition.params {
        check_param(param, &seen, mistakes);
        if let Some(name) = &param.name
            && !seen.insert(name.value())
        {
            let text = name.value();
            mistakes.add(
                name,
                format!("two parameters are named `{text}`: write another `name`"),
            );
        }
    }
}

/// Checks what a bundle puts before each name.
pub(crate) fn prefix(prefix: &LitStr, mistakes: &mut Mistakes) {
    let text = prefix.value();
    if text.is_empty() {
        mistakes.add(
            prefix,
            "an empty prefix would leave a lone `_`: leave it out",
        );
    } else if !text.chars().all(fits_name) {
        mistakes.add(
            prefix,
            format!(
                "`{text}` cannot begin a tool's name (letters, digits, `_` or `-`): write `prefix = \"{}\"`",
                fitting(&text)
            ),
        );
    }
}

fn check_name(name: &LitStr, prefix: Option<&LitStr>, mistakes: &mut Mistakes) {
    let text = name.value();
    // A prefix that cannot begin a name is a mistake of its own, told once for all of its tools.
    let own = match prefix {
        Some(prefix) => text.strip_prefix(&format!("{}_", prefix.value())),
        None => Some(text.as_str()),
    };
    let own = own.unwrap_or_default();
    if own.is_empty() {
        mistakes.add(
            name,
            "a tool needs a name: write `name = \"my_tool\"`, or leave it out",
        );
    } else if !own.chars().all(fits_name) {
        mistakes.add(
            name,
            format!(
                "`{own}` cannot be a tool's name (1 to {LONGEST_NAME} letters, digits, `_` or `-`): write `name = \"{}\"`",
                fitting(own)
            ),
        );
    } else if text.len() > LONGEST_NAME {
        let shorter = match prefix {
            Some(_) => "a shorter `name = \"…\"` or `prefix`",
            None => "a shorter `name = \"…\"`",
        };
        mistakes.add(
            name,
            format!(
                "`{text}` has {} characters, a tool's name at most {LONGEST_NAME}: write {shorter}",
                text.len()
            ),
        );
    }
}

fn fits_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// Makes something that fits of a name that does not.
fn fitting(text: &str) -> String {
    let fit = |c| if fits_name(c) { c } else { '_' };
    text.chars().map(fit).collect()
}

fn check_param(param: &Param, earlier: &HashSet<String>, mistakes: &mut Mistakes) {
    if let (Some(required), Some(_)) = (&param.args.required, &param.args.default) {
        mistakes.add(
            required,
            "a required parameter never takes its default: drop `required` or `default`",
        );
    }
    let name = param.args.name.as_ref();
    if let Some(name) = name.filter(|name| name.value().is_empty()) {
        mistakes.add(
            name,
            "a parameter needs a name: write `name = \"…\"`, or leave it out",
        );
    }
    let Some(default) = &param.args.default else {
        return;
    };
    if let Some(text) = text_literal(default) {
        let names = placeholders(&text.value());
        for unknown in &names {
            if !earlier.contains(unknown) && unknown != "project_dir" {
                mistakes.add(
                    text,
                    format!("`${{{unknown}}}` names no earlier parameter: name one, or write `$${{` for a literal `${{`"),
                );
            }
        }
        if !names.is_empty() {
            return;
        }
    }
    if let Some(message) = wrong_literal(&param.ty, default) {
        mistakes.add(default, message);
    }
}

/// Returns the literal if the expression is one text.
pub(crate) fn text_literal(expr: &Expr) -> Option<&LitStr> {
    match peel(expr) {
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
    let Type::Path(path) = peel_type(ty) else {
        return None;
    };
    let name = path.path.get_ident()?.to_string();
    let (lit, minus) = match peel(default) {
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
    let number = |instead: &str| match written.parse::<f64>() {
        Ok(_) => format!("`default = {written}{instead}`"),
        Err(_) => format!("a number such as `default = 1{instead}`"),
    };
    let instead = match (name.as_str(), lit) {
        ("String", Lit::Str(_)) | ("bool", Lit::Bool(_)) | ("char", Lit::Char(_)) => return None,
        ("f32" | "f64", Lit::Float(_)) => return None,
        ("String", _) => format!("`default = {written:?}`"),
        ("bool", _) => "`default = true` or `default = false`".to_owned(),
        ("char", _) => "`default = 'x'`".to_owned(),
        ("f32" | "f64", _) if written.contains('.') => number(""),
        ("f32" | "f64", _) => number(".0"),
        (int, _) if !is_integer(int) => return None,
        (int, _) if int.starts_with('u') && written.starts_with('-') => {
            "a number that is not negative".to_owned()
        }
        (_, Lit::Int(_)) => return None,
        _ if written.contains('.') => "a whole number such as `default = 1`".to_owned(),
        _ => number(""),
    };
    Some(format!(
        "the default is not of type `{name}`: write {instead}"
    ))
}

fn is_integer(name: &str) -> bool {
    let bits = name.strip_prefix('i').or_else(|| name.strip_prefix('u'));
    matches!(bits, Some("8" | "16" | "32" | "64" | "128" | "size"))
}
