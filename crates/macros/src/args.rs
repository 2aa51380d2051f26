//! Parses the keys of the attributes, collecting every error.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote};
use syn::{Attribute, Expr, Ident, LitStr, Path, Type};

use crate::attribute_keys::{AttributeKey, Diagnostics, ExampleObject, parse_keys};

/// Whether a function becomes a tool or a prompt.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum DefinitionKind {
    Tool,
    Prompt,
}

impl DefinitionKind {
    /// Returns the name of the attribute, and the noun in every message.
    pub(crate) fn attribute_name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
        }
    }

    /// Returns the names of the generated getter and of its return type.
    pub(crate) fn getter_and_type(self) -> (Ident, Ident) {
        let type_name = match self {
            Self::Tool => "Tool",
            Self::Prompt => "Prompt",
        };
        let ident = |name| Ident::new(name, Span::call_site());
        (ident(self.attribute_name()), ident(type_name))
    }
}

/// `#[tool(…)]` or `#[prompt(…)]`.
#[derive(Default)]
pub(crate) struct FunctionArgs {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    /// Calls of `Metadata`'s setters, in the order of the source.
    pub(crate) settings: Vec<(Ident, TokenStream)>,
    pub(crate) blocking: Option<Ident>,
    pub(crate) read_only: Option<Ident>,
    pub(crate) destructive: Option<Ident>,
}

/// `#[param(…)]`.
#[derive(Default)]
pub(crate) struct ParamArgs {
    /// The span of the first attribute, if there is one.
    pub(crate) span: Option<Span>,
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) default: Option<Expr>,
    pub(crate) required: Option<Ident>,
}

/// `#[tools(…)]`.
#[derive(Default)]
pub(crate) struct ToolsArgs {
    pub(crate) constructor: Option<Path>,
    pub(crate) manual: Option<Ident>,
    pub(crate) prefix: Option<LitStr>,
    pub(crate) supported_for: Vec<Type>,
}

const HINTS: [&str; 4] = ["read_only", "destructive", "idempotent", "open_world"];
const FLAGS: [&str; 5] = ["blocking", "expand_result", "pinned", "replayable", "return_direct"];
const VALUES: [&str; 10] = [
    "name",
    "title",
    "icon",
    "description",
    "approvers",
    "timeout",
    "concurrency",
    "tags",
    "questions",
    "examples",
];

/// A key whose value is a variant of an enum: the key, the enum and the variants in lower case.
type Choice = (&'static str, &'static str, &'static [&'static str]);

const CHOICES: [Choice; 5] = [
    ("approval", "ApprovalPolicy", &["always", "never", "auto"]),
    ("strict", "StrictMode", &["auto", "on", "off"]),
    ("extra", "UnknownArguments", &["refuse", "ignore"]),
    ("errors", "ErrorPolicy", &["message", "generic", "end"]),
    ("on_malformed", "OnMalformed", &["retry", "error"]),
];

const PROMPT_VALUES: [&str; 3] = ["name", "title", "description"];
const PROMPT_CHOICES: [Choice; 1] = [("role", "Role", &["assistant", "user"])];

impl FunctionArgs {
    pub(crate) fn parse(
        kind: DefinitionKind,
        attribute: TokenStream,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let mut args = Self::default();
        let mut seen = Vec::new();
        parse_keys(attribute, &mut seen, diagnostics, |key| args.parse_key(kind, key));
        if kind == DefinitionKind::Prompt && !seen.iter().any(|key| key == "role") {
            let key = Ident::new("role", Span::call_site());
            let role = quote!(::toolwright::Role::Assistant);
            args.settings.push((key, role));
        }
        args
    }

