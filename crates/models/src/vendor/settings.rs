//! What is said, set and listed of a vendor in, the address and the headers of its requests out.

use toolwright_chat::{ModelError, ModelErrorKind};
use toolwright_core::{Origin, Secret};
use url::Url;

use super::{Connect, Wire, address};
use crate::anthropic::VERSION;
use crate::transport::WireHeader;

impl Connect {
    /// The address, and whether it is ours: said here, in our settings, or in the table.
    pub(super) fn address(&self) -> Result<(Url, bool), ModelError> {
        let vendor = self.vendor;
        let said = self.base.as_deref().filter(|base| !base.trim().is_empty());
        if let Some(said) = said {
            return Ok((address::read(vendor, said)?, true));
        }
        if let Some((set, is_ours)) = self.look_up("base_url", vendor.base_variable)? {
            return Ok((address::read(vendor, set.expose())?, is_ours));
        }
        let Some(base) = vendor.base else {
            let message = format!("{} needs an address: {}", vendor.name, self.advice("base"));
            return Err(ModelError::new(ModelErrorKind::BadRequest, message));
        };
        Ok((address::read(vendor, base)?, true))
    }

    pub(super) fn all_headers(&self) -> Result<Vec<WireHeader>, ModelError> {
        let vendor = self.vendor;
        let mut headers = Vec::new();
        if let Wire::Anthropic = vendor.wire {
            headers.push(WireHeader::new("anthropic-version", VERSION));
        }
        let mut given = self.configured_headers()?;
        given.extend(self.headers.iter().cloned());
        let by_hand = given
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(vendor.key_header));
        match self.found_key()? {
            Some(key) if !by_hand => {
                let value = match vendor.key_header {
                    "authorization" => format!("Bearer {}", key.expose()),
                    _ => key.expose().to_owned(),
                };
                headers.push(WireHeader::sensitive(vendor.key_header, value));
            }
            None if vendor.needs_key && !by_hand => {
                let message = format!("{} needs a key: {}", vendor.name, self.advice("key"));
                return Err(ModelError::new(ModelErrorKind::Auth, message));
            }
            _ => {}
        }
        for (name, value) in given {
            headers.push(WireHeader::sensitive(name, value.expose()));
        }
        for header in &headers {
            if !is_name(&header.name) || !header.value.bytes().all(is_in_values) {
                let message = format!(
                    "the header `{}` of {} holds what no header may",
                    header.name, vendor.name
                );
                return Err(ModelError::new(ModelErrorKind::Auth, message));
            }
        }
        Ok(headers)
    }

    pub(super) fn found_key(&self) -> Result<Option<Secret>, ModelError> {
        let trimmed = |key: &Secret| Secret::new(key.expose().trim());
        if let Some(key) = self.key.as_ref().map(trimmed)
            && !key.expose().is_empty()
        {
            return Ok(Some(key));
        }
        let found = self.look_up("key", Some(self.vendor.key_variable))?;
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
            if let Some(value) = section.secret(&name).map_err(unusable)? {
                headers.push((name, value));
            }
        }
        Ok(headers)
    }

    /// A setting of the vendor, and whether it is ours: the vendor's own variable stands above the file, ours above both.
    fn look_up(
        &self,
        key: &str,
        variable: Option<&str>,
    ) -> Result<Option<(Secret, bool)>, ModelError> {
        let Some(config) = &self.config else {
            return Ok(None);
        };
        let key = self.setting(key);
        let ours = config.secret(&key).map_err(unusable)?;
        let is_above = matches!(
            config.origin(&key),
            Some(Origin::Environment { .. } | Origin::Flag { .. })
        );
        let theirs = || Some((config.variable(variable?)?, false));
        let ours = ours.map(|value| (value, true));
        Ok(match is_above {
            true => ours.or_else(theirs),
            false => theirs().or(ours),
        })
    }

    pub(super) fn setting(&self, key: &str) -> String {
        format!("models.{}.{key}", self.vendor.name)
    }

    /// How a key or an address could be set.
    fn advice(&self, what: &str) -> String {
        let vendor = self.vendor;
        let (variable, key) = match what {
            "key" => (Some(vendor.key_variable), self.setting("key")),
            _ => (vendor.base_variable, self.setting("base_url")),
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

fn is_name(name: &str) -> bool {
    let sign = |letter: u8| b"!#$%&'*+-.^_`|~".contains(&letter);
    !name.is_empty()
        && name
            .bytes()
            .all(|letter| letter.is_ascii_alphanumeric() || sign(letter))
}

fn is_in_values(letter: u8) -> bool {
    letter == b'\t' || !letter.is_ascii_control()
}

fn unusable(error: toolwright_core::ConfigError) -> ModelError {
    ModelError::new(ModelErrorKind::BadRequest, error.to_string())
}
