//! The owner of a stored conversation, and the principal of a message or an approval.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use toolwright_core::schema::__internal::percent_encode;

use crate::journal::entry::Entry;

/// The first character of the stored name of every conversation that belongs to a subject.
const SUBJECT_PREFIX: char = '@';

/// The owner of a stored conversation.
///
/// The owner is part of the name under which a conversation is stored: the id alone never leads to a conversation of another
/// subject.
///
/// # Examples
///
/// ```
/// use toolwright::chat::Owner;
///
/// let owner = Owner::Subject("ada".to_owned());
/// assert_eq!(owner.stored_name("notes"), "@ada/notes");
/// assert_eq!(Owner::split_stored_name("@ada/notes"), (owner, "notes"));
/// assert_eq!(Owner::Operator.stored_name("notes"), "notes");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Owner {
    /// The operator of the program, who owns all conversations of callers without an identity, and all rooms.
    #[default]
    Operator,
    /// An authenticated subject.
    Subject(String),
}

impl Owner {
    /// Returns the name under which a conversation of this owner is stored.
    pub fn stored_name(&self, id: &str) -> String {
        match self {
            Self::Operator => id.to_owned(),
            Self::Subject(subject) => format!("{}{id}", subject_prefix(subject)),
        }
    }

    /// Splits the name of a stored conversation into its owner and the id that the owner knows it by.
    pub fn split_stored_name(stored: &str) -> (Self, &str) {
        let of_subject = || {
            let (subject, id) = stored.strip_prefix(SUBJECT_PREFIX)?.split_once('/')?;
            let subject = percent_decode_str(subject).decode_utf8().ok()?;
            Some((Self::Subject(subject.into_owned()), id))
        };
        of_subject().unwrap_or((Self::Operator, stored))
    }

    /// Returns true if the operator may use this id: no stored name of a subject begins like it.
    pub fn is_operator_id(id: &str) -> bool {
        !id.starts_with(SUBJECT_PREFIX)
    }

    /// Returns the range of stored names that belong to subjects: this one, or any if the owner is the operator.
    ///
    /// Names are compared byte by byte. The operator owns the names outside of the range.
    pub fn stored_name_range(&self) -> Range<String> {
        let (begin, mut end) = match self {
            Self::Operator => (SUBJECT_PREFIX.to_string(), SUBJECT_PREFIX.to_string()),
            Self::Subject(subject) => (subject_prefix(subject), subject_prefix(subject)),
        };
        // The last character is ASCII, so the next one is the end of everything that begins with the prefix.
        if let Some(last) = end.pop() {
            end.extend(char::from_u32(u32::from(last) + 1));
        }
        begin..end
    }
}

fn subject_prefix(subject: &str) -> String {
    format!("{SUBJECT_PREFIX}{}/", percent_encode(subject))
}

/// The principal that sent a message or an approval, as the journal records it: an interrupted turn resumes with these rights
/// and no others.
///
/// An entry without one was caused by the operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PrincipalRecord {
    /// The authenticated subject.
    pub subject: String,
    /// The scopes of its credential, if the credential has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// Its roles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// The claims that endpoints compare, with the values of each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub claims: BTreeMap<String, BTreeSet<String>>,
    /// The name that other people see, if it has one beside the subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When the credential expires, in milliseconds since 1970; `None` for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
}

impl PrincipalRecord {
    /// Returns the principal of the last turn of a journal; `None` if that is the operator.
    ///
    /// That is the newest one of the subject whose message started the turn: a later credential may have other scopes and
    /// expire later. Decisions of others do not change for whom the turn runs.
    pub fn of_last_turn(entries: &[Entry]) -> Option<&Self> {
        let from = entries.iter().rposition(Entry::is_message)?;
        let mut turn = entries.iter().skip(from).filter_map(|entry| entry.principal.as_ref());
        let message = entries.get(from)?.principal.as_ref()?;
        turn.rfind(|principal| principal.subject == message.subject)
    }

    /// Creates the record of a subject without scopes and roles, whose credential does not expire.
    pub fn new(subject: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            scopes: Vec::new(),
            roles: Vec::new(),
            claims: BTreeMap::new(),
            name: None,
            expires: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(name: &str) -> Owner {
        Owner::Subject(name.to_owned())
    }

    #[test]
    fn the_stored_name_of_a_subject_is_percent_encoded() {
        let stored = subject("auth0|ü/~a-b_c.d").stored_name("x");
        assert_eq!(stored, "@auth0%7C%C3%BC%2F~a-b_c.d/x");
    }

    #[test]
    fn every_stored_name_has_one_owner() {
        for name in ["ada", "auth0|12/3", "ünï", "%2F", "@", "a@b.example"] {
            for id in ["notes", "/help/7", "@bob/x", "a/b"] {
                let stored = subject(name).stored_name(id);
                assert_eq!(Owner::split_stored_name(&stored), (subject(name), id), "{stored}");
                assert!(subject(name).stored_name_range().contains(&stored), "{stored}");
                assert!(Owner::Operator.stored_name_range().contains(&stored), "{stored}");
                assert!(!subject("ad").stored_name_range().contains(&stored), "{stored}");
            }
        }
        for id in ["notes", "/help/7", "A", "?"] {
            assert!(Owner::is_operator_id(id));
            assert_eq!(Owner::split_stored_name(id), (Owner::Operator, id));
            assert!(!Owner::Operator.stored_name_range().contains(&id.to_owned()));
        }
    }
}
