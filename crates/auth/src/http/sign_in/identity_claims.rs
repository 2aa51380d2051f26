//! The claims of a provider about a person in, a [`ProviderIdentity`] out.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::ProviderIdentity;

/// The claims that are a name to show, the best first.
const NAME_CLAIMS: [&str; 3] = ["name", "preferred_username", "email"];
/// Longer names are cut.
const MAX_NAME_CHARS: usize = 100;
/// The key of what every person has, whatever their groups are.
const EVERY_PERSON: &str = "*";

/// What the groups of a person mean.
#[derive(Clone, Debug)]
pub(super) struct GroupRules {
    /// The claim with the groups: a name, or a path with dots in it.
    pub(super) claim: String,
    /// The roles of each group.
    pub(super) roles: BTreeMap<String, BTreeSet<String>>,
    /// The scopes that each group grants.
    pub(super) grants: BTreeMap<String, BTreeSet<String>>,
    /// The claims that are kept, for the rules of endpoints.
    pub(super) kept_claims: BTreeSet<String>,
}

impl GroupRules {
    /// Returns true if the claims lack something that is needed of them: a name, or the groups if they mean anything.
    pub(super) fn needs_more_than(&self, claims: &Map<String, Value>) -> bool {
        let has_name = NAME_CLAIMS.iter().any(|name| claims.contains_key(*name));
        let needs_groups = !self.roles.is_empty() || !self.grants.is_empty();
        let lacks = |claim: &String| find_claim(claims, claim).is_none();
        !has_name || (needs_groups && lacks(&self.claim)) || self.kept_claims.iter().any(lacks)
    }

    /// Returns the person whom the claims describe.
    pub(super) fn identity(
        &self,
        provider: &str,
        subject: &str,
        claims: &Map<String, Value>,
    ) -> ProviderIdentity {
        let groups = self.groups(claims);
        let collect = |rules: &BTreeMap<String, BTreeSet<String>>| {
            let of_groups = groups.iter().filter_map(|group| rules.get(*group));
            of_groups.flatten().cloned().collect()
        };
        ProviderIdentity {
            subject: format!("{provider}:{subject}"),
            display_name: display_name(claims),
            scopes: collect(&self.grants),
            roles: collect(&self.roles),
            claims: select_claims(claims, &self.kept_claims),
        }
    }

    fn groups<'c>(&self, claims: &'c Map<String, Value>) -> BTreeSet<&'c str> {
        let groups = match find_claim(claims, &self.claim) {
            Some(Value::Array(groups)) => groups.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(group)) => BTreeSet::from([group.as_str()]),
            _ => BTreeSet::new(),
        };
        // A group of this name would be the provider's, and mean nothing of this kind.
        groups.into_iter().filter(|group| *group != EVERY_PERSON).chain([EVERY_PERSON]).collect()
    }
}

/// The values of these claims, by the name or path of each: texts and numbers, or lists of them. A claim of another kind has none.
pub(crate) fn select_claims(
    claims: &Map<String, Value>,
    names: &BTreeSet<String>,
) -> BTreeMap<String, BTreeSet<String>> {
    let values = |value: &Value| match value {
        Value::Array(values) => values.iter().filter_map(text_of).collect(),
        value => text_of(value).into_iter().collect(),
    };
    let found = names.iter().filter_map(|name| {
        let values: BTreeSet<String> = values(find_claim(claims, name)?);
        Some((name.clone(), values))
    });
    found.filter(|(_, values)| !values.is_empty()).collect()
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Finds a claim by its name, or by a path: `realm_access.roles`.
fn find_claim<'c>(claims: &'c Map<String, Value>, path: &str) -> Option<&'c Value> {
    claims.get(path).or_else(|| {
        let (first, rest) = path.split_once('.')?;
        find_claim(claims.get(first)?.as_object()?, rest)
    })
}