    fn parse_key(&mut self, kind: DefinitionKind, key: &AttributeKey<'_>) -> syn::Result<()> {
        let name = key.ident.to_string();
        let value = match name.as_str() {
            "name" => {
                self.name = Some(key.string()?);
                return Ok(());
            }
            "description" => {
                self.description = Some(key.string()?);
                return Ok(());
            }
            "title" => key.string()?.into_token_stream(),
            "icon" if kind == DefinitionKind::Tool => key.string()?.into_token_stream(),
            other if kind == DefinitionKind::Prompt => {
                parse_choice(key, other, &PROMPT_CHOICES, &PROMPT_VALUES)?
            }
            "approvers" => key.approvers()?.into_token_stream(),
            "timeout" => key.duration()?.into_token_stream(),
            "concurrency" => key.count()?.into_token_stream(),
            "tags" => {
                let tags: Vec<LitStr> = key.list("`tags(\"weather\", \"travel\")`")?;
                quote!(&[#(#tags),*])
            }
            "questions" => {
                let questions: Vec<LitStr> = key.list("`questions(\"Will it rain?\")`")?;
                quote!(&[#(#questions),*])
            }
            "examples" => {
                let examples: Vec<ExampleObject> = key.list("`examples({\"city\": \"Paris\"})`")?;
                quote!(&[#(#examples),*])
            }
            flag if HINTS.contains(&flag) || FLAGS.contains(&flag) => {
                let yes = key.flag()?;
                let declared = yes.then(|| key.ident.clone());
                match flag {
                    "blocking" => self.blocking = declared,
                    "read_only" => self.read_only = declared,
                    "destructive" => self.destructive = declared,
                    _ => {}
                }
                quote!(#yes)
            }
            other => parse_choice(key, other, &CHOICES, &[&VALUES[..], &HINTS, &FLAGS].concat())?,
        };
        self.settings.push((key.ident.clone(), value));
        Ok(())
    }
}

/// Parses a key whose value is a variant; `others` are the other keys of the attribute.
fn parse_choice(
    key: &AttributeKey<'_>,
    name: &str,
    choices: &[Choice],
    others: &[&str],
) -> syn::Result<TokenStream> {
    let Some((_, enum_name, variants)) = choices.iter().find(|(known, ..)| *known == name) else {
        let known = choices.iter().map(|(known, ..)| *known);
        let known: Vec<&str> = others.iter().copied().chain(known).collect();
        return Err(key.unknown_key_error(&known));
    };
    let variant = key.variant(variants)?;
    let enum_name = Ident::new(enum_name, key.ident.span());
    Ok(quote!(::toolwright::#enum_name::#variant))
}

impl ParamArgs {
    /// Removes all `#[param]` attributes from `attributes` and parses them.
    pub(crate) fn take(attributes: &mut Vec<Attribute>, diagnostics: &mut Diagnostics) -> Self {
        let mut args = Self::default();
        let mut seen = Vec::new();
        attributes.retain(|attribute| {
            let Some(ident) = attribute.path().get_ident().filter(|name| *name == "param") else {
                return true;
            };
            args.span.get_or_insert(ident.span());
            match attribute.meta.require_list() {
                Ok(list) => parse_keys(list.tokens.clone(), &mut seen, diagnostics, |key| {
                    args.parse_key(key)
                }),
                Err(_) => {
                    diagnostics.add(ident, "write `#[param(default = …)]`, or leave it out");
                }
            }
            false
        });
        args
    }

    fn parse_key(&mut self, key: &AttributeKey<'_>) -> syn::Result<()> {
        match key.ident.to_string().as_str() {
            "name" => self.name = Some(key.string()?),
            "description" => self.description = Some(key.string()?),
            "default" => self.default = Some(key.value("`default = …`")?),
            "required" => self.required = key.flag()?.then(|| key.ident.clone()),
            _ => {
                return Err(key.unknown_key_error(&["name", "description", "default", "required"]));
            }
        }
        Ok(())
    }
}

impl ToolsArgs {
    pub(crate) fn parse(attribute: TokenStream, diagnostics: &mut Diagnostics) -> Self {
        let mut args = Self::default();
        parse_keys(attribute, &mut Vec::new(), diagnostics, |key| args.parse_key(key));
        if let (Some(manual), Some(_)) = (&args.manual, &args.constructor) {
            diagnostics
                .add(manual, "a manual bundle is never made by discovery: drop `manual` or `new`");
        }
        if let (Some(manual), false) = (&args.manual, args.supported_for.is_empty()) {
            diagnostics.add(
                manual,
                "a manual bundle is never discovered: drop `manual` or `supported_for`",
            );
        }
        args
    }

    fn parse_key(&mut self, key: &AttributeKey<'_>) -> syn::Result<()> {
        match key.ident.to_string().as_str() {
            "new" => {
                let instead = "`new = MyBundle::new`";
                self.constructor = match key.value(instead)? {
                    Expr::Path(path) => Some(path.path),
                    other => {
                        let message = format!("name the function, do not call it: write {instead}");
                        return Err(syn::Error::new_spanned(other, message));
                    }
                };
            }
            "manual" => self.manual = key.flag()?.then(|| key.ident.clone()),
            "prefix" => self.prefix = Some(key.string()?),
            "supported_for" => {
                self.supported_for = key.list("`supported_for(MyApp)`, or leave it out")?
            }
            _ => return Err(key.unknown_key_error(&["new", "manual", "prefix", "supported_for"])),
        }
        Ok(())
    }
}
