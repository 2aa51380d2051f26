//! The settings of hosted tools: web search and MCP servers, with the keys of the original property files.

use std::fmt;

use serde::Deserialize;
use toolwright_schema::redact;

use super::Settings;
use super::error::ConfigError;
use super::secret::Secret;

/// The vendor's name of the tool if the settings name none.
const DEFAULT_SEARCH: &str = "web_search_preview";

/// The settings `WebSearchTool.*`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebSearchConfig {
    /// The vendor's name of the tool, from `type`; `default` means `web_search_preview`.
    pub kind: String,
    /// The city to search from.
    pub city: Option<String>,
    /// The country to search from.
    pub country: Option<String>,
    /// The region to search from.
    pub region: Option<String>,
}

/// The settings of one MCP server: a group `MCP.*`, `MCP_1.*`…
#[derive(Clone)]
#[non_exhaustive]
pub struct McpServerConfig {
    /// The group's key, such as `MCP_1`.
    pub key: String,
    /// The label of the server.
    pub name: String,
    /// The server's address.
    pub url: String,
    /// The description of the server for the model.
    pub description: Option<String>,
    /// The value of the `Authorization` header.
    pub authorization: Option<Secret>,
    /// Whether the vendor or this program connects to the server.
    pub mode: McpAttachMode,
}

impl Default for WebSearchConfig {
    /// The type `default`, and no location.
    fn default() -> Self {
        Self { kind: DEFAULT_SEARCH.to_owned(), city: None, country: None, region: None }
    }
}

impl WebSearchConfig {
    /// Sets the vendor's name of the tool; the default is `web_search_preview`.
    #[must_use]
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.kind = kind.into();
        self
    }

    /// Sets the city to search from.
    #[must_use]
    pub fn city(mut self, city: impl Into<String>) -> Self {
        self.city = Some(city.into());
        self
    }

    /// Sets the country to search from, as two letters.
    #[must_use]
    pub fn country(mut self, country: impl Into<String>) -> Self {
        self.country = Some(country.into());
        self
    }

    /// Sets the region to search from.
    #[must_use]
    pub fn region(mut self, region: impl Into<String>) -> Self {
        self.region = Some(region.into());
        self
    }
}

impl McpServerConfig {
    /// Describes a server by its label and address.
    pub fn new(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            key: "MCP".to_owned(),
            name: name.into(),
            url: url.into(),
            description: None,
            authorization: None,
            mode: McpAttachMode::Auto,
        }
    }

    /// Sets the description of the server for the model.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the value of the `Authorization` header.
    #[must_use]
    pub fn authorization(mut self, authorization: impl Into<Secret>) -> Self {
        self.authorization = Some(authorization.into());
        self
    }
}

/// Whether the vendor or this program connects to an MCP server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum McpAttachMode {
    /// The vendor if it can, else this program.
    #[default]
    Auto,
    /// The vendor.
    Hosted,
    /// This program's client.
    Client,
}

impl fmt::Debug for McpServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServerConfig")
            .field("key", &self.key)
            .field("name", &self.name)
            .field("url", &redact(&self.url))
            .field("description", &self.description)
            .field("authorization", &self.authorization)
            .field("mode", &self.mode)
            .finish()
    }
}

impl Settings {
    /// Reads the settings of web search; it is enabled if `WebSearchTool.type` is set.
    ///
    /// # Errors
    ///
    /// When a setting is not text.
    pub fn web_search(&self) -> Result<Option<WebSearchConfig>, ConfigError> {
        let section = self.section("WebSearchTool");
        let Some(kind) = section.trimmed_text("type")? else {
            return Ok(None);
        };
        let kind = match kind.as_str() {
            "default" => DEFAULT_SEARCH.to_owned(),
            _ => kind,
        };
        Ok(Some(WebSearchConfig {
            kind,
            city: section.trimmed_text("city")?,
            country: section.trimmed_text("country")?,
            region: section.trimmed_text("region")?,
        }))
    }

    /// Reads the settings of MCP servers: every group `MCP`, `MCP_1`… that has a name.
    ///
    /// # Errors
    ///
    /// When a group has a name but no URL, or a setting cannot be read.
    ///
    /// # Examples
    ///
    /// ```
    /// # mod toolwright { pub use toolwright_config::*; }
    /// use toolwright::ConfigSources;
    ///
    /// let sources = ConfigSources::new().defaults([
    ///     ("MCP.name", "wiki"),
    ///     ("MCP.url", "https://wiki.example/mcp"),
    ///     ("MCP_7.name", "tickets"),
    ///     ("MCP_7.url", "https://tickets.example/mcp"),
    /// ]);
    /// let (settings, _) = sources.load()?;
    /// let servers = settings.mcp_servers()?;
    /// let names: Vec<_> = servers.iter().map(|server| server.name.as_str()).collect();
    /// assert_eq!(names, ["wiki", "tickets"]);
    /// # Ok::<(), toolwright::ConfigError>(())
    /// ```
    pub fn mcp_servers(&self) -> Result<Vec<McpServerConfig>, ConfigError> {
        let groups = self.numbered_groups("MCP").into_iter();
        groups.filter_map(|key| self.mcp_server(key).transpose()).collect()
    }

    fn mcp_server(&self, key: String) -> Result<Option<McpServerConfig>, ConfigError> {
        let section = self.section(&key);
        let Some(name) = section.trimmed_text("name")? else {
            return Ok(None);
        };
        let Some(url) = section.trimmed_text("url")? else {
            return Err(section.incomplete_error("url", "name"));
        };
        Ok(Some(McpServerConfig {
            name,
            url,
            description: section.trimmed_text("description")?,
            authorization: section.secret("authorization")?.map(trimmed),
            mode: section.get_or("mode", McpAttachMode::Auto)?,
            key,
        }))
    }

    /// Reads text without surrounding white space, which in a property file is rarely intended.
    fn trimmed_text(&self, key: &str) -> Result<Option<String>, ConfigError> {
        let text: Option<String> = self.get_optional(key)?;
        Ok(text.map(|text| text.trim().to_owned()))
    }

    fn incomplete_error(&self, key: &str, required_by: &str) -> ConfigError {
        match self.origin(required_by) {
            Some(origin) => ConfigError::Incomplete {
                key: self.full_key(key),
                required_by: self.full_key(required_by),
                origin: origin.clone(),
            },
            None => self.table.missing_error(self.full_key(key)),
        }
    }
}

fn trimmed(secret: Secret) -> Secret {
    Secret::new(secret.expose().trim())
}
