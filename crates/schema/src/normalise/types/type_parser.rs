//! Parses the types of programming languages: `list[str]`, `Map<String, Integer>`, `string[]`, `int | null`.

use serde_json::Value;

use super::{type_expression::TypeExpression, type_names::json_type};

/// Longer text is prose.
const MAX_LENGTH: usize = 256;

/// The maximum nesting of types.
const MAX_DEPTH: usize = 8;

/// Parses a type.
///
/// # Errors
///
/// Returns the part that is not understood.
pub(crate) fn parse_type(text: &str) -> Result<TypeExpression, String> {
    if let Some(json_type) = json_type(text.trim()) {
        return Ok(TypeExpression::Plain(json_type));
    }
    let tokens = (text.len() <= MAX_LENGTH).then(|| tokenise(text)).flatten();
    let tokens = tokens.ok_or_else(|| text.to_owned())?;
    let mut parser = Parser { tokens: &tokens, remaining_depth: MAX_DEPTH };
    match parser.parse_union() {
        Ok(found) if parser.tokens.is_empty() => Ok(found),
        Ok(_) => Err(text.to_owned()),
        // In prose no single word is to blame.
        Err(TypeParseError::UnknownName(word))
            if tokens.iter().any(|token| matches!(token, Token::Punctuation(_))) =>
        {
            Err(word.to_owned())
        }
        Err(_) => Err(text.to_owned()),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Token<'t> {
    Word(&'t str),
    Quoted(&'t str),
    Punctuation(char),
}

fn tokenise(text: &str) -> Option<Vec<Token<'_>>> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, after) = match first {
            '"' | '\'' => {
                let (inside, after) = rest.get(1..)?.split_once(first)?;
                (Token::Quoted(inside), after)
            }
            '[' | ']' | '<' | '>' | '(' | ')' | ',' | '|' | '?' => {
                (Token::Punctuation(first), rest.get(1..)?)
            }
            _ => {
                let in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
                let end = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
                let (word, after) =
                    rest.split_at_checked(end).filter(|(word, _)| !word.is_empty())?;
                (Token::Word(word), after)
            }
        };
        found.push(token);
        rest = after.trim_start();
    }
    Some(found)
}

enum TypeParseError<'t> {
    UnknownName(&'t str),
    Malformed,
}

type ParseResult<'t, T = TypeExpression> = Result<T, TypeParseError<'t>>;

/// A recursive-descent parser of type expressions, such as `list[int]` or `string | null`.
struct Parser<'p, 't> {
    tokens: &'p [Token<'t>],
    remaining_depth: usize,
}

