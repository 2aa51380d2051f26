//! Resolves the base URL, API key and headers of a [`ModelBuilder`] from its own values, settings and the vendor's row.

use toolwright_chat::{ModelError, ModelErrorKind};
use toolwright_core::{Config, ConfigError, ConfigSources, Origin, Secret};
use url::Url;

use super::ModelBuilder;
use super::base_url::parse_base_url;
use crate::transport::{WireHeader, is_loopback};

impl ModelBuilder {
    /// Returns the base URL and the headers; rejects an API key that would be sent unencrypted to an untrusted base URL.
    pub(super) fn resolve_endpoint(&self) -> Result<(Url, Vec<WireHeader>), ModelError> {
        let (base_url, is_trusted) = self.resolve_base_url()?;
        let headers = self.resolve_headers()?;
        let has_secret = headers.iter().any(|header| header.sensitive);
        if has_secret && base_url.scheme() == "http" && !is_loopback(&base_url) && !is_trusted {
            let host = base_url.host_str().unwrap_or_default();
            let message = format!(
                "the key of {} would go to {host} unencrypted, because {} says so: if that is meant, set {}",
                self.vendor.name,
                self.vendor.base_url_variable.unwrap_or("a variable"),
                self.setting_key("base_url"),
            );
            return Err(ModelError::new(ModelErrorKind::BadRequest, message));
        }
        Ok((base_url, headers))
    }

    /// Returns the base URL, and whether it is trusted: from the builder, Toolwright's settings or the vendor's row.
    pub(super) fn resolve_base_url(&self) -> Result<(Url, bool), ModelError> {
        let vendor = self.vendor;
        let explicit = self.base_url.as_deref().filter(|base| !base.trim().is_empty());
        if let Some(explicit) = explicit {
            return Ok((parse_base_url(vendor, explicit)?, true));
        }
        if let Some((configured, is_trusted)) =
            self.configured_value("base_url", vendor.base_url_variable)?
        {
            return Ok((parse_base_url(vendor, configured.expose())?, is_trusted));
        }
        let Some(base) = vendor.base_url else {
            let message =
                format!("{} needs an address: {}", vendor.name, self.how_to_set("base_url"));
            return Err(ModelError::new(ModelErrorKind::BadRequest, message));
        };
        Ok((parse_base_url(vendor, base)?, true))
    }

    fn resolve_headers(&self) -> Result<Vec<WireHeader>, ModelError> {
        let vendor = self.vendor;
        let mut headers = Vec::new();
        let constant = vendor.protocol().constant_header();
        headers.extend(constant.map(|(name, value)| WireHeader::new(name, value)));
        let mut custom = self.configured_headers()?;
        custom.extend(self.headers.iter().cloned());
        let has_key_header =
            custom.iter().any(|(name, _)| name.eq_ignore_ascii_case(vendor.api_key_header));
        match self.resolve_api_key()? {
            Some(key) if !has_key_header => {
                let value = match vendor.api_key_header {
                    "authorization" => format!("Bearer {}", key.expose()),
                    _ => key.expose().to_owned(),
                };
                headers.push(WireHeader::sensitive(vendor.api_key_header, value));
            }
            None if vendor.requires_api_key && !has_key_header => {
                let message =
                    format!("{} needs a key: {}", vendor.name, self.how_to_set("api_key"));
                return Err(ModelError::new(ModelErrorKind::Auth, message));
            }
            _ => {}
        }
        for (name, value) in custom {
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

    /// Returns whether the server has a feature that imitations of the API lack: as set, else only if it is the vendor's own.
    pub(super) fn resolve_own_feature(
        &self,
        set: Option<bool>,
        setting: &str,
        base_url: &Url,
    ) -> Result<bool, ModelError> {
        if let Some(set) = set {
            return Ok(set);
        }
        if let Some(configured) = self.configured_flag(setting)? {
            return Ok(configured);
        }
        let Some(own) = self.vendor.base_url else {
            return Ok(true);
        };
        Ok(parse_base_url(self.vendor, own)?.host() == base_url.host())
    }

    pub(super) fn configured_flag(&self, setting: &str) -> Result<Option<bool>, ModelError> {
        let config = self.effective_config()?;
        config.get_optional(&self.setting_key(setting)).map_err(config_error)
    }

    pub(super) fn resolve_api_key(&self) -> Result<Option<Secret>, ModelError> {
        let trimmed = |key: &Secret| Secret::new(key.expose().trim());
        if let Some(key) = self.api_key.as_ref().map(trimmed)
            && !key.expose().is_empty()
        {
            return Ok(Some(key));
        }
        let configured = self.configured_value("key", Some(self.vendor.api_key_variable))?;
        Ok(configured.map(|(key, _)| trimmed(&key)))
    }

    fn configured_headers(&self) -> Result<Vec<(String, Secret)>, ModelError> {
        let config = self.effective_config()?;
        let section = config.section(&format!("models.{}.headers", self.vendor.name));
        let names: Vec<String> = section.keys_under("").into_iter().map(str::to_owned).collect();
        let mut headers = Vec::new();
        for name in names {
            if let Some(value) = section.secret(&name).map_err(config_error)? {
                headers.push((name, value));
            }
        }
        Ok(headers)
    }

    /// Returns a setting of the vendor, and whether it is trusted: not from the vendor's variable, which precedes the config file.
    fn configured_value(
        &self,
        key: &str,
        variable: Option<&str>,
    ) -> Result<Option<(Secret, bool)>, ModelError> {
        let config = self.effective_config()?;
        let key = self.setting_key(key);
        let setting = config.secret(&key).map_err(config_error)?;
        let precedes_variable =
            matches!(config.origin(&key), Some(Origin::Environment { .. } | Origin::Flag { .. }));
        let from_variable = || Some((config.env_var(variable?)?, false));
        let setting = setting.map(|value| (value, true));
        Ok(match precedes_variable {
            true => setting.or_else(from_variable),
            false => from_variable().or(setting),
        })
    }

    fn effective_config(&self) -> Result<Config, ModelError> {
        match &self.config {
            Some(config) => Ok(config.clone()),
            None => {
                let loaded = Config::load(ConfigSources::from_process()).map_err(config_error)?;
                Ok(loaded.config)
            }
        }
    }

    fn setting_key(&self, key: &str) -> String {
        format!("models.{}.{key}", self.vendor.name)
    }

    /// Advice for an error: how to set what the builder's method `method` sets.
    fn how_to_set(&self, method: &str) -> String {
        let vendor = self.vendor;
        let (variable, key) = match method {
            "api_key" => (Some(vendor.api_key_variable), self.setting_key("key")),
            _ => (vendor.base_url_variable, self.setting_key("base_url")),
        };
        let other = match &self.config {
            Some(_) => format!("{key} in the config file"),
            None => format!("it with `ModelBuilder::{method}`"),
        };
        match variable {
            Some(variable) => format!("set {variable}, or {other}"),
            None => format!("set {other}"),
        }
    }
}

fn is_header_name(name: &str) -> bool {
    let is_symbol = |byte: u8| b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || is_symbol(byte))
}

fn is_header_value_byte(byte: u8) -> bool {
    byte == b'\t' || !byte.is_ascii_control()
}

pub(crate) fn config_error(error: ConfigError) -> ModelError {
    ModelError::new(ModelErrorKind::BadRequest, error.to_string())
}
