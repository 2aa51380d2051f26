//! What is emitted in place of a mistaken definition: the function itself, all mistakes, and a
//! stand-in for what is made of it, so that its users do not fail too.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Ident, ItemFn, ItemImpl, Visibility};

use crate::args::DefinitionKind;
use crate::attribute_keys::Diagnostics;

pub(crate) fn fallback_function(
    kind: DefinitionKind,
    function: &ItemFn,
    name: &Ident,
    vis: &Visibility,
    mistakes: Diagnostics,
) -> TokenStream {
    let mistakes = mistakes.into_tokens();
    // A method stands in a block that is no bundle, where there is no place for a stand-in.
    if function.sig.receiver().is_some() {
        return quote!(#function #mistakes);
    }
    let (getter, made) = kind.getter_and_type();
    quote! {
        #function

        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #vis enum #name {}

        #[allow(dead_code)]
        impl #name {
            #[doc(hidden)]
            #vis fn #getter() -> ::toolwright::#made {
                ::toolwright::__private::never()
            }
        }

        #mistakes
    }
}

pub(crate) fn fallback_tools(block: &ItemImpl, mistakes: Diagnostics) -> TokenStream {
    let mistakes = mistakes.into_tokens();
    let bundle = &block.self_ty;
    let (generics, _, bounds) = block.generics.split_for_impl();
    let stand_in = block.trait_.is_none().then(|| {
        quote! {
            impl #generics ::toolwright::Bundle for #bundle #bounds {
                fn into_items(self) -> ::std::vec::Vec<::toolwright::BundleItem> {
                    ::toolwright::__private::never()
                }
            }
        }
    });
    quote!(#block #stand_in #mistakes)
}
