//! The person whose quota a message counts toward.

use toolwright_auth::Principal;
use toolwright_chat::PrincipalRecord;

/// The person whose quota is used: the sender of a message, also while another one decides about its calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct QuotaAccount {
    /// `None` is the operator, and everyone with a token that several people share.
    pub(crate) subject: Option<String>,
    /// They decide which limits apply.
    pub(crate) roles: Vec<String>,
}

impl QuotaAccount {
    pub(crate) fn of_principal(principal: &Principal) -> Self {
        Self {
            subject: principal.subject().map(str::to_owned),
            roles: principal.roles().map(str::to_owned).collect(),
        }
    }

    /// The person that a journal records.
    pub(crate) fn of_record(record: &PrincipalRecord) -> Self {
        Self { subject: Some(record.subject.clone()), roles: record.roles.clone() }
    }
}
