//! A config file in, its settings out.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{fs, str};

use super::error::ConfigError;
use super::origin::Origin;
use super::value::{Setting, Value};

mod properties;
mod toml;

pub(super) const TOML: &str = "toolwright.toml";
const PROPERTIES: &str = "toolwright.properties";

pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) settings: BTreeMap<String, Setting>,
    pub(super) warnings: Vec<String>,
}

/// One setting as a file format's reader finds it.
struct Line {
    key: String,
    value: Value,
    line: usize,
}

/// Where a file is not well-formed, and how.
#[derive(Debug)]
struct Mistake {
    line: usize,
    problem: String,
}

#[derive(Clone, Copy)]
enum Format {
    Toml,
    Properties,
}

impl File {
    /// Reads the project's config file, if it has one.
    pub(super) fn of_directory(directory: &Path) -> Result<Option<Self>, ConfigError> {
        let (toml, properties) = (directory.join(TOML), directory.join(PROPERTIES));
        if let Some(mut file) = Self::read(&toml, Format::Toml)? {
            if properties.exists() {
                file.warnings.push(format!(
                    "both {} and {} are there: the first counts, the second is not read",
                    toml.display(),
                    properties.display()
                ));
            }
            return Ok(Some(file));
        }
        Self::read(&properties, Format::Properties)
    }

    /// Reads the config file that was asked for.
    pub(super) fn at(path: &Path) -> Result<Self, ConfigError> {
        let has = |wanted| {
            path.extension()
                .is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
        };
        let format = match (has("toml"), has("properties")) {
            (true, _) => Format::Toml,
            (_, true) => Format::Properties,
            _ => return Err(ConfigError::UnknownFormat { path: path.into() }),
        };
        Self::read(path, format)?.ok_or_else(|| ConfigError::NoFile { path: path.into() })
    }

    fn read(path: &Path, format: Format) -> Result<Option<Self>, ConfigError> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => {
                let path = path.into();
                return Err(ConfigError::Unreadable { path, source });
            }
        };
        Self::parse(path, format, &bytes)
            .map(Some)
            .map_err(|Mistake { line, problem }| ConfigError::Malformed {
                path: path.into(),
                line,
                problem,
            })
    }

    fn parse(path: &Path, format: Format, bytes: &[u8]) -> Result<Self, Mistake> {
        let text = text(bytes)?;
        let lines = match format {
            Format::Toml => toml::read(text)?,
            Format::Properties => properties::read(text)?,
        };
        let mut file = Self {
            path: path.into(),
            settings: BTreeMap::new(),
            warnings: Vec::new(),
        };
        for Line { key, value, line } in lines {
            let path = path.to_path_buf();
            let origin = Origin::File { path, line };
            let setting = Setting { value, origin };
            if let Some(earlier) = file.settings.insert(key.clone(), setting) {
                let first = earlier.origin;
                file.warnings.push(format!(
                    "`{key}` is set twice, at {first} and again on line {line}: the later one counts"
                ));
            }
        }
        Ok(file)
    }
}

fn text(bytes: &[u8]) -> Result<&str, Mistake> {
    match str::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => {
            let before = bytes.iter().take(error.valid_up_to());
            Err(Mistake {
                line: 1 + before.filter(|byte| **byte == b'\n').count(),
                problem: "expected UTF-8 text: save the file in that encoding".to_owned(),
            })
        }
    }
}

#[cfg(test)]
mod tests;
