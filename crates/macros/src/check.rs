//! A definition in, every mistake in it out, each on its own token and with what to write instead.

use std::collections::HashSet;

use syn::{
    FnArg, GenericArgument, GenericParam, Lifetime, LitStr, PathArguments, Receiver, ReceiverKind,
    ReturnType, Safety, Signature, Type, TypeParamBound,
};

use crate::args::Kind;
use crate::default::{placeholders, text_literal, wrong_literal};
use crate::keys::Mistakes;
use crate::parse::{Definition, Param, type_arguments};

/// What every provider takes.
const LONGEST_NAME: usize = 64;

/// How many parameters a definition can keep track of.
const MOST_PARAMS: usize = 64;

/// Checks what the signature alone shows.
pub(crate) fn signature(
    kind: Kind,
    signature: &Signature,
    in_bundle: bool,
    mistakes: &mut Mistakes,
) {
    let word = kind.word();
    let is_lifetime = |param: &GenericParam| matches!(param, GenericParam::Lifetime(_));
    if !signature.generics.params.iter().all(is_lifetime) {
        mistakes.add(
            &signature.generics,
            format!(
                "a {word} cannot be generic, because arguments are values, not types: write the types out"
            ),
        );
    }
    let plain = |what| format!("a {word} cannot be `{what}`: write a plain `fn` that calls it");
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
                format!(
                    "a free {word} has no `self`: write `#[tools]` on the `impl` block, or drop `self`"
                ),
            ),
            FnArg::Receiver(receiver) => check_receiver(receiver, mistakes),
            FnArg::Typed(typed) => owned(&typed.ty, Place::ParameterOf(kind), mistakes),
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
    ParameterOf(Kind),
    Result,
}

/// Complains about whatever is borrowed: arguments come from outside, and results outlive the call.
fn owned(ty: &Type, place: Place, mistakes: &mut Mistakes) {
    let why = match place {
        Place::ParameterOf(kind) => format!("a {} owns its arguments", kind.word()),
        Place::Result => "a result outlives the call".to_owned(),
    };
    let is_static = |lifetime: &Lifetime| lifetime.ident == "static";
    match ty {
        Type::Reference(reference) => {
            let lasts = reference.lifetime.as_ref().is_some_and(is_static);
            if place != Place::Result || !lasts {
                let instead = owned_form(&reference.elem);
                mistakes.add(ty, format!("{why}: write `{instead}`"));
            }
        }
        Type::ImplTrait(_) if place != Place::Result => mistakes.add(
            ty,
            "arguments are values, not types: write a concrete type instead of `impl`",
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
    check_name(definition, prefix, mistakes);
    if definition.description.trim().is_empty() {
        let why = match definition.kind {
            Kind::Tool => "a tool needs a description, because the model chooses by it",
            Kind::Prompt => "a prompt needs a description, because people choose by it",
        };
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
            format!(
                "a {} takes at most {MOST_PARAMS} parameters: group them in a struct",
                definition.kind.word()
            ),
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
                "`{text}` cannot begin a name (letters, digits, `_` or `-`): write `prefix = \"{}\"`",
                fitting(&text)
            ),
        );
    }
}

fn check_name(definition: &Definition, prefix: Option<&LitStr>, mistakes: &mut Mistakes) {
    let (name, word) = (&definition.name, definition.kind.word());
    let text = name.value();
    // A prefix that cannot begin a name is a mistake of its own, told once for all of its bundle.
    let own = match prefix {
        Some(prefix) => text.strip_prefix(&format!("{}_", prefix.value())),
        None => Some(text.as_str()),
    };
    let own = own.unwrap_or_default();
    if own.is_empty() {
        mistakes.add(
            name,
            format!("a {word} needs a name: write `name = \"my_{word}\"`, or leave it out"),
        );
    } else if !own.chars().all(fits_name) {
        mistakes.add(
            name,
            format!(
                "`{own}` cannot be a {word}'s name (1 to {LONGEST_NAME} letters, digits, `_` or `-`): write `name = \"{}\"`",
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
                "`{text}` has {} characters, a {word}'s name at most {LONGEST_NAME}: write {shorter}",
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
