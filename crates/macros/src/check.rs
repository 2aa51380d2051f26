//! Checks a definition; every error underlines its tokens and states what to write instead.

use std::collections::HashSet;

use syn::{
    FnArg, GenericArgument, GenericParam, Lifetime, LitStr, PathArguments, Receiver, ReceiverKind,
    ReturnType, Safety, Signature, Type, TypeParamBound,
};

use crate::args::DefinitionKind;
use crate::attribute_keys::Diagnostics;
use crate::default::{literal_type_mismatch, placeholders, string_literal};
use crate::parse::{Definition, Param, type_arguments};

/// The maximum length of a name that every provider accepts.
const MAX_NAME_LEN: usize = 64;

/// The maximum number of parameters: core has one bit per parameter in a `u64`.
const MAX_PARAMS: usize = 64;

/// Checks the signature.
pub(crate) fn check_signature(
    kind: DefinitionKind,
    signature: &Signature,
    in_bundle: bool,
    diagnostics: &mut Diagnostics,
) {
    let word = kind.attribute_name();
    let is_lifetime = |param: &GenericParam| matches!(param, GenericParam::Lifetime(_));
    if !signature.generics.params.iter().all(is_lifetime) {
        diagnostics.add(
            &signature.generics,
            format!(
                "a {word} cannot be generic, because arguments are values, not types: write the types out"
            ),
        );
    }
    let plain =
        |keyword| format!("a {word} cannot be `{keyword}`: write a plain `fn` that calls it");
    if let Safety::Unsafe(token) = &signature.safety {
        diagnostics.add(token, plain("unsafe"));
    }
    if let Some(abi) = &signature.abi {
        diagnostics.add(abi, plain("extern"));
    }
    for input in &signature.inputs {
        match input {
            FnArg::Receiver(receiver) if !in_bundle => diagnostics.add(
                receiver,
                format!(
                    "a free {word} has no `self`: write `#[tools]` on the `impl` block, or drop `self`"
                ),
            ),
            FnArg::Receiver(receiver) => check_receiver(receiver, diagnostics),
            FnArg::Typed(typed) => check_owned(&typed.ty, TypePosition::Parameter(kind), diagnostics),
        }
    }
    if let ReturnType::Type(_, ty) = &signature.output {
        check_owned(ty, TypePosition::Return, diagnostics);
        // A free function owns its arguments, so it cannot capture a reference.
        if signature.asyncness.is_none() && signature.receiver().is_some() {
            check_captures(ty, diagnostics);
        }
    }
}

/// Rejects `impl Trait` that captures `&self`: results outlive the call.
fn check_captures(ty: &Type, diagnostics: &mut Diagnostics) {
    match ty {
        Type::ImplTrait(opaque) => {
            let is_use =
                |bound: &TypeParamBound| matches!(bound, TypeParamBound::PreciseCapture(_));
            if !opaque.bounds.iter().any(is_use) {
                let message =
                    "a result outlives the call: add `+ use<>`, so that it does not borrow `self`";
                diagnostics.add(opaque, message);
            }
        }
        Type::Path(path) => {
            for ty in type_arguments(path) {
                check_captures(ty, diagnostics);
            }
        }
        _ => {}
    }
}

/// Rejects a receiver other than `&self`: concurrent calls share the bundle.
fn check_receiver(receiver: &Receiver, diagnostics: &mut Diagnostics) {
    let shared = matches!(receiver.kind, ReceiverKind::Reference(_, _, None));
    if !shared {
        diagnostics.add(
            receiver,
            "calls share the bundle: write `&self`, and keep what changes in a `Mutex` or an atomic",
        );
    }
}

/// Whether a type is of a parameter or returned.
#[derive(Clone, Copy, PartialEq)]
enum TypePosition {
    Parameter(DefinitionKind),
    Return,
}

/// Rejects borrowed types: arguments are deserialized, and results outlive the call.
fn check_owned(ty: &Type, position: TypePosition, diagnostics: &mut Diagnostics) {
    let reason = match position {
        TypePosition::Parameter(kind) => format!("a {} owns its arguments", kind.attribute_name()),
        TypePosition::Return => "a result outlives the call".to_owned(),
    };
    let is_static = |lifetime: &Lifetime| lifetime.ident == "static";
    match ty {
        Type::Reference(reference) => {
            let is_static_reference = reference.lifetime.as_ref().is_some_and(is_static);
            if position != TypePosition::Return || !is_static_reference {
                let owned = owned_type(&reference.elem);
                diagnostics.add(ty, format!("{reason}: write `{owned}`"));
            }
        }
        Type::ImplTrait(_) if position != TypePosition::Return => diagnostics
            .add(ty, "arguments are values, not types: write a concrete type instead of `impl`"),
        Type::Path(path) => {
            for segment in &path.path.segments {
                let PathArguments::AngleBracketed(generics) = &segment.arguments else {
                    continue;
                };
                for argument in &generics.args {
                    match argument {
                        GenericArgument::Type(ty) => check_owned(ty, position, diagnostics),
                        GenericArgument::Lifetime(lifetime) if !is_static(lifetime) => {
                            diagnostics.add(lifetime, format!("{reason}: write `'static`"));
                        }
                        _ => {}
                    }
                }
            }
        }
        Type::Tuple(tuple) => {
            for ty in &tuple.elems {
                check_owned(ty, position, diagnostics);
            }
        }
        Type::Array(array) => check_owned(&array.elem, position, diagnostics),
        Type::Group(group) => check_owned(&group.elem, position, diagnostics),
        Type::Paren(paren) => check_owned(&paren.elem, position, diagnostics),
        _ => {}
    }
}

