//! The text between an attribute's brackets in, keys and their values out.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Ident, LitBool, LitInt, LitStr, Token};

/// Mistakes, in the order they were found.
#[derive(Default)]
pub(crate) struct Diagnostics(Vec<syn::Error>);

impl Diagnostics {
    /// Notes a mistake in `guilty`, from its first token to its last.
    pub(crate) fn add(&mut self, guilty: impl ToTokens, message: impl std::fmt::Display) {
        self.0.push(syn::Error::new_spanned(guilty, message));
    }

    pub(crate) fn push(&mut self, mistake: syn::Error) {
        self.0.push(mistake);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns one `compile_error!` per mistake.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0.iter().map(syn::Error::to_compile_error).collect()
    }
}

/// One key, about to be read with what follows it.
pub(crate) struct AttributeKey<'a> {
    pub(crate) ident: Ident,
    input: ParseStream<'a>,
}

/// Reads `key, key = value, …`, keeping every mistake and going on behind it.
///
/// `seen` are the keys so far: one thing may have several attributes.
pub(crate) fn parse_keys(
    attribute: TokenStream,
    seen: &mut Vec<Ident>,
    mistakes: &mut Diagnostics,
    mut each: impl FnMut(&AttributeKey<'_>) -> syn::Result<()>,
) {
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            match input.call(Ident::parse_any) {
                Ok(ident) => {
                    if seen.contains(&ident) {
                        mistakes.add(&ident, format!("`{ident}` is written twice: keep one"));
                    }
                    seen.push(ident.clone());
                    if let Err(mistake) = each(&AttributeKey { ident, input }) {
                        mistakes.push(mistake);
                        skip_to_next_key(input)?;
                    }
                }
                Err(_) => {
                    let token: TokenTree = input.parse()?;
                    mistakes.add(token, "not a key: write `key` or `key = value`");
                    skip_to_next_key(input)?;
                }
            }
            if !input.is_empty() && !input.peek(Token![,]) {
                let token: TokenTree = input.parse()?;
                mistakes.add(token, "write a comma before this");
                skip_to_next_key(input)?;
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    if let Err(mistake) = parser.parse2(attribute) {
        mistakes.push(mistake);
    }
}

/// Skips what belongs to a mistaken key, so that the next one is read as itself.
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

    /// Complains about a key that is none of `known`.
    pub(crate) fn unknown_key_error(&self, known: &[&str]) -> syn::Error {
        let written = self.ident.to_string();
        let instead = match nearest(&written, known) {
            Some(near) => format!("`{near}`"),
            None => join_with_or(known),
        };
        self.error(format!("unknown key `{written}`: write {instead}"))
    }

    /// Reads `= value`; `instead` is what to write instead of anything else.
    pub(crate) fn value<T: Parse>(&self, instead: &str) -> syn::Result<T> {
        let key = &self.ident;
        if !self.input.peek(Token![=]) {
            return Err(self.error(format!("`{key}` needs a value: write {instead}")));
        }
        self.input.parse::<Token![=]>()?;
        let rest = self.input.fork();
        self.input.parse::<T>().map_err(|_| {
            // What cannot be read may also be missing.
            match rest.parse::<TokenTree>() {
                Ok(token) if token.to_string() != "," => {
                    let message = format!("`{key}` takes another kind of value: write {instead}");
                    syn::Error::new_spanned(token, message)
                }
                _ => self.error(format!("`{key}` needs a value: write {instead}")),
            }
        })
    }

    /// Reads `= "text"`.
    pub(crate) fn string(&self) -> syn::Result<LitStr> {
        self.value(&format!("`{} = \"…\"`", self.ident))
    }

    /// Reads nothing, or `= true`, or `= false`.
    pub(crate) fn flag(&self) -> syn::Result<bool> {
        if !self.input.peek(Token![=]) {
            return Ok(true);
        }
        let key = &self.ident;
        let value: LitBool = self.value(&format!("`{key}` or `{key} = false`"))?;
        Ok(value.value())
    }

    /// Reads `= 4`, at least 1.
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

    /// Reads `= "500ms"`, `"30s"`, `"5m"` or `"1h"`, as milliseconds.
    pub(crate) fn duration(&self) -> syn::Result<u64> {
        let key = &self.ident;
        let text: LitStr = self.value(&format!("`{key} = \"30s\"`"))?;
        parse_milliseconds(&text.value()).ok_or_else(|| {
            let message =
                format!("not a duration: write for example `{key} = \"30s\"` (ms, s, m or h)");
            syn::Error::new_spanned(&text, message)
        })
    }

    /// Reads `= word`, one of `words`, and returns it as the variant it names.
    pub(crate) fn variant(&self, words: &[&str]) -> syn::Result<Ident> {
        let listed = join_with_or(words);
        let word: Ident = self.value(&format!("{listed}, without quotes"))?;
        if !words.iter().any(|known| word == known) {
            let message = format!("`{word}` is not known here: write {listed}");
            return Err(syn::Error::new_spanned(&word, message));
        }
        let text = word.to_string();
        let (first, rest) = text.split_at(1);
        let variant = format!("{}{rest}", first.to_uppercase());
        Ok(Ident::new(&variant, word.span()))
    }

    /// Reads what is in brackets behind the key; `instead` is what to write instead of nothing.
    pub(crate) fn list<T: Parse>(&self, instead: &str) -> syn::Result<Vec<T>> {
        let key = &self.ident;
        let wrong = || self.error(format!("`{key}` lists something: write {instead}"));
        if !self.input.peek(syn::token::Paren) {
            return Err(wrong());
        }
        let list;
        syn::parenthesized!(list in self.input);
        let items = list.parse_terminated(T::parse, Token![,])?;
        if items.is_empty() {
            return Err(wrong());
        }
        Ok(items.into_iter().collect())
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

/// Finds the one that was meant: shortened, or a slip or two away.
fn nearest<'a>(written: &str, known: &[&'a str]) -> Option<&'a str> {
    let begun = |known: &&str| written.len() > 2 && known.starts_with(written);
    let near = || {
        known
            .iter()
            .min_by_key(|known| edit_distance(written, known))
    };
    let near = known.iter().find(|known| begun(known)).or_else(near)?;
    (begun(near) || edit_distance(written, near) <= 2).then_some(*near)
}

/// Counts the letters to add, drop or change to make one word of the other.
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
