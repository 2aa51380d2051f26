//! Expands `#[derive(AppKind)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Token, Type, punctuated::Punctuated};

/// Expands `#[derive(AppKind)]` with the types of all `#[app_kind(…)]` attributes.
pub(crate) fn expand_app_kind(input: &DeriveInput) -> syn::Result<TokenStream> {
    let mut compatible = Vec::new();
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("app_kind")) {
        let types = attribute.parse_args_with(Punctuated::<Type, Token![,]>::parse_terminated);
        let message = "write the applications whose bundles it accepts: `#[app_kind(OtherApp)]`";
        compatible.extend(types.map_err(|_| syn::Error::new_spanned(attribute, message))?);
    }
    let name = &input.ident;
    let (impl_generics, type_generics, bounds) = input.generics.split_for_impl();
    Ok(quote! {
        impl #impl_generics ::toolwright::AppKind for #name #type_generics #bounds {
            fn compatible_types() -> ::std::vec::Vec<::core::any::TypeId> {
                ::std::vec::Vec::from([#(::core::any::TypeId::of::<#compatible>()),*])
            }
        }
    })
}
