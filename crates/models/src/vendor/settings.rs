//! What is said, set and listed of a vendor in, the address and the headers of its requests out.

use toolwright_chat::{ModelError, ModelErrorKind};
use toolwright_core::{Origin, Secret};
use url::Url;

use super::{ModelBuilder, ProtocolKind, base_url};
use crate::protocol::anthropic::API_VERSION;
use crate::transport::WireHeader;

impl ModelBuilder {
    /// The address, and whether it is ours: said here, in our settings, or in the table.
    pub(super) fn resolve_base_url(&self) -> Result<(Url, bool), ModelError> {
        let vendor = self.vendor;
        let said = self
            .base_url
            .as_deref()
            .filter(|base| !base.trim().is_empty());
        if let Some(said) = said {
            return Ok((base_url::parse_base_url(vendor, said)?, true));
        }
        if let Some((set, is_ours)) = self.configured_value("base_url", vendor.base_url_variable)? {
            return Ok((base_url::parse_base_url(vendor, set.expose())?, is_ours));
        }
        let Some(base) = vendor.base_url else {
            let message = format!(
                "{} needs an address: {}",
                vendor.name,
                self.how_to_set("base")
            );
            return Err(ModelError::new(ModelErrorKind::BadRequest, message));
        };
        Ok((base_url::parse_base_url(vendor, base)?, true))
    }

    pub(super) fn resolve_headers(&self) -> Result<Vec<WireHeader>, ModelError> {
        let vendor = self.vendor;
        let mut headers = Vec::new();
        if let ProtocolKind::Anthropic = vendor.protocol {
            headers.push(WireHeader::new("anthropic-version", API_VERSION));
        }
        let mut given = self.configured_headers()?;
        given.extend(self.headers.iter().cloned());
        let by_hand = given
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(vendor.api_key_header));
        match self.resolve_api_key()? {
            Some(key) if !by_hand => {
                let value = match vendor.api_key_header {
                    "authorization" => format!("Bearer {}", key.expose()),
                    _ => key.expose().to_owned(),
                };
                headers.push(WireHeader::sensitive(vendor.api_key_header, value));
            }
            None if vendor.requires_api_key && !by_hand => {
                let message = format!("{} needs a key: {}", vendor.name, self.how_to_set("key"));
                return Err(ModelError::new(ModelErrorKind::Auth, message));
            }
            _ => {}
        }
        for (name, value) in given {
            headers.push(WireHeader::sensitive(name, value.expose()));
        }
        for header in &headers {
            if !is_header_name(&header.name) || !header.value.bytes().all(is_header_value_byte) {
                let message = format!(
                    "the header `{}` of {} holds what no header may",
                    header.name, vendor.name
                );
                return Err(ModelError::new(ModelErrorKind::Auth, message));
            }
        }
        Ok(headers)
    }

    pub(super) fn resolve_api_key(&self) -> Result<Option<Secret>, ModelError> {
        let trimmed = |key: &Secret| Secret::new(key.expose().trim());
        if let Some(key) = self.api_key.as_ref().map(trimmed)
            && !key.expose().is_empty()
        {
            return Ok(Some(key));
        }
        let found = self.configured_value("key", Some(self.vendor.api_key_variable))?;
        Ok(found.map(|(key, _)| trimmed(&key)))
    }

    fn configured_headers(&self) -> Result<Vec<(String, Secret)>, ModelError> {
        let Some(config) = &self.config else {
            return Ok(Vec::new());
        };
        let section = config.section(&format!("models.{}.headers", self.vendor.name));
        let names: Vec<String> = section
            .keys_under("")
            .into_iter()
            .map(str::to_owned)
            .collect();
        let mut headers = Vec::new();
        for name in names {
            if let Some(value) = section.secret(&name).map_err(config_error)? {
                headers.push((name, value));
            }
        }
        Ok(headers)
    }

    /// A setting of the vendor, and whether it is ours: the vendor's own variable stands above the file, ours above both.
    fn configured_value(
        &self,
        key: &str,
        variable: Option<&str>,
    ) -> Result<Option<(Secret, bool)>, ModelError> {
        let Some(config) = &self.config else {
            return Ok(None);
        };
        let key = self.setting_key(key);
        let ours = config.secret(&key).map_err(config_error)?;
        let is_above = matches!(
            config.origin(&key),
            Some(Origin::Environment { .. } | Origin::Flag { .. })
        );
        let theirs = || Some((config.env_var(variable?)?, false));
        let ours = ours.map(|value| (value, true));
        Ok(match is_above {
            true => ours.or_else(theirs),
            false => theirs().or(ours),
        })
    }

    pub(super) fn setting_key(&self, key: &str) -> String {
        format!("models.{}.{key}", self.vendor.name)
    }

    /// How a key or an address could be set.
    fn how_to_set(&self, what: &str) -> String {
        let vendor = self.vendor;
        let (variable, key) = match what {
            "key" => (Some(vendor.api_key_variable), self.setting_key("key")),
            _ => (vendor.base_url_variable, self.setting_key("base_url")),
        };
        match (&self.config, variable) {
            (Some(_), Some(variable)) => format!("set {variable}, or {key} in the config file"),
            (Some(_), None) => format!("set {key} in the config file"),
            (None, _) => {
                format!("say it with `Connect::{what}`, or where to read it with `Connect::config`")
            }
        }
    }
}

fn is_header_name(name: &str) -> bool {
    let sign = |letter: u8| b"!#$%&'*+-.^_`|~".contains(&letter);
    !name.is_empty()
        && name
            .bytes()
            .all(|letter| letter.is_ascii_alphanumeric() || sign(letter))
}

fn is_header_value_byte(letter: u8) -> bool {
    letter == b'\t' || !letter.is_ascii_control()
}

fn config_error(error: toolwright_core::ConfigError) -> ModelError {
    ModelError::new(ModelErrorKind::BadRequest, error.to_string())
}
