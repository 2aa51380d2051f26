//! Renews the tokens of a session before they expire: one node at a time, and to the end even if the request is cancelled.

use std::sync::Arc;
use std::time::Duration;

use toolwright_auth::SignInError;
use toolwright_core::__internal::unix_millis_now;
use toolwright_core::SharedStateError;

use super::session_cookie::{SessionError, SessionStatus};
use super::session_credential::{ProviderCredential, SessionCredential};

/// The pause after tokens could not be renewed.
pub(super) const RETRY_DELAY: Duration = Duration::from_secs(10);

/// How long a node may take to renew: longer than all its requests to the provider.
const LOCK_TTL: Duration = Duration::from_secs(60);

/// How often, and how many times, the session is read while another node renews tokens that have expired.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
const MAX_POLLS: usize = 100;

/// The outcome of a renewal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Renewal {
    /// The session has valid tokens, or needs none.
    Valid,
    /// The tokens are still valid, and are being renewed or could not be.
    Postponed,
    /// The provider has ended the session.
    Ended,
}

/// Renews the tokens of a session if that is due, and the last attempt was not just now.
pub(super) async fn renew_if_due(
    session: &Arc<SessionStatus>,
    is_paused: bool,
) -> Result<Renewal, SessionError> {
    let Some(person) = due(session) else {
        return Ok(Renewal::Valid);
    };
    if is_paused {
        return postponed(&person);
    }
    let (session, is_expired) = (Arc::clone(session), person.is_expired(unix_millis_now()));
    // A task of its own: the provider accepts a refresh token once, so what it answers with must be stored.
    let task = tokio::spawn(async move {
        let renewed = renew(&session, &person).await;
        if matches!(renewed, Ok(Renewal::Ended)) {
            session.revoked.cancel();
        }
        renewed
    });
    if !is_expired {
        // Requests do not wait for a provider while the tokens are valid.
        return Ok(Renewal::Postponed);
    }
    match task.await {
        Ok(renewed) => renewed,
        Err(_) => Err(SessionError::ProviderAway),
    }
}

/// The credential of a session whose tokens have to be renewed.
fn due(session: &SessionStatus) -> Option<ProviderCredential> {
    match &*session.credential().credential {
        SessionCredential::Provider(person) if person.is_renewal_due(unix_millis_now()) => {
            Some((**person).clone())
        }
        _ => None,
    }
}

/// Tokens that were not renewed are used as long as they are valid.
fn postponed(person: &ProviderCredential) -> Result<Renewal, SessionError> {
    match person.is_expired(unix_millis_now()) {
        true => Err(SessionError::ProviderAway),
        false => Ok(Renewal::Postponed),
    }
}

async fn renew(
    session: &SessionStatus,
    person: &ProviderCredential,
) -> Result<Renewal, SessionError> {
    if !session.stored.lock_renewal(&session.id, LOCK_TTL).await? {
        return wait_for_other_node(session, person).await;
    }
    let renewed = renew_with_lock(session).await;
    session.stored.unlock_renewal(&session.id).await;
    renewed
}

async fn renew_with_lock(session: &SessionStatus) -> Result<Renewal, SessionError> {
    // Another node may have renewed them just before.
    if !read_again(session).await? {
        return Ok(Renewal::Ended);
    }
    let Some(person) = due(session) else {
        return Ok(Renewal::Valid);
    };
    let Some(token) = person.refresh_token() else {
        return Ok(Renewal::Valid);
    };
    let subject = person.subject();
    let Some(provider) = session.sign_in.find(&person.provider) else {
        tracing::info!(
            subject,
            "a session has ended: its provider is not in the settings any more"
        );
        session.stored.end(&session.id).await?;
        return Ok(Renewal::Ended);
    };
    match provider.renew(&token, subject).await {
        Ok(renewed) => {
            let renewed = person.renewed(renewed, unix_millis_now());
            let stored = session.stored.update_credential(&session.id, &session.key, renewed);
            match stored.await? {
                Some(stored) => session.set_credential(stored),
                None => return Ok(Renewal::Ended),
            }
            Ok(Renewal::Valid)
        }
        Err(SignInError::Unavailable { reason }) => {
            tracing::warn!(provider = provider.name(), reason, "tokens cannot be renewed now");
            postponed(&person)
        }
        Err(error) => {
            tracing::info!(subject, %error, "a session has ended: its tokens are not renewed");
            session.stored.end(&session.id).await?;
            Ok(Renewal::Ended)
        }
    }
}

/// Uses the tokens that another node is about to replace; if they have expired, waits for the new ones.
async fn wait_for_other_node(
    session: &SessionStatus,
    person: &ProviderCredential,
) -> Result<Renewal, SessionError> {
    if !person.is_expired(unix_millis_now()) {
        return Ok(Renewal::Postponed);
    }
    for _ in 0..MAX_POLLS {
        tokio::time::sleep(POLL_INTERVAL).await;
        if !read_again(session).await? {
            return Ok(Renewal::Ended);
        }
        if due(session).is_none() {
            return Ok(Renewal::Valid);
        }
    }
    Err(SessionError::ProviderAway)
}

/// Reads the credential again; false if the session has ended.
async fn read_again(session: &SessionStatus) -> Result<bool, SharedStateError> {
    let known = session.credential();
    let read = session.stored.read_credential(&session.id, &session.key, &known).await?;
    let exists = read.is_some();
    if let Some(read) = read {
        session.set_credential(read);
    }
    Ok(exists)
}
