//! TOML text in, settings by dotted keys out.

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::{Line, Mistake};
use crate::config::secret::Secret;
use crate::config::value::Value;

pub(super) fn read(text: &str) -> Result<Vec<Line>, Mistake> {
    let breaks = text.match_indices('\n').map(|(at, _)| at).collect();
    let mut reader = Reader {
        breaks,
        lines: Vec::new(),
    };
    match DeTable::parse(text) {
        Ok(table) => reader.flatten("", table.into_inner())?,
        Err(error) => {
            let at = error.span().map_or(text.len(), |span| span.start);
            return Err(reader.mistake(at, error.message().to_owned()));
        }
    }
    Ok(reader.lines)
}

struct Reader {
    /// Where the lines end.
    breaks: Vec<usize>,
    lines: Vec<Line>,
}

impl Reader {
    fn flatten(&mut self, parent: &str, table: DeTable<'_>) -> Result<(), Mistake> {
        for (name, value) in table {
            let at = name.span().start;
            let name = name.into_inner();
            if name.is_empty() {
                return Err(self.mistake(at, "expected a name, found an empty key".to_owned()));
            }
            if name.contains('.') {
                let problem = format!(
                    "expected a name without a dot, found `{name:?}`: leave out the quotes to nest, or rename it"
                );
                return Err(self.mistake(at, problem));
            }
            let key = match parent {
                "" => name.into_owned(),
                parent => format!("{parent}.{name}"),
            };
            let span = value.span();
            match value.into_inner() {
                DeValue::Table(table) => self.flatten(&key, table)?,
                value => {
                    let value = self.value(Spanned::new(span, value))?;
                    let line = self.line(at);
                    self.lines.push(Line { key, value, line });
                }
            }
        }
        Ok(())
    }

    fn value(&self, value: Spanned<DeValue<'_>>) -> Result<Value, Mistake> {
        let at = value.span().start;
        Ok(match value.into_inner() {
            DeValue::String(text) => Value::Text(Secret::new(text)),
            DeValue::Boolean(yes) => Value::Bool(yes),
            DeValue::Integer(number) => Value::Whole(self.whole(at, &number)?),
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(number) => Value::Number(number),
                Err(_) => return Err(self.mistake(at, "expected a number".to_owned())),
            },
            DeValue::Datetime(time) => Value::Text(Secret::new(time.to_string())),
            DeValue::Array(items) => {
                let items = items.into_iter().map(|item| self.value(item));
                Value::List(items.collect::<Result<_, _>>()?)
            }
            DeValue::Table(table) => {
                let entries = table
                    .into_iter()
                    .map(|(name, value)| Ok((name.into_inner().into_owned(), self.value(value)?)));
                Value::Table(entries.collect::<Result<_, _>>()?)
            }
        })
    }

    fn whole(&self, at: usize, number: &DeInteger<'_>) -> Result<i64, Mistake> {
        i64::from_str_radix(number.as_str(), number.radix()).map_err(|_| {
            let problem = "expected a whole number of at most 64 bits".to_owned();
            self.mistake(at, problem)
        })
    }

    fn mistake(&self, at: usize, problem: String) -> Mistake {
        let line = self.line(at);
        Mistake { line, problem }
    }

    fn line(&self, at: usize) -> usize {
        1 + self.breaks.partition_point(|end| *end < at)
    }
}
