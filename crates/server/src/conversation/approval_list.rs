//! The list of pending approvals that others than the owner of a call may decide about, in the state that all nodes share.
//!
//! It only lists where to look: what is pending, and who may decide, is read from the conversation.

use std::time::Duration;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use toolwright_chat::PendingApproval;
use toolwright_core::__internal::unix_millis_now;
use toolwright_core::{CallId, SharedStateError, subject_key};

use crate::auth::request_context::RequestContext;
use crate::conversation::room::Room;
use crate::endpoint::server_state::ServerState;

/// Listed approvals, by the key of the subject that the call runs for and their id.
const SPACE: &str = "pending_approval";

/// The maximum number of approvals that are read.
const MAX_LISTED: usize = 1000;

/// Where a pending approval is found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ListedApproval {
    pub(crate) id: String,
    /// The stored name of the conversation.
    pub(crate) conversation: String,
    pub(crate) call: CallId,
    /// The subject that the call runs for; `None` for the operator.
    pub(crate) subject: Option<String>,
    /// The name of that subject that others see.
    pub(crate) name: Option<String>,
    /// When it was requested, in milliseconds since 1970.
    pub(crate) at: u64,
}

/// The id of a pending approval, which reveals neither the conversation nor the call.
fn approval_id(conversation: &str, call: &CallId) -> String {
    let digest = Sha256::digest(format!("{conversation}\n{}", call.as_str()));
    HEXLOWER.encode(&digest).chars().take(32).collect()
}

impl Room {
    /// Lists an approval that others than the owner of the call may decide about.
    pub(crate) async fn list_approval(&self, approval: &PendingApproval, owner: &RequestContext) {
        if approval.approvers.is_owner_only() || self.unstored.is_some() {
            return;
        }
        let listed = ListedApproval {
            id: approval_id(&self.id, &approval.call.id),
            conversation: self.id.clone(),
            call: approval.call.id.clone(),
            subject: owner.subject().map(str::to_owned),
            name: owner.visible_name().map(str::to_owned),
            at: unix_millis_now(),
        };
        let left = approval.token.expires().saturating_sub(unix_millis_now());
        let ttl = Some(Duration::from_millis(left.max(1)));
        let key = subject_key(owner.subject(), &listed.id);
        let state = &self.endpoint.server.shared_state;
        let written = match serde_json::to_string(&listed) {
            Ok(value) => state.put(SPACE, &key, &value, ttl).await,
            Err(error) => Err(SharedStateError::new(error.to_string())),
        };
        if let Err(error) = written {
            // It is listed when the conversation is opened again.
            tracing::warn!(conversation = self.id, %error, "an approval cannot be listed now");
        }
    }

    /// Removes an approval from the list. One that stays there is ignored, and expires.
    pub(crate) async fn unlist_approval(&self, call: &CallId, owner: &RequestContext) {
        let key = subject_key(owner.subject(), &approval_id(&self.id, call));
        let state = &self.endpoint.server.shared_state;
        if self.unstored.is_none()
            && let Err(error) = state.remove(SPACE, &key).await
        {
            tracing::debug!(conversation = self.id, %error, "an approval stays in the list");
        }
    }
}

impl ServerState {
    /// The pending approvals that others than the owner of the call may decide about, the oldest first.
    pub(crate) async fn listed_approvals(&self) -> Result<Vec<ListedApproval>, SharedStateError> {
        let listed = self.shared_state.list(SPACE, "", MAX_LISTED).await?;
        let approvals = listed.iter().filter_map(|(_, value)| serde_json::from_str(value).ok());
        let mut approvals: Vec<ListedApproval> = approvals.collect();
        approvals.sort_by_key(|approval| approval.at);
        Ok(approvals)
    }
}
