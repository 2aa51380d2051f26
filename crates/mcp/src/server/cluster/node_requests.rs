//! Handles announcements and requests of other nodes.

use std::time::Duration;

use tokio::time::timeout;

use super::message::{Announcement, EventQuery, ListChanges, NodeReply, NodeRequest};
use crate::server::McpServer;

/// The longest time that a reader of a stream may wait in one request.
const MAX_WAIT: Duration = Duration::from_secs(30);

impl McpServer {
    pub(super) fn handle_announcement(&self, announcement: Announcement) {
        let sessions = &self.0.sessions;
        match announcement {
            Announcement::SessionEnded { session } => sessions.end_by_id(&session),
            Announcement::SessionChanged { session, record } => {
                match (sessions.get(&session), record) {
                    (None, _) => {}
                    (Some(session), Some(record)) => session.update_from(&record),
                    (Some(session), None) => {
                        let server = self.clone();
                        // After an error, the session is read again when it is refreshed.
                        tokio::spawn(async move { server.reload_session(&session).await });
                    }
                }
            }
            Announcement::NotificationStreamOpened { session } => {
                if let Some(session) = sessions.get(&session) {
                    session.replay_buffers.end_standalone();
                }
            }
            Announcement::RequestCancelled { session, request } => {
                if let Some(session) = sessions.get(&session) {
                    session.in_flight.cancel(&request);
                }
            }
            Announcement::ResourceUpdated { uri } => {
                // Fails without subscribers, which is fine.
                let _ = self.0.resource_updates.send(uri.into());
            }
            Announcement::ListsChanged(changes) => self.notify_list_changes(changes),
        }
    }

    /// Messages may be missing: reads the sessions again, and lets clients list again.
    pub(super) fn handle_gap(&self) {
        self.notify_list_changes(ListChanges { tools: true, prompts: true });
        let server = self.clone();
        tokio::spawn(async move {
            for session in server.0.sessions.all() {
                if server.reload_session(&session).await.is_err() {
                    // The shared state is away: sessions are read again when they are refreshed.
                    break;
                }
            }
        });
    }

    fn notify_list_changes(&self, changes: ListChanges) {
        // Fails without subscribers, which is fine.
        let _ = self.0.remote_list_changes.send(changes);
    }

    pub(super) async fn handle_node_request(&self, request: NodeRequest) -> NodeReply {
        match request {
            NodeRequest::Ping => NodeReply::Done,
            NodeRequest::DeliverAnswer { session, request, answer } => {
                let session = self.0.sessions.get(&session);
                match session.is_some_and(|session| session.resolve_request(request, answer)) {
                    true => NodeReply::Done,
                    false => NodeReply::NotFound,
                }
            }
            NodeRequest::ReadEvents(query) => self.read_events(query).await,
            NodeRequest::UpdateTask { task, answers } => self.update_own_task(&task, answers).await,
            NodeRequest::CancelTask { task } => self.cancel_own_task(&task).await,
        }
    }

    async fn read_events(&self, query: EventQuery) -> NodeReply {
        let Some(buffer) =
            self.0.sessions.get(&query.session).and_then(|session| {
                session.replay_buffers.find(query.stream, query.scopes.as_ref())
            })
        else {
            return NodeReply::NotFound;
        };
        let mut page = buffer.page_from(query.index);
        if page.events.is_empty() && !page.ended && query.wait_ms > 0 {
            let wait = Duration::from_millis(query.wait_ms).min(MAX_WAIT);
            // Without an event in time the page is empty, and the reader asks again.
            let _ = timeout(wait, buffer.next_from(query.index)).await;
            page = buffer.page_from(query.index);
        }
        NodeReply::Events(page)
    }
}
