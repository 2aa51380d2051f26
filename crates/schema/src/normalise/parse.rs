//! The text of a type in, the type out: `list[str]`, `Map<String, Integer>`, `string[]`, `int | null`.

use serde_json::Value;

use super::{
    expression::Type,
    words::{Kind, kind},
};

/// Longer text is no type, but prose.
const LONGEST: usize = 256;

/// How deep types may nest.
const DEEPEST: usize = 8;

/// Reads a type.
///
/// # Errors
///
/// The piece that is not understood.
pub(super) fn read(text: &str) -> Result<Type, String> {
    if let Some(kind) = kind(text.trim()) {
        return Ok(Type::Plain(kind));
    }
    let tokens = (text.len() <= LONGEST).then(|| tokens(text)).flatten();
    let tokens = tokens.ok_or_else(|| text.to_owned())?;
    let mut parser = Parser {
        tokens: &tokens,
        left: DEEPEST,
    };
    match parser.union() {
        Ok(found) if parser.tokens.is_empty() => Ok(found),
        Ok(_) => Err(text.to_owned()),
        // Of prose no single word is the guilty one.
        Err(Unread::Word(word)) if tokens.iter().any(|token| matches!(token, Token::Mark(_))) => {
            Err(word.to_owned())
        }
        Err(_) => Err(text.to_owned()),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Token<'t> {
    Word(&'t str),
    Quoted(&'t str),
    Mark(char),
}

fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, after) = match first {
            '"' | '\'' => {
                let (inside, after) = rest.get(1..)?.split_once(first)?;
                (Token::Quoted(inside), after)
            }
            '[' | ']' | '<' | '>' | '(' | ')' | ',' | '|' | '?' => {
                (Token::Mark(first), rest.get(1..)?)
            }
            _ => {
                let in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
                let end = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
                let (word, after) = rest
                    .split_at_checked(end)
                    .filter(|(word, _)| !word.is_empty())?;
                (Token::Word(word), after)
            }
        };
        found.push(token);
        rest = after.trim_start();
    }
    Some(found)
}

enum Unread<'t> {
    Word(&'t str),
    Whole,
}

type Reading<'t, T = Type> = Result<T, Unread<'t>>;

struct Parser<'p, 't> {
    tokens: &'p [Token<'t>],
    left: usize,
}

impl<'t> Parser<'_, 't> {
    fn next(&mut self) -> Option<Token<'t>> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(*first)
    }

    fn takes(&mut self, wanted: &[Token<'t>]) -> bool {
        match self.tokens.strip_prefix(wanted) {
            Some(rest) => {
                self.tokens = rest;
                true
            }
            None => false,
        }
    }

    fn mark(&mut self, mark: char) -> Reading<'t, ()> {
        self.takes(&[Token::Mark(mark)])
            .then_some(())
            .ok_or(Unread::Whole)
    }

    fn union(&mut self) -> Reading<'t> {
        self.left = self.left.checked_sub(1).ok_or(Unread::Whole)?;
        let first = self.single()?;
        let mut branches = vec![first];
        while self.takes(&[Token::Mark('|')]) || self.takes(&[Token::Word("or")]) {
            branches.push(self.single()?);
        }
        self.left += 1;
        Ok(match <[Type; 1]>::try_from(branches) {
            Ok([one]) => one,
            Err(several) => Type::Union(several),
        })
    }

    fn single(&mut self) -> Reading<'t> {
        let mut found = self.primary()?;
        loop {
            if self.takes(&[Token::Mark('['), Token::Mark(']')]) {
                found = Type::Array(Box::new(found));
            } else if self.takes(&[Token::Mark('?')]) {
                found = optional(found);
            } else {
                return Ok(found);
            }
        }
    }

    fn primary(&mut self) -> Reading<'t> {
        match self.next() {
            Some(Token::Mark('(')) => {
                let found = self.union()?;
                self.mark(')')?;
                Ok(found)
            }
            Some(Token::Quoted(text)) => Ok(Type::Literal(Value::from(text))),
            Some(Token::Word(word)) => self.named(word),
            _ => Err(Unread::Whole),
        }
    }

    /// A word, and what it is made of.
    fn named(&mut self, word: &'t str) -> Reading<'t> {
        // `typing.List`, `java.util.Map`: the path says only whose word it is.
        let word = word.rsplit('.').next().unwrap_or(word);
        let generic = match self.tokens {
            [Token::Mark('['), Token::Mark(']'), ..] => None,
            [Token::Mark('['), ..] => Some(']'),
            [Token::Mark('<'), ..] => Some('>'),
            _ => None,
        };
        if let Some(end) = generic {
            self.next();
            return self.generic(word, end);
        }
        let Some(found) = kind(word) else {
            return Err(Unread::Word(word));
        };
        if found == Kind::Array && self.takes(&[Token::Word("of")]) {
            return Ok(Type::Array(Box::new(self.element()?)));
        }
        Ok(Type::Plain(found))
    }

    /// What follows `array of`: one type, or its plural.
    fn element(&mut self) -> Reading<'t> {
        if let [Token::Word(word), rest @ ..] = self.tokens
            && kind(word).is_none()
            && let Some(found) = word.strip_suffix('s').and_then(kind)
            && !matches!(rest, [Token::Word("of"), ..])
        {
            self.tokens = rest;
            return Ok(Type::Plain(found));
        }
        self.left = self.left.checked_sub(1).ok_or(Unread::Whole)?;
        let found = self.single();
        self.left += 1;
        found
    }

    fn generic(&mut self, word: &'t str, end: char) -> Reading<'t> {
        if word.eq_ignore_ascii_case("literal") {
            return self.literals(end);
        }
        let mut inside = vec![self.union()?];
        let mut open = false;
        while self.takes(&[Token::Mark(',')]) {
            if self.takes(&[Token::Word("...")]) {
                open = true;
                break;
            }
            inside.push(self.union()?);
        }
        self.mark(end)?;
        let is = |name: &str| word.eq_ignore_ascii_case(name);
        let fixed = is("tuple") && !open;
        match (kind(word), inside.as_mut_slice()) {
            (Some(Kind::Array), _) if fixed => Ok(Type::Tuple(inside)),
            (Some(Kind::Array), [one]) if open == is("tuple") => {
                Ok(Type::Array(Box::new(one.clone())))
            }
            (Some(Kind::Object), [Type::Plain(key), value])
                if !open && !matches!(key, Kind::Array | Kind::Object) =>
            {
                Ok(Type::Map(Box::new(value.clone())))
            }
            (None, [one]) if !open && (is("optional") || is("nullable")) => {
                Ok(optional(one.clone()))
            }
            (None, _) if !open && is("union") => Ok(Type::Union(inside)),
            (None, _) => Err(Unread::Word(word)),
            _ => Err(Unread::Whole),
        }
    }

    fn literals(&mut self, end: char) -> Reading<'t> {
        let mut options = Vec::new();
        loop {
            let value = match self.next() {
                Some(Token::Quoted(text)) => Value::from(text),
                Some(Token::Word("True")) => Value::Bool(true),
                Some(Token::Word("False")) => Value::Bool(false),
                Some(Token::Word("None")) => Value::Null,
                Some(Token::Word(word)) => serde_json::from_str(word).map_err(|_| Unread::Whole)?,
                _ => return Err(Unread::Whole),
            };
            options.push(Type::Literal(value));
            if self.takes(&[Token::Mark(end)]) {
                return Ok(Type::Union(options));
            }
            self.mark(',')?;
        }
    }
}

fn optional(found: Type) -> Type {
    Type::Union(vec![found, Type::Plain(Kind::Null)])
}
