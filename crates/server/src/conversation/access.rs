//! Resolves the id of a request to a conversation, and to what the principal may do there: the only place that does.
//!
//! | id | conversation | for |
//! |---|---|---|
//! | `ID` | of the principal itself, or the room of the path | the principal, if it may enter |
//! | `@~SHARE` | one that its owner shares by a link | principals that have accepted the link |
//! | `@SUBJECT/ID`, `@/ID` | one of another subject, or of the operator | admins, to read |
//!
//! An id that names nothing and one that names what the principal may not see have the same response. Only
//! `/api/conversations` and the protocols at it take the last two, which also name conversations of other endpoints.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::sleep;
use toolwright_chat::{Owner, StoreError, TailEnd};
use toolwright_conversation::ConversationError;
use toolwright_core::__internal::unix_millis_now;

use crate::auth::request_context::RequestContext;
use crate::conversation::room::Room;
use crate::conversation::shares::{Share, ShareAccess};
use crate::endpoint::EndpointRuntime;
use crate::endpoint::path_template::{ID_PARAM, PathParams};

/// What the ids of shared conversations begin with. Ids of a principal's own conversations do not begin with `@`.
const SHARE_PREFIX: &str = "@~";

/// What a request does to a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Reads entries and events.
    Read,
    /// Sends messages and decisions, and stops turns.
    Participate,
    /// Renames, shares or deletes the conversation.
    Manage,
}

/// A conversation that a principal has opened, and what it may do there.
#[derive(Clone)]
pub(crate) struct OpenConversation {
    pub(crate) room: Arc<Room>,
    grant: Grant,
}

/// Why a principal may use a conversation.
#[derive(Clone)]
enum Grant {
    /// It is the owner's, or a room that the principal may enter.
    Owner,
    /// It is shared with the principal.
    Share(Arc<ShareGrant>),
    /// The principal is an admin.
    Admin,
}

struct ShareGrant {
    /// The principal's subject.
    subject: Option<String>,
    share: Share,
}

/// An id that does not name a conversation of the principal itself.
enum Address {
    Share(String),
    Owned(Owner, String),
}

impl Address {
    /// Parses an id; `None` if it names one of the principal's own conversations.
    fn parse(id: &str) -> Option<Self> {
        if let Some(share) = id.strip_prefix(SHARE_PREFIX).filter(|share| !share.contains('/')) {
            return Some(Self::Share(share.to_owned()));
        }
        if Owner::is_operator_id(id) {
            return None;
        }
        Some(match Owner::split_stored_name(id) {
            // No subject is empty.
            (Owner::Subject(subject), id) if subject.is_empty() => {
                Self::Owned(Owner::Operator, id.to_owned())
            }
            (owner, id) => Self::Owned(owner, id.to_owned()),
        })
    }
}

/// The id by which those who have accepted a link name the conversation.
pub(crate) fn shared_id(share: &Share) -> String {
    format!("{SHARE_PREFIX}{}", share.id)
}

/// The id by which an admin names a stored conversation.
pub(crate) fn admin_id(stored_name: &str) -> String {
    match Owner::split_stored_name(stored_name) {
        (Owner::Operator, id) => format!("@/{id}"),
        _ => stored_name.to_owned(),
    }
}

impl EndpointRuntime {
    /// Opens the conversation that a request names, for an operation.
    ///
    /// `NotFound` if there is no such conversation for this principal, `Forbidden` if the principal may see it and not do this.
    pub(crate) async fn open_conversation(
        self: &Arc<Self>,
        params: PathParams,
        context: &RequestContext,
        operation: Operation,
    ) -> Result<OpenConversation, ConversationError> {
        let id = params.iter().find(|(name, _)| name == ID_PARAM).map(|(_, id)| id.as_str());
        let address = id.filter(|_| self.template.is_unprefixed()).and_then(Address::parse);
        let opened = match address {
            None => {
                let room = self.open_room(params, &context.owner())?;
                match room.check_access(context).await {
                    Err(error) if context.is_admin() && !error.is_transient() => {
                        self.open_as_admin(room, context, operation).await?
                    }
                    checked => checked.map(|()| OpenConversation { room, grant: Grant::Owner })?,
                }
            }
            Some(Address::Share(id)) => self.open_shared(&id, context).await?,
            Some(Address::Owned(owner, id)) => {
                self.open_owned(&owner, &id, context, operation).await?
            }
        };
        opened.check_operation(operation)?;
        Ok(opened)
    }

