//! Expands a function or an `impl` block into itself and the generated items.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{
    Attribute, FnArg, Ident, ImplItem, ImplItemFn, Item, ItemFn, ItemImpl, Type, parse_quote,
};

use crate::args::{DefinitionKind, ParamArgs, ToolsArgs};
use crate::attribute_keys::Diagnostics;
use crate::parse::{BUNDLE_ALIAS, Definition, replace_self_type};
use crate::{check, fallback};

/// Expands `#[tool]` or `#[prompt]` on a free function.
pub(crate) fn expand_function(
    kind: DefinitionKind,
    attribute: TokenStream,
    item: Item,
) -> TokenStream {
    let mut function = match item {
        Item::Fn(function) => function,
        other => {
            let word = kind.attribute_name();
            let message = format!(
                "`#[{word}]` belongs on a function: write it above a `fn`, or above a method inside `#[tools] impl`"
            );
            return misplaced_attribute(&other, &message);
        }
    };
    let mut diagnostics = Diagnostics::default();
    reject_extra_attributes(kind, &mut function.attrs, &mut diagnostics);
    check::check_signature(kind, &function.sig, false, &mut diagnostics);
    let definition = Definition::parse(
        kind,
        attribute,
        None,
        &mut function.sig,
        &function.attrs,
        &mut diagnostics,
    );
    check::check_definition(&definition, None, &mut diagnostics);
    if !diagnostics.is_empty() {
        return fallback::fallback_function(kind, &function, diagnostics);
    }
    function.attrs.push(function_lint_allows(kind));
    expand_free_function(&function, &definition)
}

fn expand_free_function(function: &ItemFn, definition: &Definition) -> TokenStream {
    let (name, vis) = (&function.sig.ident, &function.vis);
    let cfgs = &definition.cfgs;
    let convention = definition.implement_convention(name, None, &quote!(::core::module_path!()));
    let allows = generated_code_lint_allows();
    let (getter, type_name) = definition.kind.getter_and_type();
    let doc = format!("Returns the {getter} that this function is.");
    let submit = submit_bundle("", &[], &quote!(#name::#getter()));
    quote! {
        #function

        #(#cfgs)*
        #[doc(hidden)]
        #allows
        #vis enum #name {}

        #(#cfgs)*
        #allows
        impl #name {
            #[doc = #doc]
            #[must_use]
            #vis fn #getter() -> ::toolwright::#type_name {
                ::toolwright::#type_name::from_definition::<#name>(::toolwright::__private::Arc::new(()))
            }
        }

        #(#cfgs)*
        #allows
        const _: () = {
            #convention
            #submit
        };
    }
}

/// Expands `#[tools]` on an `impl` block.
pub(crate) fn expand_tools(attribute: TokenStream, item: Item) -> TokenStream {
    let mut block = match item {
        Item::Impl(block) => block,
        other => {
            return misplaced_attribute(
                &other,
                "`#[tools]` belongs on a block: write it above `impl MyBundle { … }`",
            );
        }
    };
    let mut diagnostics = Diagnostics::default();
    let args = ToolsArgs::parse(attribute, &mut diagnostics);
    check_block(&block, &mut diagnostics);
    if let Some(prefix) = &args.prefix {
        check::check_prefix(prefix, &mut diagnostics);
    }
    let mut definitions = Vec::new();
    for item in &mut block.items {
        if let ImplItem::Fn(method) = item {
            definitions.extend(method_definition(method, &args, &mut diagnostics));
        }
    }
    check_names(&definitions, &mut diagnostics);
    if definitions.is_empty() && diagnostics.is_empty() {
        diagnostics.add(
            &block.self_ty,
            "a bundle of nothing: write `#[tool]` or `#[prompt]` above at least one method",
        );
    }
    if !diagnostics.is_empty() {
        return fallback::fallback_tools(&block, diagnostics);
    }
    expand_bundle(&block, &args, &definitions)
}

