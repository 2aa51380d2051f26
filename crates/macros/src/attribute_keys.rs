//! Parses the keys and values of an attribute.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Ident, LitBool, LitInt, LitStr, Token};

/// The errors of a definition, in the order they were found.
#[derive(Default)]
pub(crate) struct Diagnostics(Vec<syn::Error>);

impl Diagnostics {
    /// Adds an error that underlines `tokens`.
    pub(crate) fn add(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.0.push(syn::Error::new_spanned(tokens, message));
    }

    pub(crate) fn push(&mut self, error: syn::Error) {
        self.0.push(error);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns one `compile_error!` per error.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0.iter().map(syn::Error::to_compile_error).collect()
    }
}

/// One key; its value is not parsed yet.
pub(crate) struct AttributeKey<'a> {
    pub(crate) ident: Ident,
    input: ParseStream<'a>,
}

/// Parses `key, key = value, …`; continues with the next key after an error.
///
/// `seen` are the keys so far: a parameter may have several attributes.
pub(crate) fn parse_keys(
    attribute: TokenStream,
    seen: &mut Vec<Ident>,
    diagnostics: &mut Diagnostics,
    mut parse_key: impl FnMut(&AttributeKey<'_>) -> syn::Result<()>,
) {
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            match input.call(Ident::parse_any) {
                Ok(ident) => {
                    if seen.contains(&ident) {
                        diagnostics.add(&ident, format!("`{ident}` is written twice: keep one"));
                    }
                    seen.push(ident.clone());
                    if let Err(error) = parse_key(&AttributeKey { ident, input }) {
                        diagnostics.push(error);
                        skip_to_next_key(input)?;
                    }
                }
                Err(_) => {
                    let token: TokenTree = input.parse()?;
                    diagnostics.add(token, "not a key: write `key` or `key = value`");
                    skip_to_next_key(input)?;
                }
            }
            if !input.is_empty() && !input.peek(Token![,]) {
                let token: TokenTree = input.parse()?;
                diagnostics.add(token, "write a comma before this");
                skip_to_next_key(input)?;
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(attribute) {
        diagnostics.push(error);
    }
}

/// Skips the rest of a key with an error.
fn skip_to_next_key(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<TokenTree>()?;
    }
    Ok(())
}

impl AttributeKey<'_> {
    pub(crate) fn error(&self, message: impl std::fmt::Display) -> syn::Error {
        syn::Error::new_spanned(&self.ident, message)
    }

    /// Makes the error for a key that is not one of `known`.
    pub(crate) fn unknown_key_error(&self, known: &[&str]) -> syn::Error {
        let unknown = self.ident.to_string();
        let suggestion = match nearest(&unknown, known) {
            Some(similar) => format!("`{similar}`"),
            None => join_with_or(known),
        };
        self.error(format!("unknown key `{unknown}`: write {suggestion}"))
    }

    /// Parses `= value`; `suggestion` is the correct form for the error message.
    pub(crate) fn value<T: Parse>(&self, suggestion: &str) -> syn::Result<T> {
        let key = &self.ident;
        if !self.input.peek(Token![=]) {
            return Err(self.error(format!("`{key}` needs a value: write {suggestion}")));
        }
        self.input.parse::<Token![=]>()?;
        let rest = self.input.fork();
        self.input.parse::<T>().map_err(|_| {
            // The value may also be missing.
            match rest.parse::<TokenTree>() {
                Ok(token) if token.to_string() != "," => {
                    let message =
                        format!("`{key}` takes another kind of value: write {suggestion}");
                    syn::Error::new_spanned(token, message)
                }
                _ => self.error(format!("`{key}` needs a value: write {suggestion}")),
            }
        })
    }

    /// Parses `= "text"`.
    pub(crate) fn string(&self) -> syn::Result<LitStr> {
        self.value(&format!("`{} = \"…\"`", self.ident))
    }

    /// Parses nothing, which means true, or `= true`, or `= false`.
    pub(crate) fn flag(&self) -> syn::Result<bool> {
        if !self.input.peek(Token![=]) {
            return Ok(true);
        }
        let key = &self.ident;
        let value: LitBool = self.value(&format!("`{key}` or `{key} = false`"))?;
        Ok(value.value())
    }

    /// Parses `= 4`, at least 1.
    pub(crate) fn count(&self) -> syn::Result<usize> {
        let key = &self.ident;
        let number: LitInt = self.value(&format!("`{key} = 4`"))?;
        match number.base10_parse::<usize>()? {
            0 => Err(syn::Error::new_spanned(
                number,
                format!("no call could ever run: write at least `{key} = 1`"),
            )),
            count => Ok(count),
        }
    }

    /// Parses `= "500ms"`, `"30s"`, `"5m"` or `"1h"` into milliseconds.
    pub(crate) fn duration(&self) -> syn::Result<u64> {
        let key = &self.ident;
        let text: LitStr = self.value(&format!("`{key} = \"30s\"`"))?;
        parse_milliseconds(&text.value()).ok_or_else(|| {
            let message =
                format!("not a duration: write for example `{key} = \"30s\"` (ms, s, m or h)");
            syn::Error::new_spanned(&text, message)
        })
    }

    /// Parses `= "role:manager"`: `owner`, `role:NAME` and `subject:ID`, separated by commas, by the rules of `Approvers` in the
    /// core crate.
    pub(crate) fn approvers(&self) -> syn::Result<LitStr> {
        let key = &self.ident;
        let text: LitStr = self.value(&format!("`{key} = \"role:manager\"`"))?;
        let is_rule = |rule: &str| {
            let rule = rule.trim();
            let name = rule.strip_prefix("role:").or_else(|| rule.strip_prefix("subject:"));
            rule == "owner" || name.is_some_and(|name| !name.trim().is_empty())
        };
        if text.value().split(',').all(is_rule) {
            return Ok(text);
        }
        let message =
            "not known here: write `owner`, `role:NAME` or `subject:ID`, separated by commas";
        Err(syn::Error::new_spanned(&text, message))
    }

    /// Parses `= name`, one of `variants` in lower case, and returns the variant of the enum.
    pub(crate) fn variant(&self, variants: &[&str]) -> syn::Result<Ident> {
        let listed = join_with_or(variants);
        let ident: Ident = self.value(&format!("{listed}, without quotes"))?;
        let name = ident.to_string();
        if !variants.contains(&name.as_str()) {
            let message = format!("`{ident}` is not known here: write {listed}");
            return Err(syn::Error::new_spanned(&ident, message));
        }
        let (first, rest) = name.split_at(1);
        let variant = format!("{}{rest}", first.to_uppercase());
        Ok(Ident::new(&variant, ident.span()))
    }

    /// Parses `(item, …)`; `suggestion` is the correct form for the error message.
    pub(crate) fn list<T: Parse>(&self, suggestion: &str) -> syn::Result<Vec<T>> {
        let key = &self.ident;
        let empty = || self.error(format!("`{key}` lists something: write {suggestion}"));
        if !self.input.peek(syn::token::Paren) {
            return Err(empty());
        }
        let list;
        syn::parenthesized!(list in self.input);
        let items = list.parse_terminated(T::parse, Token![,])?;
        if items.is_empty() {
            return Err(empty());
        }
        Ok(items.into_iter().collect())
    }
}

