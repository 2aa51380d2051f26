//! [`ConfigFile`]: finds and parses a config file.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{fs, str};

use super::error::ConfigError;
use super::origin::Origin;
use super::value::{Setting, SettingValue};

mod properties;
#[cfg(feature = "toml")]
mod toml;

pub(super) const TOML_FILE_NAME: &str = "toolwright.toml";
const PROPERTIES_FILE_NAME: &str = "toolwright.properties";

pub(super) struct ConfigFile {
    pub(super) path: PathBuf,
    pub(super) settings: BTreeMap<String, Setting>,
    pub(super) warnings: Vec<String>,
}

/// One setting of a file.
struct FileSetting {
    key: String,
    value: SettingValue,
    line: usize,
}

/// A syntax error of a file.
#[derive(Debug)]
struct SyntaxError {
    line: usize,
    problem: String,
}

#[derive(Clone, Copy)]
enum FileFormat {
    Toml,
    Properties,
}

impl ConfigFile {
    /// Reads the config file of a directory, if it has one.
    pub(super) fn find_in(directory: &Path) -> Result<Option<Self>, ConfigError> {
        let (toml, properties) =
            (directory.join(TOML_FILE_NAME), directory.join(PROPERTIES_FILE_NAME));
        if let Some(mut file) = Self::read(&toml, FileFormat::Toml)? {
            if properties.exists() {
                file.warnings.push(format!(
                    "both {} and {} are there: the first counts, the second is not read",
                    toml.display(),
                    properties.display()
                ));
            }
            return Ok(Some(file));
        }
        Self::read(&properties, FileFormat::Properties)
    }

    /// Reads a config file, which must exist.
    pub(super) fn read_path(path: &Path) -> Result<Self, ConfigError> {
        let has_extension = |expected| {
            path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(expected))
        };
        let format = match (has_extension("toml"), has_extension("properties")) {
            (true, _) => FileFormat::Toml,
            (_, true) => FileFormat::Properties,
            _ => return Err(ConfigError::UnknownFormat { path: path.into() }),
        };
        Self::read(path, format)?.ok_or_else(|| ConfigError::FileNotFound { path: path.into() })
    }

    fn read(path: &Path, format: FileFormat) -> Result<Option<Self>, ConfigError> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => {
                let path = path.into();
                return Err(ConfigError::Unreadable { path, source });
            }
        };
        Self::parse(path, format, &bytes).map(Some).map_err(|SyntaxError { line, problem }| {
            ConfigError::Malformed { path: path.into(), line, problem }
        })
    }

    fn parse(path: &Path, format: FileFormat, bytes: &[u8]) -> Result<Self, SyntaxError> {
        let text = decode_utf8(bytes)?;
        let settings = match format {
            #[cfg(feature = "toml")]
            FileFormat::Toml => toml::parse(text)?,
            #[cfg(not(feature = "toml"))]
            FileFormat::Toml => {
                let problem = "this program reads no TOML: enable the feature `chat` or `mcp-client` of toolwright, or write toolwright.properties";
                return Err(SyntaxError { line: 1, problem: problem.to_owned() });
            }
            FileFormat::Properties => properties::parse(text)?,
        };
        let mut file = Self { path: path.into(), settings: BTreeMap::new(), warnings: Vec::new() };
        for FileSetting { key, value, line } in settings {
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

fn decode_utf8(bytes: &[u8]) -> Result<&str, SyntaxError> {
    match str::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => {
            let before = bytes.iter().take(error.valid_up_to());
            Err(SyntaxError {
                line: 1 + before.filter(|byte| **byte == b'\n').count(),
                problem: "expected UTF-8 text: save the file in that encoding".to_owned(),
            })
        }
    }
}

#[cfg(test)]
mod tests;
