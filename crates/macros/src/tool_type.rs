//! Expands `#[tool_type]`: the derives of serde and schemars, from where the facade re-exports them.

use proc_macro2::{TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Attribute, Field, Item, Path, Token, parse_quote, punctuated::Punctuated};

use crate::expand::{generated_code_lint_allows, misplaced_attribute};

/// Expands `#[tool_type]` on a struct or an enum.
pub(crate) fn expand_tool_type(attribute: TokenStream, mut item: Item) -> TokenStream {
    let (attributes, name, generics, fields) = match &mut item {
        Item::Struct(item) => {
            let fields: Vec<&Field> = item.fields.iter().collect();
            (&mut item.attrs, &item.ident, &item.generics, fields)
        }
        Item::Enum(item) => {
            let variants = item.variants.iter().filter(|variant| is_plain(&variant.attrs));
            let fields = variants.flat_map(|variant| &variant.fields).collect();
            (&mut item.attrs, &item.ident, &item.generics, fields)
        }
        other => {
            return misplaced_attribute(
                other,
                "`#[tool_type]` belongs on a type: write it above a `struct` or an `enum`",
            );
        }
    };
    let (is_input, is_output) = match attribute.to_string().as_str() {
        "" => (true, true),
        "input" => (true, false),
        "output" => (false, true),
        _ => {
            let message = "write `#[tool_type]`, `#[tool_type(input)]` for a type of arguments only, or `#[tool_type(output)]` for one of results only";
            let error = syn::Error::new(attribute.span(), message).to_compile_error();
            return quote!(#item #error);
        }
    };
    let allows = generated_code_lint_allows();
    let cfgs: Vec<Attribute> =
        attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).cloned().collect();

    // The compiler's own errors about a field name a trait of serde or schemars, not what to write.
    let is_converted = attributes.iter().any(mentions_conversion);
    let check = if is_input { quote!(check_input_field) } else { quote!(check_output_field) };
    let checks = fields
        .into_iter()
        .filter(|field| generics.params.is_empty() && !is_converted && is_plain(&field.attrs))
        .map(|Field { ty, .. }| quote_spanned!(ty.span()=> ::toolwright::__private::#check::<#ty>();));
    let checks = quote!(#(#cfgs)* #allows const _: () = { fn __check() { #(#checks)* } };);

    let (impl_generics, type_generics, bounds) = generics.split_for_impl();
    let bounds = bounds.map(|bounds| &bounds.predicates);
    let into_output = is_output.then(|| {
        quote! {
            #(#cfgs)*
            #allows
            impl #impl_generics ::toolwright::IntoToolOutput for #name #type_generics
            where
                Self: ::toolwright::Encode,
                #bounds
            {
                fn into_tool_output(
                    self,
                    __encoders: &::toolwright::Encoders,
                ) -> ::core::result::Result<::toolwright::ToolOutput, ::toolwright::ToolError> {
                    ::toolwright::Encode::encode(self, __encoders)
                }
            }
        }
    });

    let derived = derived_names(attributes);
    let derives = [
        ("Serialize", is_output, quote!(::toolwright::__private::serde::Serialize)),
        ("Deserialize", is_input, quote!(::toolwright::__private::serde::Deserialize)),
        ("JsonSchema", true, quote!(::toolwright::schemars::JsonSchema)),
    ];
    let derives = derives.into_iter().filter_map(|(name, is_needed, path)| {
        (is_needed && !derived.iter().any(|other| other == name)).then_some(path)
    });
    // The attributes of serde and schemars have to follow every derive, the user's too.
    attributes.insert(0, parse_quote!(#[derive(#(#derives),*)]));
    attributes.push(parse_quote!(#[serde(crate = "::toolwright::__private::serde")]));
    attributes.push(parse_quote!(#[schemars(crate = "::toolwright::schemars")]));
    quote!(#checks #item #into_output)
}

/// Returns the names of the traits that the attributes derive.
fn derived_names(attributes: &[Attribute]) -> Vec<String> {
    let derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    let parse = Punctuated::<Path, Token![,]>::parse_terminated;
    let paths = derives.filter_map(|derive| derive.parse_args_with(parse).ok()).flatten();
    paths.filter_map(|path| Some(path.segments.last()?.ident.to_string())).collect()
}

/// Returns true if no attribute may exempt a field from the traits.
fn is_plain(attributes: &[Attribute]) -> bool {
    let exempting = ["serde", "schemars", "cfg", "cfg_attr"];
    let exempts =
        |attribute: &Attribute| exempting.iter().any(|name| attribute.path().is_ident(name));
    !attributes.iter().any(exempts)
}

/// Returns true for `#[serde(from = …)]` and the like, by which the fields of a type are not those of its JSON.
fn mentions_conversion(attribute: &Attribute) -> bool {
    let syn::Meta::List(list) = &attribute.meta else { return false };
    let conversions = ["from", "try_from", "into", "remote", "with", "schema_with"];
    let is_conversion = |token| matches!(token, TokenTree::Ident(name) if conversions.iter().any(|other| name == other));
    list.tokens.clone().into_iter().any(is_conversion)
}