/// An object of JSON, in which a value may be any expression.
pub(crate) struct ExampleObject(Group);

impl Parse for ExampleObject {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        match input.parse()? {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Ok(Self(group)),
            other => {
                let message =
                    "an example is an object of all arguments: write `{\"city\": \"Paris\"}`";
                Err(syn::Error::new_spanned(other, message))
            }
        }
    }
}

impl ToTokens for ExampleObject {
    /// Writes a function that returns the object.
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let object = &self.0;
        tokens
            .extend(quote!(|| -> ::toolwright::__private::Value { ::toolwright::json!(#object) }));
    }
}

fn join_with_or(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Finds the known word that `unknown` is a prefix of, or that differs from it in at most two letters.
fn nearest<'a>(unknown: &str, known: &[&'a str]) -> Option<&'a str> {
    let is_prefix = |known: &&str| unknown.len() > 2 && known.starts_with(unknown);
    let closest = || known.iter().min_by_key(|known| edit_distance(unknown, known));
    let closest = known.iter().find(|known| is_prefix(known)).or_else(closest)?;
    (is_prefix(closest) || edit_distance(unknown, closest) <= 2).then_some(*closest)
}

/// Returns the Levenshtein distance, in bytes.
fn edit_distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (above, letter) in from.bytes().enumerate() {
        let mut next = vec![above + 1];
        for (pair, other) in row.windows(2).zip(to.bytes()) {
            let (diagonal, up) = match pair {
                [diagonal, up] => (*diagonal, *up),
                _ => continue,
            };
            let left = next.last().copied().unwrap_or_default();
            let change = diagonal + usize::from(letter != other);
            next.push(change.min(up + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

fn parse_milliseconds(text: &str) -> Option<u64> {
    let unit_start = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(unit_start);
    let millis_per_unit = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(millis_per_unit).filter(|millis| *millis > 0)
}
