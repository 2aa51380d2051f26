//! Records each access of an admin to the conversations of others, for admins and for the owners.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolwright_chat::{Owner, random_hex};
use toolwright_conversation::ConversationError;
use toolwright_core::__internal::unix_millis_now;
use toolwright_core::{SharedState, SharedStateError, subject_key, subject_key_prefix};

use crate::auth::request_context::RequestContext;

/// Records, by the key of the conversation's owner and the time.
const SPACE: &str = "access_audit";

/// How long a record is kept in the shared state; the log of the server has it as long as that is kept.
const LIFETIME: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// The maximum number of records that are read.
const MAX_RECORDS: usize = 10_000;

/// The record of one access.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AccessRecord {
    /// In milliseconds since 1970.
    pub(crate) at: u64,
    /// The subject of the admin.
    pub(crate) admin: String,
    /// The name of the admin that others see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) action: String,
    /// The stored name of the conversation; `None` for a list of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) conversation: Option<String>,
}

/// The records of all accesses.
#[derive(Clone)]
pub(crate) struct AccessAudit(Arc<dyn SharedState>);

impl AccessAudit {
    pub(crate) fn new(state: &Arc<dyn SharedState>) -> Self {
        Self(Arc::clone(state))
    }

    /// Records that an admin reads a conversation; an error if it cannot be recorded.
    pub(crate) async fn record_read(
        &self,
        context: &RequestContext,
        conversation: &str,
    ) -> Result<(), ConversationError> {
        self.record(context, "read", Some(conversation)).await
    }

    /// Records that an admin lists the conversations of all owners; an error if it cannot be recorded.
    pub(crate) async fn record_list(
        &self,
        context: &RequestContext,
    ) -> Result<(), ConversationError> {
        self.record(context, "list", None).await
    }

    async fn record(
        &self,
        context: &RequestContext,
        action: &'static str,
        conversation: Option<&str>,
    ) -> Result<(), ConversationError> {
        let record = AccessRecord {
            at: unix_millis_now(),
            admin: context.subject().unwrap_or_default().to_owned(),
            name: context.display_name().map(str::to_owned),
            action: action.to_owned(),
            conversation: conversation.map(str::to_owned),
        };
        let owner = conversation.map(|name| Owner::split_stored_name(name).0);
        let subject = match &owner {
            Some(Owner::Subject(subject)) => Some(subject.as_str()),
            _ => None,
        };
        let key = subject_key(subject, &format!("{:015}-{}", record.at, random_hex(4)?));
        let value = serde_json::to_string(&record).map_err(ConversationError::unencodable)?;
        self.0.put(SPACE, &key, &value, Some(LIFETIME)).await?;
        let admin = record.admin;
        tracing::info!(target: "toolwright::audit", admin, action, conversation, "an admin's access");
        Ok(())
    }

    /// The newest records, at most `limit`: those of all conversations, or those of one owner's.
    pub(crate) async fn list(
        &self,
        owner: Option<&Owner>,
        limit: usize,
    ) -> Result<Vec<AccessRecord>, SharedStateError> {
        let prefix = match owner {
            None => String::new(),
            Some(Owner::Subject(subject)) => subject_key_prefix(Some(subject)),
            Some(_) => subject_key_prefix(None),
        };
        let listed = self.0.list(SPACE, &prefix, MAX_RECORDS).await?;
        let records = listed.iter().filter_map(|(_, value)| serde_json::from_str(value).ok());
        let mut records: Vec<AccessRecord> = records.collect();
        records.sort_by_key(|record| std::cmp::Reverse(record.at));
        records.truncate(limit);
        Ok(records)
    }
}