    async fn open_shared(
        self: &Arc<Self>,
        id: &str,
        context: &RequestContext,
    ) -> Result<OpenConversation, ConversationError> {
        let shares = &self.server.shares;
        let share = shares.accepted(context.subject(), id).await?;
        let share = share.ok_or(ConversationError::NotFound)?;
        let room = self.open_stored(&share.conversation)?;
        let (subject, entry) = (context.subject().map(str::to_owned), share.entry.clone());
        let grant = Grant::Share(Arc::new(ShareGrant { subject, share }));
        if !is_same_conversation(&room, &entry).await? {
            return Err(ConversationError::NotFound);
        }
        room.peers.set_shared();
        Ok(OpenConversation { room, grant })
    }

    async fn open_owned(
        self: &Arc<Self>,
        owner: &Owner,
        id: &str,
        context: &RequestContext,
        operation: Operation,
    ) -> Result<OpenConversation, ConversationError> {
        if !context.is_admin() {
            return Err(ConversationError::NotFound);
        }
        let room = self.open_stored(&owner.stored_name(id))?;
        self.open_as_admin(room, context, operation).await
    }

    /// Opens a stored conversation for an admin, who reads it and does nothing else.
    async fn open_as_admin(
        &self,
        room: Arc<Room>,
        context: &RequestContext,
        operation: Operation,
    ) -> Result<OpenConversation, ConversationError> {
        if self.server.store.tail(&room.id, TailEnd::Newest, 1).await?.is_empty() {
            return Err(ConversationError::NotFound);
        }
        let opened = OpenConversation { room, grant: Grant::Admin };
        opened.check_operation(operation)?;
        // Before anything is shown: what cannot be recorded is not shown.
        self.server.access_audit.record_read(context, &opened.room.id).await?;
        Ok(opened)
    }

    /// Opens the room of a stored conversation, of whichever endpoint.
    pub(crate) fn open_stored(
        self: &Arc<Self>,
        stored_name: &str,
    ) -> Result<Arc<Room>, ConversationError> {
        let (owner, name) = Owner::split_stored_name(stored_name);
        let room = self.open_room(vec![(ID_PARAM.to_owned(), name.to_owned())], &owner);
        let room = room.ok().filter(|room| room.id == stored_name);
        room.ok_or(ConversationError::NotFound)
    }
}

/// Returns true if the conversation has this entry: one that begins later under the same name is another one.
pub(crate) async fn is_same_conversation(room: &Room, entry: &str) -> Result<bool, StoreError> {
    let found = room.endpoint.store.tail(&room.id, TailEnd::At(entry), 1).await?;
    Ok(!found.is_empty())
}

impl OpenConversation {
    /// The id by which this principal names the conversation.
    pub(crate) fn client_id(&self) -> String {
        match &self.grant {
            Grant::Owner => self.room.name.clone(),
            Grant::Share(grant) => shared_id(&grant.share),
            Grant::Admin => admin_id(&self.room.id),
        }
    }

