//! A checked definition in, wiring out: the library does all the work.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Attribute, Ident, ImplItem, Index, Item, ItemImpl, Type};

use crate::args::{Mistakes, ToolsArgs};
use crate::parse::{Definition, Param, plain};
use crate::{check, fallback};

/// Expands `#[tool]` on a free function.
pub(crate) fn tool(attribute: TokenStream, item: Item) -> TokenStream {
    let mut function = match item {
        Item::Fn(function) => function,
        other => {
            return misplaced(
                &other,
                "`#[tool]` belongs on a function: write it above a `fn`, or above a method inside `#[tools] impl`",
            );
        }
    };
    let mut mistakes = Mistakes::default();
    check::signature(&function.sig, false, &mut mistakes);
    let definition = Definition::parse(
        attribute,
        None,
        &mut function.sig,
        &function.attrs,
        &mut mistakes,
    );
    check::definition(&definition, &mut mistakes);
    let (name, vis) = (function.sig.ident.clone(), function.vis.clone());
    if !mistakes.is_empty() {
        return fallback::tool(&Item::Fn(function), &name, &vis, mistakes);
    }
    let cfgs = &definition.cfgs;
    let bundle = quote!(::core::module_path!());
    let wiring = definition.wire(&quote!(#name), &quote!(()), &bundle);
    quote! {
        #function

        #(#cfgs)*
        #[doc(hidden)]
        #[allow(non_camel_case_types, missing_docs, clippy::all)]
        #vis enum #name {}

        #(#cfgs)*
        #[allow(missing_docs, clippy::all)]
        impl #name {
            /// Returns the tool that this function is.
            #vis fn tool() -> ::toolwright::Tool {
                ::toolwright::Tool::of::<#name>(::toolwright::__private::Arc::new(()))
            }
        }

        #(#cfgs)*
        const _: () = {
            #wiring
            ::toolwright::__private::inventory::submit! {
                ::toolwright::__private::Linked {
                    place: ::toolwright::__private::Place {
                        module: ::core::module_path!(),
                        type_name: "",
                        line: ::core::line!(),
                    },
                    supported_for: &[],
                    make: || ::std::vec![#name::tool()],
                }
            }
        };
    }
}

/// Expands `#[tools]` on an `impl` block.
pub(crate) fn tools(attribute: TokenStream, item: Item) -> TokenStream {
    let mut block = match item {
        Item::Impl(block) => block,
        other => {
            return misplaced(
                &other,
                "`#[tools]` belongs on a block: write it above `impl MyBundle { … }`",
            );
        }
    };
    let mut mistakes = Mistakes::default();
    let args = ToolsArgs::parse(attribute, &mut mistakes);
    check_block(&block, &mut mistakes);
    let bundle = block.self_ty.clone();
    let place = bundle_name(&bundle);
    let bundle_name = quote!(::core::concat!(::core::module_path!(), "::", #place));
    let (mut wirings, mut pushes, mut names) = (Vec::new(), Vec::new(), Vec::<String>::new());
    for item in &mut block.items {
        let ImplItem::Fn(method) = item else { continue };
        let Some(attribute) = take_tool_attribute(&mut method.attrs, &mut mistakes) else {
            continue;
        };
        check::signature(&method.sig, true, &mut mistakes);
        let prefix = args.prefix.as_ref();
        let definition = Definition::parse(
            attribute,
            prefix,
            &mut method.sig,
            &method.attrs,
            &mut mistakes,
        );
        check::definition(&definition, &mut mistakes);
        if names.contains(&definition.name.value()) {
            let name = definition.name.value();
            mistakes.add(
                definition.name.span(),
                format!("two tools are named `{name}`: give one another `name`"),
            );
        }
        names.push(definition.name.value());
        let (cfgs, marker) = (&definition.cfgs, &method.sig.ident);
        let wiring = definition.wire(&quote!(#marker), &quote!(#bundle), &bundle_name);
        wirings.push(quote! {
            #(#cfgs)*
            #[allow(non_camel_case_types)]
            enum #marker {}
            #(#cfgs)*
            const _: () = { #wiring };
        });
        pushes.push(quote! {
            #(#cfgs)*
            tools.push(::toolwright::Tool::of::<#marker>(::toolwright::__private::Arc::clone(&bundle)));
        });
    }
    if names.is_empty() && mistakes.is_empty() {
        mistakes.add(
            bundle.span(),
            "a bundle without tools: write `#[tool]` above at least one method",
        );
    }
    if !mistakes.is_empty() {
        return fallback::tools(&block, mistakes);
    }
    let submit = submit(&args, &bundle, &place);
    quote! {
        #block

        #[allow(clippy::all)]
        const _: () = {
            #(#wirings)*

            impl ::toolwright::Bundle for #bundle {
                fn into_tools(self) -> ::std::vec::Vec<::toolwright::Tool> {
                    let bundle = ::toolwright::__private::Arc::new(self);
                    let mut tools = ::std::vec::Vec::new();
                    #(#pushes)*
                    tools
                }
            }

            #submit
        };
    }
}

fn misplaced(item: &Item, message: &str) -> TokenStream {
    let mut mistakes = Mistakes::default();
    mistakes.add(Span::call_site(), message);
    let mistakes = mistakes.into_tokens();
    quote!(#item #mistakes)
}

fn check_block(block: &ItemImpl, mistakes: &mut Mistakes) {
    if let Some((path, _)) = &block.trait_ {
        mistakes.add(
            path.span(),
            "a bundle is a type's own block: write `impl MyBundle`, without a trait",
        );
    }
    if !block.generics.params.is_empty() {
        mistakes.add(
            block.generics.span(),
            "a bundle cannot be generic: write `#[tools]` on a type whose parameters are filled in",
        );
    }
}

fn bundle_name(bundle: &Type) -> String {
    match bundle {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .map(|last| plain(&last.ident))
            .unwrap_or_default(),
        other => quote!(#other).to_string(),
    }
}

/// Takes `#[tool]` or `#[tool(…)]` off a method, and returns what is in its brackets.
fn take_tool_attribute(
    attributes: &mut Vec<Attribute>,
    mistakes: &mut Mistakes,
) -> Option<TokenStream> {
    let is_tool = |attribute: &Attribute| {
        attribute
            .path()
            .segments
            .last()
            .is_some_and(|last| last.ident == "tool")
    };
    let at = attributes.iter().position(is_tool)?;
    let attribute = attributes.remove(at);
    match &attribute.meta {
        syn::Meta::Path(_) => Some(TokenStream::new()),
        syn::Meta::List(list) => Some(list.tokens.clone()),
        syn::Meta::NameValue(pair) => {
            mistakes.add(pair.span(), "write `#[tool]` or `#[tool(key = value)]`");
            None
        }
    }
}

/// Leaves the bundle where discovery finds it.
fn submit(args: &ToolsArgs, bundle: &Type, place: &str) -> Option<TokenStream> {
    if args.manual.is_some() {
        return None;
    }
    let make = match &args.new {
        Some(path) => quote_spanned!(path.span()=> { let made: #bundle = #path(); made }),
        None => {
            quote_spanned!(bundle.span()=> <#bundle as ::toolwright::__private::Discovered>::discovered())
        }
    };
    let supported_for = &args.supported_for;
    Some(quote! {
        ::toolwright::__private::inventory::submit! {
            ::toolwright::__private::Linked {
                place: ::toolwright::__private::Place {
                    module: ::core::module_path!(),
                    type_name: #place,
                    line: ::core::line!(),
                },
                supported_for: &[#(|| ::core::any::TypeId::of::<#supported_for>()),*],
                make: || ::toolwright::Bundle::into_tools(#make),
            }
        }
    })
}

impl Definition {
    /// Implements the calling convention for the uninhabited type `marker`.
    fn wire(
        &self,
        marker: &TokenStream,
        receiver: &TokenStream,
        bundle: &TokenStream,
    ) -> TokenStream {
        let types: Vec<&Type> = self.params.iter().map(|param| &param.ty).collect();
        let specs = self.params.iter().map(Param::spec);
        let guards = self.params.iter().filter_map(Param::guard);
        let reads = self.params.iter().enumerate().map(|(index, param)| {
            let (field, span) = (Index::from(index), param.ty.span());
            quote_spanned!(span=> #index => ::toolwright::__private::read(&mut self.#field, map),)
        });
        let meta = self.meta(bundle);
        let (output, call) = (self.output_type(receiver), self.call(receiver));
        quote! {
            #(#guards)*

            #[derive(Default)]
            #[allow(dead_code)]
            pub struct Args(#(::core::option::Option<#types>),*);

            impl ::toolwright::__private::Slots for Args {
                const PARAMS: &'static [::toolwright::__private::ParamSpec] = &[#(#specs),*];

                #[allow(unused_variables)]
                fn read<'de, A: ::toolwright::__private::MapAccess<'de>>(
                    &mut self,
                    index: usize,
                    map: &mut A,
                ) -> ::core::result::Result<(), A::Error> {
                    match index {
                        #(#reads)*
                        _ => ::core::result::Result::Ok(()),
                    }
                }
            }

            impl ::toolwright::__private::Definition for #marker {
                type Receiver = #receiver;
                type Args = Args;
                const META: ::toolwright::__private::Meta = #meta;

                #[allow(unreachable_code, unused_variables)]
                fn output(
                    generator: &mut ::toolwright::__private::SchemaGenerator,
                ) -> ::core::option::Option<::toolwright::__private::Schema> {
                    #[allow(unused_imports)]
                    use ::toolwright::__private::PlainSchema as _;
                    #output
                }

                #[allow(unused_variables)]
                fn call(
                    receiver: &::toolwright::__private::Arc<Self::Receiver>,
                    args: Args,
                    cx: &::toolwright::CallContext<'_>,
                ) -> ::core::result::Result<::toolwright::__private::Running, ::toolwright::ToolError> {
                    #[allow(unused_imports)]
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
        receiver: &TokenStream,
        this: &TokenStream,
        arguments: &[TokenStream],
    ) -> TokenStream {
        let function = &self.function;
        let span = self.output;
        if self.receiver {
            quote_spanned!(span=> <#receiver>::#function(&#this, #(#arguments),*))
        } else if receiver.to_string() == "()" {
            quote_spanned!(span=> #function(#(#arguments),*))
        } else {
            quote_spanned!(span=> <#receiver>::#function(#(#arguments),*))
        }
    }

    /// Names the return type without calling the function.
    fn output_type(&self, receiver: &TokenStream) -> TokenStream {
        let nevers: Vec<TokenStream> = self
            .params
            .iter()
            .map(|param| {
                let ty = &param.ty;
                quote!(::toolwright::__private::never::<#ty>())
            })
            .collect();
        let this = quote!(::toolwright::__private::never::<#receiver>());
        let call = self.invocation(receiver, &this, &nevers);
        let span = self.output;
        if self.is_async {
            quote_spanned!(span=> ::toolwright::__private::returned_async(|| async move { #call.await }).schema(generator))
        } else {
            quote_spanned!(span=> ::toolwright::__private::returned(|| #call).schema(generator))
        }
    }

    fn call(&self, receiver: &TokenStream) -> TokenStream {
        let slots: Vec<Ident> = (0..self.params.len())
            .map(|index| format_ident!("param_{index}"))
            .collect();
        let takes = self
            .params
            .iter()
            .zip(&slots)
            .enumerate()
            .map(|(index, (param, slot))| {
                let take = param.take(index);
                quote!(let #slot = #take;)
            });
        let arguments: Vec<TokenStream> = slots.iter().map(|slot| quote!(#slot)).collect();
        let call = self.invocation(receiver, &quote!(receiver), &arguments);
        let span = self.output;
        let encode = |call: TokenStream| {
            quote_spanned! {span=>
                match ::toolwright::__private::Returned(#call).split() {
                    ::core::result::Result::Ok(value) => ::toolwright::Encode::encode(value, &encoders),
                    ::core::result::Result::Err(error) => ::core::result::Result::Err(error),
                }
            }
        };
        let run = if self.args.blocking.is_some() {
            let encode = encode(call);
            quote_spanned!(span=> ::toolwright::__private::Running::blocking(cx, move || #encode))
        } else if self.is_async {
            let encode = encode(quote_spanned!(span=> #call.await));
            let function = self.function.span();
            quote_spanned!(function=> ::toolwright::__private::Running::later(async move { #encode }))
        } else {
            let encode = encode(call);
            quote_spanned!(span=> ::toolwright::__private::Running::Done(#encode))
        };
        let own = (self.args.blocking.is_some() || self.is_async).then(|| {
            quote! {
                let receiver = ::toolwright::__private::Arc::clone(receiver);
            }
        });
        let encoders = if own.is_some() {
            quote!(::core::clone::Clone::clone(cx.encoders()))
        } else {
            quote!(cx.encoders())
        };
        quote! {
            #(#takes)*
            let encoders = #encoders;
            #own
            ::core::result::Result::Ok(#run)
        }
    }
}

impl Param {
    fn published_name(&self) -> String {
        self.name
            .as_ref()
            .map(syn::LitStr::value)
            .unwrap_or_default()
    }

    fn spec(&self) -> TokenStream {
        let (ty, name, description) = (&self.ty, self.published_name(), &self.description);
        let required = self.args.required.is_some();
        let default = match self.default() {
            Default::None => quote!(::toolwright::__private::DefaultSpec::None),
            Default::Text(text) => quote!(::toolwright::__private::DefaultSpec::Text(#text)),
            Default::Value(value) => quote_spanned! {value.span()=>
                ::toolwright::__private::DefaultSpec::Value(|| {
                    let value: #ty = #value;
                    ::toolwright::__private::json(value)
                })
            },
        };
        quote_spanned! {ty.span()=>
            ::toolwright::__private::ParamSpec::of::<#ty>(#name, #description, #default, #required)
        }
    }

    fn take(&self, index: usize) -> TokenStream {
        let (ty, name, field) = (&self.ty, self.published_name(), Index::from(index));
        let default = match self.default() {
            Default::Value(value) => {
                quote_spanned!(value.span()=> ::core::option::Option::Some(|| -> #ty { #value }))
            }
            Default::None | Default::Text(_) => quote!(::core::option::Option::None),
        };
        quote_spanned!(ty.span()=> ::toolwright::__private::take::<#ty>(args.#field, #name, #default, cx)?)
    }

    /// Refuses what only the type can tell: a nameless argument, an extractor that is described.
    fn guard(&self) -> Option<TokenStream> {
        let ty = &self.ty;
        if self.name.is_none() {
            let message = "an argument needs a name: write `name: Type` (only extractors may be destructured)";
            return Some(quote_spanned! {ty.span()=>
                const _: () = ::core::assert!(!<#ty as ::toolwright::Param>::PUBLISHED, #message);
            });
        }
        let span = self.args.span?;
        let message = "an extractor is hidden from the model: drop `#[param]`";
        Some(quote_spanned! {span=>
            const _: () = ::core::assert!(<#ty as ::toolwright::Param>::PUBLISHED, #message);
        })
    }

    fn default(&self) -> Default {
        let Some(default) = &self.args.default else {
            return Default::None;
        };
        match check::text_literal(default) {
            None => Default::Value(quote!(#default)),
            Some(text) => {
                let is_string =
                    matches!(&self.ty, Type::Path(path) if path.path.is_ident("String"));
                if is_string && !text.value().contains("${") {
                    Default::Value(quote_spanned!(text.span()=> ::std::string::String::from(#text)))
                } else {
                    Default::Text(text.clone())
                }
            }
        }
    }
}

/// What an argument is when it is not sent.
enum Default {
    None,
    /// An expression of the parameter's type.
    Value(TokenStream),
    /// Text that the library converts, after its placeholders are filled in.
    Text(syn::LitStr),
}
