//! A signature in, a definition out.

use proc_macro2::{Span, TokenStream};
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Expr, ExprLit, FnArg, Ident, Lit, LitStr, Meta, Pat, ReturnType, Signature, Type,
};

use crate::args::{Mistakes, ParamArgs, ToolArgs};

/// Everything a tool is made from.
pub(crate) struct Definition {
    pub(crate) function: Ident,
    pub(crate) name: LitStr,
    pub(crate) description: String,
    pub(crate) args: ToolArgs,
    pub(crate) params: Vec<Param>,
    pub(crate) receiver: bool,
    pub(crate) is_async: bool,
    /// Where a complaint about what is returned belongs.
    pub(crate) output: Span,
    /// `#[cfg(…)]` of the function, which its tool shares.
    pub(crate) cfgs: Vec<Attribute>,
}

pub(crate) struct Param {
    /// As the model sees it; `None` for a pattern, which only an extractor can be.
    pub(crate) name: Option<LitStr>,
    pub(crate) description: String,
    pub(crate) ty: Type,
    pub(crate) args: ParamArgs,
}

impl Definition {
    /// Reads a function, taking out of its signature what only the macro understands.
    pub(crate) fn parse(
        attribute: TokenStream,
        prefix: Option<&LitStr>,
        signature: &mut Signature,
        attributes: &[Attribute],
        mistakes: &mut Mistakes,
    ) -> Self {
        let args = ToolArgs::parse(attribute, mistakes);
        let function = signature.ident.clone();
        let name = match &args.name {
            Some(name) => name.clone(),
            None => LitStr::new(&plain(&function), function.span()),
        };
        let name = match prefix {
            Some(prefix) => {
                LitStr::new(&format!("{}_{}", prefix.value(), name.value()), name.span())
            }
            None => name,
        };
        let description = match &args.description {
            Some(description) => description.value(),
            None => docs(attributes),
        };
        let mut receiver = false;
        let mut params = Vec::new();
        for input in &mut signature.inputs {
            match input {
                FnArg::Receiver(_) => receiver = true,
                FnArg::Typed(typed) => {
                    let args = ParamArgs::take(&mut typed.attrs, mistakes);
                    let description = match &args.description {
                        Some(description) => description.value(),
                        None => docs(&typed.attrs),
                    };
                    typed
                        .attrs
                        .retain(|attribute| !attribute.path().is_ident("doc"));
                    let name = match (&args.name, &*typed.pat) {
                        (Some(name), _) => Some(name.clone()),
                        (None, Pat::Ident(pat)) if pat.subpat.is_none() => {
                            Some(LitStr::new(&plain(&pat.ident), pat.ident.span()))
                        }
                        _ => None,
                    };
                    params.push(Param {
                        name,
                        description,
                        ty: (*typed.ty).clone(),
                        args,
                    });
                }
            }
        }
        Self {
            output: match &signature.output {
                ReturnType::Default => function.span(),
                ReturnType::Type(_, ty) => ty.span(),
            },
            function,
            name,
            description,
            args,
            params,
            receiver,
            is_async: signature.asyncness.is_some(),
            cfgs: attributes
                .iter()
                .filter(|attribute| attribute.path().is_ident("cfg"))
                .cloned()
                .collect(),
        }
    }
}

/// Returns the name without `r#`.
pub(crate) fn plain(ident: &Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
}

/// Joins a doc comment, one leading space taken off each line.
pub(crate) fn docs(attributes: &[Attribute]) -> String {
    let line = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) => {
                let text = text.value();
                Some(text.strip_prefix(' ').map(str::to_owned).unwrap_or(text))
            }
            _ => None,
        },
        _ => None,
    };
    let lines: Vec<String> = attributes.iter().filter_map(line).collect();
    lines.join("\n").trim().to_owned()
}
