//! [`Approvers`]: who may decide about the calls of a tool that need approval.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Who may decide about the calls of a tool that need approval; by default, the owner.
///
/// As text, rules are separated by commas: `owner`, `role:NAME`, `subject:ID`. One that applies is enough. A connection
/// to the conversation is no such rule.
///
/// # Examples
///
/// ```
/// use toolwright::Approvers;
///
/// let approvers: Approvers = "role:manager, subject:ada".parse()?;
/// assert!(approvers.allow(Some("bob"), Some("eve"), ["manager"]));
/// assert!(approvers.allow(Some("bob"), Some("ada"), []));
/// assert!(!approvers.allow(Some("bob"), Some("bob"), ["clerk"]));
/// assert!(Approvers::default().allow(Some("bob"), Some("bob"), []));
/// # Ok::<(), toolwright::InvalidApprover>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approvers(Arc<[ApproverRule]>);

/// A rule of [`Approvers`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApproverRule {
    /// The one for whom the call runs: whose message has led to it.
    Owner,
    /// All subjects that have this role.
    Role(String),
    /// One subject.
    Subject(String),
}

/// A rule of [`Approvers`] that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected `owner`, `role:NAME` or `subject:ID`, found `{text}`")]
pub struct InvalidApprover {
    text: String,
}

impl Approvers {
    /// Makes a list of rules. With an empty list, no decision is accepted.
    pub fn new(rules: impl IntoIterator<Item = ApproverRule>) -> Self {
        Self(rules.into_iter().collect())
    }

    /// Returns the rules.
    pub fn rules(&self) -> &[ApproverRule] {
        &self.0
    }

    /// Returns true if only the owner may decide.
    pub fn is_owner_only(&self) -> bool {
        self.0.iter().all(|rule| *rule == ApproverRule::Owner) && !self.0.is_empty()
    }

    /// Returns true if `subject` may decide about a call that runs for `owner`; `None` is the operator.
    pub fn allow<'a>(
        &self,
        owner: Option<&str>,
        subject: Option<&str>,
        roles: impl IntoIterator<Item = &'a str>,
    ) -> bool {
        let roles: Vec<&str> = roles.into_iter().collect();
        self.0.iter().any(|rule| match rule {
            ApproverRule::Owner => owner == subject,
            ApproverRule::Role(role) => subject.is_some() && roles.contains(&role.as_str()),
            ApproverRule::Subject(id) => subject == Some(id),
        })
    }
}

impl Default for Approvers {
    fn default() -> Self {
        Self::new([ApproverRule::Owner])
    }
}

impl FromStr for ApproverRule {
    type Err = InvalidApprover;

    fn from_str(text: &str) -> Result<Self, InvalidApprover> {
        let text = text.trim();
        let named = |prefix: &str| {
            let name = text.strip_prefix(prefix)?.trim();
            (!name.is_empty()).then(|| name.to_owned())
        };
        if text == "owner" {
            return Ok(Self::Owner);
        }
        let role = named("role:").map(Self::Role);
        let rule = role.or_else(|| named("subject:").map(Self::Subject));
        rule.ok_or_else(|| InvalidApprover { text: text.to_owned() })
    }
}

impl FromStr for Approvers {
    type Err = InvalidApprover;

    fn from_str(text: &str) -> Result<Self, InvalidApprover> {
        let rules = text.split(',').map(str::parse).collect::<Result<Vec<_>, _>>();
        rules.map(Self::new)
    }
}

impl fmt::Display for ApproverRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner => f.write_str("owner"),
            Self::Role(role) => write!(f, "role:{role}"),
            Self::Subject(subject) => write!(f, "subject:{subject}"),
        }
    }
}

impl Serialize for Approvers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(ToString::to_string))
    }
}

/// Reads a text with rules that commas separate, or a list with a rule each.
impl<'de> Deserialize<'de> for Approvers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RulesVisitor)
    }
}

struct RulesVisitor;

impl<'de> Visitor<'de> for RulesVisitor {
    type Value = Approvers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`owner`, `role:NAME` or `subject:ID`, or a list of them")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Approvers, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Approvers, A::Error> {
        let mut rules = Vec::new();
        while let Some(rule) = list.next_element::<String>()? {
            rules.push(rule.parse().map_err(de::Error::custom)?);
        }
        Ok(Approvers::new(rules))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_text_and_as_a_list_and_written_as_a_list() {
        let text: Approvers = serde_json::from_str(r#""owner, role:manager""#).unwrap();
        let list: Approvers = serde_json::from_str(r#"["owner", "role:manager"]"#).unwrap();
        assert_eq!(text, list);
        assert_eq!(serde_json::to_string(&text).unwrap(), r#"["owner","role:manager"]"#);
        let comma: Approvers = serde_json::from_str(r#"["subject:cn=ada,o=x"]"#).unwrap();
        assert!(comma.allow(None, Some("cn=ada,o=x"), []));
        for wrong in ["", "manager", "role:", "subject: ", "owner,", "Owner"] {
            assert!(wrong.parse::<Approvers>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_empty_list_allows_no_subject_and_a_role_needs_one() {
        let none = Approvers::new([]);
        assert!(!none.allow(None, None, ["admin"]) && !none.is_owner_only());
        let managers: Approvers = "role:manager".parse().unwrap();
        assert!(!managers.allow(None, None, ["manager"]));
        assert!(Approvers::default().allow(None, None, []));
        assert!(!Approvers::default().allow(Some("ada"), None, ["admin"]));
    }
}
