//! Takes the place of `remote_servers` without the feature `mcp-client`: no server is attached, and one in the settings is an error.

use std::sync::Arc;

use toolwright_chat::{HostedTool, Model};
use toolwright_core::{Config, Invoker, InvokerBuilder, Registry};
use toolwright_server::PersonalConnections;

use crate::attach_options::{AttachOptions, unknown_name_message};
use crate::error::AppError;
use crate::project::Project;

/// An empty set of servers.
pub struct RemoteServers(Registry);

impl RemoteServers {
    /// Without servers.
    pub fn new(registry: &Registry, _: &Project, _: AttachOptions) -> Self {
        Self(registry.clone())
    }

    /// Returns an error if there are servers that the vendor of the model does not attach either.
    pub async fn attach_configured(
        &self,
        config: &Config,
        model: &dyn Model,
    ) -> Result<(), AppError> {
        self.attach_all(config).await?;
        let mut groups = config.mcp_servers()?.into_iter().map(HostedTool::Mcp);
        match groups.find(|group| !model.supports_hosted_tool(group)) {
            Some(_) => Err(feature_needed("to attach the servers of the groups `MCP`")),
            None => Ok(()),
        }
    }

    /// Returns an error if there are servers in the settings.
    pub async fn attach_all(&self, config: &Config) -> Result<(), AppError> {
        match config.keys_under("mcp.servers").first() {
            Some(key) => Err(feature_needed(&format!("to attach the server of `{key}`"))),
            None => Ok(()),
        }
    }

    /// Returns none.
    pub fn personal_connections(&self) -> Option<Arc<dyn PersonalConnections>> {
        None
    }

    /// Does nothing.
    pub fn skip_all(&self, _: &Config) -> Result<(), AppError> {
        Ok(())
    }

    /// Returns false.
    pub fn is_attached_locally(&self, _: &HostedTool) -> bool {
        false
    }

    /// Returns no names.
    pub fn unavailable(&self) -> Vec<String> {
        Vec::new()
    }

    /// The error for an unknown tool or prompt.
    pub fn unknown_name_error(&self, kind: &str, name: &str, nearest: Option<&str>) -> AppError {
        AppError::usage(unknown_name_message(kind, name, nearest))
    }

    /// Returns no warnings.
    pub fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// A function that returns no warnings.
    pub fn warnings_fn(&self) -> impl Fn() -> Vec<String> + Send + Sync + use<> {
        Vec::new
    }

    /// Does nothing: there is nothing to warn of.
    pub fn set_warning_handler(&self, _: impl Fn(&str) + Send + Sync + 'static) {}

    /// Builds an invoker.
    pub fn build_invoker(
        &self,
        project: &Project,
        setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
    ) -> Result<Invoker, AppError> {
        Ok(setup(project.configure_invoker(Invoker::builder(&self.0))).build()?)
    }

    /// Does nothing.
    pub async fn detach(&self) {}
}

fn feature_needed(what: &str) -> AppError {
    AppError::new(format!("{what}: enable the feature `mcp-client` of toolwright"))
}
