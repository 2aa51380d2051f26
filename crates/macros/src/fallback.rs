//! The expansion of a definition with errors: the function itself, all errors, and a placeholder of the tool, so
//! that code that uses it has no errors too.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{ItemFn, ItemImpl};

use crate::args::DefinitionKind;
use crate::attribute_keys::Diagnostics;

pub(crate) fn fallback_function(
    kind: DefinitionKind,
    function: &ItemFn,
    diagnostics: Diagnostics,
) -> TokenStream {
    let (name, vis) = (&function.sig.ident, &function.vis);
    let diagnostics = diagnostics.into_tokens();
    // A method in an `impl` block without `#[tools]`: an enum cannot be defined there.
    if function.sig.receiver().is_some() {
        return quote!(#function #diagnostics);
    }
    let (getter, type_name) = kind.getter_and_type();
    quote! {
        #function

        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #vis enum #name {}

        #[allow(dead_code)]
        impl #name {
            #[doc(hidden)]
            #vis fn #getter() -> ::toolwright::#type_name {
                ::toolwright::__private::never()
            }
        }

        #diagnostics
    }
}

pub(crate) fn fallback_tools(block: &ItemImpl, diagnostics: Diagnostics) -> TokenStream {
    let diagnostics = diagnostics.into_tokens();
    let bundle = &block.self_ty;
    let (generics, _, bounds) = block.generics.split_for_impl();
    let placeholder = block.trait_.is_none().then(|| {
        quote! {
            impl #generics ::toolwright::Bundle for #bundle #bounds {
                fn into_items(self) -> ::std::vec::Vec<::toolwright::BundleItem> {
                    ::toolwright::__private::never()
                }
            }

            impl #generics ::toolwright::NamedBundle for #bundle #bounds {
                const NAME: &'static str = "";
            }
        }
    });
    quote!(#block #placeholder #diagnostics)
}
