//! TOML text in, settings by dotted keys out.

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::{FileSetting, SyntaxError};
use crate::config::secret::Secret;
use crate::config::value::SettingValue;

pub(super) fn parse(text: &str) -> Result<Vec<FileSetting>, SyntaxError> {
    let breaks = text.match_indices('\n').map(|(at, _)| at).collect();
    let mut reader = TomlFlattener {
        line_ends: breaks,
        settings: Vec::new(),
    };
    match DeTable::parse(text) {
        Ok(table) => reader.flatten("", table.into_inner())?,
        Err(error) => {
            let at = error.span().map_or(text.len(), |span| span.start);
            return Err(reader.syntax_error(at, error.message().to_owned()));
        }
    }
    Ok(reader.settings)
}

struct TomlFlattener {
    /// Where the lines end.
    line_ends: Vec<usize>,
    settings: Vec<FileSetting>,
}

impl TomlFlattener {
    fn flatten(&mut self, parent: &str, table: DeTable<'_>) -> Result<(), SyntaxError> {
        for (name, value) in table {
            let at = name.span().start;
            let name = name.into_inner();
            if name.is_empty() {
                return Err(self.syntax_error(at, "expected a name, found an empty key".to_owned()));
            }
            if name.contains('.') {
                let problem = format!(
                    "expected a name without a dot, found `{name:?}`: leave out the quotes to nest, or rename it"
                );
                return Err(self.syntax_error(at, problem));
            }
            let key = match parent {
                "" => name.into_owned(),
                parent => format!("{parent}.{name}"),
            };
            let span = value.span();
            match value.into_inner() {
                DeValue::Table(table) => self.flatten(&key, table)?,
                value => {
                    let value = self.convert_value(Spanned::new(span, value))?;
                    let line = self.line_at(at);
                    self.settings.push(FileSetting { key, value, line });
                }
            }
        }
        Ok(())
    }

    fn convert_value(&self, value: Spanned<DeValue<'_>>) -> Result<SettingValue, SyntaxError> {
        let at = value.span().start;
        Ok(match value.into_inner() {
            DeValue::String(text) => SettingValue::Text(Secret::new(text)),
            DeValue::Boolean(yes) => SettingValue::Bool(yes),
            DeValue::Integer(number) => SettingValue::Integer(self.parse_integer(at, &number)?),
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(number) => SettingValue::Float(number),
                Err(_) => return Err(self.syntax_error(at, "expected a number".to_owned())),
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

    fn parse_integer(&self, at: usize, number: &DeInteger<'_>) -> Result<i64, SyntaxError> {
        i64::from_str_radix(number.as_str(), number.radix()).map_err(|_| {
            let problem = "expected a whole number of at most 64 bits".to_owned();
            self.syntax_error(at, problem)
        })
    }

    fn syntax_error(&self, at: usize, problem: String) -> SyntaxError {
        let line = self.line_at(at);
        SyntaxError { line, problem }
    }

    fn line_at(&self, at: usize) -> usize {
        1 + self.line_ends.partition_point(|end| *end < at)
    }
}
