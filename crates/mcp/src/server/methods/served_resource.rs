//! A resource: an address, and the tool that returns its content.

use toolwright_core::Tool;
use toolwright_schema::__internal::percent_decode;

use crate::server::McpBuildError;

/// A resource that clients read by its address: a tool returns its content.
///
/// The address may have parameters, as in `notes://{day}/text`, which become arguments of the tool. The resource has the name,
/// title and description of the tool; the tool itself is not listed.
///
/// # Examples
///
/// ```
/// use toolwright::tool;
/// use toolwright::mcp::ServedResource;
///
/// /// What was written on a day.
/// #[tool(read_only)]
/// fn notes(day: String) -> String {
///     format!("On {day} it rained.")
/// }
///
/// let resource = ServedResource::new("notes://{day}/text", notes::tool()).mime_type("text/plain");
/// ```
#[derive(Clone, Debug)]
pub struct ServedResource {
    pub(crate) uri: String,
    pub(crate) mime_type: Option<String>,
    pub(crate) tool: Tool,
}

impl ServedResource {
    /// Makes a resource of an address, perhaps with parameters, and the tool that reads it.
    pub fn new(uri: impl Into<String>, tool: Tool) -> Self {
        Self { uri: uri.into(), mime_type: None, tool }
    }

    /// Sets the MIME type, for example `text/plain`.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    pub(crate) fn is_template(&self) -> bool {
        self.uri.contains('{')
    }

    /// Checks that the parameters of the address are those of the tool, required ones included.
    pub(crate) fn validate(&self) -> Result<(), McpBuildError> {
        let invalid = |message: String| McpBuildError::Resource { uri: self.uri.clone(), message };
        let params = self.tool.params();
        let variables = template_variables(&self.uri)
            .ok_or_else(|| invalid("a `{` is never closed".to_owned()))?;
        for name in &variables {
            if params.iter().all(|param| param.name != *name) {
                let tool = self.tool.name();
                return Err(invalid(format!("tool `{tool}` has no parameter `{name}`")));
            }
        }
        let lacks = |name: &str| !variables.contains(&name);
        match params.iter().find(|param| param.required && lacks(&param.name)) {
            Some(param) => Err(invalid(format!(
                "the tool needs `{name}`: write `{{{name}}}` into the address",
                name = param.name
            ))),
            None => Ok(()),
        }
    }

    /// Returns the arguments in an address, if it is one of this resource.
    pub(crate) fn match_uri(
        &self,
        uri: &str,
    ) -> Option<serde_json::Map<String, serde_json::Value>> {
        let mut arguments = serde_json::Map::new();
        let (mut template, mut rest) = (self.uri.as_str(), uri);
        while let Some((before, after)) = template.split_once('{') {
            let (name, after) = after.split_once('}')?;
            rest = rest.strip_prefix(before)?;
            // A value ends where the text after its parameter begins, and never spans a `/`.
            let next = after.split('{').next().unwrap_or_default();
            let end = match next.is_empty() {
                true => rest.find('/').unwrap_or(rest.len()),
                false => rest.find(next)?,
            };
            let (value, remaining) = rest.split_at(end);
            if value.is_empty() || value.contains('/') {
                return None;
            }
            arguments.insert(name.to_owned(), percent_decode(value)?.into());
            (template, rest) = (after, remaining);
        }
        (template == rest).then_some(arguments)
    }
}

/// Returns the parameters of an address template; `None` if a brace is never closed.
fn template_variables(uri: &str) -> Option<Vec<&str>> {
    let parts = uri.split('{').skip(1);
    parts.map(|part| part.split_once('}').map(|(name, _)| name)).collect()
}

#[cfg(test)]
mod tests {
    use toolwright_core::{Tool, ToolError};

    use crate::server::ServedResource;

    fn resource(uri: &str) -> ServedResource {
        let tool = Tool::builder("read", "Reads.")
            .param::<String>("id", "Which.")
            .run(|_, _| Ok::<_, ToolError>("text"))
            .unwrap();
        ServedResource::new(uri, tool)
    }

    #[test]
    fn parameters_are_read_out_of_an_address() {
        let of = |uri| resource("a://{id}/data").match_uri(uri);
        assert_eq!(of("a://7/data").unwrap()["id"], "7");
        assert_eq!(of("a://b%20c/data").unwrap()["id"], "b c");
        assert!(of("a:///data").is_none());
        assert!(of("a://7/8/data").is_none());
        assert!(of("a://7/data/more").is_none());
        assert!(of("b://7/data").is_none());
        assert_eq!(resource("a://{id}").match_uri("a://7").unwrap()["id"], "7");
    }

    #[test]
    fn an_address_gives_what_its_tool_takes() {
        assert!(resource("a://{id}").validate().is_ok());
        assert!(resource("a://x").validate().is_err());
        assert!(resource("a://{other}").validate().is_err());
        assert!(resource("a://{id").validate().is_err());
    }
}