impl<'t> Parser<'_, 't> {
    fn next(&mut self) -> Option<Token<'t>> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(*first)
    }

    fn consume(&mut self, wanted: &[Token<'t>]) -> bool {
        match self.tokens.strip_prefix(wanted) {
            Some(rest) => {
                self.tokens = rest;
                true
            }
            None => false,
        }
    }

    fn expect_punctuation(&mut self, mark: char) -> ParseResult<'t, ()> {
        self.consume(&[Token::Punctuation(mark)]).then_some(()).ok_or(TypeParseError::Malformed)
    }

    fn parse_union(&mut self) -> ParseResult<'t> {
        self.remaining_depth =
            self.remaining_depth.checked_sub(1).ok_or(TypeParseError::Malformed)?;
        let first = self.parse_postfix()?;
        let mut branches = vec![first];
        while self.consume(&[Token::Punctuation('|')]) || self.consume(&[Token::Word("or")]) {
            branches.push(self.parse_postfix()?);
        }
        self.remaining_depth += 1;
        Ok(match <[TypeExpression; 1]>::try_from(branches) {
            Ok([one]) => one,
            Err(several) => TypeExpression::Union(several),
        })
    }

    fn parse_postfix(&mut self) -> ParseResult<'t> {
        let mut found = self.parse_primary()?;
        loop {
            if self.consume(&[Token::Punctuation('['), Token::Punctuation(']')]) {
                found = TypeExpression::Array(Box::new(found));
            } else if self.consume(&[Token::Punctuation('?')]) {
                found = nullable(found);
            } else {
                return Ok(found);
            }
        }
    }

    fn parse_primary(&mut self) -> ParseResult<'t> {
        match self.next() {
            Some(Token::Punctuation('(')) => {
                let found = self.parse_union()?;
                self.expect_punctuation(')')?;
                Ok(found)
            }
            Some(Token::Quoted(text)) => Ok(TypeExpression::Literal(Value::from(text))),
            Some(Token::Word(word)) => self.parse_named(word),
            _ => Err(TypeParseError::Malformed),
        }
    }

    /// A name and its type arguments.
    fn parse_named(&mut self, word: &'t str) -> ParseResult<'t> {
        // `typing.List`, `java.util.Map`: the module path does not matter.
        let word = word.rsplit('.').next().unwrap_or(word);
        let generic = match self.tokens {
            [Token::Punctuation('['), Token::Punctuation(']'), ..] => None,
            [Token::Punctuation('['), ..] => Some(']'),
            [Token::Punctuation('<'), ..] => Some('>'),
            _ => None,
        };
        if let Some(end) = generic {
            self.next();
            return self.parse_generic(word, end);
        }
        let Some(found) = json_type(word) else {
            return Err(TypeParseError::UnknownName(word));
        };
        if found == "array" && self.consume(&[Token::Word("of")]) {
            return Ok(TypeExpression::Array(Box::new(self.parse_element()?)));
        }
        Ok(TypeExpression::Plain(found))
    }

    /// What follows `array of`: one type, or its plural.
    fn parse_element(&mut self) -> ParseResult<'t> {
        if let [Token::Word(word), rest @ ..] = self.tokens
            && json_type(word).is_none()
            && let Some(found) = word.strip_suffix('s').and_then(json_type)
            && !matches!(rest, [Token::Word("of"), ..])
        {
            self.tokens = rest;
            return Ok(TypeExpression::Plain(found));
        }
        self.remaining_depth =
            self.remaining_depth.checked_sub(1).ok_or(TypeParseError::Malformed)?;
        let found = self.parse_postfix();
        self.remaining_depth += 1;
        found
    }

    fn parse_generic(&mut self, word: &'t str, end: char) -> ParseResult<'t> {
        if word.eq_ignore_ascii_case("literal") {
            return self.parse_literals(end);
        }
        let mut inside = vec![self.parse_union()?];
        let mut variadic = false;
        while self.consume(&[Token::Punctuation(',')]) {
            if self.consume(&[Token::Word("...")]) {
                variadic = true;
                break;
            }
            inside.push(self.parse_union()?);
        }
        self.expect_punctuation(end)?;
        let is = |name: &str| word.eq_ignore_ascii_case(name);
        let fixed = is("tuple") && !variadic;
        match (json_type(word), inside.as_mut_slice()) {
            (Some("array"), _) if fixed => Ok(TypeExpression::Tuple(inside)),
            (Some("array"), [one]) if variadic == is("tuple") => {
                Ok(TypeExpression::Array(Box::new(one.clone())))
            }
            (Some("object"), [TypeExpression::Plain(key), value])
                if !variadic && !matches!(*key, "array" | "object") =>
            {
                Ok(TypeExpression::Map(Box::new(value.clone())))
            }
            (None, [one]) if !variadic && (is("optional") || is("nullable")) => {
                Ok(nullable(one.clone()))
            }
            (None, _) if !variadic && is("union") => Ok(TypeExpression::Union(inside)),
            (None, _) => Err(TypeParseError::UnknownName(word)),
            _ => Err(TypeParseError::Malformed),
        }
    }

    fn parse_literals(&mut self, end: char) -> ParseResult<'t> {
        let mut options = Vec::new();
        loop {
            let value = match self.next() {
                Some(Token::Quoted(text)) => Value::from(text),
                Some(Token::Word("True")) => Value::Bool(true),
                Some(Token::Word("False")) => Value::Bool(false),
                Some(Token::Word("None")) => Value::Null,
                Some(Token::Word(word)) => {
                    serde_json::from_str(word).map_err(|_| TypeParseError::Malformed)?
                }
                _ => return Err(TypeParseError::Malformed),
            };
            options.push(TypeExpression::Literal(value));
            if self.consume(&[Token::Punctuation(end)]) {
                return Ok(TypeExpression::Union(options));
            }
            self.expect_punctuation(',')?;
        }
    }
}

fn nullable(found: TypeExpression) -> TypeExpression {
    TypeExpression::Union(vec![found, TypeExpression::Plain("null")])
}
