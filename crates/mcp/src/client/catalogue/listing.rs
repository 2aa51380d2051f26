//! Lists all tools and prompts of a server, within limits.

use std::time::Instant;

use rmcp::model::{
    ClientRequest, ErrorCode, ListPromptsRequest, ListToolsRequest, PaginatedRequestParams,
    ServerResult,
};
use rmcp::service::ServiceError;
use serde_json::Value;

use crate::client::connection::RemotePeer;
use crate::client::connection::error_map::describe_service_error;
use crate::client::connection::shared_connection::SharedConnection;
use crate::client::error::AttachError;
use crate::client::setup::validated_server::ValidatedServer;

/// The definitions of a server as it sent them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    pub(crate) tools: Vec<Value>,
    pub(crate) prompts: Vec<Value>,
}

/// Makes the request for one page of a list.
type PageRequest = fn(PaginatedRequestParams) -> ClientRequest;

/// Lists all tools and prompts; the caller sets the timeout.
pub(crate) async fn list_all(
    config: &ValidatedServer,
    remote: &RemotePeer,
    link: &SharedConnection,
) -> Result<Listing, AttachError> {
    let capabilities = &remote.info.capabilities;
    let mut pages = Pager { config, remote, link, bytes_left: config.limits.max_list_bytes };
    let tools = match capabilities.tools.is_some() || capabilities.prompts.is_none() {
        true => pages.all_pages("tools", |page| ListToolsRequest::with_param(page).into()).await?,
        false => Vec::new(),
    };
    let prompts = match capabilities.prompts.is_some() {
        true => {
            pages.all_pages("prompts", |page| ListPromptsRequest::with_param(page).into()).await?
        }
        false => Vec::new(),
    };
    Ok(Listing { tools, prompts })
}

struct Pager<'a> {
    config: &'a ValidatedServer,
    remote: &'a RemotePeer,
    link: &'a SharedConnection,
    /// The rest of the limit for all lists together.
    bytes_left: usize,
}

impl Pager<'_> {
    /// Returns all pages of the list `key`.
    async fn all_pages(
        &mut self,
        key: &'static str,
        request: PageRequest,
    ) -> Result<Vec<Value>, AttachError> {
        let limits = &self.config.limits;
        let (mut all, mut cursor) = (Vec::new(), None);
        for _ in 0..limits.max_pages {
            let (mut page, next) = self.next_page(key, request, cursor.clone()).await?;
            all.append(&mut page);
            if all.len() > limits.max_definitions {
                return Err(self.too_large(key, limits.max_definitions));
            }
            // A cursor that repeats itself would lead to an endless loop.
            if next.is_none() || next == cursor {
                return Ok(all);
            }
            cursor = next;
        }
        Err(self.too_large("pages", limits.max_pages))
    }

    async fn next_page(
        &mut self,
        key: &'static str,
        request: PageRequest,
        cursor: Option<String>,
    ) -> Result<(Vec<Value>, Option<String>), AttachError> {
        let started = Instant::now();
        let request = request(PaginatedRequestParams::default().with_cursor(cursor));
        let response = self.remote.peer.send_request(request).await;
        self.link.record_latency(started.elapsed());
        let response = match response {
            Ok(ServerResult::CustomResult(other)) => other.0,
            Ok(response) => serde_json::to_value(response).unwrap_or_default(),
            // The server declares a capability that it does not have.
            Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                return Ok((Vec::new(), None));
            }
            Err(error) => return Err(self.list_error(describe_service_error(&error))),
        };
        let Value::Object(mut response) = response else {
            return Err(self.list_error(format!("its list of {key} is no object")));
        };
        let Some(Value::Array(page)) = response.shift_remove(key) else {
            return Err(self.list_error(format!("its list of {key} is no list")));
        };
        let bytes: usize = page.iter().map(|item| item.to_string().len()).sum();
        self.bytes_left = match self.bytes_left.checked_sub(bytes) {
            Some(left) => left,
            None => return Err(self.too_large("bytes", self.config.limits.max_list_bytes)),
        };
        let next = response.shift_remove("nextCursor");
        let next = next.and_then(|next| next.as_str().map(str::to_owned));
        Ok((page, next.filter(|next| !next.is_empty())))
    }

    fn too_large(&self, what: &'static str, limit: usize) -> AttachError {
        AttachError::ListTooLarge { server: self.config.name.to_string(), what, limit }
    }

    fn list_error(&self, message: String) -> AttachError {
        AttachError::Connect { server: self.config.name.to_string(), message }
    }
}
