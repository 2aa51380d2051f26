//! What is emitted in place of a mistaken definition: the function itself, all mistakes, and a
//! stand-in for the tool, so that its users do not fail too.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Ident, Item, ItemImpl, Visibility};

use crate::args::Mistakes;

pub(crate) fn tool(item: &Item, name: &Ident, vis: &Visibility, mistakes: Mistakes) -> TokenStream {
    let mistakes = mistakes.into_tokens();
    let stand_in = quote_spanned! {name.span()=>
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #vis enum #name {}
        #[allow(dead_code)]
        impl #name {
            #[doc(hidden)]
            #vis fn tool() -> ::toolwright::Tool {
                ::toolwright::__private::never()
            }
        }
    };
    quote!(#item #stand_in #mistakes)
}

pub(crate) fn tools(item: &ItemImpl, mistakes: Mistakes) -> TokenStream {
    let mistakes = mistakes.into_tokens();
    let bundle = &item.self_ty;
    let stand_in = (item.trait_.is_none() && item.generics.params.is_empty()).then(|| {
        quote! {
            impl ::toolwright::Bundle for #bundle {
                fn into_tools(self) -> ::std::vec::Vec<::toolwright::Tool> {
                    ::toolwright::__private::never()
                }
            }
        }
    });
    quote!(#item #stand_in #mistakes)
}
