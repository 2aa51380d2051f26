//! A server that we met in, everything it lists out, within bounds.

use std::time::Instant;

use rmcp::model::{
    ClientRequest, ErrorCode, ListPromptsRequest, ListToolsRequest, PaginatedRequestParams,
    ServerResult,
};
use rmcp::service::ServiceError;
use serde_json::Value;

use super::connect::Met;
use super::error::AttachError;
use super::link::Link;
use super::plan::Plan;
use super::trouble::service;

/// What a server lists, as it wrote it.
#[derive(Clone, Debug, Default)]
pub(super) struct Listing {
    pub(super) tools: Vec<Value>,
    pub(super) prompts: Vec<Value>,
}

#[derive(Clone, Copy)]
enum Kind {
    Tools,
    Prompts,
}

impl Kind {
    fn key(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
        }
    }

    fn request(self, cursor: Option<String>) -> ClientRequest {
        let page = PaginatedRequestParams::default().with_cursor(cursor);
        match self {
            Self::Tools => ListToolsRequest::with_param(page).into(),
            Self::Prompts => ListPromptsRequest::with_param(page).into(),
        }
    }
}

/// Lists everything; how long it may take is set by who calls.
pub(super) async fn list(plan: &Plan, met: &Met, link: &Link) -> Result<Listing, AttachError> {
    let offers = &met.info.capabilities;
    let mut pages = Pages {
        plan,
        met,
        link,
        left: plan.limits.list_bytes,
    };
    let tools = match offers.tools.is_some() || offers.prompts.is_none() {
        true => pages.all(Kind::Tools).await?,
        false => Vec::new(),
    };
    let prompts = match offers.prompts.is_some() {
        true => pages.all(Kind::Prompts).await?,
        false => Vec::new(),
    };
    Ok(Listing { tools, prompts })
}

struct Pages<'a> {
    plan: &'a Plan,
    met: &'a Met,
    link: &'a Link,
    /// How many bytes are left of what all lists may have.
    left: usize,
}

impl Pages<'_> {
    async fn all(&mut self, kind: Kind) -> Result<Vec<Value>, AttachError> {
        let limits = &self.plan.limits;
        let (mut all, mut cursor) = (Vec::new(), None);
        for _ in 0..limits.pages {
            let (mut page, next) = self.page(kind, cursor.clone()).await?;
            all.append(&mut page);
            if all.len() > limits.definitions {
                return Err(self.too_much(kind.key(), limits.definitions));
            }
            // A cursor that leads to itself would lead there for ever.
            if next.is_none() || next == cursor {
                return Ok(all);
            }
            cursor = next;
        }
        Err(self.too_much("pages", limits.pages))
    }

    async fn page(
        &mut self,
        kind: Kind,
        cursor: Option<String>,
    ) -> Result<(Vec<Value>, Option<String>), AttachError> {
        let started = Instant::now();
        let answer = self.met.peer.send_request(kind.request(cursor)).await;
        self.link.took(started.elapsed());
        let answer = match answer {
            Ok(ServerResult::CustomResult(other)) => other.0,
            Ok(answer) => serde_json::to_value(answer).unwrap_or_default(),
            // It lists what it does not have.
            Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                return Ok((Vec::new(), None));
            }
            Err(error) => return Err(self.failed(service(&error))),
        };
        let Value::Object(mut answer) = answer else {
            return Err(self.failed(format!("its list of {} is no object", kind.key())));
        };
        let Some(Value::Array(page)) = answer.shift_remove(kind.key()) else {
            return Err(self.failed(format!("its list of {} is no list", kind.key())));
        };
        let bytes: usize = page.iter().map(|item| item.to_string().len()).sum();
        self.left = match self.left.checked_sub(bytes) {
            Some(left) => left,
            None => return Err(self.too_much("bytes", self.plan.limits.list_bytes)),
        };
        let next = answer.shift_remove("nextCursor");
        let next = next.and_then(|next| next.as_str().map(str::to_owned));
        Ok((page, next.filter(|next| !next.is_empty())))
    }

    fn too_much(&self, what: &'static str, limit: usize) -> AttachError {
        AttachError::TooMuch {
            server: self.plan.name.to_string(),
            what,
            limit,
        }
    }

    fn failed(&self, message: String) -> AttachError {
        AttachError::Connect {
            server: self.plan.name.to_string(),
            message,
        }
    }
}