/// Returns the owned counterpart of a borrowed type.
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

/// Checks the name, the description, the keys and the parameters.
pub(crate) fn check_definition(
    definition: &Definition,
    prefix: Option<&LitStr>,
    diagnostics: &mut Diagnostics,
) {
    check_name(definition, prefix, diagnostics);
    if definition.description.trim().is_empty() {
        let reason = match definition.kind {
            DefinitionKind::Tool => "a tool needs a description, because the model chooses by it",
            DefinitionKind::Prompt => "a prompt needs a description, because people choose by it",
        };
        match &definition.args.description {
            Some(blank) => {
                diagnostics.add(blank, format!("{reason}: say what it does and when to use it"))
            }
            None => diagnostics.add(
                &definition.function,
                format!("{reason}: write a doc comment (`/// …`) above the function"),
            ),
        }
    }
    let args = &definition.args;
    if let (Some(blocking), true) = (&args.blocking, definition.is_async) {
        diagnostics
            .add(blocking, "an async function does not block: drop `blocking`, or drop `async`");
    }
    if let (Some(_), Some(destructive)) = (&args.read_only, &args.destructive) {
        diagnostics.add(
            destructive,
            "a tool that only reads destroys nothing: drop `read_only` or `destructive`",
        );
    }
    if let Some(param) = definition.params.get(MAX_PARAMS) {
        diagnostics.add(
            &param.ty,
            format!(
                "a {} takes at most {MAX_PARAMS} parameters: group them in a struct",
                definition.kind.attribute_name()
            ),
        );
    }
    let mut seen: HashSet<String> = HashSet::new();
    for param in &definition.params {
        check_param(param, &seen, diagnostics);
        if let Some(name) = &param.name
            && !seen.insert(name.value())
        {
            let text = name.value();
            diagnostics
                .add(name, format!("two parameters are named `{text}`: write another `name`"));
        }
    }
}

/// Checks the prefix of a bundle's names.
pub(crate) fn check_prefix(prefix: &LitStr, diagnostics: &mut Diagnostics) {
    let text = prefix.value();
    if text.is_empty() {
        diagnostics.add(prefix, "an empty prefix would leave a lone `_`: leave it out");
    } else if !text.chars().all(is_name_char) {
        diagnostics.add(
            prefix,
            format!(
                "`{text}` cannot begin a name (letters, digits, `_` or `-`): write `prefix = \"{}\"`",
                sanitize_name(&text)
            ),
        );
    }
}

fn check_name(definition: &Definition, prefix: Option<&LitStr>, diagnostics: &mut Diagnostics) {
    let (name, word) = (&definition.name, definition.kind.attribute_name());
    let text = name.value();
    // An invalid prefix is reported once for the whole bundle, by `check_prefix`.
    let own = match prefix {
        Some(prefix) => text.strip_prefix(&format!("{}_", prefix.value())),
        None => Some(text.as_str()),
    };
    let own = own.unwrap_or_default();
    if own.is_empty() {
        diagnostics.add(
            name,
            format!("a {word} needs a name: write `name = \"my_{word}\"`, or leave it out"),
        );
    } else if !own.chars().all(is_name_char) {
        diagnostics.add(
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
        diagnostics.add(
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

/// Replaces invalid characters of a name by `_`.
fn sanitize_name(text: &str) -> String {
    let sanitize = |c| if is_name_char(c) { c } else { '_' };
    text.chars().map(sanitize).collect()
}

fn check_param(param: &Param, earlier: &HashSet<String>, diagnostics: &mut Diagnostics) {
    if let (Some(required), Some(_)) = (&param.args.required, &param.args.default) {
        diagnostics.add(
            required,
            "a required parameter never takes its default: drop `required` or `default`",
        );
    }
    let name = param.args.name.as_ref();
    if let Some(name) = name.filter(|name| name.value().is_empty()) {
        diagnostics.add(name, "a parameter needs a name: write `name = \"…\"`, or leave it out");
    }
    let Some(default) = &param.args.default else {
        return;
    };
    if let Some(text) = string_literal(default) {
        let names = placeholders(&text.value());
        for unknown in &names {
            if !earlier.contains(unknown) && unknown != "project_dir" {
                diagnostics.add(
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
        diagnostics.add(default, message);
    }
}
