//! Watches whether the providers that people sign in with can be reached: the operator learns of it when the server starts, and not
//! from the first person who signs in.

use std::time::Duration;

use futures::future::join_all;
use tokio::time::sleep;
use toolwright_auth::{OpenIdProvider, SignInError};

use crate::endpoint::server_state::ServerState;
use crate::server::Server;

/// How often a provider is checked, and how often while it cannot be reached. What is known of it is fetched again every ten minutes
/// only.
const CHECK_INTERVAL: Duration = Duration::from_secs(30);
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

impl Server {
    /// Logs when a provider cannot be reached, and when it can again; returns at once if there is none.
    pub(crate) async fn watch_providers(&self) {
        join_all(self.state.sign_in.providers().iter().map(watch)).await;
    }
}

async fn watch(provider: &OpenIdProvider) {
    let mut is_reported = false;
    loop {
        let was_reported = is_reported;
        let checked = provider.check().await;
        is_reported = checked.is_err();
        match checked {
            Ok(()) if was_reported => {
                tracing::warn!(provider = provider.name(), "people can sign in again");
            }
            Err(SignInError::Unavailable { reason }) if !was_reported => {
                let issuer = provider.issuer();
                let login = provider.name();
                tracing::warn!(
                    login,
                    issuer,
                    reason,
                    "people cannot sign in: the issuer cannot be reached"
                );
            }
            _ => {}
        }
        sleep(if is_reported { RETRY_INTERVAL } else { CHECK_INTERVAL }).await;
    }
}

impl ServerState {
    /// Sentences about the providers that cannot be reached now.
    pub(crate) fn sign_in_warnings(&self) -> Vec<String> {
        let providers = self.sign_in.providers().iter().filter(|it| it.is_unavailable());
        let sentence = |provider: &OpenIdProvider| {
            let (name, issuer) = (provider.name(), provider.issuer());
            format!(
                "people cannot sign in with `{name}` now: its issuer {issuer} cannot be reached"
            )
        };
        providers.map(sentence).collect()
    }
}
