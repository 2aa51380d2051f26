//! What the attributes say: keys and values, with every mistake kept.

use proc_macro2::{Span, TokenStream};
use syn::meta::ParseNestedMeta;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, Ident, LitBool, LitInt, LitStr, Path, Token, Type};

/// Mistakes, in the order they were found.
#[derive(Default)]
pub(crate) struct Mistakes(Vec<syn::Error>);

impl Mistakes {
    pub(crate) fn add(&mut self, span: Span, message: impl std::fmt::Display) {
        self.0.push(syn::Error::new(span, message));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns one `compile_error!` per mistake.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0.iter().map(syn::Error::to_compile_error).collect()
    }
}

/// `#[tool(…)]`.
#[derive(Default)]
pub(crate) struct ToolArgs {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    /// Calls of `Meta`'s setters, in the order they were written.
    pub(crate) settings: Vec<(Ident, TokenStream)>,
    pub(crate) blocking: Option<Span>,
    pub(crate) read_only: Option<Span>,
    pub(crate) destructive: Option<Span>,
}

/// `#[param(…)]`.
#[derive(Default)]
pub(crate) struct ParamArgs {
    pub(crate) span: Option<Span>,
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) default: Option<Expr>,
    pub(crate) required: Option<Span>,
}

/// `#[tools(…)]`.
#[derive(Default)]
pub(crate) struct ToolsArgs {
    pub(crate) new: Option<Path>,
    pub(crate) manual: Option<Span>,
    pub(crate) prefix: Option<LitStr>,
    pub(crate) supported_for: Vec<Type>,
}

const HINTS: [&str; 4] = ["read_only", "destructive", "idempotent", "open_world"];
const FLAGS: [&str; 3] = ["blocking", "expand_result", "return_direct"];

/// Keys whose value is one of a few words, with the type that the words belong to.
const CHOICES: [(&str, &str, &[&str]); 5] = [
    ("approval", "Approval", &["always", "never", "auto"]),
    ("strict", "Strict", &["auto", "on", "off"]),
    ("extra", "Extra", &["refuse", "ignore"]),
    ("errors", "Errors", &["message", "generic"]),
    ("on_malformed", "Malformed", &["tell", "error"]),
];

const TOOL_KEYS: &str = "`name`, `title`, `description`, `read_only`, `destructive`, `idempotent`, \
    `open_world`, `approval`, `blocking`, `timeout`, `concurrency`, `strict`, `extra`, `errors`, \
    `on_malformed`, `expand_result` or `return_direct`";

impl ToolArgs {
    pub(crate) fn parse(attribute: TokenStream, mistakes: &mut Mistakes) -> Self {
        let mut args = Self::default();
        keys(attribute, mistakes, |key, meta| args.key(key, meta));
        args
    }