fn expand_bundle(block: &ItemImpl, args: &ToolsArgs, definitions: &[Definition]) -> TokenStream {
    let bundle = &*block.self_ty;
    let bundle_type = bundle_name(bundle);
    let path = quote!(::core::concat!(::core::module_path!(), "::", #bundle_type));
    let (mut conventions, mut pushes) = (Vec::new(), Vec::new());
    for (index, definition) in definitions.iter().enumerate() {
        let marker = format_ident!("__Item{index}");
        let cfgs = &definition.cfgs;
        let (_, type_name) = definition.kind.getter_and_type();
        let convention = definition.implement_convention(&marker, Some(bundle), &path);
        conventions.push(quote! {
            #(#cfgs)*
            enum #marker {}
            #(#cfgs)*
            const _: () = { #convention };
        });
        pushes.push(quote! {
            #(#cfgs)*
            __items.push(::toolwright::BundleItem::#type_name(
                ::toolwright::#type_name::from_definition::<#marker>(::core::clone::Clone::clone(&__bundle)),
            ));
        });
    }
    let submit = register_bundle(args, bundle, &bundle_type);
    let (allows, alias) =
        (generated_code_lint_allows(), Ident::new(BUNDLE_ALIAS, Span::call_site()));
    quote! {
        #block

        #allows
        const _: () = {
            type #alias = #bundle;

            #(#conventions)*

            impl ::toolwright::Bundle for #bundle {
                fn into_items(self) -> ::std::vec::Vec<::toolwright::BundleItem> {
                    let __bundle = ::toolwright::__private::Arc::new(self);
                    let mut __items = ::std::vec::Vec::new();
                    #(#pushes)*
                    __items
                }
            }

            impl ::toolwright::NamedBundle for #bundle {
                const NAME: &'static str = #path;
            }

            #submit
        };
    }
}

/// Parses a method with `#[tool]` or `#[prompt]`.
fn method_definition(
    method: &mut ImplItemFn,
    args: &ToolsArgs,
    diagnostics: &mut Diagnostics,
) -> Option<Definition> {
    let Some(attribute) = take_definition_attribute(&mut method.attrs, diagnostics) else {
        reject_param_attributes(method, diagnostics);
        return None;
    };
    let kind = attribute.kind;
    reject_extra_attributes(kind, &mut method.attrs, diagnostics);
    check::check_signature(kind, &method.sig, true, diagnostics);
    let prefix = args.prefix.as_ref();
    let definition = Definition::parse(
        kind,
        attribute.tokens,
        prefix,
        &mut method.sig,
        &method.attrs,
        diagnostics,
    );
    check::check_definition(&definition, prefix, diagnostics);
    method.attrs.push(function_lint_allows(kind));
    Some(definition)
}

/// Rejects a second `#[tool]` or `#[prompt]` on a function.
fn reject_extra_attributes(
    kind: DefinitionKind,
    attributes: &mut Vec<Attribute>,
    diagnostics: &mut Diagnostics,
) {
    while let Some(again) = take_definition_attribute(attributes, diagnostics) {
        let message = match again.kind == kind {
            true => format!("`#[{}]` is written twice: keep one", kind.attribute_name()),
            false => "a function is a tool or a prompt: keep `#[tool]` or `#[prompt]`".to_owned(),
        };
        diagnostics.add(again.path, message);
    }
}

/// Rejects `#[param]` on a method that is neither a tool nor a prompt; the compiler's own message would be unclear.
fn reject_param_attributes(method: &mut ImplItemFn, diagnostics: &mut Diagnostics) {
    for input in &mut method.sig.inputs {
        let FnArg::Typed(typed) = input else { continue };
        let args = ParamArgs::take(&mut typed.attrs, &mut Diagnostics::default());
        if let Some(span) = args.span {
            diagnostics.push(syn::Error::new(
                span,
                "`#[param]` describes the parameter of a tool or a prompt: write `#[tool]` or `#[prompt]` above the method, or drop `#[param]`",
            ));
        }
    }
}

fn check_names(definitions: &[Definition], diagnostics: &mut Diagnostics) {
    for (index, definition) in definitions.iter().enumerate() {
        let name = &definition.name;
        // With `#[cfg]`, perhaps only one of the two is compiled; the registry checks that at run time.
        let clashes = |other: &&Definition| {
            other.kind == definition.kind
                && other.name.value() == name.value()
                && (other.cfgs.is_empty() || definition.cfgs.is_empty())
        };
        if definitions.iter().take(index).any(|other| clashes(&other)) {
            let (text, word) = (name.value(), definition.kind.attribute_name());
            diagnostics.add(name, format!("two {word}s are named `{text}`: write another `name`"));
        }
    }
}