    /// What the principal may do, as clients read it.
    pub(crate) fn access_name(&self) -> &'static str {
        match &self.grant {
            Grant::Owner if self.room.endpoint.is_shared() => "participate",
            Grant::Owner => "owner",
            Grant::Share(grant) => grant.share.access.name(),
            Grant::Admin => "admin",
        }
    }

    fn check_operation(&self, operation: Operation) -> Result<(), ConversationError> {
        let message = match (&self.grant, operation) {
            (Grant::Owner, _) | (_, Operation::Read) => return Ok(()),
            (Grant::Share(grant), Operation::Participate) => match grant.share.access {
                ShareAccess::Participate => return Ok(()),
                ShareAccess::Read => "the conversation is shared with you to be read",
            },
            (Grant::Share(_), Operation::Manage) => {
                "only the owner of the conversation may do this"
            }
            (Grant::Admin, _) => "an admin may read the conversations of others, and nothing else",
        };
        Err(ConversationError::Forbidden { message })
    }

    /// Checks again that the principal may still do this, for connections that stay open.
    pub(crate) async fn check_again(
        &self,
        context: &RequestContext,
        operation: Operation,
    ) -> Result<(), ConversationError> {
        self.check_still_granted(context).await?;
        self.check_operation(operation)
    }

    async fn check_still_granted(&self, context: &RequestContext) -> Result<(), ConversationError> {
        let granted = match &self.grant {
            Grant::Owner => return self.room.check_access(context).await,
            Grant::Admin => context.is_admin(),
            Grant::Share(grant) => {
                let ShareGrant { subject, share } = &**grant;
                let shares = &self.room.endpoint.server.shares;
                let current = shares.accepted(subject.as_deref(), &share.id).await?;
                current.as_ref() == Some(share)
                    && is_same_conversation(&self.room, &share.entry).await?
            }
        };
        match granted {
            true => Ok(()),
            false => Err(ConversationError::NotFound),
        }
    }

    /// Waits until the principal may not read the conversation any more; for ever, if that cannot change while its credential is
    /// valid.
    ///
    /// The end of a share is signalled to all nodes, and polled where the signal is lost.
    pub(crate) fn wait_ended(&self, context: &RequestContext) -> BoxFuture<'static, ()> {
        let expires = match &self.grant {
            // Most streams are those of an owner: they have nothing to wait for, and no room for it.
            Grant::Owner if !self.room.endpoint.room_access.may_change() => {
                return Box::pin(std::future::pending());
            }
            Grant::Share(grant) => grant.share.expires,
            Grant::Owner | Grant::Admin => None,
        };
        let (conversation, context) = (self.clone(), context.clone());
        Box::pin(async move {
            let mut changed = conversation.room.watch_access();
            loop {
                let interval = conversation.room.endpoint.heartbeat;
                let left = expires.map(|at| at.saturating_sub(unix_millis_now()));
                // By the clock of this node it may have ended long ago, and by that of the store it has not.
                let left = left.filter(|left| *left > 0);
                let left = left.map_or(interval, |left| Duration::from_millis(left).min(interval));
                tokio::select! {
                    _ = changed.changed() => {}
                    () = sleep(left) => {}
                }
                if conversation.is_ended(&context).await {
                    return;
                }
            }
        })
    }

    /// Returns false if it cannot be determined now.
    async fn is_ended(&self, context: &RequestContext) -> bool {
        let checked = match &self.grant {
            // Its roles and claims are those of the credential now.
            Grant::Owner | Grant::Admin => match context.reauthenticate().await {
                Ok(renewed) => self.check_still_granted(&renewed).await,
                Err(error) => return !error.is_transient(),
            },
            Grant::Share(_) => self.check_still_granted(context).await,
        };
        checked.is_err_and(|error| !error.is_transient())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(id: &str) -> String {
        match Address::parse(id) {
            None => "own".to_owned(),
            Some(Address::Share(share)) => format!("share {share}"),
            Some(Address::Owned(Owner::Subject(subject), id)) => format!("{subject}: {id}"),
            Some(Address::Owned(_, id)) => format!("operator: {id}"),
        }
    }

    #[test]
    fn an_id_is_ones_own_unless_it_begins_with_an_at_sign() {
        assert_eq!(parsed("notes"), "own");
        assert_eq!(parsed("~notes"), "own");
        assert_eq!(parsed("/help/7"), "own");
        assert_eq!(parsed("@~0123"), "share 0123");
        assert_eq!(parsed("@~eve/notes"), "~eve: notes");
        assert_eq!(parsed("@ada/notes"), "ada: notes");
        assert_eq!(parsed("@a%2Fb/x/y"), "a/b: x/y");
        assert_eq!(parsed("@ada//help/7"), "ada: /help/7");
        assert_eq!(parsed("@/notes"), "operator: notes");
        assert_eq!(admin_id("notes"), "@/notes");
        assert_eq!(admin_id("@ada/notes"), "@ada/notes");
    }
}