    fn key(&mut self, key: &str, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let span = meta.path.span();
        let ident = || Ident::new(key, span);
        let choice = CHOICES.iter().find(|(known, ..)| *known == key);
        match key {
            "name" => self.name = Some(meta.value()?.parse()?),
            "description" => self.description = Some(meta.value()?.parse()?),
            "title" => {
                let title: LitStr = meta.value()?.parse()?;
                self.settings.push((ident(), quote::quote!(#title)));
            }
            "timeout" => {
                let text: LitStr = meta.value()?.parse()?;
                let millis = milliseconds(&text.value()).ok_or_else(|| {
                    syn::Error::new(
                        text.span(),
                        "not a duration: write for example `timeout = \"30s\"` (ms, s, m or h)",
                    )
                })?;
                self.settings.push((ident(), quote::quote!(#millis)));
            }
            "concurrency" => {
                let most: LitInt = meta.value()?.parse()?;
                if most.base10_parse::<usize>()? == 0 {
                    return Err(syn::Error::new(
                        most.span(),
                        "no call could ever run: write at least `concurrency = 1`",
                    ));
                }
                self.settings.push((ident(), quote::quote!(#most)));
            }
            _ if HINTS.contains(&key) || FLAGS.contains(&key) => {
                let yes = flag(meta)?;
                self.settings.push((ident(), quote::quote!(#yes)));
                match key {
                    "blocking" if yes => self.blocking = Some(span),
                    "read_only" if yes => self.read_only = Some(span),
                    "destructive" if yes => self.destructive = Some(span),
                    _ => {}
                }
            }
            _ => {
                let Some((_, kind, words)) = choice else {
                    return Err(meta.error(format!("unknown key `{key}`: write {TOOL_KEYS}")));
                };
                let word = word(meta, words)?;
                let kind = Ident::new(kind, span);
                self.settings
                    .push((ident(), quote::quote!(::toolwright::#kind::#word)));
            }
        }
        Ok(())
    }
}

impl ParamArgs {
    /// Takes all `#[param]` attributes out of `attributes`.
    pub(crate) fn take(attributes: &mut Vec<Attribute>, mistakes: &mut Mistakes) -> Self {
        let mut args = Self::default();
        attributes.retain(|attribute| {
            if !attribute.path().is_ident("param") {
                return true;
            }
            args.span = Some(attribute.span());
            match attribute.meta.require_list() {
                Ok(list) => keys(list.tokens.clone(), mistakes, |key, meta| {
                    args.key(key, meta)
                }),
                Err(error) => mistakes.add(
                    error.span(),
                    "write `#[param(default = …)]`, or leave it out",
                ),
            }
            false
        });
        args
    }

    fn key(&mut self, key: &str, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        match key {
            "name" => self.name = Some(meta.value()?.parse()?),
            "description" => self.description = Some(meta.value()?.parse()?),
            "default" => self.default = Some(meta.value()?.parse()?),
            "required" => {
                if flag(meta)? {
                    self.required = Some(meta.path.span());
                }
            }
            _ => {
                let keys = "`name`, `description`, `default` or `required`";
                return Err(meta.error(format!("unknown key `{key}`: write {keys}")));
            }
        }
        Ok(())
    }
}

impl ToolsArgs {
    pub(crate) fn parse(attribute: TokenStream, mistakes: &mut Mistakes) -> Self {
        let mut args = Self::default();
        keys(attribute, mistakes, |key, meta| args.key(key, meta));
        if let (Some(span), Some(_)) = (args.manual, &args.new) {
            mistakes.add(
                span,
                "a manual bundle is never made by discovery: drop `manual` or `new`",
            );
        }
        args
    }

    fn key(&mut self, key: &str, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        match key {
            "new" => {
                let path: Path = meta.value()?.parse()?;
                if path
                    .segments
                    .first()
                    .is_some_and(|first| first.ident == "Self")
                {
                    return Err(syn::Error::new(
                        path.span(),
                        "`Self` has no meaning here: write the type's name",
                    ));
                }
                self.new = Some(path);
            }
            "manual" => {
                if flag(meta)? {
                    self.manual = Some(meta.path.span());
                }
            }
            "prefix" => self.prefix = Some(meta.value()?.parse()?),
            "supported_for" => {
                let list;
                syn::parenthesized!(list in meta.input);
                let types = Punctuated::<Type, Token![,]>::parse_terminated(&list)?;
                if types.is_empty() {
                    return Err(meta.error(
                        "no application named: write `supported_for(MyApp)`, or leave it out",
                    ));
                }
                self.supported_for.extend(types);
            }
            _ => {
                let keys = "`new`, `manual`, `prefix` or `supported_for`";
                return Err(meta.error(format!("unknown key `{key}`: write {keys}")));
            }
        }
        Ok(())
    }
}

/// Reads `key, key = value, …`, keeping every mistake and going on behind it.
fn keys(
    attribute: TokenStream,
    mistakes: &mut Mistakes,
    mut each: impl FnMut(&str, &ParseNestedMeta<'_>) -> syn::Result<()>,
) {
    let mut seen: Vec<String> = Vec::new();
    let parser = syn::meta::parser(|meta| {
        let key = meta
            .path
            .get_ident()
            .map(Ident::to_string)
            .unwrap_or_default();
        if seen.contains(&key) {
            mistakes.add(
                meta.path.span(),
                format!("`{key}` is written twice: keep one"),
            );
        }
        if let Err(error) = each(&key, &meta) {
            mistakes.0.push(error);
            // Skip what belongs to the mistaken key, so that the next one is read as itself.
            while !meta.input.is_empty() && !meta.input.peek(Token![,]) {
                meta.input.parse::<proc_macro2::TokenTree>()?;
            }
        }
        seen.push(key);
        Ok(())
    });
    if let Err(error) = parser.parse2(attribute) {
        mistakes.0.push(error);
    }
}

/// Reads `key` or `key = true`.
fn flag(meta: &ParseNestedMeta<'_>) -> syn::Result<bool> {
    if meta.input.peek(Token![=]) {
        return Ok(meta.value()?.parse::<LitBool>()?.value());
    }
    Ok(true)
}

/// Reads one of `words`, and returns it as the variant it names.
fn word(meta: &ParseNestedMeta<'_>, words: &[&str]) -> syn::Result<Ident> {
    let word: Ident = meta.value()?.parse()?;
    if !words.iter().any(|known| word == known) {
        let listed = words
            .iter()
            .map(|known| format!("`{known}`"))
            .collect::<Vec<_>>()
            .join(" or ");
        return Err(syn::Error::new(
            word.span(),
            format!("`{word}` is not known here: write {listed}"),
        ));
    }
    let text = word.to_string();
    let (first, rest) = text.split_at(1);
    Ok(Ident::new(
        &format!("{}{rest}", first.to_uppercase()),
        word.span(),
    ))
}

/// Reads `500ms`, `30s`, `5m` or `1h`.
fn milliseconds(text: &str) -> Option<u64> {
    let at = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(at);
    let each = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number
        .parse::<u64>()
        .ok()?
        .checked_mul(each)
        .filter(|millis| *millis > 0)
}
