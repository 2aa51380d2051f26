//! A definition in, every mistake in it out, each on its own token and with what to write instead.

use std::collections::HashSet;

use syn::{
    FnArg, GenericArgument, GenericParam, Lifetime, LitStr, PathArguments, Receiver, ReceiverKind,
    ReturnType, Safety, Signature, Type, TypeParamBound,
};

use crate::args::DefinitionKind;
use crate::attribute_keys::Diagnostics;
use crate::default::{literal_type_mismatch, placeholders, string_literal};
use crate::parse::{Definition, Param, type_arguments};

/// What every provider takes.
const MAX_NAME_LEN: usize = 64;

/// How many parameters a definition can keep track of.
const MAX_PARAMS: usize = 64;

/// Checks what the signature alone shows.
pub(crate) fn check_signature(
    kind: DefinitionKind,
    signature: &Signature,
    in_bundle: bool,
    mistakes: &mut Diagnostics,
) {
    let word = kind.attribute_name();
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
            FnArg::Typed(typed) => check_owned(&typed.ty, TypePosition::Parameter(kind), mistakes),
        }
    }
    if let ReturnType::Type(_, ty) = &signature.output {
        check_owned(ty, TypePosition::Return, mistakes);
        // Free functions own all they are given, and so have nothing to capture.
        if signature.asyncness.is_none() && signature.receiver().is_some() {
            check_captures(ty, mistakes);
        }
    }
}

/// Complains about `impl Trait` that may hold on to `&self` for longer than the call.
fn check_captures(ty: &Type, mistakes: &mut Diagnostics) {
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
                check_captures(ty, mistakes);
            }
        }
        _ => {}
    }
}

/// Calls run at the same time, so all they can have of the bundle is a shared reference.
fn check_receiver(receiver: &Receiver, mistakes: &mut Diagnostics) {
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
enum TypePosition {
    Parameter(DefinitionKind),
    Return,
}

/// Complains about whatever is borrowed: arguments come from outside, and results outlive the call.
fn check_owned(ty: &Type, place: TypePosition, mistakes: &mut Diagnostics) {
    let why = match place {
        TypePosition::Parameter(kind) => format!("a {} owns its arguments", kind.attribute_name()),
        TypePosition::Return => "a result outlives the call".to_owned(),
    };
    let is_static = |lifetime: &Lifetime| lifetime.ident == "static";
    match ty {
        Type::Reference(reference) => {
            let lasts = reference.lifetime.as_ref().is_some_and(is_static);
            if place != TypePosition::Return || !lasts {
                let instead = owned_type(&reference.elem);
                mistakes.add(ty, format!("{why}: write `{instead}`"));
            }
        }
        Type::ImplTrait(_) if place != TypePosition::Return => mistakes.add(
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
                        GenericArgument::Type(ty) => check_owned(ty, place, mistakes),
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
                check_owned(ty, place, mistakes);
            }
        }
        Type::Array(array) => check_owned(&array.elem, place, mistakes),
        Type::Group(group) => check_owned(&group.elem, place, mistakes),
        Type::Paren(paren) => check_owned(&paren.elem, place, mistakes),
        _ => {}
    }
}

/// Names the type that owns what `ty` is borrowed from.
fn owned_type(ty: &Type) -> String {
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
pub(crate) fn check_definition(
    definition: &Definition,
    prefix: Option<&LitStr>,
    mistakes: &mut Diagnostics,
) {
    check_name(definition, prefix, mistakes);
    if definition.description.trim().is_empty() {
        let why = match definition.kind {
            DefinitionKind::Tool => "a tool needs a description, because the model chooses by it",
            DefinitionKind::Prompt => "a prompt needs a description, because people choose by it",
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
    if let Some(param) = definition.params.get(MAX_PARAMS) {
        mistakes.add(
            &param.ty,
            format!(
                "a {} takes at most {MAX_PARAMS} parameters: group them in a struct",
                definition.kind.attribute_name()
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
pub(crate) fn check_prefix(prefix: &LitStr, mistakes: &mut Diagnostics) {
    let text = prefix.value();
    if text.is_empty() {
        mistakes.add(
            prefix,
            "an empty prefix would leave a lone `_`: leave it out",
        );
    } else if !text.chars().all(is_name_char) {
        mistakes.add(
            prefix,
            format!(
                "`{text}` cannot begin a name (letters, digits, `_` or `-`): write `prefix = \"{}\"`",
                sanitize_name(&text)
            ),
        );
    }
}

fn check_name(definition: &Definition, prefix: Option<&LitStr>, mistakes: &mut Diagnostics) {
    let (name, word) = (&definition.name, definition.kind.attribute_name());
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
    } else if !own.chars().all(is_name_char) {
        mistakes.add(
            name,
            format!(
                "`{own}` cannot be a {word}'s name (1 to {MAX_NAME_LEN} letters, digits, `_` or `-`): write `name = \"{}\"`",
                sanitize_name(own)
            ),
        );
    } else if text.len() > MAX_NAME_LEN {
        let shorter = match prefix {
            Some(_) => "a shorter `name = \"…\"` or `prefix`",
            None => "a shorter `name = \"…\"`",
        };
        mistakes.add(
            name,
            format!(
                "`{text}` has {} characters, a {word}'s name at most {MAX_NAME_LEN}: write {shorter}",
                text.len()
            ),
        );
    }
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// Makes something that fits of a name that does not.
fn sanitize_name(text: &str) -> String {
    let fit = |c| if is_name_char(c) { c } else { '_' };
    text.chars().map(fit).collect()
}

fn check_param(param: &Param, earlier: &HashSet<String>, mistakes: &mut Diagnostics) {
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
    if let Some(text) = string_literal(default) {
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
    if let Some(message) = literal_type_mismatch(&param.ty, default) {
        mistakes.add(default, message);
    }
}