fn display_name(claims: &Map<String, Value>) -> Option<String> {
    let names = NAME_CLAIMS.iter().filter_map(|claim| claims.get(*claim)?.as_str());
    let mut names = names.map(|name| {
        let name = name.trim().chars().filter(|c| !c.is_control()).take(MAX_NAME_CHARS);
        name.collect::<String>()
    });
    names.find(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rules(claim: &str) -> GroupRules {
        let map = |rules: &[(&str, &[&str])]| {
            let rows = rules.iter().map(|(group, names)| {
                ((*group).to_owned(), names.iter().map(|name| (*name).to_owned()).collect())
            });
            rows.collect()
        };
        GroupRules {
            claim: claim.to_owned(),
            roles: map(&[("boss", &["admin", "manager"]), ("lead", &["manager"])]),
            grants: map(&[("*", &["look"]), ("/staff", &["shop"])]),
            kept_claims: BTreeSet::new(),
        }
    }

    fn claims(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn names(set: &BTreeSet<String>) -> Vec<&str> {
        set.iter().map(String::as_str).collect()
    }

    #[test]
    fn groups_become_roles_and_scopes() {
        let person = claims(json!({ "name": "Ada", "groups": ["boss", "/staff", "others", 7] }));
        let person = rules("groups").identity("corp", "1", &person);
        assert_eq!(person.subject, "corp:1");
        assert_eq!(person.display_name.as_deref(), Some("Ada"));
        assert_eq!(names(&person.roles), ["admin", "manager"]);
        assert_eq!(names(&person.scopes), ["look", "shop"]);
    }

    #[test]
    fn a_person_without_groups_has_what_every_person_has() {
        for groups in [json!(null), json!([]), json!(["*"]), json!({ "boss": true }), json!(true)] {
            let person = claims(json!({ "groups": groups }));
            let person = rules("groups").identity("corp", "1", &person);
            assert!(person.roles.is_empty());
            assert_eq!(names(&person.scopes), ["look"]);
        }
    }

    #[test]
    fn the_claim_of_the_groups_may_be_nested_or_one_text() {
        let nested = claims(json!({ "realm_access": { "roles": ["lead"] }, "group": "lead" }));
        for claim in ["realm_access.roles", "group"] {
            let person = rules(claim).identity("corp", "1", &nested);
            assert_eq!(names(&person.roles), ["manager"], "{claim}");
        }
        let dotted = claims(json!({ "https://a.example/groups": ["lead"] }));
        let person = rules("https://a.example/groups").identity("corp", "1", &dotted);
        assert_eq!(names(&person.roles), ["manager"]);
    }

    #[test]
    fn only_the_named_claims_are_kept_and_only_their_texts_and_numbers() {
        let mut rules = rules("groups");
        rules.kept_claims = ["customer", "a.teams", "flag", "none"].map(str::to_owned).into();
        let person = claims(json!({
            "name": "Ada", "email": "a@b", "groups": [], "customer": 7, "flag": true, "a": { "teams": ["x", "y", {}] },
        }));
        assert!(rules.needs_more_than(&person));
        let kept = rules.identity("corp", "1", &person).claims;
        let kept: Vec<(&str, Vec<&str>)> =
            kept.iter().map(|(name, values)| (&**name, names(values))).collect();
        assert_eq!(kept, [("a.teams", vec!["x", "y"]), ("customer", vec!["7"])]);
    }

    #[test]
    fn the_best_name_is_shown_without_control_characters() {
        let name = |value: Value| display_name(&claims(value));
        assert_eq!(name(json!({ "email": "a@b", "name": " " })).as_deref(), Some("a@b"));
        assert_eq!(name(json!({ "name": "A\u{1b}da\n" })).as_deref(), Some("Ada"));
        assert_eq!(name(json!({ "name": "a".repeat(500) })).unwrap().len(), MAX_NAME_CHARS);
        assert_eq!(name(json!({ "name": 5 })), None);
    }

    #[test]
    fn more_claims_are_needed_without_a_name_or_without_groups_that_have_a_meaning() {
        let mut rules = rules("groups");
        let needs = |rules: &GroupRules, value: Value| rules.needs_more_than(&claims(value));
        assert!(needs(&rules, json!({ "name": "Ada" })));
        assert!(needs(&rules, json!({ "groups": [] })));
        assert!(!needs(&rules, json!({ "name": "Ada", "groups": [] })));
        (rules.roles, rules.grants) = Default::default();
        assert!(!needs(&rules, json!({ "name": "Ada" })));
    }
}
