//! Parses the signature of a function into a [`Definition`].

use proc_macro2::{Group, Ident as Ident2, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::{
    Attribute, Expr, FnArg, GenericArgument, Ident, LitStr, Pat, PathArguments, ReturnType,
    Signature, Type, TypePath, parse_quote,
};

use crate::args::{DefinitionKind, FunctionArgs, ParamArgs};
use crate::attribute_keys::Diagnostics;
use crate::default::string_literal;

/// The alias of `Self` in generated code outside the bundle's `impl` block.
pub(crate) const BUNDLE_ALIAS: &str = "__Bundle";

/// A parsed tool or prompt.
pub(crate) struct Definition {
    pub(crate) kind: DefinitionKind,
    pub(crate) function: Ident,
    pub(crate) name: LitStr,
    pub(crate) description: String,
    pub(crate) args: FunctionArgs,
    pub(crate) params: Vec<Param>,
    pub(crate) receiver: bool,
    pub(crate) is_async: bool,
    /// The span of the return type, or of the value in its `Result`.
    pub(crate) output: SpanRange,
    /// The span of the error type in its `Result`.
    pub(crate) error: SpanRange,
    /// `#[cfg(…)]` of the function, which the generated items get too.
    pub(crate) cfgs: Vec<Attribute>,
}

pub(crate) struct Param {
    /// The name that the model sees; `None` for a pattern, which only an extractor may have.
    pub(crate) name: Option<LitStr>,
    pub(crate) pattern: SpanRange,
    pub(crate) description: String,
    pub(crate) ty: Type,
    pub(crate) args: ParamArgs,
}

/// The first and last span of some tokens, so that the compiler can underline all of them.
#[derive(Clone, Copy)]
pub(crate) struct SpanRange {
    pub(crate) start: Span,
    pub(crate) end: Span,
}

impl SpanRange {
    pub(crate) fn of(tokens: impl ToTokens) -> Self {
        let mut tokens = tokens.into_token_stream().into_iter();
        let start = tokens.next().map_or_else(Span::call_site, |token| token.span());
        let end = tokens.last().map_or(start, |token| token.span());
        Self { start, end }
    }
}

impl Definition {
    /// Parses a function; removes `#[param]` and doc comments from its parameters, which the compiler rejects.
    pub(crate) fn parse(
        kind: DefinitionKind,
        attribute: TokenStream,
        prefix: Option<&LitStr>,
        signature: &mut Signature,
        attributes: &[Attribute],
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let args = FunctionArgs::parse(kind, attribute, diagnostics);
        let function = signature.ident.clone();
        let name = match &args.name {
            Some(name) => name.clone(),
            None => LitStr::new(&function.unraw().to_string(), function.span()),
        };
        let name = match prefix {
            Some(prefix) => {
                LitStr::new(&format!("{}_{}", prefix.value(), name.value()), name.span())
            }
            None => name,
        };
        let description = describe(args.description.as_ref(), attributes);
        let mut receiver = false;
        let mut params = Vec::new();
        for input in &mut signature.inputs {
            match input {
                FnArg::Receiver(_) => receiver = true,
                FnArg::Typed(typed) => {
                    let mut args = ParamArgs::take(&mut typed.attrs, diagnostics);
                    args.default = args.default.map(replace_self_type);
                    let description = describe(args.description.as_ref(), &typed.attrs);
                    typed.attrs.retain(|attribute| !attribute.path().is_ident("doc"));
                    if kind == DefinitionKind::Prompt {
                        // It may be used only as `${name}` in the text.
                        typed.attrs.push(parse_quote!(#[allow(unused_variables)]));
                    }
                    let name = match (&args.name, &*typed.pat) {
                        (Some(name), _) => Some(name.clone()),
                        (None, Pat::Ident(pat)) if pat.subpat.is_none() => {
                            Some(LitStr::new(&pat.ident.unraw().to_string(), pat.ident.span()))
                        }
                        _ => None,
                    };
                    params.push(Param {
                        name,
                        pattern: SpanRange::of(&typed.pat),
                        description,
                        ty: replace_self_type((*typed.ty).clone()),
                        args,
                    });
                }
            }
        }
        let (output, error) = return_spans(signature);
        Self {
            kind,
            function,
            name,
            description,
            args,
            params,
            receiver,
            is_async: signature.asyncness.is_some(),
            output,
            error,
            cfgs: attributes
                .iter()
                .filter(|attribute| attribute.path().is_ident("cfg"))
                .cloned()
                .collect(),
        }
    }
}

/// Returns the spans of the value and the error in a `Result`; both are the whole type if it is not one.
fn return_spans(signature: &Signature) -> (SpanRange, SpanRange) {
    let ty = match &signature.output {
        ReturnType::Default => {
            return (SpanRange::of(&signature.ident), SpanRange::of(&signature.ident));
        }
        ReturnType::Type(_, ty) => ty,
    };
    if let Type::Path(path) = &**ty
        && path.path.segments.last().is_some_and(|last| last.ident == "Result")
        && let [value, error] = type_arguments(path).collect::<Vec<_>>().as_slice()
    {
        return (SpanRange::of(value), SpanRange::of(error));
    }
    (SpanRange::of(ty), SpanRange::of(ty))
}

/// Lists the types between the angle brackets of a path.
pub(crate) fn type_arguments(path: &TypePath) -> impl Iterator<Item = &Type> {
    let generics = path.path.segments.iter().filter_map(|part| match &part.arguments {
        PathArguments::AngleBracketed(generics) => Some(&generics.args),
        _ => None,
    });
    generics.flatten().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// Replaces `Self` by [`BUNDLE_ALIAS`] in code that moves out of the bundle's `impl` block.
pub(crate) fn replace_self_type<T: ToTokens + syn::parse::Parse>(code: T) -> T {
    fn rename(tokens: TokenStream) -> TokenStream {
        let rename = |token| match token {
            TokenTree::Ident(ident) if ident == "Self" => {
                TokenTree::Ident(Ident2::new(BUNDLE_ALIAS, ident.span()))
            }
            TokenTree::Group(group) => {
                let mut renamed = Group::new(group.delimiter(), rename(group.stream()));
                renamed.set_span(group.span());
                TokenTree::Group(renamed)
            }
            other => other,
        };
        tokens.into_iter().map(rename).collect()
    }
    // An alias parses where `Self` did, so the fallback is never used.
    syn::parse2(rename(code.to_token_stream())).unwrap_or(code)
}

/// Returns the value of the key `description`, else the lines of the doc comment, without their leading space.
fn describe(key: Option<&LitStr>, attributes: &[Attribute]) -> String {
    if let Some(description) = key {
        return description.value();
    }
    let docs = attributes.iter().filter(|attribute| attribute.path().is_ident("doc"));
    let line = |attribute: &Attribute| {
        let text = string_literal(&attribute.meta.require_name_value().ok()?.value)?.value();
        Some(text.strip_prefix(' ').map(str::to_owned).unwrap_or(text))
    };
    let lines: Vec<String> = docs.filter_map(line).collect();
    lines.join("\n").trim().to_owned()
}

/// Removes parentheses, and the invisible groups that `macro_rules!` puts around an expression.
pub(crate) fn strip_parens(expr: &Expr) -> &Expr {
    match expr {
        Expr::Group(group) => strip_parens(&group.expr),
        Expr::Paren(paren) => strip_parens(&paren.expr),
        other => other,
    }
}

/// Removes parentheses, and the invisible groups that `macro_rules!` puts around a type.
pub(crate) fn strip_type_parens(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => strip_type_parens(&group.elem),
        Type::Paren(paren) => strip_type_parens(&paren.elem),
        other => other,
    }
}
