//! Parses TOML files into settings with dotted keys.

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::{FileSetting, SyntaxError};
use crate::join_key;
use crate::secret::Secret;
use crate::value::SettingValue;

pub(super) fn parse(text: &str) -> Result<Vec<FileSetting>, SyntaxError> {
    let mut reader = TomlFlattener {
        line_ends: text.match_indices('\n').map(|(offset, _)| offset).collect(),
        settings: Vec::new(),
    };
    match DeTable::parse(text) {
        Ok(table) => reader.flatten("", table.into_inner())?,
        Err(error) => {
            let offset = error.span().map_or(text.len(), |span| span.start);
            return Err(reader.syntax_error(offset, error.message().to_owned()));
        }
    }
    Ok(reader.settings)
}

/// Collects the values of nested tables as settings with dotted keys, each with its line.
struct TomlFlattener {
    /// The byte offsets of the line breaks.
    line_ends: Vec<usize>,
    settings: Vec<FileSetting>,
}

impl TomlFlattener {
    fn flatten(&mut self, parent: &str, table: DeTable<'_>) -> Result<(), SyntaxError> {
        for (name, value) in table {
            let offset = name.span().start;
            let name = name.into_inner();
            if name.is_empty() {
                return Err(
                    self.syntax_error(offset, "expected a name, found an empty key".to_owned())
                );
            }
            if name.contains('.') {
                let problem = format!(
                    "expected a name without a dot, found `{name:?}`: leave out the quotes to nest, or rename it"
                );
                return Err(self.syntax_error(offset, problem));
            }
            let key = join_key(parent, &name);
            let span = value.span();
            match value.into_inner() {
                DeValue::Table(table) => self.flatten(&key, table)?,
                value => {
                    let value = self.convert_value(Spanned::new(span, value))?;
                    let line = self.line_at(offset);
                    self.settings.push(FileSetting { key, value, line });
                }
            }
        }
        Ok(())
    }

    fn convert_value(&self, value: Spanned<DeValue<'_>>) -> Result<SettingValue, SyntaxError> {
        let offset = value.span().start;
        Ok(match value.into_inner() {
            DeValue::String(text) => SettingValue::Text(Secret::new(text)),
            DeValue::Boolean(yes) => SettingValue::Bool(yes),
            DeValue::Integer(number) => SettingValue::Integer(self.parse_integer(offset, &number)?),
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(number) => SettingValue::Float(number),
                Err(_) => return Err(self.syntax_error(offset, "expected a number".to_owned())),
            },
            DeValue::Datetime(time) => SettingValue::Text(Secret::new(time.to_string())),
            DeValue::Array(items) => {
                let items = items.into_iter().map(|item| self.convert_value(item));
                SettingValue::List(items.collect::<Result<_, _>>()?)
            }
            DeValue::Table(table) => {
                let entries = table.into_iter().map(|(name, value)| {
                    Ok((name.into_inner().into_owned(), self.convert_value(value)?))
                });
                SettingValue::Table(entries.collect::<Result<_, _>>()?)
            }
        })
    }

    fn parse_integer(&self, offset: usize, number: &DeInteger<'_>) -> Result<i64, SyntaxError> {
        i64::from_str_radix(number.as_str(), number.radix()).map_err(|_| {
            let problem = "expected a whole number of at most 64 bits".to_owned();
            self.syntax_error(offset, problem)
        })
    }

    fn syntax_error(&self, offset: usize, problem: String) -> SyntaxError {
        let line = self.line_at(offset);
        SyntaxError { line, problem }
    }

    fn line_at(&self, offset: usize) -> usize {
        1 + self.line_ends.partition_point(|end| *end < offset)
    }
}
