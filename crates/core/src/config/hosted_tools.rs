//! The settings of what runs at a vendor's: web search and MCP servers, by the names their property files gave them.

use std::fmt;

use serde::Deserialize;
use toolwright_schema::redact;

use super::error::ConfigError;
use super::secret::Secret;
use super::{Config, join_key};

/// Web search as `WebSearchTool.*` asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebSearchConfig {
    /// The vendor's name of the tool, from `type`; `default` is `web_search_preview`.
    pub kind: String,
    /// The city to search from.
    pub city: Option<String>,
    /// The country to search from.
    pub country: Option<String>,
    /// The region to search from.
    pub region: Option<String>,
}

/// An MCP server as one of the groups `MCP.*`, `MCP_1.*`… asks for it.
#[derive(Clone)]
#[non_exhaustive]
pub struct McpServerConfig {
    /// The group's key, such as `MCP_1`.
    pub key: String,
    /// The label that the server goes by.
    pub name: String,
    /// The server's address.
    pub url: String,
    /// What the model is told of the server.
    pub description: Option<String>,
    /// The value of the `Authorization` header.
    pub authorization: Option<Secret>,
    /// Who attaches the server.
    pub mode: McpAttachMode,
}

/// Who attaches an MCP server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum McpAttachMode {
    /// The vendor where it can, else our client.
    #[default]
    Auto,
    /// The vendor.
    Hosted,
    /// Our client.
    Client,
}

impl fmt::Debug for McpServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpGroup")
            .field("key", &self.key)
            .field("name", &self.name)
            .field("url", &redact(&self.url))
            .field("description", &self.description)
            .field("authorization", &self.authorization)
            .field("mode", &self.mode)
            .finish()
    }
}

impl Config {
    /// Reads what is asked of web search; it is on when `WebSearchTool.type` is set.
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
            "default" => "web_search_preview".to_owned(),
            _ => kind,
        };
        Ok(Some(WebSearchConfig {
            kind,
            city: section.trimmed_text("city")?,
            country: section.trimmed_text("country")?,
            region: section.trimmed_text("region")?,
        }))
    }

    /// Reads the MCP servers to attach: every group `MCP`, `MCP_1`… that has a name.
    ///
    /// # Errors
    ///
    /// When a group has a name but no address, or a setting cannot be read.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::{Config, ConfigSources};
    ///
    /// let sources = ConfigSources::new().defaults([
    ///     ("MCP.name", "wiki"),
    ///     ("MCP.url", "https://wiki.example/mcp"),
    ///     ("MCP_7.name", "tickets"),
    ///     ("MCP_7.url", "https://tickets.example/mcp"),
    /// ]);
    /// let groups = Config::load(sources)?.config.mcp_groups()?;
    /// let names: Vec<_> = groups.iter().map(|group| group.name.as_str()).collect();
    /// assert_eq!(names, ["wiki", "tickets"]);
    /// # Ok::<(), toolwright::ConfigError>(())
    /// ```
    pub fn mcp_servers(&self) -> Result<Vec<McpServerConfig>, ConfigError> {
        let groups = self.numbered_groups("MCP").into_iter();
        groups
            .filter_map(|key| self.mcp_server(key).transpose())
            .collect()
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

    /// White space at the end of a property's line is seldom meant.
    fn trimmed_text(&self, key: &str) -> Result<Option<String>, ConfigError> {
        let text: Option<String> = self.get_optional(key)?;
        Ok(text.map(|text| text.trim().to_owned()))
    }

    fn incomplete_error(&self, key: &str, because: &str) -> ConfigError {
        match self.origin(because) {
            Some(origin) => ConfigError::Incomplete {
                key: join_key(&self.section, key),
                because: join_key(&self.section, because),
                origin: origin.clone(),
            },
            None => self.settings.missing_error(join_key(&self.section, key)),
        }
    }
}

fn trimmed(secret: Secret) -> Secret {
    Secret::new(secret.expose().trim())
}