pub(crate) fn misplaced_attribute(item: &Item, message: &str) -> TokenStream {
    let error = syn::Error::new(Span::call_site(), message).to_compile_error();
    quote!(#item #error)
}

fn check_block(block: &ItemImpl, diagnostics: &mut Diagnostics) {
    if let Some((path, _)) = &block.trait_ {
        diagnostics
            .add(path, "a bundle is a type's own block: write `impl MyBundle`, without a trait");
    }
    if !block.generics.params.is_empty() {
        diagnostics.add(
            &block.generics,
            "a bundle cannot be generic: write `#[tools]` on a type whose parameters are filled in",
        );
    }
}

fn bundle_name(bundle: &Type) -> String {
    match bundle {
        Type::Path(path) => {
            path.path.segments.last().map(|last| last.ident.unraw().to_string()).unwrap_or_default()
        }
        other => quote!(#other).to_string(),
    }
}

/// `#[tool]`, `#[prompt]`, or either with keys.
struct DefinitionAttribute {
    kind: DefinitionKind,
    path: syn::Path,
    /// The keys.
    tokens: TokenStream,
}

/// Returns the kind of a `#[tool]` or `#[prompt]` attribute of this crate.
fn attribute_kind(attribute: &Attribute) -> Option<DefinitionKind> {
    let mut path = attribute.path().segments.iter().rev();
    let last = path.next()?;
    // Other crates have an attribute `tool` too.
    if !path.all(|part| part.ident == "toolwright") {
        return None;
    }
    let kinds = [DefinitionKind::Tool, DefinitionKind::Prompt];
    kinds.into_iter().find(|kind| last.ident == kind.attribute_name())
}

/// Removes and returns the first `#[tool]` or `#[prompt]` attribute.
fn take_definition_attribute(
    attributes: &mut Vec<Attribute>,
    diagnostics: &mut Diagnostics,
) -> Option<DefinitionAttribute> {
    let (index, kind) = attributes
        .iter()
        .enumerate()
        .find_map(|(index, attribute)| Some((index, attribute_kind(attribute)?)))?;
    let attribute = attributes.remove(index);
    let tokens = match &attribute.meta {
        syn::Meta::List(list) => list.tokens.clone(),
        syn::Meta::Path(_) => TokenStream::new(),
        syn::Meta::NameValue(pair) => {
            let word = kind.attribute_name();
            diagnostics.add(pair, format!("write `#[{word}]` or `#[{word}(key = value)]`"));
            TokenStream::new()
        }
    };
    let path = attribute.path().clone();
    Some(DefinitionAttribute { kind, path, tokens })
}

/// Returns the code that submits a bundle to discovery, unless it is manual.
fn register_bundle(args: &ToolsArgs, bundle: &Type, bundle_type: &str) -> Option<TokenStream> {
    if args.manual.is_some() {
        return None;
    }
    let make = match &args.constructor {
        Some(path) => {
            let path = replace_self_type(path.clone());
            quote_spanned!(path.span()=> ::toolwright::__private::BundleConstructor::<#bundle>::construct(#path))
        }
        None => {
            quote_spanned!(bundle.span()=> <#bundle as ::toolwright::__private::DiscoverableBundle>::default_bundle())
        }
    };
    Some(submit_bundle(bundle_type, &args.supported_for, &make))
}

/// Returns the code that submits the bundle that `make` returns to discovery.
fn submit_bundle(type_name: &str, supported_for: &[Type], make: &TokenStream) -> TokenStream {
    quote! {
        ::toolwright::__private::inventory::submit! {
            ::toolwright::__private::LinkedBundle {
                location: ::toolwright::__private::BundleLocation {
                    module: ::core::module_path!(),
                    type_name: #type_name,
                    line: ::core::line!(),
                },
                supported_for: &[#(|| ::core::any::TypeId::of::<#supported_for>()),*],
                make: || ::toolwright::Bundle::into_items(#make),
            }
        }
    }
}

/// Allows lints of the user's function: it has to own its arguments, and a prompt's placeholders look like those
/// of `format!`.
fn function_lint_allows(kind: DefinitionKind) -> Attribute {
    match kind {
        DefinitionKind::Tool => parse_quote!(#[allow(clippy::needless_pass_by_value)]),
        DefinitionKind::Prompt => parse_quote! {
            #[allow(clippy::needless_pass_by_value, clippy::literal_string_with_formatting_args)]
        },
    }
}

/// Allows lints of generated code, which the surrounding crate may deny.
pub(crate) fn generated_code_lint_allows() -> TokenStream {
    quote! {
        #[allow(
            deprecated,
            missing_docs,
            missing_debug_implementations,
            non_camel_case_types,
            unnameable_types,
            unreachable_pub,
            unused,
            unused_qualifications,
            clippy::all,
            clippy::nursery,
            clippy::pedantic,
            clippy::restriction
        )]
    }
}
