//! Implements core's calling convention for a definition: names and types, no logic.
//!
//! Two rules keep the compiler's own errors few. Every requirement of a type is expressed by one trait, always with
//! the same spans, because the compiler drops duplicates of an error. And generated names that could clash with the
//! user's start with `__`.

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Ident, Index, LitStr, Type};

use crate::args::DefinitionKind;
use crate::default::string_literal;
use crate::parse::{Definition, Param, SpanRange, strip_type_parens};

/// Returns a local variable and the access to its field 0, spanned so that an error underlines the whole range.
fn spanned_local(name: &str, range: SpanRange) -> (Ident, TokenStream) {
    let ident = Ident::new(name, range.start);
    let mut field = Literal::usize_unsuffixed(0);
    field.set_span(range.end);
    let dot = quote_spanned!(range.start=> .);
    let value = quote!(#ident #dot #field);
    (ident, value)
}

/// Returns the path of a trait's method, spanned so that an error underlines the whole range.
fn spanned_method(trait_path: TokenStream, name: &str, range: SpanRange) -> TokenStream {
    let name = Ident::new(name, range.end);
    let trait_path = trait_path.into_iter().map(|mut token| {
        token.set_span(range.start);
        token
    });
    let trait_path: TokenStream = trait_path.collect();
    let colons = quote_spanned!(range.start=> ::);
    quote!(#trait_path #colons #name)
}

impl Definition {
    /// Implements `Definition` for the uninhabited type `marker`; `receiver` is `None` for a free function.
    pub(crate) fn implement_convention(
        &self,
        marker: &Ident,
        receiver: Option<&Type>,
        bundle: &TokenStream,
    ) -> TokenStream {
        let types: Vec<&Type> = self.params.iter().map(|param| &param.ty).collect();
        let specs = self.params.iter().enumerate().map(|(index, param)| param.spec_expr(index));
        let defaults = self
            .params
            .iter()
            .enumerate()
            .filter_map(|(index, param)| param.default_function(index));
        let assertions = self.params.iter().filter_map(Param::const_assertion);
        let reads = types.iter().enumerate().map(|(index, ty)| {
            let field = Index::from(index);
            let read = quote_spanned!(ty.span()=> <#ty as ::toolwright::Param>::read_slot);
            quote!(#index => #read(&mut self.#field, __map),)
        });
        let meta = self.meta_expr(bundle);
        let (output, call) = (self.output_body(receiver), self.call_body(receiver));
        let receiver = receiver.map_or_else(|| quote!(()), |receiver| quote!(#receiver));
        quote! {
            #(#assertions)*
            #(#defaults)*

            #[derive(::core::default::Default)]
            pub struct __Args(#(::core::option::Option<#types>),*);

            impl ::toolwright::__private::ArgumentSlots for __Args {
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
                const META: ::toolwright::__private::Metadata = #meta;

                fn output(
                    __generator: &mut ::toolwright::__private::SchemaGenerator,
                ) -> ::core::option::Option<::toolwright::__private::Schema> {
                    use ::toolwright::__private::PlainValueType as _;
                    #output
                }

                fn call(
                    __receiver: &::toolwright::__private::Arc<Self::Receiver>,
                    __args: __Args,
                    __cx: &::toolwright::CallContext<'_>,
                ) -> ::core::result::Result<::toolwright::__private::StartedHandler, ::toolwright::ToolError> {
                    use ::toolwright::__private::PlainValue as _;
                    #call
                }
            }
        }
    }

    fn meta_expr(&self, bundle: &TokenStream) -> TokenStream {
        let (name, description) = (&self.name, &self.description);
        let settings = self.args.settings.iter().map(|(key, value)| quote!(.#key(#value)));
        quote!(::toolwright::__private::Metadata::new(#bundle, #name, #description)#(#settings)*)
    }

    /// Returns the call of the function.
    fn call_expr(
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

    /// Returns the trait of return types.
    fn return_trait(&self) -> TokenStream {
        match self.kind {
            DefinitionKind::Tool => quote!(::toolwright::Encode),
            DefinitionKind::Prompt => quote!(::toolwright::__private::PromptText),
        }
    }

    /// Returns the body of `Definition::output`, which names the return type without calling the function.
    fn output_body(&self, receiver: Option<&Type>) -> TokenStream {
        let never = |ty: &Type| quote!(::toolwright::__private::never::<#ty>());
        let arguments: Vec<TokenStream> =
            self.params.iter().map(|param| never(&param.ty)).collect();
        let this = receiver.map_or_else(TokenStream::new, never);
        let call = self.call_expr(receiver, &this, &arguments);
        let span = self.output.start;
        let return_type = if self.is_async {
            quote_spanned!(span=> ::toolwright::__private::async_return_type_of(|| async move { #call.await }))
        } else {
            quote_spanned!(span=> ::toolwright::__private::return_type_of(|| #call))
        };
        let (ok, value) = spanned_local("__ok", self.output);
        let schema_of = spanned_method(self.return_trait(), "schema_of", self.output);
        quote! {
            let #ok = #return_type.ok_type();
            #schema_of(#value, __generator)
        }
    }

    fn call_body(&self, receiver: Option<&Type>) -> TokenStream {
        let slots: Vec<Ident> =
            (0..self.params.len()).map(|index| format_ident!("__param_{index}")).collect();
        let takes = self.params.iter().zip(&slots).enumerate();
        let takes = takes.map(|(index, (param, slot))| {
            let take = param.take_expr(index);
            quote!(let #slot = #take;)
        });
        let arguments: Vec<TokenStream> = slots.iter().map(|slot| quote!(#slot)).collect();
        let call = self.call_expr(receiver, &quote!(__receiver), &arguments);
        let span = self.output.start;
        let (ok, value) = spanned_local("__ok", self.output);
        let (error, cause) = spanned_local("__error", self.error);
        let encode = spanned_method(self.return_trait(), "encode", self.output);
        let into = quote!(::toolwright::__private::IntoToolError);
        let into = spanned_method(into, "into_tool_error", self.error);
        let encode = |call: TokenStream| {
            quote! {
                match ::toolwright::__private::ReturnValue(#call).into_result() {
                    ::core::result::Result::Ok(#ok) => #encode(#value, &__encoders),
                    ::core::result::Result::Err(#error) => ::core::result::Result::Err(#into(#cause)),
                }
            }
        };
        let outlives_call = self.args.blocking.is_some() || self.is_async;
        let run = if self.args.blocking.is_some() {
            let encode = encode(call);
            quote!(::toolwright::__private::StartedHandler::spawn_blocking(__cx, move || #encode))
        } else if self.is_async {
            let encode = encode(quote_spanned!(span=> #call.await));
            let function = self.function.span();
            quote_spanned!(function=> ::toolwright::__private::StartedHandler::from_future(async move { #encode }))
        } else {
            let encode = encode(call);
            quote!(::toolwright::__private::StartedHandler::Done(#encode))
        };
        let encoders = match outlives_call {
            true => quote!(let __encoders = ::core::clone::Clone::clone(__cx.encoders());),
            false => quote!(let __encoders = __cx.encoders();),
        };
        let receiver = (outlives_call && self.receiver)
            .then(|| quote!(let __receiver = ::core::clone::Clone::clone(__receiver);));
        quote! {
            #(#takes)*
            #encoders
            #receiver
            ::core::result::Result::Ok(#run)
        }
    }
}

/// The default of a parameter.
enum ParamDefault<'a> {
    None,
    /// An expression of the parameter's type.
    Value(TokenStream),
    /// A text that core converts, after its placeholders are filled in.
    Text(&'a LitStr),
}

impl Param {
    fn published_name(&self) -> String {
        self.name.as_ref().map(LitStr::value).unwrap_or_default()
    }

    fn spec_expr(&self, index: usize) -> TokenStream {
        let (ty, name, description) = (&self.ty, self.published_name(), &self.description);
        let required = self.args.required.is_some();
        let default = match self.parsed_default() {
            ParamDefault::None => quote!(::toolwright::__private::DefaultSpec::None),
            ParamDefault::Text(text) => quote!(::toolwright::__private::DefaultSpec::Text(#text)),
            ParamDefault::Value(_) => {
                let function = default_fn_name(index);
                let into_json = quote_spanned!(ty.span()=> <#ty as ::toolwright::__private::JsonDefault>::into_json);
                quote!(::toolwright::__private::DefaultSpec::Value(|| #into_json(#function())))
            }
        };
        let vtable = quote_spanned!(ty.span()=> <#ty as ::toolwright::Param>::VTABLE);
        quote! {
            ::toolwright::__private::ParamSpec::new(#vtable, #name, #description, #default, #required)
        }
    }

    fn take_expr(&self, index: usize) -> TokenStream {
        let (ty, name, field) = (&self.ty, self.published_name(), Index::from(index));
        let default = match self.parsed_default() {
            ParamDefault::Value(_) => {
                let function = default_fn_name(index);
                quote!(::core::option::Option::Some(#function))
            }
            ParamDefault::None | ParamDefault::Text(_) => quote!(::core::option::Option::None),
        };
        let take = quote_spanned!(ty.span()=> <#ty as ::toolwright::Param>::take_slot);
        quote!(#take(__args.#field, #name, #default, __cx)?)
    }

    /// Returns a function with the default, so that an error in it is reported once.
    fn default_function(&self, index: usize) -> Option<TokenStream> {
        let ParamDefault::Value(value) = self.parsed_default() else {
            return None;
        };
        let (ty, function) = (&self.ty, default_fn_name(index));
        Some(quote!(fn #function() -> #ty { #value }))
    }

    fn parsed_default(&self) -> ParamDefault<'_> {
        let Some(default) = &self.args.default else {
            return ParamDefault::None;
        };
        let Some(text) = string_literal(default) else {
            return ParamDefault::Value(default.to_token_stream());
        };
        let is_string =
            matches!(strip_type_parens(&self.ty), Type::Path(path) if path.path.is_ident("String"));
        if is_string && !text.value().contains("${") {
            ParamDefault::Value(quote!(::std::borrow::ToOwned::to_owned(#text)))
        } else {
            ParamDefault::Text(text)
        }
    }

    /// Rejects, by the type, an argument without a name and an extractor with `#[param]`.
    fn const_assertion(&self) -> Option<TokenStream> {
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

fn default_fn_name(index: usize) -> Ident {
    format_ident!("__default_{index}")
}
