//! Which authorization server receives credentials for a server: the issuer that the settings name, else the pinned one.
//!
//! A server names its authorization server itself, and may name another one tomorrow. So its issuer is pinned at the first use, as
//! its tools are, and a person has to accept a change.

use std::sync::Arc;

use rmcp::transport::AuthorizationManager;
use rmcp::transport::auth::AuthorizationMetadata;
use serde_json::Value;
use url::{Host, Url};

use crate::client::setup::validated_server::is_loopback;
use crate::import::{error_chain, excerpt};
use crate::pin::{Fingerprint, PinStatus, PinStore};

/// The name that the issuer of a server is pinned under, among the definitions of its tools and prompts.
pub const ISSUER_PIN: &str = "oauth issuer";

/// The issuer that may receive credentials for one server.
pub(crate) struct TrustedIssuer {
    server: String,
    /// The issuer that the settings name.
    configured: Option<String>,
    pins: Arc<dyn PinStore>,
}

impl TrustedIssuer {
    pub(crate) fn new(server: &str, configured: Option<String>, pins: Arc<dyn PinStore>) -> Self {
        Self { server: server.to_owned(), configured, pins }
    }

    /// Checks the authorization server that the server at `url` names, before anything is sent to it.
    pub(super) async fn check(
        &self,
        url: &str,
        metadata: &AuthorizationMetadata,
    ) -> Result<(), String> {
        let endpoints = Endpoints::parse(metadata)?;
        let issuer = match &metadata.issuer {
            Some(issuer) => issuer.clone(),
            // Without metadata, the endpoints are those of the server itself.
            None => endpoints.token.origin().ascii_serialization(),
        };
        let issuer = issuer.trim_end_matches('/');
        if let Some(configured) = &self.configured
            && configured.trim_end_matches('/') != issuer
        {
            return Err(format!(
                "its authorization server is `{}`, and its setting `issuer` names `{configured}`: nothing was sent",
                excerpt(issuer)
            ));
        }
        if let Some((name, endpoint)) = endpoints.elsewhere(issuer)
            && !is_published(url, issuer, &endpoints).await?
        {
            return Err(format!(
                "the {name} `{}` is on another host than the issuer `{}`, whose own metadata do not name it: nothing was sent",
                excerpt(endpoint.as_str()),
                excerpt(issuer)
            ));
        }
        match self.configured {
            Some(_) => Ok(()),
            None => self.check_pin(issuer).await,
        }
    }

    async fn check_pin(&self, issuer: &str) -> Result<(), String> {
        let seen = [(ISSUER_PIN.to_owned(), Fingerprint::of_issuer(issuer))];
        let checked = self.pins.check(&self.server, &seen).await;
        let statuses = checked.map_err(|error| error_chain(&error))?;
        match statuses.first() {
            Some(PinStatus::New | PinStatus::Unchanged) => Ok(()),
            _ => Err(format!(
                "its authorization server has changed to `{}`, and nothing was sent there: if that is right, run `mcp accept {}`, or name it with the setting `issuer`",
                excerpt(issuer),
                self.server
            )),
        }
    }
}

/// The endpoints in the metadata of an authorization server, by their names.
#[derive(PartialEq)]
struct Endpoints {
    token: Url,
    others: Vec<(&'static str, Url)>,
}

impl Endpoints {
    fn parse(metadata: &AuthorizationMetadata) -> Result<Self, String> {
        let parse = |name: &str, text: &str| {
            Url::parse(text).map_err(|error| format!("its {name} is no address: {error}"))
        };
        let revocation = metadata.additional_fields.get("revocation_endpoint");
        let others = [
            ("authorization endpoint", Some(metadata.authorization_endpoint.as_str())),
            ("registration endpoint", metadata.registration_endpoint.as_deref()),
            ("revocation endpoint", revocation.and_then(Value::as_str)),
        ];
        let others = others.into_iter().filter_map(|(name, text)| Some((name, text?)));
        let others = others.map(|(name, text)| Ok((name, parse(name, text)?)));
        Ok(Self {
            token: parse("token endpoint", &metadata.token_endpoint)?,
            others: others.collect::<Result<_, String>>()?,
        })
    }

    /// Returns the first endpoint that has another origin than the issuer.
    fn elsewhere(&self, issuer: &str) -> Option<(&'static str, &Url)> {
        let origin = Url::parse(issuer).ok().map(|issuer| issuer.origin());
        let others = self.others.iter().map(|(name, url)| (*name, url));
        let mut all = [("token endpoint", &self.token)].into_iter().chain(others);
        all.find(|(_, url)| Some(url.origin()) != origin)
    }
}

/// Returns true if the metadata at the issuer's own address name these endpoints: those that were found may come from elsewhere.
async fn is_published(server: &str, issuer: &str, endpoints: &Endpoints) -> Result<bool, String> {
    let (Ok(server), Ok(address)) = (Url::parse(server), Url::parse(issuer)) else {
        return Ok(false);
    };
    // A server elsewhere must not make this machine ask itself or its network; rmcp filters the addresses of names.
    let is_name = matches!(address.host(), Some(Host::Domain(_))) && !is_loopback(&address);
    if !(is_name || is_loopback(&address) && is_loopback(&server)) {
        return Ok(false);
    }
    let manager = AuthorizationManager::new(address).await.map_err(|error| error_chain(&error))?;
    let found = manager.resolve_metadata().await.map_err(|error| error_chain(&error))?.metadata;
    let is_its_own =
        found.issuer.as_ref().is_some_and(|found| found.trim_end_matches('/') == issuer);
    Ok(is_its_own && Endpoints::parse(&found)? == *endpoints)
}
