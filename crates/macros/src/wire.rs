//! A definition in, the calling convention out: names and types, no logic.
//!
//! Two habits keep the compiler's own complaints few. Whatever a type must be able to do is asked
//! for through the one trait that says so, always on the same tokens: the compiler drops an error
//! that it has told word for word before. And a name that could meet one of the user's begins with `__`.

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Ident, Index, LitStr, Type};

use crate::args::Kind;
use crate::default::text_literal;
use crate::parse::{Definition, Extent, Param, peel_type};

/// Names a local variable so that the use of its only field is underlined from start to end.
fn underlined(name: &str, place: Extent) -> (Ident, TokenStream) {
    let ident = Ident::new(name, place.start);
    let mut field = Literal::usize_unsuffixed(0);
    field.set_span(place.end);
    let dot = quote_spanned!(place.start=> .);
    let value = quote!(#ident #dot #field);
    (ident, value)
}

/// Names a method of a trait so that its path is underlined from start to end.
fn method(of: TokenStream, name: &str, place: Extent) -> TokenStream {
    let name = Ident::new(name, place.end);
    let of = of.into_iter().map(|mut token| {
        token.set_span(place.start);
        token
    });
    let of: TokenStream = of.collect();
    let colons = quote_spanned!(place.start=> ::);
    quote!(#of #colons #name)
}

impl Definition {
    /// Implements the calling convention for the uninhabited type `marker`; `None` is a free function.
    pub(crate) fn wire(
        &self,
        marker: &Ident,
        receiver: Option<&Type>,
        bundle: &TokenStream,
    ) -> TokenStream {
        let types: Vec<&Type> = self.params.iter().map(|param| &param.ty).collect();
        let specs = self
            .params
            .iter()
            .enumerate()
            .map(|(index, param)| param.spec(index));
        let defaults = self
            .params
            .iter()
            .enumerate()
            .filter_map(|(index, param)| param.default_function(index));
        let guards = self.params.iter().filter_map(Param::guard);
        let reads = types.iter().enumerate().map(|(index, ty)| {
            let field = Index::from(index);
            let read = quote_spanned!(ty.span()=> <#ty as ::toolwright::Param>::read_slot);
            quote!(#index => #read(&mut self.#field, __map),)
        });
        let meta = self.meta(bundle);
        let (output, call) = (self.output_type(receiver), self.call(receiver));
        let receiver = receiver.map_or_else(|| quote!(()), |receiver| quote!(#receiver));
        quote! {
            #(#guards)*
            #(#defaults)*

            #[derive(::core::default::Default)]
            pub struct __Args(#(::core::option::Option<#types>),*);

            impl ::toolwright::__private::Slots for __Args {
                const PARAMS: &'static [::toolwright::__private::ParamSpec] = &[#(#specs),*];

                fn read<'de, __A: ::toolwright::__private::MapAccess<'de>>(
                    &mut self,
                    __index: usize,
                    __map: &mut __A,
                ) -> ::core::result::Result<(), __A::Error> {
                    match __index {
                        #(#reads)*
                        _ => ::core::result::Result::Ok(()),
                    }
                }
            }

            impl ::toolwright::__private::Definition for #marker {
                type Receiver = #receiver;
                type Args = __Args;
                const META: ::toolwright::__private::Meta = #meta;

                fn output(
                    __generator: &mut ::toolwright::__private::SchemaGenerator,
                ) -> ::core::option::Option<::toolwright::__private::Schema> {
                    use ::toolwright::__private::PlainType as _;
                    #output
                }

                fn call(
                    __receiver: &::toolwright::__private::Arc<Self::Receiver>,
                    __args: __Args,
                    __cx: &::toolwright::CallContext<'_>,
                ) -> ::core::result::Result<::toolwright::__private::Running, ::toolwright::ToolError> {
                    use ::toolwright::__private::Plain as _;
                    #call
                }
            }
        }
    }

    fn meta(&self, bundle: &TokenStream) -> TokenStream {
        let (name, description) = (&self.name, &self.description);
        let settings = self
            .args
            .settings
            .iter()
            .map(|(key, value)| quote!(.#key(#value)));
        quote!(::toolwright::__private::Meta::new(#bundle, #name, #description)#(#settings)*)
    }

    /// What calling the function looks like, given its receiver and arguments.
    fn invocation(
        &self,
        receiver: Option<&Type>,
        this: &TokenStream,
        arguments: &[TokenStream],
    ) -> TokenStream {
        let function = &self.function;
        let span = self.output.start;
        match receiver {
            Some(bundle) if self.receiver => {
                quote_spanned!(span=> <#bundle>::#function(&#this, #(#arguments),*))
            }
            Some(bundle) => quote_spanned!(span=> <#bundle>::#function(#(#arguments),*)),
            None => quote_spanned!(span=> #function(#(#arguments),*)),
        }
    }

    /// The trait that says what may be returned.
    fn returns(&self) -> TokenStream {
        match self.kind {
            Kind::Tool => quote!(::toolwright::Encode),
            Kind::Prompt => quote!(::toolwright::__private::PromptText),
        }
    }

    /// Asks the return type for its schema without calling the function.
    fn output_type(&self, receiver: Option<&Type>) -> TokenStream {
        let never = |ty: &Type| quote!(::toolwright::__private::never::<#ty>());
        let nevers: Vec<TokenStream> = self.params.iter().map(|param| never(&param.ty)).collect();
        let this = receiver.map_or_else(TokenStream::new, never);
        let call = self.invocation(receiver, &this, &nevers);
        let span = self.output.start;
        let returned = if self.is_async {
            quote_spanned!(span=> ::toolwright::__private::returned_async(|| async move { #call.await }))
        } else {
            quote_spanned!(span=> ::toolwright::__private::returned(|| #call))
        };
        let (ok, value) = underlined("__ok", self.output);
        let schema_of = method(self.returns(), "schema_of", self.output);
        quote! {
            let #ok = #returned.ok();
            #schema_of(#value, __generator)
        }
    }

    fn call(&self, receiver: Option<&Type>) -> TokenStream {
        let slots: Vec<Ident> = (0..self.params.len())
            .map(|index| format_ident!("__param_{index}"))
            .collect();
        let takes = self.params.iter().zip(&slots).enumerate();
        let takes = takes.map(|(index, (param, slot))| {
            let take = param.take(index);
            quote!(let #slot = #take;)
        });
        let arguments: Vec<TokenStream> = slots.iter().map(|slot| quote!(#slot)).collect();
        let call = self.invocation(receiver, &quote!(__receiver), &arguments);
        let span = self.output.start;
        let (ok, value) = underlined("__ok", self.output);
        let (error, cause) = underlined("__error", self.error);
        let encode = method(self.returns(), "encode", self.output);
        let into = quote!(::toolwright::__private::IntoToolError);
        let into = method(into, "into_tool_error", self.error);
        let encode = |call: TokenStream| {
            quote! {
                match ::toolwright::__private::Returned(#call).split() {
                    ::core::result::Result::Ok(#ok) => #encode(#value, &__encoders),
                    ::core::result::Result::Err(#error) => ::core::result::Result::Err(#into(#cause)),
                }
            }
        };
        let own = self.args.blocking.is_some() || self.is_async;
        let run = if self.args.blocking.is_some() {
            let encode = encode(call);
            quote!(::toolwright::__private::Running::blocking(__cx, move || #encode))
        } else if self.is_async {
            let encode = encode(quote_spanned!(span=> #call.await));
            let function = self.function.span();
            quote_spanned!(function=> ::toolwright::__private::Running::later(async move { #encode }))
        } else {
            let encode = encode(call);
            quote!(::toolwright::__private::Running::Done(#encode))
        };
        let shared = if own {
            quote! {
                let __encoders = ::core::clone::Clone::clone(__cx.encoders());
                let __receiver = ::core::clone::Clone::clone(__receiver);
            }
        } else {
            quote!(let __encoders = __cx.encoders();)
        };
        quote! {
            #(#takes)*
            #shared
            ::core::result::Result::Ok(#run)
        }
    }
}

/// What an argument is when it is not sent.
enum Default<'a> {
    None,
    /// An expression of the parameter's type.
    Value(TokenStream),
    /// Text that the library converts, after its placeholders are filled in.
    Text(&'a LitStr),
}

impl Param {
    fn published_name(&self) -> String {
        self.name.as_ref().map(LitStr::value).unwrap_or_default()
    }

    fn spec(&self, index: usize) -> TokenStream {
        let (ty, name, description) = (&self.ty, self.published_name(), &self.description);
        let required = self.args.required.is_some();
        let default = match self.default() {
            Default::None => quote!(::toolwright::__private::DefaultSpec::None),
            Default::Text(text) => quote!(::toolwright::__private::DefaultSpec::Text(#text)),
            Default::Value(_) => {
                let function = default_name(index);
                let publish =
                    quote_spanned!(ty.span()=> <#ty as ::toolwright::__private::Publish>::publish);
                quote!(::toolwright::__private::DefaultSpec::Value(|| #publish(#function())))
            }
        };
        let kind = quote_spanned!(ty.span()=> <#ty as ::toolwright::Param>::KIND);
        quote! {
            ::toolwright::__private::ParamSpec::new(#kind, #name, #description, #default, #required)
        }
    }

    fn take(&self, index: usize) -> TokenStream {
        let (ty, name, field) = (&self.ty, self.published_name(), Index::from(index));
        let default = match self.default() {
            Default::Value(_) => {
                let function = default_name(index);
                quote!(::core::option::Option::Some(#function))
            }
            Default::None | Default::Text(_) => quote!(::core::option::Option::None),
        };
        let take = quote_spanned!(ty.span()=> <#ty as ::toolwright::Param>::take_slot);
        quote!(#take(__args.#field, #name, #default, __cx)?)
    }

    /// Writes the default once, so that a mistake in it is one mistake.
    fn default_function(&self, index: usize) -> Option<TokenStream> {
        let Default::Value(value) = self.default() else {
            return None;
        };
        let (ty, function) = (&self.ty, default_name(index));
        Some(quote!(fn #function() -> #ty { #value }))
    }

    fn default(&self) -> Default<'_> {
        let Some(default) = &self.args.default else {
            return Default::None;
        };
        let Some(text) = text_literal(default) else {
            return Default::Value(default.to_token_stream());
        };
        let is_string =
            matches!(peel_type(&self.ty), Type::Path(path) if path.path.is_ident("String"));
        if is_string && !text.value().contains("${") {
            Default::Value(quote!(::std::borrow::ToOwned::to_owned(#text)))
        } else {
            Default::Text(text)
        }
    }

    /// Refuses what only the type can tell: a nameless argument, an extractor that is described.
    fn guard(&self) -> Option<TokenStream> {
        let ty = &self.ty;
        let published = quote_spanned!(ty.span()=> <#ty as ::toolwright::Param>::PUBLISHED);
        if self.name.is_none() {
            let message = "an argument needs a name: write `name: Type` (only extractors may be destructured)";
            return Some(quote_spanned! {self.pattern.start=>
                const _: () = ::core::assert!(!#published, #message);
            });
        }
        let span = self.args.span?;
        let message = "an extractor is hidden from the model: drop `#[param]`";
        Some(quote_spanned! {span=>
            const _: () = ::core::assert!(#published, #message);
        })
    }
}

fn default_name(index: usize) -> Ident {
    format_ident!("__default_{index}")
}
